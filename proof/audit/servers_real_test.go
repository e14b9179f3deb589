//go:build real

package audit_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	buyers  = 12
	longest = 2 * time.Minute
)

// sale is a sale on real servers with unpaid orders.
type sale struct {
	*local.System
	item seckill.Item
	from *audit.Sale
}

func start(t *testing.T) *sale {
	t.Helper()
	addr := redistest.Start(t).Addr
	cfg := dynamotest.Config(t, nil)
	it := local.DemoItems(time.Now(), 100, 1)[1]
	it.ID = strconv.FormatInt(time.Now().UnixNano(), 10)
	prefix := it.ID + "-" // other tests' systems, whose clocks are ahead, would close these orders
	sys := localtest.Start(t, local.Options{Items: []seckill.Listing{it}, Servers: local.Servers{Redis: []string{addr},
		DynamoDB: aws.ToString(cfg.BaseEndpoint), Prefix: prefix}})
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{addr}})
	t.Cleanup(func() { client.Close() })
	s := &sale{sys, it.Item, &audit.Sale{Item: it.ID, DynamoDB: dynamodb.NewFromConfig(cfg), Prefix: prefix,
		Redis: client}}
	s.sell(t)
	if err := sys.Close(context.Background()); err != nil { // else repair would undo the tests' changes within a minute
		t.Fatal(err)
	}
	return s
}

func (s *sale) sell(t *testing.T) {
	t.Helper()
	api := contracttest.Client{URL: s.URL(), HTTP: &http.Client{Timeout: longest}}
	for i := range buyers {
		token, err := s.Token(strconv.Itoa(9000+i), time.Hour)
		must.OK(t, err)
		for a := (contracttest.Answer{}); a.Status != http.StatusOK; { // 503 until stage has loaded the item
			if a, err = api.Call(t.Context(), token, http.MethodPost, "/seckill/buy",
				map[string]any{"seckill_id": s.item.ID, "count": 1, "address": "x"}); err != nil {
				t.Fatal(err)
			}
			if a.Status != http.StatusOK && a.Status < http.StatusInternalServerError {
				t.Fatal(a)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	must.OK(t, s.WaitIdle(ctx))
}

// audits audits the sale from the servers, and from the running system's dump.
func (s *sale) audits(t *testing.T) (out [2]*audit.Report) {
	t.Helper()
	dump := audit.SourceFunc(func(ctx context.Context, each func(*record.Line) error) error {
		return s.Dump(ctx, &s.item, each)
	})
	for i, src := range []audit.Source{s.from, dump} {
		var err error
		if out[i], err = audit.Run(t.Context(), src, audit.Options{Item: s.item.ID}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (s *sale) expect(t *testing.T, what string, broken ...string) {
	t.Helper()
	for way, r := range s.audits(t) {
		var got []string
		for _, j := range r.Results {
			if j.Verdict == audit.Broken {
				got = append(got, fmt.Sprint(j.ID, " ", j.Findings))
			}
		}
		if ids := idsOf(r, audit.Broken); !slices.Equal(ids, broken) {
			t.Errorf("%s, way %d: broken %v, want %v", what, way, got, broken)
		}
	}
}

func idsOf(r *audit.Report, v audit.Verdict) (ids []string) {
	for _, j := range r.Results {
		if j.Verdict == v {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

func TestASaleOnServersIsRead(t *testing.T) {
	s := start(t)
	ctx := t.Context()
	for way, r := range s.audits(t) {
		for _, id := range []string{"I1", "I2", "I3", "I5", "I10", "L2", "L3"} {
			if r.Of(id).Verdict != audit.Holds {
				t.Errorf("way %d: %+v", way, r.Of(id))
			}
		}
		if u := r.Statement.Units; u.Held != buyers || r.Read["orders"] != buyers ||
			*u.NeverIssued != s.item.Stock-buyers {
			t.Errorf("way %d: read %v, units %+v", way, r.Read, u)
		}
	}
	s.expect(t, "untouched")

	// Redis holds a unit for another order; then a unit row is deleted.
	owner := s.from.Redis.HGet(ctx, "{"+s.item.ID+"}:held", "1").Val()
	must.OK(t, s.from.Redis.HSet(ctx, "{"+s.item.ID+"}:held", "1", "onobody").Err())
	s.expect(t, "held changed", "L3")
	must.OK(t, s.from.Redis.HSet(ctx, "{"+s.item.ID+"}:held", "1", owner).Err())
	if _, err := s.from.DynamoDB.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: aws.String(s.from.Prefix + "units"),
		Key: map[string]types.AttributeValue{
			"bucket": &types.AttributeValueMemberS{Value: s.item.ID + "#1"},
			"unit":   &types.AttributeValueMemberS{Value: "0000001"}}}); err != nil {
		t.Fatal(err)
	}
	s.expect(t, "a unit row deleted", "I2", "I3", "L3")
}

func TestWhatCannotBeReadIsUnknown(t *testing.T) {
	s := start(t)
	s.from.Redis = nil
	s.from.NoRedis = "name it with --redis"
	r, err := audit.Run(t.Context(), s.from, audit.Options{Item: s.item.ID})
	must.OK(t, err)
	if got := idsOf(r, audit.Unknown); !slices.Contains(got, "L2") || !slices.Contains(got, "L3") ||
		!slices.Contains(got, "I7") || r.Broken() {
		t.Errorf("unknown %v", got)
	}
	gone := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"127.0.0.1:1"}, MaxRetries: -1})
	defer gone.Close()
	s.from.Redis = gone
	if r, err = audit.Run(t.Context(), s.from, audit.Options{Item: s.item.ID}); err != nil ||
		r.Of("L3").Verdict != audit.Unknown {
		t.Errorf("a Redis that is gone: %v, %+v", err, r)
	}
	s.from.Item = "1"
	if _, err := audit.Run(t.Context(), s.from, audit.Options{Item: "1"}); err == nil {
		t.Error("audited an item that does not exist")
	}
}

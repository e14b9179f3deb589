//go:build real

package functions_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRestoreBeside plays docs/runbooks/restore.md as far as possible without AWS: tables with another prefix have
// the rows of a moment ago, functions are pointed at them, Redis and the queues are unchanged. Orders placed since
// then are lost with their rows, those whose messages still wait are placed in the new tables, and every unit for
// sale is sold once.
func TestRestoreBeside(t *testing.T) {
	const item, stock = "3003", 8
	w := newRealDeployment(t)
	must.OK(t, w.rows.Items().Put(t.Context(), live(item, stock), nil))
	for range 2 { // the first purchase reads the item, the next purchase starts its rebuild
		ask(t, w.f["buy"], purchase(t, item, "1000"))
	}
	w.pump(w.orders, "consume")
	buy := func(user string) {
		t.Helper()
		for deadline := time.Now().Add(patience); ; { // an instance remembers "sold out" for a second
			r := ask(t, w.f["buy"], purchase(t, item, user))
			if r.Status == 200 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("shopper %s: %+v", user, r)
			}
			w.pump(w.orders, "consume") // the stock may not be built yet
		}
	}
	for _, user := range []string{"1001", "1002", "1003"} {
		buy(user)
		w.await("pending_payment", user, item)
	}
	w.paid("1001", item)

	old := w.env["TABLE_PREFIX"]
	beside := dynamotest.Create(t)
	copyRows(t, old, beside)
	// After the restored moment one more order is placed and paid, which the new tables do not have, and one is
	// queued.
	w.rows = dynamoledger.New(dynamotest.Config(t, nil), dynamoledger.Options{Prefix: old})
	buy("1004")
	w.paid("1004", item)
	buy("1005")

	w.env["TABLE_PREFIX"] = beside
	w.rows = dynamoledger.New(dynamotest.Config(t, nil), dynamoledger.Options{Prefix: beside})
	w.start()
	for user, want := range map[string]string{"1001": "paid", "1002": "pending_payment", "1003": "pending_payment",
		"1005": "pending_payment"} {
		w.await(want, user, item)
	}
	// Redis counts the lost order's unit as sold until the function repair has compared it with the new rows.
	began := time.Now()
	for left := ""; left != "4"; left = w.left(item) {
		run(t, w.f["repair"], recorded(t, "schedule.json"), "null")
		if time.Since(began) > patience {
			t.Fatalf("%q left, want 4\n%s", left, w.f["repair"].Output())
		}
		time.Sleep(time.Second) // an instance remembers the stock's level that long
	}
	t.Logf("the lost order's unit is for sale again after %v", time.Since(began).Round(time.Second))
	for i := range 4 {
		buy(fmt.Sprint(2001 + i))
		w.await("pending_payment", fmt.Sprint(2001+i), item)
	}
	w.soldOnce(item, stock)

	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{w.env["REDIS_ADDRS"]}})
	defer client.Close()
	report, err := audit.Run(t.Context(),
		&audit.Sale{Item: item, DynamoDB: dynamodb.NewFromConfig(dynamotest.Config(t, nil)),
			Prefix: beside, Redis: client, Queues: map[string]seckill.Queue{"orders": w.orders,
				"closings": w.closings}}, audit.Options{Item: item})
	must.OK(t, err)
	for _, j := range report.Results {
		t.Logf("%s %s", j.ID, j.Verdict)
		if j.Verdict == audit.Broken {
			t.Errorf("%s: %v", j.ID, j.Findings)
		}
	}
}

// left returns the number of units left on the item's page.
func (w *realDeployment) left(item string) string {
	w.t.Helper()
	_, rest, _ := strings.Cut(w.shop("GET", "/seckill/detail/"+item, "").Body, `"stock":`)
	return rest[:max(strings.IndexAny(rest, ",}"), 0)]
}

// copyRows copies all rows of tables to the tables of another prefix, like a restore to a point in time.
func copyRows(t *testing.T, from, to string) {
	t.Helper()
	client := dynamodb.NewFromConfig(dynamotest.Config(t, nil))
	for _, table := range dynamoledger.Schema() {
		pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(from + table.Name),
			ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page := must.Get(pages.NextPage(t.Context()))
			for _, row := range page.Items {
				put(t, client, to+table.Name, row)
			}
		}
	}
}

func put(t *testing.T, client *dynamodb.Client, table string, row map[string]types.AttributeValue) {
	t.Helper()
	must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: row}))
}

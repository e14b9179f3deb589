package dynamoledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

func returnKey(order string) ledger.Key {
	return ledger.Key{Table: ledger.TableReturns, PK: "00", SK: order}
}

// returns encodes stored return rows as DynamoDB does.
func returns(orders ...string) string {
	items := make([]string, len(orders))
	for i, o := range orders {
		items[i] = fmt.Sprintf(`{"shard":{"S":"00"},"order":{"S":%q}}`, o)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func orderOf(rows []ledger.Row) (orders []string) {
	for _, row := range rows {
		orders = append(orders, row["order"].(string))
	}
	return orders
}

// batch answers a BatchGetItem with these rows and these unprocessed keys.
func batch(rows, left []string) fault {
	unprocessed := "{}"
	if len(left) > 0 {
		unprocessed = `{"returns":{"ConsistentRead":true,"Keys":` + returns(left...) + `}}`
	}
	return answer(200, `{"Responses":{"returns":`+returns(rows...)+`},"UnprocessedKeys":`+unprocessed+`}`)
}

func TestABatchAsksUntilNoKeyIsLeft(t *testing.T) {
	all := []string{"a", "b", "c"}
	for _, c := range []struct {
		name   string
		script []fault
		want   []string // nil if a fault is wanted
		calls  int
	}{
		{"all at once", []fault{batch(all, nil)}, all, 1},
		{"one at a time", []fault{batch(all[:1], all[1:]), batch(all[1:2], all[2:]), batch(all[2:], nil)}, all, 3},
		{"some are not there", []fault{batch(all[:1], all[2:]), batch(nil, nil)}, all[:1], 2},
		{"none at first", []fault{batch(nil, all), batch(nil, all), batch(all, nil)}, all, 3},
		{"never", times(99, batch(nil, all)), nil, 4},
		{"throttled within", []fault{batch(all[:1], all[1:]), refuse(400, "ThrottlingException"), batch(all[1:], nil)},
			all, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{script: c.script}
				rows, err := dynamoledger.New(w.config(), dynamoledger.Options{}).GetBatch(ctx,
					[]ledger.Key{returnKey("a"), returnKey("b"), returnKey("c")})
				if diff := cmp.Diff(c.want, orderOf(rows)); diff != "" || (err != nil) != (c.want == nil) ||
					w.calls() != c.calls {
					t.Errorf("error %v, %d calls, want %d; got (+), want (-):\n%s", err, w.calls(), c.calls, diff)
				}
				for i, r := range w.requests {
					if !strings.Contains(r.Body, `"ConsistentRead":true`) {
						t.Errorf("request %d does not read consistently: %s", i, r.Body)
					}
				}
			})
		})
	}
}

// page answers a Query with these rows; more follow after last unless it is "".
func page(last string, rows ...string) fault {
	more := ""
	if last != "" {
		more = `,"LastEvaluatedKey":{"shard":{"S":"00"},"order":{"S":"` + last + `"}}`
	}
	return answer(200, `{"Items":`+returns(rows...)+more+`}`)
}

func TestAQueryReadsOnWhenAPageEndsEarly(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  int
		script []fault
		want   []string
		asked  []string // the requests: how many rows, after which key
	}{
		{"one page", 5, []fault{page("", "a", "b")}, []string{"a", "b"}, []string{"5 "}},
		{"a page that ended at 1 MB", 5, []fault{page("b", "a", "b"), page("", "c")}, []string{"a", "b", "c"},
			[]string{"5 ", "3 b"}},
		{"an empty page on the way", 2, []fault{page("b"), page("c", "c"), page("d", "d")}, []string{"c", "d"},
			[]string{"2 ", "2 b", "1 c"}},
		{"the limit is reached", 2, []fault{page("b", "a", "b")}, []string{"a", "b"}, []string{"2 "}},
		{"more than one request may ask for", 1500, []fault{page("b", "a", "b"), page("")}, []string{"a", "b"},
			[]string{"1000 ", "1000 b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &wire{script: c.script}
			rows, err := dynamoledger.New(w.config(), dynamoledger.Options{}).Query(ctx, ledger.TableReturns, "00", "",
				c.limit)
			var asked []string
			for _, r := range w.requests {
				var in struct {
					Limit             json.Number
					ConsistentRead    bool
					ExclusiveStartKey struct{ Order struct{ S string } }
				}
				if err := json.Unmarshal([]byte(r.Body), &in); err != nil || !in.ConsistentRead {
					t.Errorf("error %v, or no consistent read: %s", err, r.Body)
				}
				asked = append(asked, in.Limit.String()+" "+in.ExclusiveStartKey.Order.S)
			}
			if diff := cmp.Diff(c.want, orderOf(rows)) + cmp.Diff(c.asked, asked); diff != "" || err != nil {
				t.Errorf("error %v; got (+), want (-):\n%s", err, diff)
			}
		})
	}
}

func TestReadsAreTriedAgainAndBounded(t *testing.T) {
	found := answer(200, `{"Item":{"shard":{"S":"00"},"order":{"S":"a"}}}`)
	for _, c := range []struct {
		name   string
		script []fault
		fails  bool
		calls  int
	}{
		{"found", []fault{found}, false, 1},
		{"throttled, 500", []fault{refuse(400, "ThrottlingException"), refuse(500, "InternalServerError"), found},
			false, 3},
		{"slow", []fault{slow, found}, false, 2},
		{"never", times(99, slow), true, 3},
		{"no connection", times(99, unreachable), true, 3},
		{"not an answer", []fault{answer(200, `<html>`)}, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{script: c.script}
				started := time.Now()
				_, there, err := dynamoledger.New(w.config(), dynamoledger.Options{}).Get(ctx, returnKey("a"))
				took := time.Since(started)
				if (err != nil) != c.fails || there == c.fails || w.calls() != c.calls ||
					took > dynamoledger.DefaultCallTimeout {
					t.Errorf("got found %v, error %v, %d calls in %v; want a fault %v, %d calls", there, err, w.calls(),
						took, c.fails, c.calls)
				}
				if err != nil && strings.Contains(err.Error(), "secret") {
					t.Errorf("the error shows a value: %v", err)
				}
				if body := w.requests[0].Body; !strings.Contains(body, `"ConsistentRead":true`) {
					t.Errorf("no consistent read: %s", body)
				}
			})
		})
	}
}

// TestAValueThatNoRowHas checks that an unknown type makes only its own row unreadable, and that the error does not
// contain the value.
func TestAValueThatNoRowHas(t *testing.T) {
	for _, value := range []string{`{"BOOL":true}`, `{"L":[{"S":"secret"},{"N":"1"}]}`, `{"N":"1.5"}`,
		`{"M":{"secret":{"S":"secret"}}}`, `{"NULL":true}`} {
		row := `{"shard":{"S":"00"},"order":{"S":%q},"item":{"S":"1"},"user":{"S":"7"},"v":{"N":"1"},"units":%s}`
		w := &wire{script: times(1, answer(200, fmt.Sprintf(`{"Items":[`+row+`,`+row+`]}`, "a", value, "b",
			`{"S":"3"}`)))}
		page, err := ledger.New(dynamoledger.New(w.config(), dynamoledger.Options{})).Returns(ctx, 0, "", 9)
		want := []seckill.ReturnRow{{Order: "b", Item: "1", User: "7", Units: []int{3}}}
		if diff := cmp.Diff(want, page.Rows); err != nil || diff != "" || len(page.Unreadable) != 1 {
			t.Fatalf("%s: error %v, unreadable %v; got (+), want (-):\n%s", value, err, page.Unreadable, diff)
		}
		if said := page.Unreadable[0].Error(); !errors.Is(page.Unreadable[0], seckill.ErrUnreadable) ||
			said != "returns row 00/a: attribute units is not a text" {
			t.Errorf("%s: %q", value, said)
		}
	}
}

func TestTheEndpointComesFromTheEnvironment(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL", "http://somewhere.test:8000")
	t.Setenv("AWS_MAX_ATTEMPTS", "9")
	w := &wire{script: times(99, refuse(500, "InternalServerError"))}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion("eu-west-1"),
		config.WithCredentialsProvider(w.config().Credentials))
	if err != nil {
		t.Fatal(err)
	}
	cfg.HTTPClient = w.config().HTTPClient
	_, _, err = dynamoledger.New(cfg, dynamoledger.Options{}).Get(ctx, returnKey("a"))
	if err == nil || w.requests[0].Host != "somewhere.test:8000" {
		t.Errorf("got error %v, first request to %s", err, w.requests[0].Host)
	}
	if w.calls() != 3 {
		t.Errorf("got %d tries, want 3 whatever the environment says", w.calls())
	}
}

// listed answers a Scan with one item; more: there are further pages.
func listed(id string, end time.Time, more bool) fault {
	last := ""
	if more {
		last = `,"LastEvaluatedKey":{"id":{"S":"` + id + `"}}`
	}
	return answer(200, fmt.Sprintf(`{"Items":[%s]%s}`, itemRow(id, end), last))
}

func itemRow(id string, end time.Time) string {
	return fmt.Sprintf(`{"id":{"S":%q},"v":{"N":"1"},"version":{"N":"1"},"commodity":{"S":"9"},"title":{"S":"t"},
		"described":{"N":"0"},"price":{"N":"0"},"commodity_created":{"N":"0"},"sk_price":{"N":"1"},"start":{"N":"0"},"end":{"N":"%d"},
		"created":{"N":"0"},"stock":{"N":"1"},"limit":{"N":"1"},"buckets":{"N":"16"},"stopped":{"N":"0"}}`, id,
		end.UnixMilli())
}

func TestAListOfItemsReadsAllPages(t *testing.T) {
	w := &wire{script: []fault{listed("1", begun.Add(time.Hour), true), listed("2", begun, true),
		listed("3", begun.Add(time.Minute), false)}}
	items, err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().List(ctx, begun)
	var ids []string
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	if diff := cmp.Diff([]string{"2", "3", "1"}, ids); diff != "" || err != nil || w.calls() != 3 {
		t.Errorf("error %v, %d calls; ids, soonest to end first: got (+), want (-):\n%s", err, w.calls(), diff)
	}
	for i, want := range []string{"", `"ExclusiveStartKey":{"id":{"S":"1"}}`, `"ExclusiveStartKey":{"id":{"S":"2"}}`} {
		if !strings.Contains(w.requests[i].Body, want) {
			t.Errorf("request %d: %s, want it to have %s", i, w.requests[i].Body, want)
		}
	}
	w = &wire{script: times(999, listed("1", begun, true))}
	items, err = dynamoledger.New(w.config(), dynamoledger.Options{}).Items().List(ctx, begun)
	if err == nil || w.calls() != 64 {
		t.Errorf("a table without an end: got %d items, error %v after %d calls, want an error after 64", len(items),
			err, w.calls())
	}
}

// TestAnItemThatCannotBeReadHidesNoOther checks that the list has the other items, and that the error names the
// missing one.
func TestAnItemThatCannotBeReadHidesNoOther(t *testing.T) {
	bad := answer(200, `{"Items":[{"id":{"S":"2"},"v":{"N":"3"}}],"LastEvaluatedKey":{"id":{"S":"2"}}}`)
	w := &wire{script: []fault{listed("1", begun.Add(time.Hour), true), bad, listed("3", begun.Add(time.Minute),
		false)}}
	items, err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().List(ctx, begun)
	if len(items) != 2 || items[0].ID != "3" || items[1].ID != "1" || !errors.Is(err, seckill.ErrUnreadable) ||
		!strings.Contains(err.Error(), "items row 2 has version v=3") {
		t.Errorf("%+v, %v, want items 3 and 1, and an error that names item 2", items, err)
	}
}

func TestAnItemThatIsNotUnderstoodIsAnErrorThatNamesIt(t *testing.T) {
	// before descriptions had their own rows
	before := strings.Replace(itemRow("1", begun), `"described":{"N":"0"}`, `"detail":{"S":"x"},"covers":{"L":[]}`, 1)
	for body, want := range map[string]string{
		`{"Item":{"id":{"S":"1"},"v":{"N":"3"}}}`: "items row 1 has version v=3, this code reads 1 to 2",
		// A row from before descriptions had their own rows.
		`{"Item":` + before + `}`:   "items row 1: attribute described is missing",
		`{"Item":{"id":{"S":"1"}}}`: "items row 1 has version v=<nil>",
		`{"Item":{"id":{"S":"1"},"v":{"N":"1"},"commodity":{"S":"9"},"title":{"N":"1"}}}`: "items row 1: attribute " +
			"title is missing",
	} {
		w := &wire{script: times(1, answer(200, body))}
		it, err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().Get(ctx, "1")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, error %v, want one with %q", body, it, err, want)
		}
	}
}

func TestAPutOfAnItemWhoseAnswerIsLostIsNotAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it := seckill.Item{ID: "1", Commodity: seckill.Commodity{ID: "9", Title: "t"}, Price: 1, Start: begun,
			End: begun.Add(time.Hour), Stock: 1, Limit: 1, Buckets: 16, Version: 1}
		w := &wire{server: &store{tokens: map[string]string{}, written: map[string]bool{}}, script: times(1, lost)}
		items := dynamoledger.New(w.config(), dynamoledger.Options{}).Items()
		if err := items.Put(context.Background(), it, &seckill.Description{}); err != nil {
			t.Errorf("put: %v", err)
		}
		must.Is(t, seckill.ErrStateChanged, items.Put(context.Background(), it, &seckill.Description{}),
			"the same version again")
	})
}

// TestAPeekReadsForHalfThePrice: it asks for no consistency.
func TestAPeekReadsForHalfThePrice(t *testing.T) {
	w := &wire{script: []fault{batch([]string{"a"}, nil)}}
	rows, err := dynamoledger.New(w.config(), dynamoledger.Options{}).PeekBatch(ctx, []ledger.Key{returnKey("a")})
	if err != nil || len(rows) != 1 || !strings.Contains(w.requests[0].Body, `"ConsistentRead":false`) {
		t.Errorf("%v, %v: %s", rows, err, w.requests[0].Body)
	}
}

// TestAnUpdateAlone: a condition that does not hold is told from a fault, with the row that it was checked against.
func TestAnUpdateAlone(t *testing.T) {
	update := ledger.Write{Key: returnKey("a"), Op: ledger.OpUpdate, Add: map[string]int64{"n": 1},
		If: []ledger.Cond{ledger.AtMost("n", 4)}}
	failed := answer(400, `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",`+
		`"message":"no","Item":{"n":{"N":"5"}}}`)
	for name, c := range map[string]struct {
		answers  fault
		canceled bool
		fault    bool
	}{
		"done":      {answer(200, `{}`), false, false},
		"condition": {failed, true, false},
		"denied":    {refuse(400, "AccessDeniedException"), false, true},
	} {
		w := &wire{script: []fault{c.answers}}
		err := dynamoledger.New(w.config(), dynamoledger.Options{}).Update(ctx, update)
		var canceled *ledger.Canceled
		if got := errors.As(err, &canceled); got != c.canceled || (err != nil && !got) != c.fault {
			t.Errorf("%s: %v", name, err)
		}
		if c.canceled {
			want := []ledger.Reason{{Code: ledger.ReasonCondition, Old: ledger.Row{"n": int64(5)}}}
			must.Equal(t, want, canceled.Reasons, name)
		}
		if w.calls() != 1 || !strings.Contains(w.requests[0].Body, `"UpdateExpression"`) {
			t.Errorf("%s: %d calls, %s", name, w.calls(), w.requests[0].Body)
		}
	}
}

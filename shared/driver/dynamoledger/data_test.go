package dynamoledger_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

var update = flag.Bool("update", false, "write the attributes of items in docs/DATA.md")

// itemMeanings says what the attributes of an item's rows mean, by table.
var itemMeanings = map[string]string{dynamoledger.TableItems: `
id: partition key
version: rises with every change except erased, networks_erased and stock_erased
described: the description's version, or 0
commodity: its id
title:
price: the ordinary one
commodity_created:
sk_price: the sale's
start:
end: exclusive
created:
stock: units
limit: units per user
buckets: how many partitions the item's units have
stopped:
checks: standard or strict; absent: off
cover: the first of the description's covers
family: of a variant
options: of a variant
limit_spans: 1: the limit counts the whole family
stops: the latest ten, from-to in ms; no end while it lasts
erased: when its last address was erased
networks_erased: the same of network addresses
stock_erased: when nothing of the ended item was in Redis any more, for good
v: 1, or 2 with family
`, dynamoledger.TableCatalog: `
id: item# and the item's id
version: the item's
detail: sanitized HTML
covers: addresses of pictures
v: 1
`}

// TestDataPageListsWhatAnItemsRowsHave compares attributes in docs/DATA.md with what Put writes; -update writes them.
func TestDataPageListsWhatAnItemsRowsHave(t *testing.T) {
	rows := putRows(t, seckill.Item{ID: "1", Commodity: seckill.Commodity{ID: "9", Title: "t"}, Price: 1, Start: begun,
		End: begun.Add(1), Stock: 1, Limit: 1, Buckets: 16, Version: 1, AddressesErased: begun, NetworksErased: begun,
		StockErased: begun, Checks: seckill.ChecksStrict, Variant: seckill.Variant{Family: "7", LimitSpans: true,
			Options: seckill.Options{{Name: "a", Value: "b"}}}}, &seckill.Description{Covers: []string{"/c.jpg"}})
	const file = "../../../docs/DATA.md"
	for table, meanings := range itemMeanings {
		want := "| attribute | type | meaning |\n|---|---|---|\n"
		for line := range strings.Lines(strings.TrimSpace(meanings)) {
			attr, means, _ := strings.Cut(strings.TrimSpace(line), ":")
			for kind := range rows[table][attr] {
				want += "| " + attr + " | " + kind + " | " + strings.TrimSpace(means) + " |\n"
			}
			if rows[table][attr] == nil {
				t.Errorf("%s: nothing writes %s", table, attr)
			}
			delete(rows[table], attr)
		}
		for attr := range rows[table] {
			t.Errorf("%s: %s is written, and nothing says what it means", table, attr)
		}
		page := must.Get(os.ReadFile(file))
		open, end := "<!-- generated: rows of "+table+", by make generate -->\n", "<!-- end: rows of "+table+" -->"
		before, rest, _ := strings.Cut(string(page), open)
		got, after, found := strings.Cut(rest, end)
		if *update && found {
			must.OK(t, os.WriteFile(file, []byte(before+open+want+end+after), 0o600))
		} else if got != want {
			t.Errorf("%s (make generate):\n%s", file, cmp.Diff(want, got))
		}
	}
}

// TestAVariantsRowHasAVersionThatOlderReleasesDoNotRead: their put would drop its family. Other rows keep theirs.
func TestAVariantsRowHasAVersionThatOlderReleasesDoNotRead(t *testing.T) {
	it := seckill.Item{ID: "1", Commodity: seckill.Commodity{ID: "9", Title: "t"}, Price: 1, Start: begun,
		End: begun.Add(1), Stock: 1, Limit: 1, Buckets: 16, Version: 1}
	version := func() any { return putRows(t, it, nil)[dynamoledger.TableItems]["v"]["N"] }
	must.Equal(t, "1", version(), "an item alone has version")
	it.Variant = seckill.Variant{Family: "7", Options: seckill.Options{{Name: "a", Value: "b"}}}
	must.Equal(t, "2", version(), "a variant has version")
}

// putRows returns what a Put sends, by table: attributes with types and values.
func putRows(t *testing.T, it seckill.Item, d *seckill.Description) map[string]map[string]map[string]any {
	t.Helper()
	w := &wire{script: times(1, answer(200, `{}`))}
	must.OK(t, dynamoledger.New(w.config(), dynamoledger.Options{}).Items().Put(ctx, it, d))
	var sent struct {
		TransactItems []struct {
			Put struct {
				TableName string
				Item      map[string]map[string]any
			}
		}
	}
	must.OK(t, json.Unmarshal([]byte(w.requests[0].Body), &sent))
	out := map[string]map[string]map[string]any{}
	for _, write := range sent.TransactItems {
		out[write.Put.TableName] = write.Put.Item
	}
	return out
}

// TestAnItemsRowIsSmall checks sizes: a write of up to 1 KB costs one unit, a read of up to 4 KB one. Each instance
// reads its items' rows every second, and one key allows 3,000 reads a second.
func TestAnItemsRowIsSmall(t *testing.T) {
	late := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	longest := seckill.Item{ID: strings.Repeat("9", 19), Price: seckill.MaxFen / seckill.MaxCount,
		Start: late.Add(-time.Hour), End: late, CreateTime: late,
		Commodity: seckill.Commodity{ID: strings.Repeat("9", 19), Title: strings.Repeat("😀", seckill.MaxTitle),
			Price: seckill.MaxFen, CreateTime: late},
		Stock: seckill.MaxStock, Limit: seckill.MaxLimit, Buckets: seckill.BucketsFor(seckill.MaxStock),
		Stopped: true, Version: math.MaxInt64, Described: math.MaxInt64 - 1}
	for range seckill.MaxStops {
		longest.Stops = append(longest.Stops, seckill.Stop{From: late, To: late})
	}
	size := 0
	for attr, v := range putRows(t, longest, &seckill.Description{})[dynamoledger.TableItems] {
		size += len(attr) + weight(t, v)
	}
	if t.Logf("%d bytes", size); size >= 1<<10 {
		t.Errorf("an item's row can have %d bytes, want less than 1 KB", size)
	}
}

// weight returns the size of a value in bytes ("DynamoDB item sizes and formats", Amazon DynamoDB Developer Guide).
func weight(t *testing.T, v map[string]any) int {
	t.Helper()
	if s, ok := v["S"].(string); ok {
		return len(s)
	}
	if n, ok := v["N"].(string); ok {
		return (len(n)+1)/2 + 1
	}
	l, ok := v["L"].([]any)
	if !ok {
		t.Fatalf("the weight of %v is not known", v)
	}
	size := 3
	for _, e := range l {
		size += 1 + weight(t, e.(map[string]any))
	}
	return size
}

// TestTheLargestAdditionFitsAnExpression checks the limit of an expression: 4 KB ("Service, account, and table
// quotas", Amazon DynamoDB).
func TestTheLargestAdditionFitsAnExpression(t *testing.T) {
	a := seckill.Addition{At: begun, Total: seckill.Count{Placed: 1, Paid: 1, GivenBack: 1}}
	for i := range seckill.MaxCounted {
		a.Orders = append(a.Orders, seckill.CountedOrder{Order: strconv.Itoa(i), Sequence: 3})
		for k := range 3 { // each order is placed, paid and given back at most once
			a.Minutes = append(a.Minutes, seckill.MinuteCount{Minute: begun.Add(time.Duration(3*i+k) * time.Minute),
				Count: seckill.Count{Placed: 1}})
		}
	}
	w := &wire{script: times(1, answer(200, `{}`))}
	l := ledger.New(dynamoledger.New(w.config(), dynamoledger.Options{}))
	must.OK(t, l.AddCounts(ctx, seckill.Counts{Item: "1"}, a))
	var sent struct {
		TransactItems []struct {
			Update struct{ UpdateExpression string }
		}
	}
	must.OK(t, json.Unmarshal([]byte(w.requests[0].Body), &sent))
	n := len(sent.TransactItems[0].Update.UpdateExpression)
	if t.Logf("%d bytes", n); n < 2000 || n > 4<<10 {
		t.Errorf("an expression of %d bytes, want at most 4 KB", n)
	}
}

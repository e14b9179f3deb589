package audit_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// blocked adds a block of an order's user that was made this long before the order was placed.
func (w *testSale) blocked(o ledger.Row, item string, before time.Duration) ledger.Row {
	row := ledger.Row{"subject": "user:" + text(o, "user"), "item": item, "shard": "00", "name": "x", "reason": "r",
		"by": "b", "made": o["placed"].(int64) - before.Milliseconds(), "until": int64(math.MaxInt64), "v": int64(1)}
	w.add(ledger.TableBlocks, row)
	return row
}

// request returns the request of the n-th purchase that was acknowledged.
func (w *testSale) request(n int) *record.Entry {
	var asked uint64
	w.answer(n, bought, func(e *record.Entry) { asked = e.Request })
	return &w.entries[slices.IndexFunc(w.entries, func(e record.Entry) bool { return e.N == asked })]
}

var doorCorruptions = []corruption{
	{"an order of a blocked user", func(w *testSale) string {
		w.blocked(w.paid(), item, 9*time.Second+time.Millisecond)
		return id(w.paid())
	}, "A4"},
	{"an order of a user who is blocked everywhere, and was placed before the block's end", func(w *testSale) string {
		o := w.expired()
		w.blocked(o, seckill.Everywhere, time.Hour)["until"] = o["placed"].(int64) + 2001
		return id(o)
	}, "A4"},
	{"a block without a time", func(w *testSale) string {
		delete(w.blocked(w.paid(), item, 0), "made")
		return "blocks user:"
	}, "A4"},
	{"a purchase without a ticket", func(w *testSale) string {
		w.request(2).Ticket = "" // of a shopper without a key, who asks once
		return "orders"
	}, "A1"},
	{"two shoppers with one ticket", func(w *testSale) string {
		w.request(5).Ticket = w.request(2).Ticket
		return "journal line"
	}, "A1"},
}

// TestBlocksThatAllow: an order that was placed before a block took effect, or after its end, breaks nothing.
func TestBlocksThatAllow(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *testSale){
		"just acknowledged": func(w *testSale) { w.blocked(w.paid(), item, 9*time.Second) },
		"over":              func(w *testSale) { w.blocked(w.paid(), item, time.Hour)["until"] = w.paid()["placed"] },
		"of another item":   func(w *testSale) { w.blocked(w.paid(), "8", time.Hour) },
		"of a network":      func(w *testSale) { w.blocked(w.paid(), item, time.Hour)["subject"] = "net:10.0.0.0/24" },
		"a rejected order":  func(w *testSale) { w.blocked(w.order(seckill.Rejected, 0), item, time.Hour) },
	} {
		w := atRest()
		change(w)
		check(t, name, w, "", "")
	}
}

package audit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// answer changes the n-th answer that fits.
func (w *testSale) answer(n int, fits func(record.Entry) bool, change func(*record.Entry)) {
	for i := range w.entries {
		if e := &w.entries[i]; e.Kind == record.KindAnswer && fits(*e) {
			if n--; n < 0 {
				change(e)
				return
			}
		}
	}
	panic("the journal has no such answer")
}

func bought(e record.Entry) bool { return e.Status == 200 }

// answerTo returns a filter of purchases' answers, to requests with a key or without.
func (w *testSale) answerTo(keyed bool) func(record.Entry) bool {
	return func(e record.Entry) bool {
		i := slices.IndexFunc(w.entries, func(r record.Entry) bool {
			return r.Kind == record.KindRequest && r.N == e.Request
		})
		return i >= 0 && bought(e) && (w.entries[i].Key != "") == keyed
	}
}

// without removes entries from the journal.
func (w *testSale) without(drop func(record.Entry) bool) {
	w.entries = slices.DeleteFunc(slices.Clone(w.entries), drop)
}

// askMore raises the count that an order's user requested.
func (w *testSale) askMore(o ledger.Row) {
	for i := range w.entries {
		if e := &w.entries[i]; e.User == text(o, "user") && e.Kind == record.KindRequest {
			e.Count++
		}
	}
}

var toldCorruptions = []corruption{
	{"two orders for one key", func(w *testSale) string {
		w.answer(1, w.answerTo(true), func(e *record.Entry) {
			e.Status, e.Code, e.Order = 503, "unconfirmed", "oother"
		})
		return "journal line"
	}, "I4"},
	{"another user's order for a key", func(w *testSale) string {
		a, b := "", ""
		w.answer(0, w.answerTo(true), func(e *record.Entry) { a = e.Order })
		w.answer(2, w.answerTo(true), func(e *record.Entry) { b = e.Order })
		for i := range w.entries {
			if w.entries[i].Order == a {
				w.entries[i].Order = b
			}
		}
		return "orders " + b
	}, "I4 I11"},
	{"an order without a request", func(w *testSale) string {
		o := w.expired()
		w.without(func(e record.Entry) bool {
			return e.User == text(o, "user") && (e.Kind == record.KindRequest || e.Kind == record.KindAnswer)
		})
		return id(o)
	}, "I9"},
	paid("an order to another address", "I9", func(o ledger.Row) { o["address"] = "elsewhere" }),
	{"an order with an erased address and a count that was not requested", func(w *testSale) string {
		o := w.expired()
		erase(o)
		w.askMore(o)
		return id(o)
	}, "I9"},
	expired("an order without an address that was not erased", "I3 I9", func(o ledger.Row) { delete(o, "address") }),
	{"an order with a count that was not requested", func(w *testSale) string {
		o := w.expired()
		w.askMore(o)
		return id(o)
	}, "I9"},
	{"two orders for one request", func(w *testSale) string {
		o := copyRow(w.expired())
		o["id"] = "ozzz"
		w.add(ledger.TableOrders, o)
		return "orders ozzz"
	}, "I9"},
	{"a purchase answered before the start", func(w *testSale) string {
		early := w.tables[record.PartItems][0]["start"].(int64) - time.Minute.Milliseconds()
		w.answer(0, bought, func(e *record.Entry) { e.At = (early - w.entries[0].Start.Time.UnixMilli()) * 1000 })
		return "journal line"
	}, "I10"},
	{"an acknowledged order without a row", func(w *testSale) string {
		w.answer(0, w.answerTo(false), func(e *record.Entry) { e.Order = "olost" })
		return "journal line"
	}, "I11"},
	{"an acknowledged order of another user", func(w *testSale) string {
		other := w.order(seckill.Expired, 1)
		w.answer(0, w.answerTo(false), func(e *record.Entry) { e.Order = text(other, "id") })
		return "journal line"
	}, "I11"},
	{"sold_out while returned units were free", func(w *testSale) string {
		at := w.now + time.Hour.Milliseconds() - w.entries[0].Start.Time.UnixMilli()
		w.answer(0, func(e record.Entry) bool {
			return e.Code == string(seckill.CodeSoldOut)
		}, func(e *record.Entry) {
			for i := range w.entries {
				if w.entries[i].N == e.Request {
					w.entries[i].At = at * 1000
				}
			}
		})
		return "items " + item
	}, "L4"},
}

// erase changes an order's row as EraseAddress does.
func erase(o ledger.Row) {
	delete(o, "address")
	delete(o, "shopper_name")
	o["erased"] = int64(1)
}

// TestErasedAddressesChangeNoVerdict: a good sale has the same verdicts after its addresses are erased.
func TestErasedAddressesChangeNoVerdict(t *testing.T) {
	w := atRest()
	want := w.audit(t)
	for _, row := range w.tables[ledger.TableOrders] {
		erase(row)
	}
	got := w.audit(t)
	for i, j := range want.Results {
		if k := got.Results[i]; k.ID != j.ID || k.Verdict != j.Verdict {
			t.Errorf("%s was %s, is now %s: %v", j.ID, j.Verdict, k.Verdict, k.Findings)
		}
	}
}

package local_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/adapter/alipay/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// nextMorning moves the clock past the next day's 10:00 in UTC+8, when the bill of a day is there, and gives that day.
func (w *shopTest) nextMorning() (day string) {
	w.t.Helper()
	now := w.Clock.Now()
	day = seckill.Day(now)
	d, err := time.ParseInLocation(time.DateOnly, day, seckill.Zone)
	if err != nil {
		w.t.Fatal(err)
	}
	w.pass(d.AddDate(0, 0, 1).Add(10*time.Hour + time.Minute).Sub(now).Round(time.Second))
	return day
}

// noMidnight moves the clock on when a day in UTC+8 is about to end, so that what follows is of one day.
func (w *shopTest) noMidnight() {
	w.t.Helper()
	if now := w.Clock.Now(); seckill.Day(now.Add(2*time.Hour)) != seckill.Day(now) {
		w.pass(2 * time.Hour)
	}
}

// kept is what the schedule, and operators, kept of a day.
func (w *shopTest) kept(day string) []any {
	w.t.Helper()
	a := w.call("", "GET", "/_local/reconcile/"+day, nil)
	list, ok := a.json["reconciliations"].([]any)
	if a.status != 200 || !ok || a.text("day") != day {
		w.t.Fatalf("kept of %s: %v", day, a)
	}
	return list
}

// kinds counts a reconciliation's differences.
func kinds(reconciled any) map[seckill.DifferenceKind]int {
	out := map[seckill.DifferenceKind]int{}
	list, _ := reconciled.(map[string]any)["differences"].([]any)
	for _, d := range list {
		kind, _ := d.(map[string]any)["kind"].(string)
		out[seckill.DifferenceKind(kind)]++
	}
	return out
}

// TestTheBillOfADayAgrees with what was sold on it, paid and unpaid, late and refunded; each day is matched once by
// itself, the seven before it too, and again when somebody asks.
func TestTheBillOfADayAgrees(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 3, 1)}})
	w.noMidnight()
	_, pay := w.bought("1001", "5")
	w.payAtCashier(pay)
	w.awaitState("1001", "5", seckill.Paid)
	order, late := w.bought("1002", "5")
	if a := w.call(w.token("1002"), "POST", "/order/"+order+"/cancel", nil); a.status != 200 {
		t.Fatal(a)
	}
	w.awaitState("1002", "5", seckill.Cancelled)
	w.payAtCashier(late)
	w.awaitState("1002", "5", seckill.RefundOwed)
	w.pass(time.Minute)
	w.awaitState("1002", "5", seckill.Refunded)
	today := seckill.Day(w.Clock.Now())
	if a := w.call("", "POST", "/_local/reconcile/"+today, nil); a.status != 422 ||
		a.text("code") != string(seckill.CodeInvalid) {
		t.Errorf("a day that is not over: %v", a)
	}
	day := w.nextMorning()
	list := w.kept(day)
	if len(list) != 1 || w.Meter.Counts()[seckill.EventDifferences] != 0 {
		t.Fatalf("the morning after %s: %v, want it matched once, without differences", day, list)
	}
	for field, want := range map[string]any{"day": day, "payments": json.Number("2"), "captured": json.Number("398.00"),
		"refunds": json.Number("1"), "returned": json.Number("199.00"),
		"others": json.Number("0"), "count": json.Number("0")} {
		if got := list[0].(map[string]any)[field]; got != want {
			t.Errorf("%s: %v, want %v", field, got, want)
		}
	}
	w.pass(local.MaxAdvance)
	if a := w.call("", "POST", "/_local/reconcile/"+day, nil); a.status != 200 || a.json["count"] != json.Number("0") ||
		a.json["payments"] != json.Number("2") {
		t.Errorf("matched again: %v", a)
	}
	if n := len(w.kept(day)); n != 2 {
		t.Errorf("%d reconciliations of %s, want the schedule's and the operator's", n, day)
	}
	for back := 1; back <= 7; back++ {
		if d := seckill.Day(w.Clock.Now().Add(-10*time.Hour).AddDate(0, 0, -back)); d != day && len(w.kept(d)) != 1 {
			t.Errorf("%s: %v, want it matched once", d, w.kept(d))
		}
	}
	w.drained()
}

// TestWhatAProviderDidBehindTheShopIsListed: half of a payment went back from the console, then its shopper paid once
// more, and each notification of that was lost.
func TestWhatAProviderDidBehindTheShopIsListed(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 2, 1)}})
	w.noMidnight()
	plan := func(shares map[fakegateway.Fault]float64) {
		if err := w.Gateway.SetFaults(fakegateway.Faults{Shares: shares}); err != nil {
			t.Fatal(err)
		}
	}
	plan(map[fakegateway.Fault]float64{fakegateway.RefundPartial: 1})
	_, pay := w.bought("1001", "5")
	w.payAtCashier(pay)
	w.awaitState("1001", "5", seckill.Paid)
	plan(map[fakegateway.Fault]float64{fakegateway.TwoTrades: 1, fakegateway.NotificationLost: 1})
	if a := w.payAtCashier(pay); a.status != 200 || len(w.Gateway.Trades()) != 2 {
		t.Fatalf("paid once more: %v", a)
	}
	day := w.nextMorning()
	list := w.kept(day)
	want := map[seckill.DifferenceKind]int{seckill.RefundForeign: 1, seckill.PaymentNotHere: 1}
	if len(list) != 1 || !maps.Equal(kinds(list[0]), want) {
		t.Fatalf("%v, want %v", list, want)
	}
	if n := w.Meter.Counts()[seckill.EventDifferences]; n != 2 {
		t.Errorf("%d differences counted, want 2", n)
	}
	for _, d := range list[0].(map[string]any)["differences"].([]any) {
		d := d.(map[string]any)
		there := map[any]json.Number{"refund_foreign": "99.50", "payment_not_here": "199.00"}[d["kind"]]
		if d["here"] != json.Number("0.00") || d["there"] != there {
			t.Errorf("%v, want nothing here and %s yuan there", d, there)
		}
	}
	w.drained()
}

// TestBadDays are refused by status and code; nothing is kept of them.
func TestBadDays(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}})
	for _, day := range []string{"yesterday", "2026-02-30", "20260228", "2026-2-1"} {
		for _, method := range []string{"GET", "POST"} {
			if a := w.call("", method, "/_local/reconcile/"+day, nil); a.status != 422 ||
				a.text("code") != string(seckill.CodeInvalid) || a.text("detail") == "" {
				t.Errorf("%s %s: %v", method, day, a)
			}
		}
	}
	tomorrow := seckill.Day(w.Clock.Now().Add(24 * time.Hour))
	if a := w.call("", "POST", "/_local/reconcile/"+tomorrow, nil); a.status != 422 {
		t.Errorf("tomorrow: %v", a)
	}
	if !slices.Equal(w.kept(tomorrow), []any{}) {
		t.Errorf("kept of tomorrow: %v", w.kept(tomorrow))
	}
}

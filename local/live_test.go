package local_test

import (
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/flow/office/watch"
	"github.com/your-org/seckill/shared/seckill"
)

// seen returns what a viewer sees of an item who comes after what was read before is old.
func (w *shopTest) seen(item string) watch.Seen {
	w.t.Helper()
	w.waitIdle()
	w.Clock.Advance(watch.MinuteAge)
	w.waitIdle()
	seen, err := gives[watch.Seen](w, &operator.ReadLive{Item: item})
	if err != nil {
		w.t.Fatal(err)
	}
	return seen
}

// TestLiveFiguresAreTheLedgers plays a small sale and compares each figure with rows, keys and answers once everything
// rests.
func TestLiveFiguresAreTheLedgers(t *testing.T) {
	t.Parallel()
	plan := fakegateway.Faults{Shares: map[fakegateway.Fault]float64{fakegateway.BalanceShort: 1}}
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 4, 1)}, GatewayFaults: plan})
	before := w.seen("7")
	if s := before.Stock.Value; s.Left != 4 || s.Held != 0 || s.State != seckill.ItemOnline || s.Title == "" {
		t.Errorf("before: %+v", s)
	}
	for _, c := range before.Ready {
		if !c.OK && c.Check != "server" { // the embedded stock has none
			t.Errorf("not ready: %+v", c)
		}
	}
	var order string
	for _, user := range []string{"1001", "1002"} {
		var pay string
		order, pay = w.bought(user, "7")
		if a := w.payAtCashier(pay); a.status != 200 {
			t.Fatal(a)
		}
		w.awaitState(user, "7", seckill.Paid)
	}
	w.bought("1003", "7")
	w.pass(seckill.DefaultHold + time.Minute)
	w.awaitState("1003", "7", seckill.Expired)
	w.bought("1004", "7")
	if a := w.buy("1001", "7", 1, ""); a.status == 200 {
		t.Errorf("above the limit: %+v", a)
	}
	if _, err := gives[operator.MoneyChange](w, &operator.Refund{Order: order, Why: "broken"}); err != nil {
		t.Fatal(err)
	}
	seen := w.seen("7")
	var rows, orders int
	for _, row := range w.Rows.Dump("units") {
		if row["bucket"] != "" {
			rows++
		}
	}
	page, err := w.Ledger.OrdersByItem(t.Context(), "7", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	paid, back := 0, 0
	for _, o := range page.Orders {
		orders++
		switch o.State {
		case seckill.Paid, seckill.RefundOwed:
			paid++
		case seckill.Expired:
			back++
		}
	}
	level, err := w.Stock.Level(t.Context(), "7")
	if err != nil {
		t.Fatal(err)
	}
	s, c, m := seen.Stock.Value, seen.Counts.Value, seen.Metrics.Value
	if s.Left != level.Left || s.Held != level.Held || s.Held != rows || s.Awaiting != 0 || s.Stock != 4 {
		t.Errorf("stock %+v, want %+v, %d unit rows", s, level, rows)
	}
	if want := (seckill.Count{Placed: orders, Paid: paid, GivenBack: back}); c.Total != want || rows != orders-back {
		t.Errorf("counts %+v, want %+v", c, want)
	}
	reserved := w.Meter.Counts()[seckill.EventReserved]
	if m.Presses != reserved+1 || m.Requests <= m.Presses || m.Refusals["limit_reached"] != 1 || m.P99 == nil ||
		m.Errors != 0 || *m.Lag != 0 {
		t.Errorf("metrics %+v, %d reserved", m, reserved)
	}
	presses, refused := 0, 0
	for _, minute := range m.Minutes {
		presses, refused = presses+minute.Presses, refused+minute.Refused
	}
	if presses != m.Presses || refused != 1 {
		t.Errorf("by minute %d presses, %d refusals: %+v", presses, refused, m.Minutes)
	}
	open, money := w.open(), seen.Money.Value
	if money.Due != open.Due.Count || money.Refused != open.Refused.Count || money.Refused != 1 {
		t.Errorf("money %+v, want %+v", money, open)
	}
	d, err := w.Closings.Depth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range seen.Queues.Value {
		if q.Visible+q.InFlight+q.Parked != 0 || q.Name == "closings" && q.Delayed != d.Delayed {
			t.Errorf("queue %+v, closings %+v", q, d)
		}
	}
	for name, at := range map[string]time.Time{"stock": seen.Stock.At, "counts": seen.Counts.At,
		"queues": seen.Queues.At, "money": seen.Money.At, "metrics": seen.Metrics.At, "servers": seen.Servers.At} {
		if age := seen.Now.Sub(at); age < 0 || age > time.Second {
			t.Errorf("%s is %v old", name, age)
		}
	}
}

package local_test

import (
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/flow/office/livescreen"
	"github.com/your-org/seckill/shared/seckill"
)

// seen returns what a viewer sees of an item who comes when earlier figures are old.
func (w *shopTest) seen(item string) livescreen.Seen {
	w.t.Helper()
	w.waitIdle()
	w.Clock.Advance(livescreen.MinuteAge)
	w.waitIdle()
	seen, err := gives[livescreen.Seen](w, &operator.ReadLive{Item: item})
	must.OK(w.t, err)
	return seen
}

// TestLiveFiguresOfTraffic compares what a viewer sees of requests with answers, once everything rests.
func TestLiveFiguresOfTraffic(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 4, 1)}})
	for _, c := range w.seen("7").Ready {
		if !c.OK && c.Check != "server" { // the embedded stock has no servers
			t.Errorf("not ready: %+v", c)
		}
	}
	for _, user := range []string{"1001", "1002"} {
		w.bought(user, "7")
	}
	if a := w.buy("1001", "7", 1, ""); a.Status == 200 {
		t.Errorf("above the limit: %+v", a)
	}
	seen := w.seen("7")
	m := seen.Metrics.Value
	reserved := w.Meter.Counts()[seckill.EventReserved]
	if reserved != 2 || m.Presses != reserved+1 || m.Requests <= m.Presses || m.Refusals["limit_reached"] != 1 ||
		m.P99 == nil || m.Errors != 0 || *m.Lag != 0 {
		t.Errorf("metrics %+v, %d reserved", m, reserved)
	}
	presses, refused := 0, 0
	for _, minute := range m.Minutes {
		presses, refused = presses+minute.Presses, refused+minute.Refused
	}
	if presses != m.Presses || refused != 1 {
		t.Errorf("by minute %d presses, %d refusals: %+v", presses, refused, m.Minutes)
	}
	d, err := w.Closings.Depth(t.Context())
	must.OK(t, err)
	for _, q := range seen.Queues.Value {
		if q.Visible+q.InFlight+q.Parked != 0 || q.Name == "closings" && (q.Delayed != d.Delayed || d.Delayed != 2) {
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

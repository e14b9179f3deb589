package local_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/seckill"
)

// noted is a queue that records kind and request id of each message, and drops messages on demand.
type noted struct {
	seckill.Queue
	mu   *sync.Mutex
	sent *[]string
	lose atomic.Bool
}

func (n *noted) Send(ctx context.Context, m seckill.Message, delay time.Duration) error {
	trace := m.Trace
	if m.Kind == seckill.MessageOrder {
		trace = m.Reservation.Trace
	}
	n.mu.Lock()
	*n.sent = append(*n.sent, string(m.Kind)+" "+trace)
	n.mu.Unlock()
	if n.lose.Load() {
		return errors.New("no answer")
	}
	return n.Queue.Send(ctx, m, delay)
}

// unswept is a ledger in which the schedules find nothing to do until the test allows it.
type unswept struct {
	seckill.Ledger
	sweep *atomic.Bool
}

func (l unswept) DueOrders(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[string], error) {
	if !l.sweep.Load() {
		return seckill.Page[string]{}, nil
	}
	return l.Ledger.DueOrders(ctx, shard, now, after, limit)
}

func (l unswept) Returns(ctx context.Context, shard int, after string, limit int) (seckill.Page[seckill.ReturnRow],
	error) {
	if !l.sweep.Load() {
		return seckill.Page[seckill.ReturnRow]{}, nil
	}
	return l.Ledger.Returns(ctx, shard, after, limit)
}

// TestARequestIDSurvivesEveryQueue checks that the messages of an order have the id of the request or schedule that
// caused them.
func TestARequestIDSurvivesEveryQueue(t *testing.T) {
	t.Parallel()
	var sweep atomic.Bool
	var mu sync.Mutex
	var sent []string
	var closings *noted
	w := startChanged(t, local.Options{Items: []seckill.Listing{live("5", 3, 3)}}, func(s *local.System) {
		orders := &noted{Queue: s.Orders, mu: &mu, sent: &sent}
		closings = &noted{Queue: s.Closings, mu: &mu, sent: &sent}
		s.Buy.Orders, s.Repair.Orders, s.Expire.Orders = orders, orders, orders
		s.Consume.Closings, s.Shop.Closings, s.Expire.Closings = closings, closings, closings
		// A minute that ends during the test must not do the messages' work.
		s.Expire.Ledger, s.Repair.Ledger = unswept{s.Ledger, &sweep}, unswept{s.Ledger, &sweep}
	})
	await := func(message string) { // or what begins with it
		t.Helper()
		w.eventually("message "+message, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.ContainsFunc(sent, func(s string) bool { return strings.HasPrefix(s, message) })
		}, func() any {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(sent)
		})
	}
	buy := func() contracttest.Answer { // the server chooses its id, whatever the client sends
		return w.call(w.token("1001"), "POST", "/seckill/buy", map[string]any{"seckill_id": "5", "count": 1,
			"address": address}, "X-Request-Id", "mine", "X-Amzn-Trace-Id", "Root=1-mine")
	}
	id := func(a contracttest.Answer) string { return a.Header.Get("X-Request-Id") }
	a := buy()
	if a.Status != 200 || id(a) == "" || id(a) == "mine" {
		t.Fatal(a, a.Header)
	}
	bought := id(a)
	order := w.awaitState("1001", "5", seckill.PendingPayment).Text("order_id")
	await("order " + bought)
	await("close " + bought)

	if a = w.call(w.token("1001"), "POST", "/order/"+order+"/cancel", nil); a.Status != 200 {
		t.Fatal(a)
	}
	cancelled := id(a)
	await("close " + cancelled)
	await("return " + cancelled)
	w.awaitState("1001", "5", seckill.Cancelled)

	// Without its message an order is closed by the schedule, whose minute is then the request.
	closings.lose.Store(true)
	if a = buy(); a.Status != 200 {
		t.Fatal(a)
	}
	w.awaitState("1001", "5", seckill.PendingPayment)
	sweep.Store(true)
	w.pass(seckill.DefaultHold + seckill.Grace + time.Minute)
	await("return expire@")
	closings.lose.Store(false)

	told := 0 // the first purchase reads the row, the second requests the rebuild
	w.eventually("stock that has forgotten the item", func() bool {
		w.Redis.Flush()
		a = buy() // unless the schedule's repair was faster
		if a.Text("code") == "not_ready" {
			told++
		}
		return told == 2
	}, func() any { return a })
	await("wake " + id(a))
	w.pass(time.Minute)
	w.drained()
}

package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/driver/telemetry"
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

var errOnce = errors.New("fails once")

// hesitantProvider does not answer its first query.
type hesitantProvider struct {
	seckill.Payments
	asked atomic.Bool
}

func (p *hesitantProvider) Query(ctx context.Context, order string) (seckill.Trade, error) {
	if !p.asked.Swap(true) {
		return seckill.Trade{}, errOnce
	}
	return p.Payments.Query(ctx, order)
}

// hesitantStock fails its first return.
type hesitantStock struct {
	seckill.Stock
	asked atomic.Bool
}

func (s *hesitantStock) Return(ctx context.Context, item, order, user string, units []int) error {
	if !s.asked.Swap(true) {
		return errOnce
	}
	return s.Stock.Return(ctx, item, order, user, units)
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

// failures returns queue, order and trace of the log lines about failed messages.
func (l *logs) failures(t *testing.T) []string {
	t.Helper()
	out := []string{}
	for line := range strings.Lines(l.String()) {
		var r struct{ Msg, Queue, Order, Trace string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if r.Msg == "message comes back" {
			out = append(out, fmt.Sprint(r.Queue, " ", r.Order, " ", r.Trace))
		}
	}
	return out
}

// TestARequestIDSurvivesEveryQueue checks that the log connects each step of an order with the request or schedule
// that caused it.
func TestARequestIDSurvivesEveryQueue(t *testing.T) {
	t.Parallel()
	var log logs
	var sweep atomic.Bool
	var mu sync.Mutex
	var sent []string
	var closings *noted
	w := startChanged(t, local.Options{Items: []seckill.Listing{live("5", 3, 3)},
		Log: telemetry.NewLog(&log, slog.LevelInfo)}, func(s *local.System) {
		orders := &noted{Queue: s.Orders, mu: &mu, sent: &sent}
		closings = &noted{Queue: s.Closings, mu: &mu, sent: &sent}
		s.Buy.Orders, s.Repair.Orders, s.Expire.Orders = orders, orders, orders
		s.Consume.Closings, s.Shop.Closings, s.Expire.Closings = closings, closings, closings
		s.Expire.Payments = &hesitantProvider{Payments: s.Payments}
		s.Consume.Stock = &hesitantStock{Stock: s.Stock}
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
	buy := func() answer { // its id is the server's, whatever the client sends
		return w.call(w.token("1001"), "POST", "/seckill/buy", map[string]any{"seckill_id": "5", "count": 1,
			"address": address}, "X-Request-Id", "mine", "X-Amzn-Trace-Id", "Root=1-mine")
	}
	id := func(a answer) string { return a.header.Get("X-Request-Id") }
	a := buy()
	if a.status != 200 || id(a) == "" || id(a) == "mine" {
		t.Fatal(a, a.header)
	}
	bought := id(a)
	order := w.awaitState("1001", "5", seckill.PendingPayment).text("order_id")
	await("order " + bought)
	await("close " + bought)

	if a = w.call(w.token("1001"), "POST", "/order/"+order+"/cancel", nil); a.status != 200 {
		t.Fatal(a)
	}
	cancelled := id(a)
	await("close " + cancelled)
	said := func(want ...string) {
		t.Helper()
		w.eventually("log", func() bool {
			return slices.Equal(log.failures(t), want)
		}, func() any { return log.failures(t) })
	}
	said("closings " + order + " " + cancelled)
	w.pass(2 * time.Second) // the first backoff
	await("return " + cancelled)
	said("closings "+order+" "+cancelled, "orders "+order+" "+cancelled)
	w.pass(2 * time.Second)
	w.awaitState("1001", "5", seckill.Cancelled)

	// Without its message an order is closed by the schedule, whose minute is then the request.
	closings.lose.Store(true)
	if a = buy(); a.status != 200 {
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
		if a.text("code") == "not_ready" {
			told++
		}
		return told == 2
	}, func() any { return a })
	await("wake " + id(a))
	w.pass(time.Minute)
	w.drained()
}

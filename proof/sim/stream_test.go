package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// webhookGets gives the world a webhook, and it these changes of the first order.
func webhookGets(w *World, sequences ...int) {
	w.hasWebhook = true
	o, _ := w.ledger.Order(ctx, w.id("1"))
	for _, n := range sequences {
		w.posted(&(&seckill.OrderChange{Order: o}).Events()[n-1])
	}
}

// TestStreamChecksSee breaks what I14 and I15 promise, and expects it to be reported at rest at the latest.
func TestStreamChecksSee(t *testing.T) {
	skip := func(w *World) {
		for shard := range w.stream.shards {
			w.stream.next[shard] = len(w.stream.shards[shard])
		}
	}
	event := func(w *World, change func(*seckill.OrderEvent)) {
		o, _ := w.ledger.Order(ctx, w.id("1"))
		e := (&seckill.OrderChange{Order: o}).Events()[0]
		change(&e)
		bus{w, w.plain}.Publish(ctx, []seckill.OrderEvent{e})
	}
	for _, tt := range []struct {
		want, what string
		corrupt    func(w *World, i *Instance)
	}{
		{"I14 change 1 of", "a change that the stream never had", func(w *World, i *Instance) { skip(w) }},
		{"tells no change", "an event beyond the history", func(w *World, i *Instance) {
			event(w, func(e *seckill.OrderEvent) { e.Sequence = 3 })
		}},
		{"tells no change", "an event of no order", func(w *World, i *Instance) {
			event(w, func(e *seckill.OrderEvent) { e.Order = w.id("2") })
		}},
		{"which did not happen", "an event with another state", func(w *World, i *Instance) {
			event(w, func(e *seckill.OrderEvent) { e.State = seckill.Paid })
		}},
		{"which did not happen", "an event of another time", func(w *World, i *Instance) {
			event(w, func(e *seckill.OrderEvent) { e.At = e.At.Add(time.Millisecond) })
		}},
		{"the webhook got 1", "a change that the webhook did not get", func(w *World, i *Instance) {
			webhookGets(w, 1)
			_ = w.ledger.SaveWebhook(ctx, seckill.Webhook{Order: w.id("1"), Known: 2, Sent: 2})
		}},
		{"of what was before only 0", "changes that the webhook gets in another order", func(w *World, i *Instance) {
			webhookGets(w, 2)
		}},
		{"is given up", "an event that is given up at once", func(w *World, i *Instance) {
			webhookGets(w)
			_ = w.ledger.SaveWebhook(ctx, seckill.Webhook{Order: w.id("1"), Known: 2, GivenUp: true,
				Due: w.Clock.Now()})
		}},
		{"I15 item 1001 counts {Placed:0", "a change that is told and not counted", func(w *World, i *Instance) {
			_, _ = i.Tell.Again(ctx, w.id("1"))
			skip(w)
		}},
		{"I15 item 1001 counts {Placed:4", "a change that counts twice", func(w *World, i *Instance) {
			_ = i.readAll()
			c, _ := w.ledger.Counts(ctx, "1001")
			_ = w.ledger.AddCounts(ctx, c, seckill.Addition{Total: c.Total, Minutes: c.Minutes,
				Orders: []seckill.CountedOrder{{Order: "o", Sequence: 1}}})
		}},
		{"I15 item 1001 counts", "a change in another minute", func(w *World, i *Instance) {
			_ = i.readAll()
			_ = w.Rows.Transact(ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableCounts, PK: "1001"},
				Op: ledger.OpUpdate, Add: map[string]int64{"p00000001": 1}}})
		}},
	} {
		w := newTestWorld(t, 5, 2)
		do(t, w, steps(placed("1", 2), opened("1"), paid("1"), notified)) // then nothing changes any more
		tt.corrupt(w, w.Start(nil))
		if err := w.Drain(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the checks say %v, want %q", tt.what, err, tt.want)
		}
	}
}

package sim

import (
	"context"
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

// endpoint is the webhook of the shop's own systems.
type endpoint struct {
	w    *World
	hook Hook
}

// Post implements seckill.Endpoint.
func (e endpoint) Post(_ context.Context, event *seckill.OrderEvent) error {
	if _, again := e.w.postedAt[event.ID()]; !again {
		e.w.postedAt[event.ID()] = e.w.Clock.Now()
	}
	return e.hook("webhook.Post", func() error {
		if e.w.webhookDead {
			return errFault
		}
		e.w.posted(event)
		return nil
	})
}

// posted records that an event arrived, and checks I14: it happened, and what happened to its order before arrived
// before.
func (w *World) posted(e *seckill.OrderEvent) {
	if !w.happened(e) {
		return
	}
	if e.Sequence > w.arrived[e.Order]+1 {
		w.truth.fail("I14 the webhook gets event %s, and of what was before only %d", e.ID(), w.arrived[e.Order])
	}
	w.arrived[e.Order] = max(w.arrived[e.Order], e.Sequence)
}

// givenUp hears that the next event of an order is given up.
func (w *World) givenUp(order string) {
	if row, err := w.ledger.Webhook(context.Background(), order); err == nil && row.GivenUp {
		w.checkGivenUp(row.Order, row.Sent)
	}
}

// checkGivenUp checks I14: the next event of an order is given up a day after its first post, by clocks that are off.
func (w *World) checkGivenUp(order string, sent int) {
	id := (&seckill.OrderEvent{Order: order, Sequence: sent + 1}).ID()
	at, posted := w.postedAt[id]
	if !posted || w.Clock.Now().Sub(at) < seckill.WebhookPatience-2*seckill.SkewBound {
		w.truth.fail("I14 event %s, posted first at %s, is given up", id, at)
	}
}

// checkPosted checks I14 at rest: the webhook has every change.
func (w *World) checkPosted() error {
	if !w.hasWebhook {
		return nil
	}
	for _, id := range w.truth.list {
		if n := len(w.truth.orders[id].history); w.arrived[id] != n {
			return fmt.Errorf("I14 of %d changes of order %s the webhook got %d", n, id, w.arrived[id])
		}
	}
	return nil
}

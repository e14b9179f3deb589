package sim

import (
	"context"
	"errors"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// bus keeps the events that the other systems get.
type bus struct {
	w    *World
	hook Hook
}

// Publish implements seckill.Bus.
func (b bus) Publish(_ context.Context, events []seckill.OrderEvent) []error {
	errs := make([]error, len(events))
	err := b.hook("bus.Publish", func() error {
		for i := range events {
			if b.w.refusesEvent(i) {
				errs[i] = errFault
				continue
			}
			b.w.hear(&events[i])
		}
		return nil
	})
	for i := range errs {
		errs[i] = errors.Join(errs[i], err)
	}
	return errs
}

// hear records an event and checks I14.
func (w *World) hear(e *seckill.OrderEvent) {
	if !w.happened(e) {
		return
	}
	heard := w.heardOf[e.Order]
	for len(heard) < e.Sequence {
		heard = append(heard, false)
	}
	heard[e.Sequence-1] = true
	w.heardOf[e.Order] = heard
}

// happened checks I14: an event is a change that happened. It returns false for an event of no order.
func (w *World) happened(e *seckill.OrderEvent) bool {
	o := w.truth.orders[e.Order]
	if o == nil || e.Sequence < 1 || e.Sequence > len(o.history) {
		w.truth.fail("I14 event %s tells no change of an order", e.ID())
		return false
	}
	entry := strings.TrimSuffix(e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00")+" "+string(e.State)+" "+e.Cause, " ")
	from := ""
	if e.Sequence > 1 {
		from = strings.Fields(o.history[e.Sequence-2])[1]
	}
	if entry != o.history[e.Sequence-1] || string(e.From) != from || e.Item != o.item || e.User != o.user ||
		e.Count != o.count || e.State == seckill.Rejected && e.Reason != o.reason {
		w.truth.fail("I14 event %s tells %q after %q, %d of item %s of shopper %s, which did not happen", e.ID(), entry,
			e.From, e.Count, e.Item, e.User)
	}
	return true
}

// Package tell tells other systems what happened to orders. In: changes of order rows, from the orders table's stream
// or read anew from the ledger. Out: an event for each new entry of an order's history, on the bus, at least once.
// It touches only the bus.
//
// The hot path knows nothing of it: a change is durable before it is told, and a bus that does not answer delays
// events, not orders.
package tell

import (
	"context"
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

// Deps are the step's dependencies.
type Deps struct {
	Bus    seckill.Bus
	Ledger Ledger
	Meter  seckill.Meter
}

// Ledger is the part of the ledger that the step tell reads, to tell an order's changes again.
type Ledger interface {
	seckill.OrderReader
	seckill.OrderLister
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Changes publishes the events of changes and returns how many changes, counted from the first one, are told whole.
// With an error the caller passes the remaining changes again.
func (f *Flow) Changes(ctx context.Context, changes []seckill.OrderChange) (told int, err error) {
	var events []seckill.OrderEvent
	var of []int // which change each event belongs to
	for i := range changes {
		for _, e := range changes[i].Events() {
			events, of = append(events, e), append(of, i)
		}
	}
	failed, err := f.publish(ctx, events)
	if err != nil {
		return of[failed], err
	}
	return len(changes), nil
}

// publish sends events in batches, oldest first. It stops after the first batch with a fault and returns the index of
// the first event that has to be sent again.
func (f *Flow) publish(ctx context.Context, events []seckill.OrderEvent) (failed int, err error) {
	for begin := 0; begin < len(events); begin += seckill.MaxEvents {
		batch := events[begin:min(begin+seckill.MaxEvents, len(events))]
		for i, err := range f.Bus.Publish(ctx, batch) {
			if err != nil {
				return begin + i, fmt.Errorf("tell %s: %w", batch[i].ID(), err)
			}
		}
		f.Meter.Count(seckill.EventTold, len(batch))
	}
	return len(events), nil
}

// Unreadable counts a change that this code cannot read: a person has to mend the row and tell the order again.
func (f *Flow) Unreadable() { f.Meter.Count(seckill.EventUntold, 1) }

// Again tells every change of an order once more, and returns how many. The error is an *seckill.Error:
// CodeOrderUnknown.
func (f *Flow) Again(ctx context.Context, order string) (changes int, err error) {
	o, err := seckill.ReadOrder(ctx, f.Ledger, order)
	if err == nil {
		_, err = f.Changes(ctx, []seckill.OrderChange{{Order: o}})
	}
	if err != nil {
		return 0, seckill.AsError(err)
	}
	return len(o.History), nil
}

// Delivery returns the order, with the address to ship to. The error is an *seckill.Error: CodeOrderUnknown.
func (f *Flow) Delivery(ctx context.Context, order string) (seckill.Order, error) {
	return seckill.ReadOrder(ctx, f.Ledger, order)
}

// pageOrders is how many orders one step of Replay reads.
const pageOrders = 200

// Step is the result of one step of Replay.
type Step struct {
	Orders  int    // orders read
	Changes int    // told once more
	Next    string // where the next step begins; "" after the last
}

// Replay tells the changes that an item's orders had on a day once more, one page of orders per call. after is "" or
// an earlier step's Next. The error is an *seckill.Error.
func (f *Flow) Replay(ctx context.Context, item, day, after string) (Step, error) {
	page, err := f.Ledger.OrdersByItem(ctx, item, after, pageOrders)
	if err != nil {
		return Step{}, seckill.AsError(err)
	}
	var events []seckill.OrderEvent
	for i := range page.Orders {
		c := seckill.OrderChange{Order: page.Orders[i]}
		for _, e := range c.Events() {
			if seckill.Day(e.At) == day {
				events = append(events, e)
			}
		}
	}
	if _, err := f.publish(ctx, events); err != nil {
		return Step{}, seckill.AsError(err)
	}
	return Step{Orders: len(page.Orders), Changes: len(events), Next: page.Next}, nil
}

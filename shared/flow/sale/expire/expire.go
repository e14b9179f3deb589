// Package expire closes orders: unpaid ones whose hold has ended, and those that their shoppers cancelled. It also ends
// those that were shipped: received after 15 days, completed 7 days later. In: a delivery from the closings queue, or a
// schedule (each minute). Out: an order that is paid, has given its units back, or moved on after shipping. It asks the
// payment provider and writes the ledger; it never touches the stock: a return row and a message tell consume.
package expire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/payment"
	"github.com/your-org/seckill/shared/flow/internal/sweep"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a run.
const (
	pageRows   = 100 // orders per read of a sweep
	maxAsks    = 3   // rounds of query and close per order
	retryAfter = time.Minute

	// MaxRounds is how often an order's closing message may come to this step. The queue delays it each time: by
	// MaxDelay, the last time by less. AWS stops such a chain after about 16, so infra/money.yaml has to allow it.
	MaxRounds = int((seckill.MaxHold+seckill.Grace)/seckill.MaxDelay) + 1
)

// Ledger is the part of the ledger that the step expire calls.
type Ledger interface {
	payment.Ledger
	seckill.OrderCloser
	seckill.OrderExpirer
	seckill.DueLister
	seckill.Fulfiller
	seckill.FulfilLister
}

// Deps are the step's dependencies.
type Deps struct {
	Ledger   Ledger
	Payments seckill.Payments
	Orders   seckill.Queue
	Closings seckill.Queue
	Clock    seckill.Clock
	Meter    seckill.Meter
}

// Flow is one instance of the step. It remembers only where a sweep that ran out of time stopped. Only one sweep at a
// time.
type Flow struct {
	Deps
	recorder payment.Recorder
	due      sweep.Sweep[string]
	sent     sweep.Sweep[string] // shipped and received orders
}

// New returns an instance.
func New(d Deps) *Flow {
	f := &Flow{Deps: d, recorder: payment.Recorder{Ledger: d.Ledger, Clock: d.Clock, Meter: d.Meter}}
	f.due, f.sent = sweep.Sweep[string]{Meter: d.Meter}, sweep.Sweep[string]{Meter: d.Meter}
	return f
}

// Handle checks the order of one message. After nil the caller deletes the message; after an error the queue delivers
// it again after a delay.
func (f *Flow) Handle(ctx context.Context, d seckill.Delivery) error {
	m, err := seckill.DecodeMessage(d.Body)
	if err == nil && m.Kind != seckill.MessageClose {
		err = fmt.Errorf("a %s message on the closings queue", m.Kind)
	}
	if err != nil {
		f.Meter.Count(seckill.EventParked, 1)
		return f.Closings.Park(ctx, d, err.Error())
	}
	if err = f.look(ctx, m.Order, true); err != nil {
		_ = f.Closings.Delay(ctx, d, d.Backoff())
	}
	return err
}

// Sweep checks every due order, so that an order whose message was lost closes too; then it moves on what was shipped
// or received long enough ago.
func (f *Flow) Sweep(ctx context.Context) error {
	now := f.Clock.Now()
	return errors.Join(f.due.Run(ctx, now, f.page, f.each), f.sent.Run(ctx, now, f.sentPage, f.moveOn))
}

func (f *Flow) page(ctx context.Context, shard int, now time.Time, after string) (seckill.Page[string], error) {
	return f.Ledger.DueOrders(ctx, shard, now, after, pageRows)
}

func (f *Flow) each(ctx context.Context, id string) error {
	if err := f.look(ctx, id, false); err != nil {
		// Reschedule it: orders for which the provider does not answer must not use up every run's time.
		_ = f.Ledger.Reschedule(ctx, id, f.Clock.Now().Add(retryAfter))
		return fmt.Errorf("order %s: %w", id, err)
	}
	return nil
}

// look does what the order needs now. If again is set and the message is early, look sends a new one.
func (f *Flow) look(ctx context.Context, id string, again bool) error {
	o, err := f.Ledger.Order(ctx, id)
	if errors.Is(err, seckill.ErrNoOrder) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.State == seckill.PendingPayment {
		now := f.Clock.Now()
		if now.Before(o.Due()) {
			// The message goes round this step until the hold is over: MaxRounds times at most, whatever the row says.
			// The sweep closes what is still open then.
			if again && now.Before(o.Placed.Add(seckill.MaxHold+seckill.Grace)) {
				m := seckill.Message{Kind: seckill.MessageClose, Order: id, Trace: seckill.Trace(ctx)}
				return f.Closings.Send(ctx, m, min(o.Due().Sub(now), seckill.MaxDelay))
			}
			return nil
		}
		switch err := f.Ledger.BeginClosing(ctx, o, seckill.Expired, now, "not paid in time"); {
		case err == nil:
			f.Meter.Count(seckill.EventClosing, 1)
			o.State, o.CloseTo = seckill.Closing, seckill.Expired
		case errors.Is(err, seckill.ErrStateChanged): // it was paid or cancelled meanwhile; the next read shows which
			if o, err = f.Ledger.Order(ctx, id); err != nil {
				return err
			}
		default:
			return err
		}
	}
	if o.State != seckill.Closing {
		return nil
	}
	return f.finish(ctx, o)
}

// finish closes the order: paid if the provider has the money; given back if the provider confirms that it never
// will. A missing answer proves neither.
func (f *Flow) finish(ctx context.Context, o seckill.Order) error {
	for range maxAsks {
		t, err := f.Payments.Query(ctx, o.ID)
		if err != nil {
			return f.unknown(err)
		}
		if t.State == seckill.TradePaid {
			return f.recorder.Record(ctx, o.ID, t.TradeNo, t.Amount, "query")
		}
		if t.State != seckill.TradeClosed {
			answer, err := f.Payments.Close(ctx, o.ID)
			if err != nil {
				return f.unknown(err)
			}
			over := o.CloseTo == seckill.Cancelled || !f.Clock.Now().Before(o.Due())
			switch {
			case answer == seckill.CloseDone:
				// A query before the close is not enough: another trade of the order may have been paid in between.
				t, err := f.Payments.Query(ctx, o.ID)
				if err != nil {
					return f.unknown(err)
				}
				if t.State == seckill.TradePaid {
					return f.recorder.Record(ctx, o.ID, t.TradeNo, t.Amount, "query")
				}
			case answer == seckill.CloseMissing && over:
			default:
				continue // a refused close proves nothing: query again and act on that answer
			}
		}
		return f.giveBack(ctx, o)
	}
	return f.unknown(fmt.Errorf("expire: the provider neither has the money of order %s nor closes its trade", o.ID))
}

func (f *Flow) unknown(err error) error {
	f.Meter.Count(seckill.EventUnknown, 1)
	return err
}

func (f *Flow) giveBack(ctx context.Context, o seckill.Order) error {
	err := f.Ledger.GiveBack(ctx, o, f.Clock.Now(), "trade closed")
	if errors.Is(err, seckill.ErrStateChanged) {
		return nil // paid meanwhile, or given back by another delivery
	}
	if err != nil {
		return err
	}
	if o.CloseTo == seckill.Cancelled {
		f.Meter.Count(seckill.EventCancelled, 1)
	} else {
		f.Meter.Count(seckill.EventExpired, 1)
	}
	// The return row guarantees the return; this message only speeds it up. Without it, repair finishes the return
	// within a minute.
	_ = f.Orders.Send(ctx, seckill.Message{Kind: seckill.MessageReturn, Order: o.ID, Trace: seckill.Trace(ctx)}, 0)
	return nil
}

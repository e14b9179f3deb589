// Package deliver posts what happened to orders to the shop's endpoint. In: changes of order rows, from the orders
// table's stream or read anew from the ledger, and a schedule (each minute). Out: each entry of an order's history as
// an event at the endpoint, at least once, those of one order one after the other. It touches the deliveries of the
// ledger and the endpoint.
//
// A change first makes its order due in the ledger; only then is it posted. So nothing is lost with a process, and an
// endpoint that does not answer delays events, not orders.
package deliver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/sweep"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	pageRows = 100 // orders per read of a sweep
	maxRaces = 8   // attempts at a row that others write
)

// Deps are the step's dependencies.
type Deps struct {
	Ledger   Ledger
	Endpoint seckill.Endpoint
	Clock    seckill.Clock
	Meter    seckill.Meter
	// Each calls do for 0 to n-1, several at once, and returns when all have ended: as many orders as it runs at once
	// have to be slow before they delay others.
	Each func(n int, do func(i int))
	// GivenUp, if set, receives each order that was posted in vain for seckill.WebhookPatience.
	GivenUp func(ctx context.Context, order string, err error)
}

// Ledger is the part of the ledger that the step deliver calls.
type Ledger interface {
	seckill.OrderReader
	seckill.WebhookKeeper
}

// Flow is one instance of the step. It remembers only where a sweep that ran out of time stopped. It is safe for
// concurrent use.
type Flow struct {
	Deps
	due sweep.Sweep[[]seckill.Webhook]
}

// New returns an instance.
func New(d Deps) *Flow {
	return &Flow{Deps: d, due: sweep.Sweep[[]seckill.Webhook]{Meter: d.Meter}}
}

// Changes makes the orders of changes due and posts their events. It returns how many changes, counted from the first
// one, are safe in the ledger; with an error the caller passes the remaining changes again. A failed post is not an
// error: the sweep repeats it. After a failed post Changes posts nothing more, so that a dead endpoint does not hold up
// the stream.
func (f *Flow) Changes(ctx context.Context, changes []seckill.OrderChange) (done int, err error) {
	var opened []seckill.Webhook
	var of []*seckill.Order
	for i := range changes {
		o := &changes[i].Order
		w, first, err := f.open(ctx, o.ID, len(o.History))
		if err != nil {
			return i, err
		}
		if first {
			opened, of = append(opened, w), append(of, o)
		}
	}
	var dead atomic.Bool
	f.Each(len(opened), func(i int) {
		if !dead.Load() && f.post(ctx, opened[i], *of[i]) != nil {
			dead.Store(true)
		}
	})
	return len(changes), nil
}

// open records that an order's history has this many entries. It returns first as true if nothing was due: then the
// caller may post the order for seckill.WebhookLease.
func (f *Flow) open(ctx context.Context, order string, entries int) (w seckill.Webhook, first bool, err error) {
	err = f.change(ctx, order, &w, func(w *seckill.Webhook) bool {
		idle := w.Due.IsZero() || w.GivenUp
		grown := w.Grow(entries, f.Clock.Now().Add(seckill.WebhookLease))
		first = idle && grown
		return grown
	})
	if err != nil {
		return w, false, fmt.Errorf("open the delivery of order %s: %w", order, err)
	}
	return w, first, nil
}

// change reads an order's row and writes it as do changes it, or writes nothing if do returns false. If others wrote
// the row meanwhile, it starts again.
func (f *Flow) change(ctx context.Context, order string, w *seckill.Webhook, do func(*seckill.Webhook) bool) error {
	var err error
	for range maxRaces {
		if *w, err = f.Ledger.Webhook(ctx, order); err != nil {
			return err
		}
		if !do(w) {
			return nil
		}
		if err = f.save(ctx, w); !errors.Is(err, seckill.ErrStateChanged) {
			return err
		}
	}
	return err
}

func (f *Flow) save(ctx context.Context, w *seckill.Webhook) error {
	err := f.Ledger.SaveWebhook(ctx, *w)
	if err == nil {
		w.Writes++
	}
	return err
}

// Sweep posts what is due, page by page, several orders at once.
func (f *Flow) Sweep(ctx context.Context) error {
	return f.due.Run(ctx, f.Clock.Now(), f.page, f.each)
}

func (f *Flow) page(ctx context.Context, shard int, now time.Time, after string) (seckill.Page[[]seckill.Webhook],
	error) {
	p, err := f.Ledger.WebhooksDue(ctx, shard, now, after, pageRows)
	out := seckill.Page[[]seckill.Webhook]{Unreadable: p.Unreadable, Next: p.Next}
	if len(p.Rows) > 0 {
		out.Rows = [][]seckill.Webhook{p.Rows}
	}
	return out, err
}

func (f *Flow) each(ctx context.Context, due []seckill.Webhook) error {
	var errs sweep.Errors
	var mu sync.Mutex
	f.Each(len(due), func(i int) {
		if ctx.Err() != nil {
			return // the rest stays due
		}
		err := f.post(ctx, due[i], seckill.Order{})
		if errors.Is(err, seckill.ErrStateChanged) || errors.Is(err, errEndpoint) {
			return // another sweep has the order, or the index lagged; or the row says when the next post is due
		}
		mu.Lock()
		defer mu.Unlock()
		errs.Add(err)
	})
	return errs.Join()
}

// errEndpoint: the endpoint did not acknowledge an event. The row has the next attempt.
var errEndpoint = errors.New("deliver: not acknowledged")

// post sends the events of an order until all that are known are acknowledged. It first takes the order, unless the
// caller has it for long enough, and reads it, unless the caller knows enough of it. ErrStateChanged: somebody else has
// it.
func (f *Flow) post(ctx context.Context, w seckill.Webhook, o seckill.Order) error {
	for w.Sent < w.Known {
		if now := f.Clock.Now(); w.Due.Before(now.Add(seckill.PostTimeout)) {
			w.Due = now.Add(seckill.WebhookLease)
			if err := f.save(ctx, &w); err != nil {
				return err
			}
		}
		e, ok := w.Next(&o)
		if !ok {
			var err error
			if o, err = f.Ledger.Order(ctx, w.Order); err != nil {
				return fmt.Errorf("order %s: %w", w.Order, err)
			}
			if e, ok = w.Next(&o); !ok {
				return fmt.Errorf("order %s: its history has %d entries, want %d", w.Order, len(o.History), w.Known)
			}
		}
		err := f.Endpoint.Post(ctx, &e)
		// If this call's time is up, nothing is recorded: that is not a failure of the endpoint.
		if err := f.record(ctx, &w, err); err != nil {
			return err
		}
	}
	return nil
}

// record writes the outcome of a post. It writes nothing if the order has another next event by now: then whoever holds
// the order has recorded the outcome.
func (f *Flow) record(ctx context.Context, w *seckill.Webhook, failure error) error {
	sent, written := w.Sent, false
	outcome := func(w *seckill.Webhook) bool {
		if w.Sent != sent {
			return false
		}
		now := f.Clock.Now()
		if failure == nil {
			w.Acknowledged(now.Add(seckill.WebhookLease))
		} else {
			w.Failed(now)
		}
		written = true
		return true
	}
	first := *w // as read: most rows are written by nobody else, so that this saves a read
	outcome(&first)
	err := f.save(ctx, &first)
	if *w = first; errors.Is(err, seckill.ErrStateChanged) {
		written = false
		err = f.change(ctx, w.Order, w, outcome)
	}
	switch {
	case err != nil:
		return fmt.Errorf("record event %d of order %s: %w", sent+1, w.Order, err)
	case !written:
		return seckill.ErrStateChanged
	case failure == nil:
		f.Meter.Count(seckill.EventPosted, 1)
		return nil
	}
	f.Meter.Count(seckill.EventPostFailed, 1)
	if w.GivenUp {
		f.Meter.Count(seckill.EventGivenUp, 1)
		if f.GivenUp != nil {
			f.GivenUp(ctx, w.Order, failure)
		}
	}
	return fmt.Errorf("%w: event %d of order %s: %w", errEndpoint, sent+1, w.Order, failure)
}

// Unreadable counts a change that this code cannot read: a person has to mend the row and have it looked at again.
func (f *Flow) Unreadable() { f.Meter.Count(seckill.EventUntold, 1) }

// Look makes orders due whose history has grown while nothing read the stream. It posts nothing; the sweep posts their
// events.
func (f *Flow) Look(ctx context.Context, orders []seckill.Order) error {
	for i := range orders {
		var w seckill.Webhook
		o := &orders[i]
		if err := f.change(ctx, o.ID, &w, func(w *seckill.Webhook) bool {
			return w.Grow(len(o.History), f.Clock.Now())
		}); err != nil {
			return fmt.Errorf("order %s: %w", o.ID, err)
		}
	}
	return nil
}

// Resume makes every order that was given up due again, and returns how many.
func (f *Flow) Resume(ctx context.Context) (orders int, err error) {
	for after := ""; ; {
		page, err := f.Ledger.WebhooksGivenUp(ctx, after, pageRows)
		if err != nil {
			return orders, err
		}
		for _, row := range page.Rows {
			resumed := false
			if err := f.change(ctx, row.Order, &row, func(w *seckill.Webhook) bool {
				resumed = w.Resume(f.Clock.Now())
				return resumed
			}); err != nil {
				return orders, fmt.Errorf("order %s: %w", row.Order, err)
			}
			if resumed {
				orders++
			}
		}
		if after = page.Next; after == "" {
			return orders, errors.Join(page.Unreadable...)
		}
	}
}

// Package consume handles the messages of the orders queue: it places reservations in the ledger, takes returned
// units back into the stock, and starts rebuilds. In: one delivery. Out: nil if the message is finished and may be
// deleted, or an error if it must be delivered again. It touches ledger, stock, items and both queues, never the
// payment provider.
package consume

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/itemcache"
	"github.com/your-org/seckill/shared/flow/internal/upkeep"
	"github.com/your-org/seckill/shared/seckill"
)

// maxDraws is how many units one delivery draws before it leaves the rest to the next delivery: after Redis restores
// an old snapshot, many units collide.
const maxDraws = 20

// Repairer is the part of the repair flow that the step consume calls.
type Repairer interface {
	Wake(ctx context.Context, m seckill.Message) error
}

// Ledger is the part of the ledger that the step consume calls.
type Ledger interface {
	seckill.OrderReader
	seckill.OrderPlacer
	seckill.OrderCloser
	seckill.ReturnKeeper
}

// Deps are the step's dependencies.
type Deps struct {
	Stock    seckill.ReservationKeeper
	Ledger   Ledger
	Items    seckill.Items
	Grouping seckill.Grouping
	Orders   seckill.Queue
	Closings seckill.Queue
	Clock    seckill.Clock
	Meter    seckill.Meter
	Repair   Repairer
	Hold     time.Duration // how long an unpaid order keeps its units
	// KeepNetworks makes an order keep the network address that bought it (ADR 50). Buy has the same setting;
	// messages that are older than a change of the setting may have an address.
	KeepNetworks bool
}

// Flow is one instance of the step. It is safe for concurrent use.
type Flow struct {
	Deps
	items      *itemcache.Cache
	activities activities
}

// New returns an instance.
func New(d Deps) *Flow { return &Flow{Deps: d, items: itemcache.New(d.Items, d.Clock)} }

// errLater means that the message must be delivered again and that nothing failed.
var errLater = errors.New("consume: not yet")

// Handle processes one message. After nil the caller deletes the message. After an error the queue delivers it again,
// after the delay that Handle set; no fault loses it.
func (f *Flow) Handle(ctx context.Context, d seckill.Delivery) error {
	m, err := seckill.DecodeMessage(d.Body)
	if err != nil {
		return f.park(ctx, d, err.Error())
	}
	switch m.Kind {
	case seckill.MessageOrder:
		err = f.order(ctx, d, m.Reservation)
	case seckill.MessageReturn:
		err = f.giveBack(ctx, m.Order)
	case seckill.MessageWake:
		err = f.Repair.Wake(ctx, m)
	default:
		return f.park(ctx, d, "a "+string(m.Kind)+" message on the orders queue")
	}
	if err != nil {
		_ = f.Orders.Delay(ctx, d, d.Backoff()) // if this fails, the message returns after its visibility timeout
	}
	return err
}

func (f *Flow) park(ctx context.Context, d seckill.Delivery, reason string) error {
	f.Meter.Count(seckill.EventParked, 1)
	return f.Orders.Park(ctx, d, reason)
}

// order places a reservation: transaction, closing message, confirm. It ends the same way whatever an earlier
// delivery has already done.
func (f *Flow) order(ctx context.Context, d seckill.Delivery, m seckill.Reservation) error {
	_, _, err := f.items.Get(ctx, m.Item)
	if seckill.CodeOf(err) == seckill.CodeItemUnknown {
		return f.park(ctx, d, "order for an unknown item")
	}
	if err != nil {
		return err
	}
	activity := f.activity(ctx, m.Item)
	if f.Clock.Now().Sub(m.Created) >= seckill.MaxUnplaced {
		return f.reject(ctx, m, seckill.CodeUnavailable)
	}
	for range maxDraws {
		if len(m.Units) < m.Count {
			next, done, err := f.redraw(ctx, m, seckill.Collision{})
			if done || err != nil {
				return err
			}
			m = next
			continue
		}
		it, checked, err := f.items.Get(ctx, m.Item)
		if err != nil {
			return err
		}
		if it.Stopped {
			return f.reject(ctx, m, seckill.CodeStopped)
		}
		if !f.items.Fresh(checked) {
			continue // this copy of the item is too old to place an order from (I10): read it again
		}
		now := f.Clock.Now()
		o := f.newOrder(m, it, now)
		o.Activity = activity
		err = f.Ledger.Place(ctx, o, it.Limit)
		var hit *seckill.Collision
		switch {
		case err == nil:
			f.Meter.Count(seckill.EventPlaced, 1)
			if err := f.sendClosing(ctx, &o, now); err != nil {
				return err
			}
			return f.confirm(ctx, it, decided(&o))
		case errors.Is(err, seckill.ErrOrderExists):
			return f.byRow(ctx, m)
		case errors.Is(err, seckill.ErrBlocked):
			return f.reject(ctx, m, seckill.CodeBlocked)
		case errors.Is(err, seckill.ErrQuota):
			return f.reject(ctx, m, seckill.CodeLimitReached)
		case errors.Is(err, seckill.ErrNoSession):
			return f.reject(ctx, m, seckill.CodeToken)
		case errors.As(err, &hit):
			f.Meter.Count(seckill.EventCollided, 1)
			next, done, err := f.redraw(ctx, m, *hit)
			if done || err != nil {
				return err
			}
			m = next
		default:
			return err
		}
	}
	return errLater
}

func (f *Flow) newOrder(m seckill.Reservation, it *seckill.Item, now time.Time) seckill.Order {
	if !f.KeepNetworks {
		m.Network = netip.Addr{}
	}
	return seckill.Order{
		ID: m.Order, Item: m.Item, User: m.User, Count: m.Count, Units: m.Units, Price: it.Price,
		Amount: it.Price * seckill.Fen(m.Count), Given: m.Given, State: seckill.PendingPayment,
		Created: m.Created, Placed: now,
		PayBy: now.Add(f.Hold).Truncate(time.Second), Title: it.Commodity.Title,
		ListPrice: it.Commodity.Price, Cover: it.Cover, Options: it.Variant.Options, Span: it.Variant.Span(),
		ItemVersion: it.Version, Buckets: it.Buckets,
		History: []seckill.Change{{State: seckill.PendingPayment, At: now, Cause: "placed"}},
	}
}

// redraw asks the stock for other units. It returns done if the reservation need not be placed any more; then err is
// the message's outcome.
func (f *Flow) redraw(ctx context.Context, m seckill.Reservation, c seckill.Collision) (next seckill.Reservation,
	done bool, err error) {
	code, next, err := f.Stock.Redraw(ctx, f.Clock.Now(), m, c, seckill.Resend)
	if err != nil {
		return m, true, err
	}
	switch code {
	case seckill.RedrawUnits:
		f.Meter.Count(seckill.EventRedrawn, 1)
		next.Trace = m.Trace
		return next, false, nil
	case seckill.RedrawConfirmed:
		return m, true, f.byRow(ctx, m)
	case seckill.RedrawNone:
		return m, true, f.reject(ctx, m, seckill.CodeSoldOut)
	case seckill.RedrawWait:
		return m, true, errLater
	}
	return m, true, fmt.Errorf("consume: redraw answered %q", code)
}

// reject writes the rejected order first, so that a late message finds the id taken, and then frees its units.
func (f *Flow) reject(ctx context.Context, m seckill.Reservation, reason seckill.Code) error {
	now := f.Clock.Now()
	o := seckill.Order{
		ID: m.Order, Item: m.Item, User: m.User, Count: m.Count, Given: m.Given, State: seckill.Rejected,
		Created: m.Created, Activity: f.activity(ctx, m.Item),
		Placed: now, Reason: reason, History: []seckill.Change{{State: seckill.Rejected, At: now,
			Cause: string(reason)}},
	}
	err := f.Ledger.Reject(ctx, o)
	if errors.Is(err, seckill.ErrOrderExists) {
		return f.byRow(ctx, m)
	}
	if err != nil {
		return err
	}
	f.Meter.Count(seckill.EventRejected, 1)
	return f.confirmOf(ctx, &o)
}

// byRow completes what an earlier delivery began: an order with a row may still lack its closing message and its
// confirm.
func (f *Flow) byRow(ctx context.Context, m seckill.Reservation) error {
	o, err := f.Ledger.Order(ctx, m.Order)
	if err != nil {
		return err
	}
	if o.State == seckill.PendingPayment {
		if err := f.sendClosing(ctx, &o, f.Clock.Now()); err != nil {
			return err
		}
	}
	return f.confirmOf(ctx, &o)
}

func (f *Flow) confirmOf(ctx context.Context, o *seckill.Order) error {
	it, _, err := f.items.Get(ctx, o.Item)
	if err != nil {
		return err
	}
	return f.confirm(ctx, it, decided(o))
}

// RefusedFor is how long the stock refuses a user of whose block it learns from a rejected order. It is short, because
// the block may just have been removed; repair copies a block that stands.
const RefusedFor = 10 * time.Second

// decided returns what the stock has to know of the ledger's decision about an order.
func decided(o *seckill.Order) seckill.Verdict {
	v := seckill.Verdict{Item: o.Item, Order: o.ID, User: o.User, Units: o.Units}
	if o.Reason == seckill.CodeBlocked || o.Reason == seckill.CodeLimitReached || o.Reason == seckill.CodeToken {
		v.Refused = o.Placed
	}
	if o.Reason == seckill.CodeBlocked {
		v.BlockedUntil = o.Placed.Add(RefusedFor)
	}
	return v
}

// confirm reports the ledger's decision to the stock. If the item is not installed, the message must be delivered
// again, until the item is so old that no stock will load it again.
func (f *Flow) confirm(ctx context.Context, it *seckill.Item, v seckill.Verdict) error {
	err := f.Stock.Confirm(ctx, v)
	if errors.Is(err, seckill.ErrNotInstalled) && it.Retired(f.Clock.Now()) {
		return nil
	}
	return err
}

func (f *Flow) sendClosing(ctx context.Context, o *seckill.Order, now time.Time) error {
	wait := min(max(o.Due().Sub(now), 0), seckill.MaxDelay)
	return f.Closings.Send(ctx, seckill.Message{Kind: seckill.MessageClose, Order: o.ID, Trace: seckill.Trace(ctx)},
		wait)
}

// giveBack returns an order's units to the stock, as its return row lists them. Without a row there is nothing to do.
func (f *Flow) giveBack(ctx context.Context, order string) error {
	row, err := f.Ledger.Return(ctx, order)
	if errors.Is(err, seckill.ErrNoReturn) {
		return nil
	}
	if err != nil {
		return err
	}
	return upkeep.GiveBack(ctx, upkeep.Deps{Stock: f.Stock, Ledger: f.Ledger, Items: f.Items, Clock: f.Clock,
		Meter: f.Meter}, row)
}

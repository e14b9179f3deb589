// Package erase forgets where orders were to be sent: a user's, at an operator's command, and those of sales that ended
// long ago, by a schedule. In: a user, and how far an earlier step came. Out: how many addresses went, or why none may
// go yet. It touches ledger, stock and items. Orders, units, payments and amounts stay as they are.
//
// What may not be forgotten yet is an address that goods are still to be sent to. An order's address is in its row, and
// while it waits to be placed, in the stock and in a message. Once the row is there no message writes an address: every
// other write has a condition that fails, and what is rejected keeps none. So when no order waits, the rows are all.
package erase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of one step.
const (
	pageOrders  = 200  // orders whose addresses one step erases
	pageChecked = 1000 // orders in one read of the look before
	tries       = 3    // of one order that changes meanwhile
)

// toShip are the states of an order that needs its address.
var toShip = []seckill.State{seckill.PendingPayment, seckill.Closing, seckill.Paid, seckill.Confirmed}

// Ledger is what erase calls of the ledger.
type Ledger interface {
	seckill.OrderReader
	seckill.OrderLister
}

// Deps are the step's dependencies.
type Deps struct {
	Stock  seckill.StockReader
	Ledger Ledger
	Items  seckill.Items
	Clock  seckill.Clock
	Meter  seckill.Meter
	Keep   time.Duration // addresses after the end of a sale; 0: forever
}

// Flow is one instance of the step. It remembers only how far the last run of Ended came.
type Flow struct {
	Deps
	round round
}

// New makes an instance.
func New(d Deps) *Flow { return &Flow{Deps: d} }

// Step is the result of one step.
type Step struct {
	Orders int    // looked at
	Erased int    // whose address went; the others have none any more
	Next   string // where the next step begins; "" when this was the last
}

// User erases the addresses of a user's next orders, newest first; after is "" or an earlier step's Next. With "" it
// looks at all of them first, and erases none while one needs its address. It may be repeated, and begun again. The
// error is an *seckill.Error: CodeInvalid names the order that is still open or to be shipped.
func (f *Flow) User(ctx context.Context, user, after string) (Step, error) {
	if after == "" {
		if err := f.free(ctx, user); err != nil {
			return Step{}, seckill.AsError(err)
		}
	}
	page, err := f.Ledger.OrdersByUser(ctx, user, after, pageOrders)
	if err != nil {
		return Step{}, seckill.AsError(err)
	}
	out := Step{Orders: len(page.Orders), Next: page.Next}
	for _, o := range page.Orders {
		if !o.Erased.IsZero() {
			continue
		}
		kept, err := eraseOrder(ctx, f.Ledger, f.Clock, o, needs)
		if err == nil && kept != nil {
			err = refuse(kept.ID, string(kept.State), 1)
		}
		if err != nil {
			return Step{}, seckill.AsError(err)
		}
		out.Erased++
	}
	return out, nil
}

// free reports whether no order of a user needs its address: those in the ledger, and those that wait to be placed.
func (f *Flow) free(ctx context.Context, user string) error {
	var first *seckill.Order
	needed := 0
	for after := ""; ; {
		page, err := f.Ledger.OrdersByUser(ctx, user, after, pageChecked)
		if err != nil {
			return err
		}
		for i := range page.Orders {
			if o := &page.Orders[i]; needs(o) {
				needed++
				first = o
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if first != nil {
		return refuse(first.ID, string(first.State), needed)
	}
	now := f.Clock.Now()
	items, err := f.Items.List(ctx, now.Add(-seckill.KeepLoaded))
	if err != nil {
		return err
	}
	for i := range items {
		r, err := f.Stock.Queued(ctx, items[i].ID, user, "")
		if err != nil && !errors.Is(err, seckill.ErrNotInstalled) {
			return err
		}
		if r.Order != "" {
			return refuse(r.Order, string(seckill.Queued), 1)
		}
	}
	return nil
}

// eraseOrder erases one order's address in whatever state the order is by now. kept is the order if it has come into a
// state that keeps it.
func eraseOrder(
	ctx context.Context, l Ledger, clock seckill.Clock, o seckill.Order, keeps func(*seckill.Order) bool,
) (kept *seckill.Order, err error) {
	for range tries {
		if keeps(&o) {
			return &o, nil
		}
		err := l.EraseAddress(ctx, o.ID, o.State, clock.Now())
		if !errors.Is(err, seckill.ErrStateChanged) {
			return nil, err
		}
		if o, err = l.Order(ctx, o.ID); err != nil { // the list that named it may lag
			return nil, err
		}
	}
	return nil, fmt.Errorf("erase: order %s changes again and again", o.ID)
}

func needs(o *seckill.Order) bool { return slices.Contains(toShip, o.State) }

func refuse(order, state string, n int) error {
	return seckill.Invalid("user",
		fmt.Sprintf("nobody whose order is open or to be shipped; %d of theirs are, the oldest is %s, %s", n, order,
			state))
}

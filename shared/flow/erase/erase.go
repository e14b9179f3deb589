// Package erase forgets where a user's orders were to be sent, at an operator's command. In: a user, and how far an earlier step came. Out: how
// many addresses went, or why none may go yet. It touches ledger, stock and items. Orders, units, payments and amounts stay as they are.
//
// What may not be forgotten yet is an address that goods are still to be sent to. An order's address is in its row, and while it waits to be
// placed, in the stock and in a message. Once the row is there no message writes an address: every other write has a condition that fails, and what is
// rejected keeps none. So when no order waits, the rows are all.
package erase

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"seckill/shared/seckill"
)

// Limits of one step.
const (
	pageOrders  = 200  // orders whose addresses one step erases
	pageChecked = 1000 // orders in one read of the look before
	tries       = 3    // of one order that changes meanwhile
)

// toShip are the states of an order that needs its address.
var toShip = []seckill.State{seckill.PendingPayment, seckill.Closing, seckill.Paid, seckill.Confirmed}

// Deps is what the step works with.
type Deps struct {
	Stock  seckill.Stock
	Ledger seckill.Ledger
	Items  seckill.Items
	Clock  seckill.Clock
}

// Flow is one instance of the step. It remembers nothing.
type Flow struct{ Deps }

// New makes an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Step is what came of one step.
type Step struct {
	Orders int    // looked at
	Erased int    // whose address went; the others have none any more
	Next   string // where the next step begins; "" when this was the last
}

// User erases the addresses of a user's next orders, newest first; after is "" or an earlier step's Next. With "" it looks at all of them first, and erases
// none while one needs its address. It may be repeated, and begun again. The error is an *seckill.Error: CodeInvalid names the order that
// is still open or to be shipped.
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
		if err := f.order(ctx, o); err != nil {
			return Step{}, seckill.AsError(err)
		}
		out.Erased++
	}
	return out, nil
}

// free says whether no order of a user needs its address: those in the ledger, and those that wait to be placed.
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

// order erases one order's address in whatever state it is by now, unless it needs it.
func (f *Flow) order(ctx context.Context, o seckill.Order) error {
	for range tries {
		if needs(&o) {
			return refuse(o.ID, string(o.State), 1)
		}
		err := f.Ledger.EraseAddress(ctx, o.ID, o.State, f.Clock.Now())
		if !errors.Is(err, seckill.ErrStateChanged) {
			return err
		}
		if o, err = f.Ledger.Order(ctx, o.ID); err != nil { // the list that named it may lag
			return err
		}
	}
	return fmt.Errorf("erase: order %s changes again and again", o.ID)
}

func needs(o *seckill.Order) bool { return slices.Contains(toShip, o.State) }

func refuse(order, state string, n int) error {
	return seckill.Invalid("user", fmt.Sprintf("nobody whose order is open or to be shipped; %d of theirs are, the oldest is %s, %s", n, order, state))
}

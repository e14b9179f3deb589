// Package erase erases the delivery addresses of orders, with the network addresses that bought them: a user's, by an
// operator's command, and those of sales that ended long ago, on a schedule. It signs a user out, too. In: a user, and
// the cursor of an earlier step. Out: how many addresses were erased, or why none may be erased yet. It touches ledger,
// stock and items. Orders, units, payments and amounts stay unchanged.
//
// An address must stay while goods may still be shipped to it. It is stored in the order's row and, until the order
// is placed, in the stock and in a message. Once the row exists, no message can write an address again: every other
// write has a condition that fails, and a rejected order stores no address. So if no order of the user waits for its
// placement, the rows hold all addresses.
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
	pageOrders  = 200  // orders that one step erases
	pageChecked = 1000 // orders per read while checking that all may be erased
	tries       = 3    // attempts for one order that changes meanwhile
)

// toShip lists the states in which an order needs its address.
var toShip = []seckill.State{seckill.PendingPayment, seckill.Closing, seckill.Paid, seckill.Confirmed}

// Ledger is the part of the ledger that package erase calls.
type Ledger interface {
	seckill.OrderReader
	seckill.OrderLister
	seckill.SessionEnder
}

// Deps are the step's dependencies.
type Deps struct {
	Stock  seckill.StockReader
	Ledger Ledger
	Items  seckill.Items
	Clock  seckill.Clock
	Meter  seckill.Meter
	Keep   time.Duration // how long to keep addresses after the end of a sale; 0 means forever
	// KeepNetworks is the same for network addresses, which are erased with the delivery address at the
	// latest; 0 if the step buy keeps no network addresses.
	KeepNetworks time.Duration
}

// Flow is one instance of the step. It remembers only where the last run of Ended stopped.
type Flow struct {
	Deps
	rounds [2]round // by seckill.Kept
}

// New returns an instance.
func New(d Deps) *Flow { return &Flow{Deps: d} }

// Step is the result of one step.
type Step struct {
	Orders int    // orders read
	Erased int    // addresses erased; the other orders had none
	Ended  int    // sessions ended, by the first step
	Next   string // where the next step begins; "" after the last
}

// User erases the addresses of a user's orders, one page per call, newest first. after is "" or an earlier step's
// Next. With "" it first checks all of the user's orders and erases none while one still needs its address; then it
// signs the user out. It may be repeated or restarted. The error is an *seckill.Error: CodeInvalid names the order that
// is open or must be shipped.
func (f *Flow) User(ctx context.Context, user, after string) (Step, error) {
	ended := 0
	if after == "" {
		err := f.free(ctx, user)
		if err == nil {
			ended, err = f.SignOut(ctx, user)
		}
		if err != nil {
			return Step{}, seckill.AsError(err)
		}
	}
	page, err := f.Ledger.OrdersByUser(ctx, user, after, pageOrders)
	if err != nil {
		return Step{}, seckill.AsError(err)
	}
	out := Step{Orders: len(page.Orders), Ended: ended, Next: page.Next}
	for _, o := range page.Orders {
		if !o.Erased.IsZero() {
			continue
		}
		kept, err := f.eraseOrder(ctx, seckill.KeptAddresses, o, needs)
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

// SignOut ends all sessions of a user, and returns how many. It may be repeated. The error is an *seckill.Error:
// CodeUnavailable.
func (f *Flow) SignOut(ctx context.Context, user string) (int, error) {
	return seckill.EndSessions(ctx, f.Ledger, user)
}

// free returns nil if no order of the user needs its address, in the ledger or waiting for its placement.
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

// eraseOrder erases one order's address, or only its network address, whatever the order's current state. kept is the
// order if it has moved to a state that needs it.
func (f *Flow) eraseOrder(
	ctx context.Context, what seckill.Kept, o seckill.Order, keeps func(*seckill.Order) bool,
) (kept *seckill.Order, err error) {
	for range tries {
		if keeps(&o) {
			return &o, nil
		}
		if what == seckill.KeptNetworks {
			err = f.Ledger.EraseNetwork(ctx, o.ID, o.State)
		} else {
			err = f.Ledger.EraseAddress(ctx, o.ID, o.State, f.Clock.Now())
		}
		if !errors.Is(err, seckill.ErrStateChanged) {
			return nil, err
		}
		if o, err = f.Ledger.Order(ctx, o.ID); err != nil { // the list that named the order may lag
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

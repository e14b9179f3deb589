// Package fulfil is what staff do with orders after they are paid: list, confirm, ship, note something, and hide from
// lists. In: an operator. Out: an order that moved on, with who and when in its history. It touches only the ledger.
// Package shop has receipts, and package expire the schedule that ends orders.
//
// Each change is a conditional write on the state that was read, so a refund and a shipment of one order exclude each
// other, and each may be repeated: a change that is made already is not made again.
package fulfil

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits.
const (
	MaxNote        = 500 // characters of a note
	MaxParcels     = 100 // of one call
	MaxEntries     = 200 // the longest history that still takes a note
	MaxCorrections = 10  // of an order's parcel
	maxTries       = 4   // attempts for an order that changes meanwhile
)

// Ledger is the part of the ledger that package fulfil calls.
type Ledger interface {
	seckill.OrderReader
	seckill.OrderLister
	seckill.NewestLister
	seckill.Fulfiller
}

// Deps are the step's dependencies.
type Deps struct {
	Ledger Ledger
	Clock  seckill.Clock
}

// Flow is one instance of the step. It is safe for concurrent use.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Order reads an order for staff. The error is an *seckill.Error: CodeOrderUnknown.
func (f *Flow) Order(ctx context.Context, id string) (seckill.Order, error) {
	return seckill.ReadOrder(ctx, f.Ledger, id)
}

// change reads an order and has it changed, again if it changed meanwhile. do reports whether it changed the order.
func (f *Flow) change(ctx context.Context, id string, do func(o seckill.Order, now time.Time) (bool, error)) (bool,
	error) {
	for range maxTries {
		o, err := f.Order(ctx, id)
		if err != nil {
			return false, err
		}
		is, err := do(o, f.Clock.Now())
		if errors.Is(err, seckill.ErrStateChanged) {
			continue
		}
		if err != nil {
			return false, seckill.AsError(err)
		}
		return is, nil
	}
	return false, seckill.AsError(fmt.Errorf("order %s changed %d times", id, maxTries))
}

// Confirm takes up a paid order, in the operator's name. It reports whether the order was not confirmed before. The
// error is an *seckill.Error: CodeOrderUnknown; CodeInvalid, also for an order in another state.
func (f *Flow) Confirm(ctx context.Context, id, who string) (bool, error) {
	if err := seckill.CheckWho(who); err != nil {
		return false, err
	}
	return f.change(ctx, id, func(o seckill.Order, now time.Time) (bool, error) {
		switch {
		case o.State == seckill.Confirmed || o.State.Left():
			return false, nil
		case o.State != seckill.Paid:
			return false, seckill.Invalid("order", "paid; it is "+string(o.State))
		case o.Undecided:
			return false, undecided(&o)
		}
		return true, f.confirm(ctx, &o, now, who)
	})
}

// undecided is the refusal of an order about whose money a person has to decide first.
func undecided(o *seckill.Order) error {
	return seckill.Invalid("order", "one about whose money somebody has decided: "+o.Outside.Yuan()+" of "+
		o.Amount.Yuan()+" yuan went back outside the shop")
}

func (f *Flow) confirm(ctx context.Context, o *seckill.Order, now time.Time, who string) error {
	return f.Ledger.Fulfil(ctx, *o, seckill.Confirmed, time.Time{}, now, "confirmed by "+who)
}

// Note adds a note to an order's history, in the operator's name. It reports whether the note is new. The error is an
// *seckill.Error: CodeOrderUnknown; CodeInvalid, also for an order with MaxEntries.
func (f *Flow) Note(ctx context.Context, id, who, text string) (bool, error) {
	if err := seckill.CheckWords(who, text, MaxNote); err != nil {
		return false, err
	}
	cause := "note by " + who + ": " + text
	return f.change(ctx, id, func(o seckill.Order, now time.Time) (bool, error) {
		if slices.ContainsFunc(o.History, func(c seckill.Change) bool { return c.Cause == cause }) {
			return false, nil
		}
		if err := room(&o); err != nil {
			return false, err
		}
		return true, f.Ledger.Note(ctx, o, now, cause)
	})
}

// Hide takes an order for which nothing is left to do off the lists, or puts it back, in the operator's name. It
// reports whether that changed something. The error is an *seckill.Error: CodeOrderUnknown; CodeInvalid, also for an
// order that is not over.
func (f *Flow) Hide(ctx context.Context, id, who, why string, hidden bool) (bool, error) {
	if err := seckill.CheckWords(who, why, MaxNote); err != nil {
		return false, err
	}
	did := "shown"
	if hidden {
		did = "hidden"
	}
	return f.change(ctx, id, func(o seckill.Order, now time.Time) (bool, error) {
		if o.Hidden == hidden {
			return false, nil
		}
		if hidden && !o.State.Over() {
			return false, seckill.Invalid("order", "one for which nothing is left to do; it is "+string(o.State))
		}
		if err := room(&o); err != nil {
			return false, err
		}
		return true, f.Ledger.Hide(ctx, o, hidden, now, did+" by "+who+": "+why)
	})
}

// room returns an error if an order's history takes no more notes: a row has a largest size.
func room(o *seckill.Order) error {
	if len(o.History) >= MaxEntries {
		return seckill.Invalid("order", "one with fewer than "+strconv.Itoa(MaxEntries)+" entries in its history")
	}
	return nil
}

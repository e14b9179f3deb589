package fulfil

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Parcel is an order's shipment.
type Parcel struct {
	Order   string `json:"order"`
	Carrier string `json:"carrier"`
	Number  string `json:"number"`
}

// Fault is why a parcel was refused.
type Fault struct {
	At   int    `json:"at"` // its place in the call, from 0
	What string `json:"what"`
}

// Shipped counts what became of the parcels of a call.
type Shipped struct {
	Shipped int     `json:"shipped"`
	Same    int     `json:"same"`             // orders that were shipped so before; a check counts them, too
	Faults  []Fault `json:"faults,omitempty"` // with some at the beginning, nothing was written
}

// Ship ships confirmed orders, up to MaxParcels, in the operator's name; with confirm also paid ones, which it confirms
// first. It checks all orders before it writes the first; with dry it writes nothing. An order that leaves its state
// meanwhile, because it is refunded, is a fault of its own. Orders that were shipped with the same carrier and number
// stay as they are, so a repetition goes on where a broken call ended. The error is an *seckill.Error: CodeInvalid.
func (f *Flow) Ship(ctx context.Context, who string, parcels []Parcel, confirm, dry bool) (Shipped, error) {
	var done Shipped
	if err := seckill.CheckWho(who); err != nil {
		return done, err
	}
	if len(parcels) == 0 || len(parcels) > MaxParcels {
		return done, seckill.Invalid("parcels", "1.."+strconv.Itoa(MaxParcels))
	}
	seen := map[string]bool{}
	for i := range parcels {
		err := parcels[i].Check()
		if err == nil && seen[parcels[i].Order] {
			err = seckill.Invalid("order", "once")
		}
		seen[parcels[i].Order] = true
		if err == nil {
			var o seckill.Order
			if o, err = f.check(ctx, &parcels[i], confirm); err == nil && dry && o.State.Left() {
				done.Same++
			}
		}
		if err := done.fault(i, err); err != nil {
			return done, err
		}
	}
	if dry || len(done.Faults) > 0 {
		return done, nil
	}
	for i := range parcels {
		is, err := f.ship(ctx, who, &parcels[i], confirm)
		if err := done.fault(i, err); err != nil {
			return done, err
		}
		switch {
		case err == nil && is:
			done.Shipped++
		case err == nil:
			done.Same++
		}
	}
	return done, nil
}

// fault keeps a refusal of a parcel; it returns any other error.
func (s *Shipped) fault(at int, err error) error {
	switch e := (*seckill.Error)(nil); {
	case err == nil:
		return nil
	case errors.As(err, &e) && e.Code == seckill.CodeInvalid:
		s.Faults = append(s.Faults, Fault{at, e.Field + ": want " + e.Hint})
	case errors.As(err, &e) && e.Code == seckill.CodeOrderUnknown:
		s.Faults = append(s.Faults, Fault{at, "no such order"})
	default:
		return seckill.AsError(err)
	}
	return nil
}

// Tidied returns a parcel as people, files and programs give it, without blanks around carrier and number, and without
// what shops put around a number to keep a spreadsheet from changing it.
func (p Parcel) Tidied() Parcel {
	return Parcel{p.Order, seckill.Tidy(p.Carrier), seckill.Unwrapped(p.Number)}
}

// Check returns CodeInvalid if a parcel cannot be right, whatever its order.
func (p *Parcel) Check() error {
	if !seckill.ValidOrderID(p.Order) {
		return seckill.Invalid("order", "an order's id")
	}
	return seckill.CheckParcel(p.Carrier, p.Number)
}

// check reads a parcel's order, and refuses one that cannot be shipped so. An order that was shipped so is right.
func (f *Flow) check(ctx context.Context, p *Parcel, confirm bool) (seckill.Order, error) {
	o, err := f.Order(ctx, p.Order)
	switch {
	case err != nil:
		return o, err
	case o.Undecided && !o.State.Left():
		return o, undecided(&o)
	case o.State == seckill.Confirmed, o.State == seckill.Paid && confirm:
		return o, nil
	case o.Carrier == p.Carrier && o.Number == p.Number && o.State.Left():
		return o, nil
	case o.State.Left():
		return o, seckill.Invalid("order", fmt.Sprintf("one that is not shipped; it is, with %s, %s", o.Carrier,
			o.Number))
	}
	return o, seckill.Invalid("order", "confirmed; it is "+string(o.State))
}

func (f *Flow) ship(ctx context.Context, who string, p *Parcel, confirm bool) (bool, error) {
	for range maxTries {
		o, err := f.check(ctx, p, confirm)
		if err != nil || o.State.Left() {
			return false, err
		}
		now := f.Clock.Now()
		if o.State == seckill.Paid {
			err = f.confirm(ctx, &o, now, who)
			o.State = seckill.Confirmed
		}
		if err == nil {
			o.Carrier, o.Number = p.Carrier, p.Number
			err = f.Ledger.Fulfil(ctx, o, seckill.Shipped, now.Add(seckill.ReceivedAfter), now, "shipped by "+who)
		}
		if !errors.Is(err, seckill.ErrStateChanged) {
			return err == nil, err
		}
	}
	return false, fmt.Errorf("order %s changed %d times", p.Order, maxTries)
}

const corrected = "parcel corrected by "

// Correct replaces a wrong carrier and number of an order that has left, in the operator's name, up to MaxCorrections
// times. The order's history keeps both, and its shopper sees the new ones. It reports whether that changed something.
// The error is an *seckill.Error: CodeOrderUnknown; CodeInvalid, also for an order that has not left.
func (f *Flow) Correct(ctx context.Context, who string, p Parcel, why string) (bool, error) {
	if err := seckill.CheckWords(who, why, MaxNote); err != nil {
		return false, err
	}
	if err := p.Check(); err != nil {
		return false, err
	}
	return f.change(ctx, p.Order, func(o seckill.Order, now time.Time) (bool, error) {
		times := 0
		for _, c := range o.History {
			if strings.HasPrefix(c.Cause, corrected) {
				times++
			}
		}
		switch {
		case !o.State.Left():
			return false, seckill.Invalid("order", "shipped; it is "+string(o.State))
		case o.Carrier == p.Carrier && o.Number == p.Number:
			return false, nil
		case times >= MaxCorrections:
			return false, seckill.Invalid("order", "one whose parcel was corrected fewer than "+
				strconv.Itoa(MaxCorrections)+" times")
		}
		if err := room(&o); err != nil {
			return false, err
		}
		return true, f.Ledger.Correct(ctx, o, p.Carrier, p.Number, now, fmt.Sprintf("%s%s: from %s %s to %s %s: %s",
			corrected, who, o.Carrier, o.Number, p.Carrier, p.Number, why))
	})
}

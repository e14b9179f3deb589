package shop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// MaxReason is how many characters a shopper's reason for a refund may have.
const MaxReason = 500

// maxTries is how often a change of an order is tried while others change the order.
const maxTries = 4

// Received records that the user's order came; a repetition changes nothing. CodeOrderUnknown, also for another user's
// order; CodeWrongState for an order that is not on its way.
func (f *Flow) Received(ctx context.Context, user, id string) (Status, error) {
	return f.say(ctx, user, id, func(o *seckill.Order) error {
		switch {
		case o.State == seckill.Received || o.State == seckill.Completed:
			return nil
		case o.State != seckill.Shipped:
			return &seckill.Error{Code: seckill.CodeWrongState, Order: id}
		}
		now := f.Clock.Now()
		err := f.Ledger.Fulfil(ctx, *o, seckill.Received, now.Add(seckill.CompletedAfter), now,
			"received by the shopper")
		o.State = seckill.Received
		return err
	})
}

// refundable lists the states in which a shopper may ask for a refund.
var refundable = []seckill.State{seckill.Paid, seckill.Confirmed, seckill.Shipped, seckill.Received}

// AskRefund records why the user wants their order refunded; staff decide. The first request stays. CodeInvalid;
// CodeOrderUnknown, also for another user's order; CodeWrongState for an order that is not paid, or is completed.
func (f *Flow) AskRefund(ctx context.Context, user, id, why string) (Status, error) {
	if err := seckill.CheckLine("reason", why, MaxReason); err != nil {
		return Status{}, err
	}
	return f.say(ctx, user, id, func(o *seckill.Order) error {
		switch {
		case o.RefundWhy != "" || o.State == seckill.RefundOwed || o.State == seckill.Refunded:
			return nil
		case !slices.Contains(refundable, o.State):
			return &seckill.Error{Code: seckill.CodeWrongState, Order: id}
		}
		return f.Ledger.AskRefund(ctx, *o, why, f.Clock.Now(), "the shopper asks for a refund")
	})
}

// say reads an order of the user and records what they say about it, again if it changed meanwhile.
func (f *Flow) say(ctx context.Context, user, id string, do func(o *seckill.Order) error) (Status, error) {
	if !seckill.ValidOrderID(id) {
		return Status{}, errUnknownOrder
	}
	for range maxTries {
		o, err := f.placed(ctx, user, id)
		if errors.Is(err, seckill.ErrNoOrder) {
			return Status{}, errUnknownOrder
		}
		if err == nil {
			err = do(&o)
		}
		if errors.Is(err, seckill.ErrStateChanged) {
			continue
		}
		if err != nil {
			return Status{}, seckill.AsError(err)
		}
		return Status{Order: o.ID, State: o.State}, nil
	}
	return Status{}, seckill.AsError(fmt.Errorf("order %s changed %d times", id, maxTries))
}

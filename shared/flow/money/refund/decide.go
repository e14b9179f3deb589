package refund

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// Decided is what came of one person's wish to refund an order.
type Decided struct {
	Started bool              // its money goes back now
	Waiting *seckill.Proposal // the money goes back only when a second person wants it, too
}

// Order refunds a paid order on an operator's request: who, and why. With restock its units are sold again; without,
// they stay allocated, as they must after shipping. If the amount is more than one person may refund alone, the first
// request is kept, and executed when another person requests it, too; both must say the same about restock. If the
// order's refund is owed already, nothing changes. CodeOrderUnknown; CodeInvalid, also for an order that is not paid,
// or is completed.
func (f *Flow) Order(ctx context.Context, id, who, why string, restock bool) (Decided, error) {
	if err := seckill.CheckWords(who, why, maxWhy); err != nil {
		return Decided{}, err
	}
	for range maxTries {
		o, err := seckill.ReadOrder(ctx, f.Ledger, id)
		switch {
		case err != nil:
			return Decided{}, err
		case o.State == seckill.RefundOwed || o.State == seckill.Refunded:
			return Decided{}, nil
		case !o.State.CanBecome(seckill.RefundOwed) || !o.State.Info().Holds:
			return Decided{}, seckill.Invalid("order", "paid, and not completed; it is "+string(o.State))
		case restock && o.State.Left():
			return Decided{}, seckill.Invalid("restock", "false: the goods have left; the order is "+string(o.State))
		}
		all, err := f.Ledger.Payments(ctx, id)
		if err != nil {
			return Decided{}, seckill.AsError(err)
		}
		kept := slices.IndexFunc(all, func(p seckill.Payment) bool { return p.State == seckill.Captured })
		if kept < 0 {
			continue // another operator has just refunded it
		}
		d, err := f.decide(ctx, &o, &all[kept], wish{who, why, restock})
		if errors.Is(err, seckill.ErrStateChanged) {
			continue
		}
		if err != nil {
			return Decided{}, seckill.AsError(err)
		}
		if d.Started {
			f.started(ctx, id, restock)
		}
		return d, nil
	}
	return Decided{}, seckill.AsError(fmt.Errorf("order %s changed %d times", id, maxTries))
}

// wish is what one person wants.
type wish struct {
	who, why string
	restock  bool
}

// decide starts a refund, or has it wait for a second person.
func (f *Flow) decide(ctx context.Context, o *seckill.Order, p *seckill.Payment, w wish) (Decided, error) {
	first, err := f.Ledger.Proposal(ctx, o.ID)
	cause, by := "refund by "+w.who+": "+w.why, seckill.Decision{}
	switch {
	case err != nil:
		return Decided{}, err
	case first != nil && seckill.Person(first.Who) == seckill.Person(w.who):
		return Decided{Waiting: first}, nil
	case first != nil && first.Restock != w.restock:
		return Decided{}, seckill.Invalid("restock", fmt.Sprintf("%t, as %s proposed, or that is withdrawn first",
			first.Restock, first.Who))
	case first != nil:
		by.Proposal = first
		cause = "refund by " + first.Who + " and " + w.who + ": " + first.Why + "; " + w.why
	case f.Alone.Amount > 0 && p.Amount > f.Alone.Amount:
		return f.propose(ctx, p, w)
	case f.Alone.PerDay > 0:
		by.Person, by.PerDay = seckill.Person(w.who), f.Alone.PerDay
	}
	err = f.Ledger.StartRefund(ctx, *o, *p, w.restock, by, f.Clock.Now(), cause)
	if errors.Is(err, seckill.ErrTooMany) {
		return f.propose(ctx, p, w)
	}
	return Decided{Started: err == nil}, err
}

func (f *Flow) propose(ctx context.Context, p *seckill.Payment, w wish) (Decided, error) {
	first := seckill.Proposal{Order: p.Order, Who: w.who, Why: w.why, Restock: w.restock, Amount: p.Amount,
		At: f.Clock.Now()}
	return Decided{Waiting: &first}, f.Ledger.Propose(ctx, first)
}

// started tells others of a refund.
func (f *Flow) started(ctx context.Context, id string, restock bool) {
	f.Meter.Count(seckill.EventRefundDue, 1)
	if restock {
		// The return row guarantees the return; this message only speeds it up. Without it, repair finishes the
		// return within a minute.
		_ = f.Orders.Send(ctx, seckill.Message{Kind: seckill.MessageReturn, Order: id, Trace: seckill.Trace(ctx)}, 0)
	}
}

// Withdraw drops a refund that waits for a second person: who, and why. The result is false if none waits.
// CodeOrderUnknown; CodeInvalid.
func (f *Flow) Withdraw(ctx context.Context, id, who, why string) (bool, error) {
	if err := seckill.CheckWords(who, why, maxWhy); err != nil {
		return false, err
	}
	if _, err := seckill.ReadOrder(ctx, f.Ledger, id); err != nil {
		return false, err
	}
	first, err := f.Ledger.Proposal(ctx, id)
	if err == nil && first != nil {
		err = f.Ledger.Withdraw(ctx, *first)
	}
	switch {
	case errors.Is(err, seckill.ErrStateChanged): // another person has just decided
		return false, nil
	case err != nil:
		return false, seckill.AsError(err)
	}
	return first != nil, nil
}

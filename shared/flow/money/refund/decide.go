package refund

import (
	"cmp"
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
// order's refund is owed already, nothing changes. What went back outside is not given again. With restock an order
// that is refunded gives its units back, once, unless they left. CodeOrderUnknown; CodeInvalid, also for an order that
// is not paid, is completed, or of which all went back.
func (f *Flow) Order(ctx context.Context, id, who, why string, restock bool) (Decided, error) {
	return f.order(ctx, id, wish{who: who, why: why, restock: restock})
}

// Gone is Order for an order of which all went back outside the shop, also a completed one: it is refunded on the
// person's word, without waiting for a query that says so. No money moves.
func (f *Flow) Gone(ctx context.Context, id, who, why string, restock bool) (Decided, error) {
	return f.order(ctx, id, wish{who, why, restock, true})
}

func (f *Flow) order(ctx context.Context, id string, w wish) (Decided, error) {
	if err := seckill.CheckWords(w.who, w.why, maxWhy); err != nil {
		return Decided{}, err
	}
	for range maxTries {
		o, err := seckill.ReadOrder(ctx, f.Ledger, id)
		switch {
		case err != nil:
			return Decided{}, err
		case o.State == seckill.RefundOwed || o.State == seckill.Refunded && (!w.restock || len(o.Units) == 0):
			return Decided{}, nil
		case !o.State.Keeps() && o.State != seckill.Refunded:
			return Decided{}, seckill.Invalid("order", "paid, and not completed; it is "+string(o.State))
		case w.restock && o.HasLeft():
			return Decided{}, seckill.Invalid("restock", "false: the goods have left; the order is "+string(o.State))
		}
		var d Decided
		if o.State == seckill.Refunded {
			d.Started, err = true, f.Ledger.Restock(ctx, o, f.Clock.Now(), seckill.RestockedBy+w.who+": "+w.why)
			if err == nil {
				f.restocked(ctx, id)
			}
		} else {
			d, err = f.paid(ctx, &o, w)
		}
		if errors.Is(err, seckill.ErrStateChanged) {
			continue
		}
		if err != nil {
			return Decided{}, seckill.AsError(err)
		}
		return d, nil
	}
	return Decided{}, seckill.AsError(fmt.Errorf("order %s changed %d times", id, maxTries))
}

// paid refunds an order that keeps money. It returns ErrStateChanged if another operator has just refunded it.
func (f *Flow) paid(ctx context.Context, o *seckill.Order, w wish) (Decided, error) {
	all, err := f.Ledger.Payments(ctx, o.ID)
	if err != nil {
		return Decided{}, err
	}
	p := captured(all)
	if p == nil {
		return Decided{}, seckill.ErrStateChanged
	}
	switch whole := p.Rest() == 0; {
	case w.gone && !whole:
		return Decided{}, seckill.Invalid("gone", "false: of its money "+p.Outside.Yuan()+" yuan went back")
	case whole && !w.gone:
		return Decided{}, seckill.Invalid("gone", "true, if the provider's console says so: all went back")
	case !whole && !o.State.CanBecome(seckill.RefundOwed):
		return Decided{}, seckill.Invalid("order", "paid, and not completed; it is "+string(o.State))
	}
	d, err := f.decide(ctx, o, p, w)
	if err == nil && d.Started {
		f.started(ctx, p, w.restock)
	}
	return d, err
}

// wish is what one person wants.
type wish struct {
	who, why string
	restock  bool
	gone     bool // they say that all went back
}

// Second says whether a refund of this amount, made by one person, waits for a second one: yes, no, or perhaps, if that
// depends on how many the person has made that day.
func (f *Flow) Second(amount seckill.Fen) string {
	switch {
	case f.Alone.Amount > 0 && amount > f.Alone.Amount:
		return "yes"
	case f.Alone.PerDay > 0:
		return "perhaps"
	}
	return "no"
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
	case first != nil && first.Gone != w.gone:
		return Decided{}, seckill.Invalid("gone", fmt.Sprintf("%t, as %s proposed, or that is withdrawn first",
			first.Gone, first.Who))
	case first != nil:
		by.Proposal = first
		cause = "refund by " + first.Who + " and " + w.who + ": " + first.Why + "; " + w.why
	case f.Second(Claim(p)) == "yes":
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
	first := seckill.Proposal{Order: p.Order, Who: w.who, Why: w.why, Restock: w.restock, Gone: w.gone,
		Amount: Claim(p), At: f.Clock.Now()}
	return Decided{Waiting: &first}, f.Ledger.Propose(ctx, first, p.TradeNo)
}

// Claim is the amount that decides how many people a refund takes: what goes back or, if all went back outside the
// shop, what they say that was.
func Claim(p *seckill.Payment) seckill.Fen { return cmp.Or(p.Rest(), p.Amount) }

// captured returns the payment that an order keeps; nil if there is none.
func captured(all []seckill.Payment) *seckill.Payment {
	i := slices.IndexFunc(all, func(p seckill.Payment) bool { return p.State == seckill.Captured })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// started tells others of a refund.
func (f *Flow) started(ctx context.Context, p *seckill.Payment, restock bool) {
	event := seckill.EventRefundDue
	if p.Rest() == 0 {
		event = seckill.EventRefunded
	}
	f.Meter.Count(event, 1)
	if restock {
		f.restocked(ctx, p.Order)
	}
}

// restocked tells others that units have to return. The return row guarantees that; this message only speeds it up:
// without it, repair finishes the return within a minute.
func (f *Flow) restocked(ctx context.Context, id string) {
	_ = f.Orders.Send(ctx, seckill.Message{Kind: seckill.MessageReturn, Order: id, Trace: seckill.Trace(ctx)}, 0)
}

// Accept lets an order go on, though money went back outside the shop, on a person's request: who, and why. back is
// what really went back, less than all and at most what is recorded; nil: what is recorded. If it is less, the provider
// must say that the trade is paid. The result says whether the order waited for that. CodeOrderUnknown; CodeInvalid.
func (f *Flow) Accept(ctx context.Context, id, who, why string, back *seckill.Fen) (bool, error) {
	if err := seckill.CheckWords(who, why, maxWhy); err != nil {
		return false, err
	}
	for range maxTries {
		o, err := seckill.ReadOrder(ctx, f.Ledger, id)
		if err != nil {
			return false, err
		}
		all, err := f.Ledger.Payments(ctx, id)
		if err != nil {
			return false, seckill.AsError(err)
		}
		p := captured(all)
		if p == nil || !o.Undecided && p.Rest() > 0 {
			return false, nil
		}
		sum, err := f.really(ctx, p, back)
		if err != nil {
			return false, err
		}
		err = f.Ledger.Accept(ctx, o, *p, sum, f.Clock.Now(), "ships all the same, "+sum.Yuan()+
			" yuan went back, says "+who+": "+why)
		if errors.Is(err, seckill.ErrStateChanged) {
			continue
		}
		if err != nil {
			return false, seckill.AsError(err)
		}
		return true, nil
	}
	return false, seckill.AsError(fmt.Errorf("order %s changed %d times", id, maxTries))
}

// really returns how much of a payment went back, as a person says.
func (f *Flow) really(ctx context.Context, p *seckill.Payment, back *seckill.Fen) (seckill.Fen, error) {
	sum := p.Outside
	if back != nil {
		sum = *back
	}
	switch {
	case sum < 0 || sum > p.Outside:
		return 0, seckill.Invalid("back", "at most what is recorded, "+p.Outside.Yuan())
	case sum == p.Amount:
		return 0, seckill.Invalid("back", "what really went back, less than "+p.Amount.Yuan()+
			"; if all did, refund the order")
	case sum == p.Outside:
		return sum, nil
	}
	t, err := f.Trades.Trade(ctx, p.Order, p.TradeNo)
	if err != nil {
		f.Meter.Count(seckill.EventUnknown, 1)
		return 0, seckill.AsError(err)
	}
	if t.State != seckill.TradePaid {
		return 0, seckill.Invalid("back", "that of a paid trade; the provider says "+string(t.State))
	}
	return sum, nil
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

package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// Refund implements seckill.Refunds: at most one refund per trade and id, of the whole amount.
func (p *Provider) Refund(_ context.Context, r seckill.Refund) (seckill.RefundAnswer, error) {
	o := p.orders[r.Order]
	t, ok := p.trade(r.Order, r.TradeNo)
	if !ok || t.State != seckill.TradePaid || t.Amount != r.Amount {
		p.wrong = append(p.wrong, fmt.Errorf("I6 a refund of %s yuan of trade %s of order %s, which is %+v",
			r.Amount.Yuan(), r.TradeNo, r.Order, t))
		return seckill.RefundAnswer{State: seckill.RefundRefused, Code: "TRADE_STATUS_ERROR"}, nil
	}
	made := o.refunds[r.ID]
	first := o.askedBy[r.TradeNo]
	poor, slow, stuck := p.poor, p.slow, p.stuck
	p.poor, p.slow, p.stuck = false, false, false
	if first == "" {
		o.askedBy[r.TradeNo] = r.ID
	}
	switch {
	case made:
		return seckill.RefundAnswer{State: seckill.RefundPending}, nil
	case first != "" && first != r.ID:
		p.wrong = append(p.wrong, fmt.Errorf("I6 a second refund %s of trade %s of order %s", r.ID, r.TradeNo, r.Order))
		return seckill.RefundAnswer{State: seckill.RefundRefused, Code: "REFUND_FEE_ERROR"}, nil
	case poor:
		return seckill.RefundAnswer{State: seckill.RefundRefused, Code: "SELLER_BALANCE_NOT_ENOUGH"}, nil
	case stuck:
		o.refunds[r.ID] = false
		return seckill.RefundAnswer{State: seckill.RefundPending}, nil
	}
	o.refunds[r.ID], o.back[r.TradeNo] = true, true
	p.book = append(p.book, seckill.BillLine{Refund: true, Order: r.Order, TradeNo: r.TradeNo, RefundID: r.ID,
		Amount: r.Amount, At: p.Clock.Now()})
	p.closes(r.Order, &t) // t is a copy: the captured trade stays unchanged
	p.paid(r.Order)
	if slow {
		return seckill.RefundAnswer{State: seckill.RefundPending}, nil
	}
	return seckill.RefundAnswer{State: seckill.RefundMade}, nil
}

// RefundStatus implements seckill.Refunds.
func (p *Provider) RefundStatus(_ context.Context, r seckill.Refund) (seckill.RefundAnswer, error) {
	o := p.orders[r.Order]
	if o == nil {
		return seckill.RefundAnswer{State: seckill.RefundMissing}, nil
	}
	switch made, known := o.refunds[r.ID]; {
	case made:
		return seckill.RefundAnswer{State: seckill.RefundMade}, nil
	case known:
		return seckill.RefundAnswer{State: seckill.RefundPending}, nil
	}
	return seckill.RefundAnswer{State: seckill.RefundMissing}, nil
}

// refund makes an operator refund a placed order, with or without restock, retry an owed refund, ask whether an order
// is paid, look at its money, record one of its trades, or compare the bills of the last days; or request something
// invalid.
func (s *Sim) refund(t Act) {
	if len(s.truth.list) == 0 {
		return
	}
	id := s.truth.list[pick(t.A, 8, len(s.truth.list))]
	switch pick(t.A, 40, 12) {
	case 0:
		s.spawn(t.ID, t.Kind, "operator wants the refunds of "+id+" again", t.A, func(i *Instance) {
			_, _ = i.Refund.Again(context.Background(), id, "ann", "topped up")
		})
	case 1:
		s.spawn(t.ID, t.Kind, "operator wants to know whether "+id+" is paid", t.A, func(i *Instance) {
			_ = i.Refund.Ask(context.Background(), id, "ann", "she waits")
		})
	case 2:
		s.spawn(t.ID, t.Kind, "operator looks at the money of "+id, t.A, func(i *Instance) {
			_, _ = i.Refund.Open(context.Background())
			_, _ = i.Refund.Case(context.Background(), id)
		})
	case 3:
		s.spawn(t.ID, t.Kind, "bills are matched", t.A, func(i *Instance) {
			_ = i.Reconcile.Run(context.Background())
			_, _ = i.Reconcile.Kept(context.Background(), seckill.Day(i.world.Clock.Now()))
		})
	case 4:
		no := "nobody's"
		if p := s.Provider.orders[id]; p != nil && len(p.trades) > 0 {
			no = p.trades[pick(t.A, 44, len(p.trades))].TradeNo
		}
		s.spawn(t.ID, t.Kind, "operator has trade "+no+" of "+id+" recorded", t.A, func(i *Instance) {
			_, err := i.Refund.RecordTrade(context.Background(), id, no, "ann", "he has a receipt")
			if err == nil && !slices.ContainsFunc(s.truth.payments[id], func(p paymentRow) bool {
				return p.tradeNo == no
			}) {
				s.truth.fail("I6 an operator hears that trade %s of order %s is recorded, and it is not", no, id)
			}
		})
	case 5:
		s.spawn(t.ID, t.Kind, "operator asks for what cannot be done with "+id, t.A, func(i *Instance) {
			s.mistakes(i, id)
		})
	default:
		// the refunded shopper has just paid again
		if s.plan.Faults[TwoTrades] && pick(t.A, 52, 2) == 0 && len(s.Provider.captured(id)) == 1 {
			s.payAgain(id)
		}
		restock := pick(t.A, 44, 3) > 0
		what := fmt.Sprintf("%s refunds %s, restock %t", staffOf(t), id, restock)
		s.spawn(t.ID, t.Kind, what, t.A, func(i *Instance) { s.giveBack(i, t, id, restock) })
	}
}

// mistakes makes an operator request what no command allows: no answer may confirm it.
func (s *Sim) mistakes(i *Instance, id string) {
	ctx := context.Background()
	made := map[string]error{}
	_, made["a refund for a reason of two lines"] = i.Refund.Order(ctx, id, "ann", "broken\nbadly", true)
	_, made["a refund of an order that nobody placed"] = i.Refund.Order(ctx, seckill.KeyedOrderID("1", "1", "x"), "ann",
		"broken", true)
	_, made["a refund of what is not an order"] = i.Refund.Order(ctx, "No Order", "ann", "broken", true)
	_, made["refunds again, by nobody"] = i.Refund.Again(ctx, id, "", "topped up")
	made["a question without a reason"] = i.Refund.Ask(ctx, id, "ann", " ")
	_, made["a trade, for a reason of 10,000 characters"] = i.Refund.RecordTrade(ctx, id, "1", "ann",
		strings.Repeat("x", 10_000))
	_, made["the bill of no day"] = i.Reconcile.Day(ctx, "2026-13-01")
	_, made["what was kept of no day"] = i.Reconcile.Kept(ctx, "yesterday")
	for what, err := range made {
		if err == nil {
			s.truth.fail("I12 an operator hears that this is done: %s, order %s", what, id)
		}
	}
}

// payAgain makes a shopper who has paid open the cashier again and pay a second trade; its notification arrives at
// once.
func (s *Sim) payAgain(id string) {
	s.open(id)
	trades := s.Provider.orders[id].trades
	if s.Provider.Pay(id, trades[len(trades)-1].TradeNo) != nil {
		return
	}
	s.trace.say(s.Clock.Now(), "%s is paid a second time", id)
	s.fire(TwoTrades)
	s.Start(nil).Deliver()
}

// topUp makes an operator retry refused refunds after the faults have ended.
func (i *Instance) topUp() error {
	ctx := context.Background()
	refused, err := i.world.ledger.RefundsRefused(ctx, "", 100)
	for _, p := range refused.Rows {
		if _, e := i.Refund.Again(ctx, p.Order, "ann", "topped up"); e != nil {
			return e
		}
	}
	return err
}

// checkRefunds checks I6: an order's payments against the provider's refunds.
func (w *World) checkRefunds(id string, o *orderRow) error {
	due, done := 0, 0
	for _, p := range w.truth.payments[id] {
		back := w.Provider.wentBack(id, p.tradeNo)
		switch {
		case p.state == seckill.Captured && back:
			return fmt.Errorf("I6 payment %s of order %s is kept, and went back", p.tradeNo, id)
		case p.state == seckill.RefundDone && !back:
			return fmt.Errorf("I6 payment %s of order %s counts as refunded, and the provider has it", p.tradeNo, id)
		case p.state == seckill.RefundDone:
			done++
		case p.state == seckill.RefundDue:
			due++
		}
	}
	switch {
	case o.state == seckill.RefundOwed && due == 0:
		return fmt.Errorf("I6 order %s owes a refund of no payment", id)
	case o.state == seckill.Refunded && done == 0:
		return fmt.Errorf("I6 order %s is refunded, no payment of it is", id)
	}
	if len(w.Provider.wrong) > 0 {
		return w.Provider.wrong[0]
	}
	return nil
}

// owed returns an error for each payment that must be refunded and was not.
func (t *truth) owed() (errs []error) {
	for id, rows := range t.payments {
		for _, p := range rows {
			if p.state == seckill.RefundDue {
				errs = append(errs, fmt.Errorf("L1 the refund of trade %s of order %s stays due", p.tradeNo, id))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

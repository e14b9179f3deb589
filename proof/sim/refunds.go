package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// Refund implements seckill.Refunds: at most one refund per trade and id. No step may ask for less than what is left,
// nor under two ids, unless money went back in the console meanwhile.
func (p *Provider) Refund(_ context.Context, r seckill.Refund) (seckill.RefundAnswer, error) {
	o := p.orders[r.Order]
	t, ok := p.trade(r.Order, r.TradeNo)
	if !ok || t.State != seckill.TradePaid || t.Amount < r.Amount || r.Amount < 1 {
		p.wrong = append(p.wrong, fmt.Errorf("I6 a refund of %s yuan of trade %s of order %s, which is %+v",
			r.Amount.Yuan(), r.TradeNo, r.Order, t))
		return seckill.RefundAnswer{State: seckill.RefundRefused, Code: "TRADE_STATUS_ERROR"}, nil
	}
	made := o.refunds[r.ID]
	first, left := o.askedBy[r.TradeNo], t.Amount-o.console[r.TradeNo]
	poor, slow, stuck := p.poor, p.slow, p.stuck
	p.poor, p.slow, p.stuck = false, false, false
	if first == "" {
		o.askedBy[r.TradeNo] = r.ID
	}
	switch {
	case made:
		return seckill.RefundAnswer{State: seckill.RefundPending}, nil
	case r.Amount > left || o.back[r.TradeNo]:
		return seckill.RefundAnswer{State: seckill.RefundRefused, Code: "REASON_TRADE_REFUND_FEE_ERR"}, nil
	case r.Amount < left:
		p.wrong = append(p.wrong, fmt.Errorf("I6 a refund of %s yuan of trade %s of order %s, %s are left",
			r.Amount.Yuan(), r.TradeNo, r.Order, left.Yuan()))
		return seckill.RefundAnswer{State: seckill.RefundRefused, Code: "REFUND_FEE_ERROR"}, nil
	case first != "" && first != r.ID && left == t.Amount:
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
	p.tells(r.Order, t, "closed", t.Amount)
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

// topUp makes an operator retry refused refunds after the faults have ended; a few times only what was charged back,
// whose receipt a person keeps then.
func (i *Instance) topUp() error {
	ctx := context.Background()
	refused, err := i.world.ledger.RefundsRefused(ctx, "", 100)
	i.saidAll()
	for _, p := range refused.Rows {
		if p.Tries > 3 && i.world.owesCharged(p.Order, p.TradeNo) {
			continue
		}
		if err := i.matchRefunds(p.Order, p.TradeNo); err != nil {
			return err
		}
		if _, e := i.Refund.Again(ctx, p.Order, "ann", "topped up"); e != nil {
			return e
		}
	}
	return err
}

// matchRefunds has the bills matched that list what went back of a trade, if its notifications did not say how much:
// the provider refuses to refund the whole of it.
func (i *Instance) matchRefunds(id, no string) error {
	w := i.world
	for _, l := range w.Provider.book {
		if !l.Refund || l.Order != id || !w.Provider.orders[id].unsaid[no] {
			continue
		}
		if _, err := w.matchInto(recorded{w.ledger, w.Clock}, w.Provider, seckill.Day(l.At)); err != nil {
			return err
		}
	}
	return nil
}

// saidAll makes operators say of each order of which all went back, by what the shop heard, what really did.
func (i *Instance) saidAll() {
	s := i.world.truth
	for _, id := range slices.Clone(s.list) {
		for _, p := range s.payments[id] {
			if p.state != seckill.Captured || int64(p.outside) != p.amount || i.world.Provider.closed(id, p.tradeNo) {
				continue
			}
			for _, who := range []string{"ann", "bob"} {
				if err := i.sayWhatWentBack(id, p.tradeNo, who, false); err != nil { // another proposal waits
					_, _ = i.Refund.Withdraw(context.Background(), id, who, "by another")
				}
			}
		}
	}
}

// sayWhatWentBack makes somebody say what went back of a trade, by the provider's console: all or less.
func (i *Instance) sayWhatWentBack(id, no, who string, restock bool) error {
	ctx, o := context.Background(), i.world.Provider.orders[id]
	sum := o.console[no]
	if t, _ := i.world.Provider.trade(id, no); sum == t.Amount {
		_, err := i.Refund.Gone(ctx, id, who, "the console shows it", restock)
		return err
	}
	i.world.truth.said[id+"/"+no] = sum
	_, err := i.Refund.Accept(ctx, id, who, "the console shows it", &sum)
	return err
}

// checkRefunds checks I6: an order's payments against the provider's refunds.
func (w *World) checkRefunds(id string, o *orderRow) error {
	due, done := 0, 0
	for _, p := range w.truth.payments[id] {
		back, outside := w.Provider.wentBack(id, p.tradeNo), w.Provider.orders[id].console[p.tradeNo]
		switch {
		case p.state == seckill.Captured && w.Provider.orders[id].unsaid[p.tradeNo] && int64(p.outside) == p.amount:
			// until a person says what it was
		case p.outside > outside || p.state == seckill.RefundDone && p.outside != outside:
			return fmt.Errorf("I6 of payment %s of order %s, which is %s, %d fen went back outside, by the ledger %d",
				p.tradeNo, id, p.state, outside, p.outside)
		case p.state == seckill.Captured && back && int64(outside) < p.amount:
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
func (t *truth) owed(byHand func(order, no string) bool) (errs []error) {
	for id, rows := range t.payments {
		for _, p := range rows {
			switch {
			case byHand(id, p.tradeNo):
			case p.state == seckill.RefundDue:
				errs = append(errs, fmt.Errorf("L1 the refund of trade %s of order %s stays due", p.tradeNo, id))
			case p.state == seckill.Captured && int64(p.outside) == p.amount:
				errs = append(errs, fmt.Errorf("L1 trade %s of order %s went back, and stays kept", p.tradeNo, id))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

package drivertest

import (
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// payment returns a captured trade of the whole amount.
func payment(o seckill.Order, trade string) seckill.Payment {
	return seckill.Payment{Order: o.ID, TradeNo: trade, Amount: o.Amount, State: seckill.Captured,
		At: o.Created.Add(time.Minute), Cause: "notify"}
}

// late returns a trade whose money must be refunded.
func late(o seckill.Order, trade string) seckill.Payment {
	p := payment(o, trade)
	p.State, p.Cause, p.Due = seckill.RefundDue, "query after close", p.At
	return p
}

func (s *suite) payments(id string) []seckill.Payment {
	s.Helper()
	all, err := s.Ledger.Payments(s.ctx, id)
	s.ok(err)
	return all
}

var moneyCases = []ledgerCase{
	{"a payment is recorded and pays the order in the same step", func(s *suite) {
		o := s.placed("1", "7", 1)
		p := payment(o, "2026070122001")
		s.ok(s.Ledger.RecordPayment(s.ctx, p, seckill.PendingPayment, seckill.Paid))
		o.State = seckill.Paid
		o.History = append(o.History, seckill.Change{State: seckill.Paid, At: p.At, Cause: p.Cause})
		s.same("order", s.read(o.ID), o)
		s.same("payments", s.payments(o.ID), []seckill.Payment{p})
	}},
	{"a payment in time keeps an order that is closing", func(s *suite) {
		o := s.closing(s.placed("1", "7", 1), seckill.Cancelled)
		p := payment(o, "t1")
		s.ok(s.Ledger.RecordPayment(s.ctx, p, seckill.Closing, seckill.Paid))
		closing := o
		o.State, o.CloseTo = seckill.Paid, ""
		o.History = append(o.History, seckill.Change{State: seckill.Paid, At: p.At, Cause: p.Cause})
		s.same("order", s.read(o.ID), o)
		s.refused("give back", isError(seckill.ErrStateChanged),
			func() error { return s.Ledger.GiveBack(s.ctx, closing, epoch, "c") })
	}},
	{"a trade is recorded once, whatever the order's state", func(s *suite) {
		o := s.placed("1", "7", 1)
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(o, "t1"), seckill.PendingPayment, seckill.Paid))
		for _, from := range []seckill.State{seckill.PendingPayment, seckill.Paid, seckill.Expired} {
			s.refused(fmt.Sprintf("again from %s", from), isError(seckill.ErrPaymentExists),
				func() error { return s.Ledger.RecordPayment(s.ctx, late(o, "t1"), from, from) })
		}
	}},
	{"a trade number of one order says nothing about another's", func(s *suite) {
		a, b := s.placed("1", "7", 1), s.placed("1", "7", 2)
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(a, "t1"), seckill.PendingPayment, seckill.Paid))
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(b, "t1"), seckill.PendingPayment, seckill.Paid))
	}},
	{"a second trade is owed back, and noted in the order, which is as it was else", func(s *suite) {
		o := s.placed("1", "7", 1)
		first, second := payment(o, "t2"), late(o, "t1")
		s.ok(s.Ledger.RecordPayment(s.ctx, first, seckill.PendingPayment, seckill.Paid))
		paid := s.read(o.ID)
		s.ok(s.Ledger.RecordPayment(s.ctx, second, seckill.Paid, seckill.Paid))
		paid.History = append(paid.History, seckill.Change{State: seckill.Paid, At: second.At,
			Cause: second.Amount.Yuan() + " yuan by trade t1: " + second.Cause})
		s.same("order", s.read(o.ID), paid)
		s.same("payments", s.payments(o.ID), []seckill.Payment{second, first})
	}},
	{"late money makes a closed order owe a refund", func(s *suite) {
		for i, end := range []seckill.State{seckill.Expired, seckill.Cancelled} {
			o := s.closed(s.placed("1", "7", i+1), end)
			p := late(o, "t1")
			s.ok(s.Ledger.RecordPayment(s.ctx, p, end, seckill.RefundOwed))
			o.State = seckill.RefundOwed
			o.History = append(o.History, seckill.Change{State: seckill.RefundOwed, At: p.At, Cause: p.Cause})
			s.same("order", s.read(o.ID), o)
		}
	}},
	{"money for a rejected order is owed back and leaves it rejected", func(s *suite) {
		o := s.rejected("1", "7")
		s.ok(s.Ledger.RecordPayment(s.ctx, late(o, "t1"), seckill.Rejected, seckill.Rejected))
		p := late(o, "t1")
		o.History = append(o.History, seckill.Change{State: seckill.Rejected, At: p.At, Cause: p.Amount.Yuan() +
			" yuan by trade t1: " + p.Cause})
		s.same("order", s.read(o.ID), o)
		s.same("payments", s.payments(o.ID), []seckill.Payment{p})
	}},
	{"an order in another state is not paid", func(s *suite) {
		o := s.placed("1", "7", 1)
		for _, from := range []seckill.State{seckill.Closing, seckill.Paid, seckill.Expired, seckill.Refunded} {
			to, _ := from.OnMoney()
			s.refused(fmt.Sprintf("record payment from %s to %s", from, to), isError(seckill.ErrStateChanged),
				func() error { return s.Ledger.RecordPayment(s.ctx, payment(o, "t1"), from, to) })
		}
	}},
	{"an order without a row is not paid", func(s *suite) {
		o := s.order("1", "7", 1)
		for _, to := range []seckill.State{seckill.Paid, seckill.PendingPayment} {
			s.refused("record payment to "+string(to), isError(seckill.ErrNoOrder),
				func() error { return s.Ledger.RecordPayment(s.ctx, payment(o, "t1"), seckill.PendingPayment, to) })
		}
	}},
	{"money moves an order only as the state table says", func(s *suite) {
		o := s.placed("1", "7", 1)
		for _, from := range seckill.States {
			for _, to := range seckill.States {
				after, _ := from.State.OnMoney()
				if to.State == from.State || to.State == after {
					continue
				}
				s.refused(fmt.Sprintf("record payment from %s to %s", from.State, to.State), isPlain,
					func() error { return s.Ledger.RecordPayment(s.ctx, payment(o, "t1"), from.State, to.State) })
			}
		}
	}},
	{"one of payment and giving back at once wins", func(s *suite) {
		for i := range 8 {
			o := s.closing(s.placed("1", "7", i+1), seckill.Expired)
			errs := allTogether(2, func(who int) error {
				if who == 0 {
					return s.Ledger.RecordPayment(s.ctx, payment(o, "t1"), seckill.Closing, seckill.Paid)
				}
				return s.Ledger.GiveBack(s.ctx, o, o.Due(), "c")
			})
			s.same("won and lost", s.count(errs, isError(nil), isError(seckill.ErrStateChanged)), []int{1, 1})
			w := s.sale()
			paid := w.Orders[o.ID].State == seckill.Paid
			if units := len(w.Orders[o.ID].Units) == 1; paid != units || paid != (len(w.Payments[o.ID]) == 1) {
				s.Fatalf("got order %+v with payments %v", w.Orders[o.ID], w.Payments[o.ID])
			}
		}
	}},
}

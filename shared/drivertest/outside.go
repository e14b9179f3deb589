package drivertest

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// wentBack records that so much of a payment went back outside the shop.
func (s *suite) wentBack(o seckill.Order, p seckill.Payment, outside seckill.Fen) (seckill.Order, seckill.Payment) {
	s.Helper()
	was := p.Outside
	p.Outside = outside
	s.ok(s.Ledger.WentBack(s.ctx, o, p, was, now, "console"))
	return s.read(o.ID), s.payments(o.ID)[0]
}

// outside lists the payments that wait for a decision.
func (s *suite) outside() []seckill.Payment {
	s.Helper()
	s.CatchUp()
	page, err := s.Ledger.RefundsOutside(s.ctx, "", 10)
	s.ok(err)
	return page.Rows
}

var outsideCases = []ledgerCase{
	{"a part that went back holds its order until a person decides", func(s *suite) {
		o, p := s.paid(1)
		before := o
		o, p = s.wentBack(o, p, 5)
		want := moved(before, seckill.Paid, now, "console")
		want.Outside, want.Undecided = 5, true
		s.same("order", o, want)
		s.same("waiting", s.outside(), []seckill.Payment{p})
		for _, as := range []seckill.Order{before, o} {
			s.refused("confirm", isError(seckill.ErrStateChanged), func() error {
				return s.Ledger.Fulfil(s.ctx, as, seckill.Confirmed, time.Time{}, now, "c")
			})
		}
		s.refused("accept what was less", isError(seckill.ErrStateChanged), func() error {
			less := o
			less.Outside = 4
			return s.Ledger.Accept(s.ctx, less, p, p.Outside, now, "c")
		})
		s.ok(s.Ledger.Accept(s.ctx, o, p, p.Outside, now, "accepted"))
		s.same("waiting", s.outside(), []seckill.Payment(nil))
		s.ok(s.Ledger.Fulfil(s.ctx, s.read(o.ID), seckill.Confirmed, time.Time{}, now, "c"))
		o = s.read(o.ID)
		s.same("what went back", []any{o.Outside, o.Undecided}, []any{seckill.Fen(5), false})
	}},
	{"a confirmed order that waits is not shipped, and more of it waits again", func(s *suite) {
		o, p := s.paid(1)
		s.ok(s.Ledger.Fulfil(s.ctx, o, seckill.Confirmed, time.Time{}, now, "c"))
		o, p = s.wentBack(s.read(o.ID), p, 5)
		o.Carrier, o.Number = "SF", "1"
		ship := func() error { return s.Ledger.Fulfil(s.ctx, o, seckill.Shipped, now, now, "c") }
		s.refused("ship", isError(seckill.ErrStateChanged), ship)
		s.ok(s.Ledger.Accept(s.ctx, o, p, p.Outside, now, "accepted"))
		s.wentBack(s.read(o.ID), p, 6)
		s.refused("ship", isError(seckill.ErrStateChanged), ship)
	}},
	{"what is known of a payment only grows", func(s *suite) {
		o, p := s.paid(1)
		o, p = s.wentBack(o, p, 5)
		for what, was := range map[string]seckill.Fen{"as it was before": 0, "as it never was": 4} {
			s.refused(what, isError(seckill.ErrStateChanged), func() error {
				more := p
				more.Outside = 6
				return s.Ledger.WentBack(s.ctx, o, more, was, now, "c")
			})
		}
	}},
	{"all that went back is due for a query, and then refunded", func(s *suite) {
		o, p := s.paid(1)
		o, p = s.wentBack(o, p, p.Amount)
		s.same("due", s.refunds(), []seckill.Payment{p})
		s.ok(s.Ledger.Refunded(s.ctx, p, p.Outside, "", seckill.Paid, seckill.Refunded, now, "c"))
		got := s.read(o.ID)
		s.same("order", []any{got.State, got.Undecided, got.Outside, len(got.Units)},
			[]any{seckill.Refunded, false, p.Amount, 1})
		s.same("due", s.refunds(), []seckill.Payment(nil))
	}},
	{"all that went back was less, says a person", func(s *suite) {
		o, p := s.paid(1)
		s.ok(s.Ledger.Fulfil(s.ctx, o, seckill.Confirmed, time.Time{}, now, "c"))
		o, p = s.wentBack(s.read(o.ID), p, p.Amount)
		swept := p
		s.ok(s.Ledger.Accept(s.ctx, o, p, 3, now, "accepted"))
		o, p = s.read(o.ID), s.payments(o.ID)[0]
		s.same("what went back", []any{o.Outside, o.Undecided, p.Outside, p.Rest()},
			[]any{seckill.Fen(3), false, seckill.Fen(3), p.Amount - 3})
		for what, late := range map[string]func() error{
			"a sweep that read it before": func() error { return s.Ledger.DeferRefund(s.ctx, swept, now, "") },
			"a query that read it before": func() error {
				return s.Ledger.Refunded(s.ctx, swept, swept.Outside, "", seckill.Confirmed, seckill.Refunded, now, "c")
			},
			"a person who read it before": func() error {
				return s.Ledger.StartRefund(s.ctx, o, swept, true, seckill.Decision{}, now, "c")
			},
		} {
			s.refused(what, isError(seckill.ErrStateChanged), late)
		}
		s.same("due", s.refunds(), []seckill.Payment(nil))
		o.Carrier, o.Number = "SF", "1"
		s.ok(s.Ledger.Fulfil(s.ctx, o, seckill.Shipped, now, now, "c"))
	}},
	{"all went back, says a person: the order is refunded, and gives its units back once", func(s *suite) {
		o, p := s.paid(1, 2)
		o, p = s.wentBack(o, p, p.Amount)
		s.ok(s.Ledger.StartRefund(s.ctx, o, p, false, seckill.Decision{}, now, "gone"))
		o, p = s.read(o.ID), s.payments(o.ID)[0]
		s.same("order", []any{o.State, o.Undecided, o.Outside, len(o.Units)},
			[]any{seckill.Refunded, false, p.Amount, 2})
		s.same("payment", []any{p.State, p.Back.Equal(now), p.Outside}, []any{seckill.RefundDone, true, p.Amount})
		s.same("due", s.refunds(), []seckill.Payment(nil))
		restock := func() error { return s.Ledger.Restock(s.ctx, o, now, "restocked") }
		s.ok(restock())
		s.refused("twice", isError(seckill.ErrStateChanged), restock)
		w := s.sale()
		s.same("units", [2]int{len(w.Orders[o.ID].Units), len(s.units("1"))}, [2]int{})
		s.same("return row", w.Returns[o.ID], seckill.ReturnRow{Order: o.ID, Item: "1", User: "7", Units: []int{1, 2}})
		s.same("quota", w.Quotas["7/1"].Units, 0)
	}},
	{"a query that finds all gone ends a proposal, and an order that owes keeps its sum", func(s *suite) {
		o, p := s.paid(1)
		s.ok(s.Ledger.Propose(s.ctx, seckill.Proposal{Order: o.ID, Who: "ann", Why: "x", Amount: 1, At: now},
			p.TradeNo))
		o, p = s.wentBack(o, p, p.Amount)
		s.ok(s.Ledger.Refunded(s.ctx, p, p.Outside, "", seckill.Paid, seckill.Refunded, now, "c"))
		left, err := s.Ledger.Proposal(s.ctx, o.ID)
		s.ok(err)
		s.same("proposal", left == nil, true)

		o = s.closed(s.placed("1", "8", 2), seckill.Expired)
		p = late(o, "t1")
		s.ok(s.Ledger.RecordPayment(s.ctx, p, seckill.Expired, seckill.RefundOwed))
		o, p = s.wentBack(s.read(o.ID), p, 5)
		s.same("outside", o.Outside, seckill.Fen(5))
		p.Outside = p.Amount
		s.ok(s.Ledger.Refunded(s.ctx, p, 5, "", seckill.RefundOwed, seckill.Refunded, now, "c"))
		s.same("outside", s.read(o.ID).Outside, p.Amount)
	}},
	{"the rest of a payment goes back, and a refund ends the waiting", func(s *suite) {
		o, p := s.paid(1)
		o, p = s.wentBack(o, p, 5)
		s.ok(s.Ledger.StartRefund(s.ctx, o, p, false, seckill.Decision{}, now, "c"))
		p = s.payments(o.ID)[0]
		s.same("waiting", s.outside(), []seckill.Payment(nil))
		s.same("due", s.refunds(), []seckill.Payment{p})
		s.same("refund", p.Refund().Amount, p.Amount-5)
		s.ok(s.Ledger.DeferRefund(s.ctx, p, now, "CODE"))
		o, p = s.wentBack(s.read(o.ID), p, 7)
		s.same("asked for again", s.refunds(), []seckill.Payment{p})
		stale := p
		stale.Outside = 5
		s.refused("defer what has changed", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.DeferRefund(s.ctx, stale, now, "CODE")
		})
		s.refused("refund what has changed", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.Refunded(s.ctx, stale, stale.Outside, "", seckill.RefundOwed, seckill.Refunded, now, "c")
		})
		s.ok(s.Ledger.Refunded(s.ctx, p, p.Outside, "", seckill.RefundOwed, seckill.Refunded, now, "c"))
		s.same("state", s.read(o.ID).State, seckill.Refunded)
	}},
}

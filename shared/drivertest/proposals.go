package drivertest

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

var proposalCases = []ledgerCase{
	{"a proposal is kept once, listed, and deleted only as it was read", func(s *suite) {
		o, p := s.paid(1)
		first := seckill.Proposal{Order: o.ID, Who: "ann", Why: "broken", Restock: true, Gone: true,
			Amount: p.Amount, At: now}
		none, err := s.Ledger.Proposal(s.ctx, o.ID)
		s.ok(err)
		s.same("none", none == nil, true)
		s.ok(s.Ledger.Propose(s.ctx, first, "t1"))
		s.refused("a second one", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.Propose(s.ctx, first, "t1")
		})
		got, err := s.Ledger.Proposal(s.ctx, o.ID)
		s.ok(err)
		s.same("proposal", *got, first)
		second := s.placed("1", "8", 2)
		other := first
		other.Order, other.Restock = second.ID, false
		s.refused("about money that is not kept", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.Propose(s.ctx, other, "t1")
		})
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(second, "t1"), seckill.PendingPayment, seckill.Paid))
		s.ok(s.Ledger.Propose(s.ctx, other, "t1"))
		all, err := s.Ledger.Proposals(s.ctx, "", 1)
		s.ok(err)
		s.same("a page", len(all), 1)
		more, err := s.Ledger.Proposals(s.ctx, all[0].Order, 2)
		s.ok(err)
		s.same("both", map[string]bool{all[0].Order: true, more[0].Order: true},
			map[string]bool{o.ID: true, other.Order: true})
		wrong := first
		wrong.Who = "bob"
		s.refused("another's", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.Withdraw(s.ctx, wrong)
		})
		s.ok(s.Ledger.Withdraw(s.ctx, first))
		s.refused("twice", isError(seckill.ErrStateChanged), func() error { return s.Ledger.Withdraw(s.ctx, first) })
		s.refused("an approval of one that is gone", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.StartRefund(s.ctx, o, p, true, seckill.Decision{Proposal: &first}, now, "c")
		})
		s.same("order", s.read(o.ID), o)
	}},
	{"an approval deletes its proposal in the same step", func(s *suite) {
		o, p := s.paid(1)
		first := seckill.Proposal{Order: o.ID, Who: "ann", Why: "broken", Amount: p.Amount, At: now}
		s.ok(s.Ledger.Propose(s.ctx, first, "t1"))
		s.ok(s.Ledger.StartRefund(s.ctx, o, p, true, seckill.Decision{Proposal: &first}, now, "c"))
		s.same("state", s.read(o.ID).State, seckill.RefundOwed)
		left, err := s.Ledger.Proposal(s.ctx, o.ID)
		s.ok(err)
		s.same("left", left == nil, true)
	}},
	{"a person refunds so many a day, and others and other days count apart", func(s *suite) {
		refund := func(unit int, who string, at time.Time) func() error {
			o := s.placed("1", string(rune('a'+unit)), unit)
			p := payment(o, "t1")
			s.ok(s.Ledger.RecordPayment(s.ctx, p, seckill.PendingPayment, seckill.Paid))
			o = s.read(o.ID)
			by := seckill.Decision{Person: who, PerDay: 2}
			return func() error { return s.Ledger.StartRefund(s.ctx, o, p, unit%2 == 0, by, at, "c") }
		}
		s.ok(refund(1, "ann", now)())
		s.ok(refund(2, "ann", now)())
		s.refused("a third", isError(seckill.ErrTooMany), refund(3, "ann", now))
		s.refused("a third with restock", isError(seckill.ErrTooMany), refund(4, "ann", now))
		s.ok(refund(5, "bob", now)())
		s.ok(refund(6, "ann", now.Add(24*time.Hour))())
	}},
}

package drivertest

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// paid places an order of these units and pays it.
func (s *suite) paid(units ...int) (seckill.Order, seckill.Payment) {
	s.Helper()
	o := s.placed("1", "7", units...)
	p := payment(o, "t1")
	s.ok(s.Ledger.RecordPayment(s.ctx, p, seckill.PendingPayment, seckill.Paid))
	return s.read(o.ID), p
}

// moved returns the order after a change.
func moved(o seckill.Order, to seckill.State, at time.Time, cause string) seckill.Order {
	o.State = to
	o.History = append(o.History[:len(o.History):len(o.History)], seckill.Change{State: to, At: at, Cause: cause})
	return o
}

// now is when the suite refunds.
var now = epoch.Add(30 * time.Minute)

var refundCases = []ledgerCase{
	{"a refund with restock gives the units back in the same step", func(s *suite) {
		o, p := s.paid(1, 2)
		other := s.placed("1", "7", 3)
		s.ok(s.Ledger.StartRefund(s.ctx, o, p, true, seckill.Decision{}, now, "refund by ann: broken"))
		want := moved(o, seckill.RefundOwed, now, "refund by ann: broken")
		want.Units = nil
		s.same("order", s.read(o.ID), want)
		p.State, p.Due = seckill.RefundDue, now
		s.same("payments", s.payments(o.ID), []seckill.Payment{p})
		s.same("refunds", s.refunds(), []seckill.Payment{p})
		s.same("units", s.units("1"), []seckill.UnitRow{{Unit: 3, Order: other.ID, User: "7"}})
		w := s.sale()
		s.same("return row", w.Returns[o.ID], seckill.ReturnRow{Order: o.ID, Item: "1", User: "7", Units: []int{1, 2}})
		s.same("quota", w.Quotas["7/1"], seckill.Quota{Units: 1, Orders: map[string]int{other.ID: 1}, Newest: other.ID})
	}},
	{"a refund without restock keeps the units out of sale", func(s *suite) {
		o, p := s.paid(1, 2)
		before := s.sale()
		s.ok(s.Ledger.StartRefund(s.ctx, o, p, false, seckill.Decision{}, now, "c"))
		after := s.sale()
		s.same("order", after.Orders[o.ID], moved(o, seckill.RefundOwed, now, "c"))
		s.same("units", after.Units, before.Units)
		s.same("quotas", after.Quotas, before.Quotas)
		s.same("returns", after.Returns, before.Returns)
	}},
	{"only a paid order as it was read, by its kept payment, owes a refund", func(s *suite) {
		o, p := s.paid(1)
		second := late(o, "t2")
		s.ok(s.Ledger.RecordPayment(s.ctx, second, seckill.Paid, seckill.Paid))
		open, strange := s.placed("1", "8", 2), payment(o, "t9")
		unpaid := open
		unpaid.State = seckill.Paid
		fewer := o
		fewer.Units = []int{5}
		for _, restock := range []bool{false, true} {
			owe := func(o seckill.Order, p seckill.Payment) func() error {
				return func() error { return s.Ledger.StartRefund(s.ctx, o, p, restock, seckill.Decision{}, now, "c") }
			}
			s.refused("an order that is not paid", isPlain, owe(open, payment(open, "t1")))
			s.refused("one that was paid when read", isError(seckill.ErrStateChanged), owe(unpaid, payment(open, "t1")))
			s.refused("other units", isError(seckill.ErrStateChanged), owe(fewer, p))
			s.refused("a payment that is owed already", isError(seckill.ErrStateChanged), owe(o, second))
			s.refused("not a payment", isError(seckill.ErrStateChanged), owe(o, strange))
			s.refused("another order's payment", isPlain, owe(o, payment(open, "t1")))
		}
		s.ok(s.Ledger.StartRefund(s.ctx, o, p, true, seckill.Decision{}, now, "c"))
		s.refused("twice", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.StartRefund(s.ctx, o, p, true, seckill.Decision{}, now, "c")
		})
		s.refused("from refund_due", isPlain, func() error {
			return s.Ledger.StartRefund(s.ctx, s.read(o.ID), p, true, seckill.Decision{}, now, "c")
		})
	}},
	{"an order is refunded with the last payment that it owes", func(s *suite) {
		o, p := s.paid(1)
		second := late(o, "t2")
		s.ok(s.Ledger.RecordPayment(s.ctx, second, seckill.Paid, seckill.Paid))
		s.ok(s.Ledger.StartRefund(s.ctx, o, p, true, seckill.Decision{}, now, "c"))
		owed := s.read(o.ID)
		back := func(p seckill.Payment, besides string, from, to seckill.State) func() error {
			return func() error { return s.Ledger.Refunded(s.ctx, p, p.Outside, besides, from, to, now, "back") }
		}
		s.refused("from another state", isError(seckill.ErrStateChanged), back(p, "", seckill.Paid, seckill.Paid))
		s.refused("a move that the table does not have", isPlain, back(p, "", seckill.Paid, seckill.Refunded))
		s.refused("at the end besides another", isPlain, back(p, "t2", seckill.RefundOwed, seckill.Refunded))
		s.refused("besides itself", isPlain, back(p, p.TradeNo, seckill.RefundOwed, seckill.RefundOwed))
		s.refused("besides one that is none", isError(seckill.ErrStateChanged), back(p, "t9", seckill.RefundOwed,
			seckill.RefundOwed))
		s.ok(back(p, "t2", seckill.RefundOwed, seckill.RefundOwed)())
		owed = moved(owed, seckill.RefundOwed, now, "back")
		s.same("order", s.read(o.ID), owed)
		p.State, p.Back = seckill.RefundDone, now
		s.same("payments", s.payments(o.ID), []seckill.Payment{p, second})
		s.same("refunds", s.refunds(), []seckill.Payment{second})
		s.refused("twice", isError(seckill.ErrStateChanged), back(p, "t2", seckill.RefundOwed, seckill.RefundOwed))
		s.refused("besides one that is refunded", isError(seckill.ErrStateChanged),
			back(second, "t1", seckill.RefundOwed, seckill.RefundOwed))
		s.ok(back(second, "", seckill.RefundOwed, seckill.Refunded)())
		s.same("order", s.read(o.ID), moved(owed, seckill.Refunded, now, "back"))
		s.same("refunds", s.refunds(), []seckill.Payment(nil))
		third := late(o, "t3")
		s.ok(s.Ledger.RecordPayment(s.ctx, third, seckill.Refunded, seckill.Refunded))
		s.ok(back(third, "", seckill.Refunded, seckill.Refunded)())
	}},
	{"two refunds of an order that end at once leave it refunded", func(s *suite) {
		for i := range 8 {
			o := s.closed(s.placed("1", "7", i+1), seckill.Expired)
			trades := []seckill.Payment{late(o, "t1"), late(o, "t2")}
			s.ok(s.Ledger.RecordPayment(s.ctx, trades[0], seckill.Expired, seckill.RefundOwed))
			s.ok(s.Ledger.RecordPayment(s.ctx, trades[1], seckill.RefundOwed, seckill.RefundOwed))
			errs := allTogether(2, func(who int) error {
				return s.Ledger.Refunded(s.ctx, trades[who], 0, trades[1-who].TradeNo, seckill.RefundOwed,
					seckill.RefundOwed, now, "back")
			})
			// Both must not succeed: then no sweep would find the order.
			s.same("won and lost", s.count(errs, isError(nil), isError(seckill.ErrStateChanged)), []int{1, 1})
		}
	}},
	{"a refund in vain is due later, one that is refused is not, until somebody says so", func(s *suite) {
		o := s.closed(s.placed("1", "7", 1), seckill.Expired)
		p := late(o, "t1")
		s.ok(s.Ledger.RecordPayment(s.ctx, p, seckill.Expired, seckill.RefundOwed))
		o = s.read(o.ID)
		p.Tries, p.Due = 1, now.Add(2*time.Minute)
		s.ok(s.Ledger.DeferRefund(s.ctx, p, p.Due, ""))
		s.same("payments", s.payments(o.ID), []seckill.Payment{p})
		s.same("refunds within the hour", s.refunds(), []seckill.Payment{p})
		shards(func(shard int) {
			early, err := s.Ledger.RefundsDue(s.ctx, shard, p.Due.Add(-time.Millisecond), "", 100)
			s.ok(err)
			s.same("too early", early, seckill.Page[seckill.Payment]{})
		})
		p.Tries, p.Refused = 2, "ACQ.SELLER_BALANCE_NOT_ENOUGH"
		s.ok(s.Ledger.DeferRefund(s.ctx, p, p.Due, p.Refused))
		s.same("refunds", s.refunds(), []seckill.Payment(nil))
		refused, err := s.Ledger.RefundsRefused(s.ctx, "", 100)
		s.ok(err)
		s.same("refused", refused.Rows, []seckill.Payment{p})
		s.refused("again, for an order that is elsewhere", isError(seckill.ErrStateChanged),
			func() error { return s.Ledger.RetryRefund(s.ctx, p, seckill.Refunded, now, "c") })
		s.ok(s.Ledger.RetryRefund(s.ctx, p, seckill.RefundOwed, now, "again"))
		p.Refused, p.Due = "", now
		s.same("refunds", s.refunds(), []seckill.Payment{p})
		o = moved(o, seckill.RefundOwed, now, "again")
		s.same("order", s.read(o.ID), o)
		s.ok(s.Ledger.Refunded(s.ctx, p, p.Outside, "", seckill.RefundOwed, seckill.Refunded, now, "back"))
		s.refused("after its end", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.DeferRefund(s.ctx, p, now, "")
		})
		s.refused("again after its end", isError(seckill.ErrStateChanged),
			func() error { return s.Ledger.RetryRefund(s.ctx, p, seckill.Refunded, now, "c") })
		s.refused("not a payment", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.DeferRefund(s.ctx, late(o, "t9"), now, "")
		})
	}},
}

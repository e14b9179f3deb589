package drivertest

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// fulfilDue lists the orders that the schedule moves on by a moment, of all shards.
func (s *suite) fulfilDue(by time.Time) (out []string) {
	s.Helper()
	s.CatchUp()
	shards(func(shard int) {
		page, err := s.Ledger.FulfilDue(s.ctx, shard, by, "", 100)
		s.ok(err)
		out = append(out, page.Rows...)
	})
	return out
}

// shipped places, pays, confirms and ships an order of these units.
func (s *suite) shipped(units ...int) (seckill.Order, seckill.Payment) {
	s.Helper()
	o, p := s.paid(units...)
	s.ok(s.Ledger.Fulfil(s.ctx, o, seckill.Confirmed, time.Time{}, now, "taken"))
	o = moved(o, seckill.Confirmed, now, "taken")
	o.Carrier, o.Number = "SF", "123"
	s.ok(s.Ledger.Fulfil(s.ctx, o, seckill.Shipped, now.Add(seckill.ReceivedAfter), now, "sent"))
	o = moved(o, seckill.Shipped, now, "sent")
	s.same("shipped order", s.read(o.ID), o)
	return o, p
}

var fulfilCases = []ledgerCase{
	{"an order goes from paid to completed, keeps its units, and is due in between", func(s *suite) {
		o, _ := s.shipped(1, 2)
		units := s.units("1")
		due := now.Add(seckill.ReceivedAfter)
		s.same("due too early", s.fulfilDue(due.Add(-time.Millisecond)), []string(nil))
		s.same("due", s.fulfilDue(due), []string{o.ID})
		end := due.Add(seckill.CompletedAfter)
		s.ok(s.Ledger.Fulfil(s.ctx, o, seckill.Received, end, due, "15 days"))
		o = moved(o, seckill.Received, due, "15 days")
		s.same("received order", s.read(o.ID), o)
		s.same("due", s.fulfilDue(end), []string{o.ID})
		s.ok(s.Ledger.Fulfil(s.ctx, o, seckill.Completed, time.Time{}, end, "7 days"))
		s.same("completed order", s.read(o.ID), moved(o, seckill.Completed, end, "7 days"))
		s.same("due at the end", s.fulfilDue(end.Add(time.Hour)), []string(nil))
		s.same("units", s.units("1"), units)
		shards(func(shard int) {
			page, err := s.Ledger.DueOrders(s.ctx, shard, end, "", 100)
			s.ok(err)
			s.same("orders to close", page, seckill.Page[string]{})
		})
	}},
	{"an order moves on only from the state in which it was read, by the table, with a parcel", func(s *suite) {
		o, _ := s.paid(1)
		open := s.placed("1", "8", 2)
		move := func(o seckill.Order, to seckill.State) func() error {
			return func() error { return s.Ledger.Fulfil(s.ctx, o, to, time.Time{}, now, "c") }
		}
		parcel := o
		parcel.State = seckill.Confirmed
		s.refused("shipped without a parcel", isPlain, move(parcel, seckill.Shipped))
		parcel.Carrier, parcel.Number = "SF", "1"
		s.refused("shipped, never confirmed", isError(seckill.ErrStateChanged), move(parcel, seckill.Shipped))
		s.refused("from paid to shipped", isPlain, move(o, seckill.Shipped))
		s.refused("to refund_due", isPlain, move(o, seckill.RefundOwed))
		s.refused("an open order", isPlain, move(open, seckill.Confirmed))
		open.State = seckill.Paid
		s.refused("one that was paid when read", isError(seckill.ErrStateChanged), move(open, seckill.Confirmed))
		fewer := o
		fewer.Units = []int{5}
		s.refused("other units", isError(seckill.ErrStateChanged), move(fewer, seckill.Confirmed))
		strange := o
		strange.ID = seckill.KeyedOrderID("1", "7", "none")
		s.refused("none", isError(seckill.ErrStateChanged), move(strange, seckill.Confirmed))
	}},
	{"shipping and a refund at once: one of them happens", func(s *suite) {
		for i := range 8 {
			o, p := s.paid(i + 1)
			s.ok(s.Ledger.Fulfil(s.ctx, o, seckill.Confirmed, time.Time{}, now, "taken"))
			o = s.read(o.ID)
			o.Carrier, o.Number = "SF", "1"
			errs := allTogether(2, func(who int) error {
				if who == 0 {
					return s.Ledger.Fulfil(s.ctx, o, seckill.Shipped, now.Add(time.Hour), now, "sent")
				}
				return s.Ledger.StartRefund(s.ctx, o, p, true, seckill.Decision{}, now, "back")
			})
			s.same("won and lost", s.count(errs, isError(nil), isError(seckill.ErrStateChanged)), []int{1, 1})
		}
	}},
	{"a refund after shipping keeps the units, and nothing moves the order on", func(s *suite) {
		o, p := s.shipped(1)
		units := s.units("1")
		s.refused("with restock", isPlain, func() error {
			return s.Ledger.StartRefund(s.ctx, o, p, true, seckill.Decision{}, now, "c")
		})
		s.ok(s.Ledger.StartRefund(s.ctx, o, p, false, seckill.Decision{}, now, "c"))
		s.same("order", s.read(o.ID), moved(o, seckill.RefundOwed, now, "c"))
		s.same("units", s.units("1"), units)
		s.same("due", s.fulfilDue(now.Add(2*seckill.ReceivedAfter)), []string(nil))
		s.refused("received", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.Fulfil(s.ctx, o, seckill.Received, now, now, "c")
		})
	}},
	{"a parcel is corrected from what was read, and nothing else changes", func(s *suite) {
		o, _ := s.shipped(1)
		s.ok(s.Ledger.Correct(s.ctx, o, "ZTO", "124", now, "corrected"))
		fixed := moved(o, seckill.Shipped, now, "corrected")
		fixed.Carrier, fixed.Number = "ZTO", "124"
		s.same("corrected", s.read(o.ID), fixed)
		s.same("due", s.fulfilDue(now.Add(seckill.ReceivedAfter)), []string{o.ID})
		again := func(o seckill.Order, carrier, number string) func() error {
			return func() error { return s.Ledger.Correct(s.ctx, o, carrier, number, now, "c") }
		}
		s.refused("what another corrected", isError(seckill.ErrStateChanged), again(o, "YTO", "125"))
		s.refused("without a number", isPlain, again(fixed, "YTO", ""))
		paid, _ := s.paid(2)
		s.refused("an order without a parcel", isPlain, again(paid, "YTO", "125"))
		fixed.State = seckill.Received
		s.refused("in another state", isError(seckill.ErrStateChanged), again(fixed, "YTO", "125"))
		s.same("refused", s.read(o.ID).Number, "124")
	}},
	{"notes, hiding and what a shopper asks for leave the state as it is", func(s *suite) {
		o, _ := s.paid(1)
		s.ok(s.Ledger.Note(s.ctx, o, now, "note by ann: gift"))
		o = moved(o, seckill.Paid, now, "note by ann: gift")
		s.same("noted", s.read(o.ID), o)
		s.ok(s.Ledger.AskRefund(s.ctx, o, "太小了", now, "asks"))
		o = moved(o, seckill.Paid, now, "asks")
		o.RefundWhy = "太小了"
		s.same("asked", s.read(o.ID), o)
		s.ok(s.Ledger.Hide(s.ctx, o, true, now, "hidden"))
		o = moved(o, seckill.Paid, now, "hidden")
		o.Hidden = true
		s.same("hidden", s.read(o.ID), o)
		s.ok(s.Ledger.Hide(s.ctx, o, false, now, "shown"))
		o = moved(o, seckill.Paid, now, "shown")
		o.Hidden = false
		s.same("shown", s.read(o.ID), o)
		s.ok(s.Ledger.EraseAddress(s.ctx, o.ID, o.State, now))
		o.Given, o.RefundWhy, o.Erased = seckill.Given{}, "", now
		s.same("erased", s.read(o.ID), o)
		o.State = seckill.Confirmed
		for what, write := range map[string]func() error{
			"note": func() error { return s.Ledger.Note(s.ctx, o, now, "c") },
			"hide": func() error { return s.Ledger.Hide(s.ctx, o, true, now, "c") },
			"ask":  func() error { return s.Ledger.AskRefund(s.ctx, o, "x", now, "c") },
		} {
			s.refused(what+" in another state", isError(seckill.ErrStateChanged), write)
		}
	}},
}

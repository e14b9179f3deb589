package drivertest

import (
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

func spanRow(user, family string) ledger.Key {
	return ledger.Key{Table: ledger.TableQuotas, PK: user, SK: "family#" + family}
}

// spanning returns a new order of an item whose limit spans the family, without writing it.
func (s *suite) spanning(family, item, user string, units ...int) seckill.Order {
	o := s.order(item, user, units...)
	o.Span = family
	s.families[family] = true
	return o
}

// over checks that one more unit of an item of family 70 is refused to user 7, whose limit is 2.
func (s *suite) over(item string, unit int) {
	s.Helper()
	o := s.spanning("70", item, "7", unit)
	s.refused("one more of item "+item, isError(seckill.ErrQuota), func() error { return s.Ledger.Place(s.ctx, o, 2) })
}

var spanCases = []ledgerCase{
	{"a limit that spans a family is exact over its items", func(s *suite) {
		s.ok(s.Ledger.Place(s.ctx, s.spanning("70", "1", "7", 1), 2))
		two := s.spanning("70", "2", "7", 1, 2)
		s.refused("2 more of 2", isError(seckill.ErrQuota), func() error { return s.Ledger.Place(s.ctx, two, 2) })
		s.ok(s.Ledger.Place(s.ctx, s.spanning("70", "2", "7", 1), 2))
		for _, item := range []string{"1", "2", "3"} {
			s.over(item, 9)
		}
		s.ok(s.Ledger.Place(s.ctx, s.spanning("70", "1", "8", 2, 3), 2)) // another user
		s.ok(s.Ledger.Place(s.ctx, s.spanning("71", "4", "7", 1, 2), 2)) // another family
		s.ok(s.Ledger.Place(s.ctx, s.order("5", "7", 1, 2), 2))          // an item alone
		third := s.spanning("70", "3", "7", 9)
		s.ok(s.Ledger.Place(s.ctx, third, 3))
		q, err := s.Ledger.SpanQuota(s.ctx, "7", "70")
		s.ok(err)
		s.same("units of the family", q.Units, 3)
		s.same("units of an order of it", q.Orders[third.ID], 1)
		q, err = s.Ledger.SpanQuota(s.ctx, "7", "72")
		s.ok(err)
		s.same("units of a family that the user has none of", q.Units, 0)
	}},
	{"an order with a span has a version that older releases do not read, others have theirs", func(s *suite) {
		o := s.spanning("70", "1", "7", 1)
		s.ok(s.Ledger.Place(s.ctx, o, 2))
		for id, want := range map[string]int64{o.ID: 2, s.placed("1", "8", 2).ID: 1} {
			row, _, err := s.Rows.Get(s.ctx, ledger.Key{Table: ledger.TableOrders, PK: id})
			s.ok(err)
			s.same("version", row["v"], want)
		}
	}},
	{"an order with a span of version 1 is read", func(s *suite) {
		o := s.spanning("70", "1", "7", 1)
		s.ok(s.Ledger.Place(s.ctx, o, 2))
		s.ok(s.Rows.Transact(s.ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableOrders, PK: o.ID},
			Op: ledger.OpUpdate, Set: ledger.Row{"v": int64(1)}}}))
		s.same("span", s.closed(o, seckill.Expired).Span, "70")
	}},
	{"an order without a span has no row of a family", func(s *suite) {
		s.placed("1", "7", 1)
		rows, err := s.Rows.Query(s.ctx, ledger.TableQuotas, "7", "", 10)
		s.ok(err)
		if len(rows) != 1 || s.read(s.orders[0]).Span != "" {
			s.Fatalf("got rows %v, want one", rows)
		}
	}},
	{"the item's own limit holds beside the family's", func(s *suite) {
		s.placed("1", "7", 1, 2) // before the limit spanned
		o := s.spanning("70", "1", "7", 3)
		s.refused("a third", isError(seckill.ErrQuota), func() error { return s.Ledger.Place(s.ctx, o, 2) })
	}},
	{"what an expired, a cancelled or a restocked order gives back can be bought of another item", func(s *suite) {
		for i, end := range []func(o seckill.Order){
			func(o seckill.Order) { s.closed(o, seckill.Expired) },
			func(o seckill.Order) { s.closed(o, seckill.Cancelled) },
			func(o seckill.Order) {
				s.ok(s.Ledger.RecordPayment(s.ctx, payment(o, "t1"), seckill.PendingPayment, seckill.Paid))
				s.ok(s.Ledger.StartRefund(s.ctx, s.read(o.ID), payment(o, "t1"), true, seckill.Decision{}, now, "c"))
			},
		} {
			o := s.spanning("70", "1", "7", 10*i+1, 10*i+2)
			s.ok(s.Ledger.Place(s.ctx, o, 2))
			s.over("2", 9)
			end(o)
			row, _, err := s.Rows.Get(s.ctx, spanRow("7", "70"))
			s.ok(err)
			if row["units"] != int64(0) || row["orders"] != nil {
				s.Fatalf("got %v, want no units", row)
			}
			other := s.spanning("70", "2", "7", 10*i+1, 10*i+2)
			s.ok(s.Ledger.Place(s.ctx, other, 2))
			s.over("1", 9)
			s.closed(other, seckill.Cancelled)
		}
	}},
	{"a refund without restock still counts", func(s *suite) {
		o := s.spanning("70", "1", "7", 1, 2)
		s.ok(s.Ledger.Place(s.ctx, o, 2))
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(o, "t1"), seckill.PendingPayment, seckill.Paid))
		s.ok(s.Ledger.StartRefund(s.ctx, s.read(o.ID), payment(o, "t1"), false, seckill.Decision{}, now, "c"))
		s.over("2", 9)
	}},
	{"an existing order and a block are named before a limit that spans, and that before a collision", func(s *suite) {
		taken := s.placed("2", "8", 1)
		o := s.spanning("70", "1", "7", 1, 2)
		s.ok(s.Ledger.Place(s.ctx, o, 2))
		s.over("2", taken.Units[0])
		s.refused("again", isError(seckill.ErrOrderExists), func() error { return s.Ledger.Place(s.ctx, o, 2) })
		free := s.spanning("70", "2", "7", 1)
		s.refused("taken", isCollision(seckill.Collision{Unit: 1, Owner: taken.ID, User: "8"}),
			func() error { return s.Ledger.Place(s.ctx, free, 9) })
		s.block("user:7", "2", time.Time{})
		s.refused("blocked", isError(seckill.ErrBlocked), func() error { return s.Ledger.Place(s.ctx, free, 2) })
	}},
	{"the largest order of a limit that spans is placed and given back", func(s *suite) {
		o := s.spanning("70", "1", "7", upTo(seckill.MaxCount)...)
		s.ok(s.Ledger.Place(s.ctx, o, seckill.MaxCount))
		s.same("span", s.closed(o, seckill.Expired).Span, "70")
	}},
	{"of many orders of one user at once as many are placed as the limit has room for", func(s *suite) {
		orders := make([]seckill.Order, 8)
		for i := range orders {
			orders[i] = s.spanning("70", string(rune('1'+i)), "7", 1)
		}
		allTogether(len(orders), func(i int) error { return s.Ledger.Place(s.ctx, orders[i], 3) })
		for i := range orders { // a driver may give up on transactions that conflict: each is tried again, alone
			_ = s.Ledger.Place(s.ctx, orders[i], 3)
		}
		row, _, err := s.Rows.Get(s.ctx, spanRow("7", "70"))
		s.ok(err)
		if set, _ := row["orders"].(ledger.Set); row["units"] != int64(3) || len(set) != 3 {
			s.Fatalf("got %v, want 3 units of 3 orders", row)
		}
	}},
	{"a quota of the family that does not list the order stops giving back", func(s *suite) {
		o := s.spanning("70", "1", "7", 1)
		s.ok(s.Ledger.Place(s.ctx, o, 2))
		o = s.closing(o, seckill.Expired)
		s.ok(s.Rows.Transact(s.ctx, []ledger.Write{{Key: spanRow("7", "70"), Op: ledger.OpUpdate,
			Remove: []string{"orders"}}}))
		s.refused("give back", isPlain, func() error { return s.Ledger.GiveBack(s.ctx, o, epoch, "c") })
	}},
}

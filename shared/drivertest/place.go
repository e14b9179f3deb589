package drivertest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

var placeCases = []ledgerCase{
	{"an order, its units and its quota are written and read back", func(s *suite) {
		o := s.placed("1", "7", 2, 3, 6)
		s.same("order", s.read(o.ID), o)
		s.same("units", s.units("1"), []seckill.UnitRow{{Unit: 2, Order: o.ID, User: "7"},
			{Unit: 6, Order: o.ID, User: "7"}, {Unit: 3, Order: o.ID, User: "7"}})
		q, err := s.Ledger.Quota(s.ctx, "7", "1")
		s.ok(err)
		s.same("quota", q, seckill.Quota{Units: 3, Orders: map[string]int{o.ID: 3}, Newest: o.ID})
	}},
	{"an order without history gets its first entry, whatever its state was", func(s *suite) {
		o := s.order("1", "7", 1)
		o.History, o.State, o.CloseTo, o.Reason = nil, seckill.Queued, seckill.Expired, seckill.CodeSoldOut
		s.ok(s.Ledger.Place(s.ctx, o, 1))
		o.State, o.CloseTo, o.Reason = seckill.PendingPayment, "", ""
		o.History = []seckill.Change{{State: seckill.PendingPayment, At: o.Placed, Cause: "placed"}}
		s.same("order", s.read(o.ID), o)
	}},
	{"the largest order is placed and given back whole", func(s *suite) {
		units := upTo(seckill.MaxCount)
		o := s.placed("1", "7", units...)
		if got := len(s.units("1")); got != seckill.MaxCount {
			s.Fatalf("got %d unit rows, want %d", got, seckill.MaxCount)
		}
		s.closed(o, seckill.Expired)
		s.same("units", s.units("1"), []seckill.UnitRow(nil))
		r, err := s.Ledger.Return(s.ctx, o.ID)
		s.ok(err)
		s.same("return row", r, seckill.ReturnRow{Order: o.ID, Item: "1", User: "7", Units: units})
	}},
	{"an existing order is named before quota and collision", func(s *suite) {
		o := s.placed("1", "7", 1, 2)
		for _, limit := range []int{1000, 2, 1, 0} {
			s.refused(fmt.Sprintf("place again with limit %d", limit), isError(seckill.ErrOrderExists),
				func() error { return s.Ledger.Place(s.ctx, o, limit) })
		}
	}},
	{"an existing order is named though units and count differ", func(s *suite) {
		o := s.placed("1", "7", 1)
		o.Units, o.Count = []int{5, 6}, 2
		s.refused("place again", isError(seckill.ErrOrderExists), func() error { return s.Ledger.Place(s.ctx, o, 9) })
	}},
	{"the quota is exact at the limit", func(s *suite) {
		s.ok(s.Ledger.Place(s.ctx, s.order("1", "7", 1, 2), 3))
		over := s.order("1", "7", 3, 4)
		s.refused("2 more of 3", isError(seckill.ErrQuota), func() error { return s.Ledger.Place(s.ctx, over, 3) })
		s.ok(s.Ledger.Place(s.ctx, s.order("1", "7", 3), 3))
		more := s.order("1", "7", 4)
		s.refused("1 more of 3", isError(seckill.ErrQuota), func() error { return s.Ledger.Place(s.ctx, more, 3) })
		s.ok(s.Ledger.Place(s.ctx, s.order("2", "7", 1), 1))
		s.ok(s.Ledger.Place(s.ctx, s.order("1", "8", 4), 1))
		more.Units = []int{5}
		s.ok(s.Ledger.Place(s.ctx, more, 4))
	}},
	{"a count above the limit is refused to a user without a quota row", func(s *suite) {
		o := s.order("1", "7", 1, 2, 3)
		for _, limit := range []int{2, 0} {
			s.refused(fmt.Sprintf("3 of %d", limit), isError(seckill.ErrQuota),
				func() error { return s.Ledger.Place(s.ctx, o, limit) })
		}
	}},
	{"a count above the limit is refused to a user whose quota row is empty", func(s *suite) {
		s.rejected("1", "7")
		o := s.order("1", "7", 1, 2)
		s.refused("2 of 1", isError(seckill.ErrQuota), func() error { return s.Ledger.Place(s.ctx, o, 1) })
		s.ok(s.Ledger.Place(s.ctx, o, 2))
	}},
	{"a quota given back can be used again", func(s *suite) {
		s.closed(s.placed("1", "7", 1, 2), seckill.Cancelled)
		s.ok(s.Ledger.Place(s.ctx, s.order("1", "7", 1, 2), 2))
	}},
	{"a refused quota is named before a collision", func(s *suite) {
		s.placed("1", "8", 2)
		s.placed("1", "7", 1)
		o := s.order("1", "7", 2)
		s.refused("place", isError(seckill.ErrQuota), func() error { return s.Ledger.Place(s.ctx, o, 1) })
	}},
	{"a collision names the unit, its owner and the owner's user", func(s *suite) {
		a := s.placed("1", "8", 2)
		b := s.placed("1", "9", 4, 6)
		o := s.order("1", "7", 1, 2, 3, 4, 5)
		s.refused("place over 2", isCollision(seckill.Collision{Unit: 2, Owner: a.ID, User: "8"}),
			func() error { return s.Ledger.Place(s.ctx, o, 9) })
		o.Units = []int{1, 3, 5, 6, 7}
		s.refused("place over 6", isCollision(seckill.Collision{Unit: 6, Owner: b.ID, User: "9"}),
			func() error { return s.Ledger.Place(s.ctx, o, 9) })
		o.Units = []int{1, 3, 5, 7, 8}
		s.ok(s.Ledger.Place(s.ctx, o, 9))
	}},
	{"the first collision in the order's own sequence is named", func(s *suite) {
		s.placed("1", "8", 2)
		b := s.placed("1", "9", 4)
		o := s.order("1", "7", 4, 2)
		s.refused("place", isCollision(seckill.Collision{Unit: 4, Owner: b.ID, User: "9"}),
			func() error { return s.Ledger.Place(s.ctx, o, 9) })
	}},
	{"a user's own earlier unit collides too", func(s *suite) {
		a := s.placed("1", "7", 1)
		o := s.order("1", "7", 1)
		s.refused("place", isCollision(seckill.Collision{Unit: 1, Owner: a.ID, User: "7"}),
			func() error { return s.Ledger.Place(s.ctx, o, 9) })
	}},
	{"equal numbers of two items do not collide", func(s *suite) {
		s.placed("1", "7", 1)
		s.placed("11", "7", 1)
		if a, b := len(s.units("1")), len(s.units("11")); a != 1 || b != 1 {
			s.Fatalf("got %d and %d unit rows, want one each", a, b)
		}
	}},
	{"an order that no flow may place is refused", func(s *suite) {
		bad := map[string]func(o *seckill.Order){
			"fewer units than its count":   func(o *seckill.Order) { o.Units = o.Units[:1] },
			"more units than its count":    func(o *seckill.Order) { o.Count = 1 },
			"no unit":                      func(o *seckill.Order) { o.Units, o.Count = nil, 0 },
			"a unit twice":                 func(o *seckill.Order) { o.Units = []int{4, 4} },
			"unit 0":                       func(o *seckill.Order) { o.Units = []int{0, 1} },
			"a unit beyond every stock":    func(o *seckill.Order) { o.Units = []int{1, seckill.MaxStock + 1} },
			"no buckets":                   func(o *seckill.Order) { o.Buckets = 0 },
			"no created":                   func(o *seckill.Order) { o.Created = time.Time{} },
			"no placed":                    func(o *seckill.Order) { o.Placed = time.Time{} },
			"no pay_by":                    func(o *seckill.Order) { o.PayBy = time.Time{} },
			"no id":                        func(o *seckill.Order) { o.ID = "" },
			"more units than an order may": func(o *seckill.Order) { o.Units = upTo(51); o.Count = 51 },
		}
		for name, spoil := range bad {
			o := s.order("1", "7", 1, 2)
			spoil(&o)
			s.refused(name, isPlain, func() error { return s.Ledger.Place(s.ctx, o, 1000) })
		}
	}},
	{"a rejected order has a row and is the user's newest, and counts nothing", func(s *suite) {
		s.placed("1", "7", 1)
		o := s.rejected("1", "7")
		s.same("order", s.read(o.ID), o)
		q, err := s.Ledger.Quota(s.ctx, "7", "1")
		s.ok(err)
		if q.Units != 1 || len(q.Orders) != 1 || q.Newest != o.ID {
			s.Fatalf("got quota %+v, want 1 unit of 1 order and newest %s", q, o.ID)
		}
	}},
	{"a rejected order cannot be placed, a placed one not rejected", func(s *suite) {
		o := s.rejected("1", "7")
		o.Units, o.PayBy = []int{1, 2}, epoch.Add(time.Hour)
		s.refused("place", isError(seckill.ErrOrderExists), func() error { return s.Ledger.Place(s.ctx, o, 9) })
		s.refused("reject", isError(seckill.ErrOrderExists), func() error { return s.Ledger.Reject(s.ctx, o) })
		p := s.placed("1", "8", 3)
		s.refused("reject", isError(seckill.ErrOrderExists), func() error { return s.Ledger.Reject(s.ctx, p) })
	}},
	{"a rejection keeps no unit, pay_by and nothing of its shopper, and gets its history", func(s *suite) {
		o := s.order("1", "7", 1, 2)
		o.Reason, o.History = seckill.CodeStopped, nil
		s.ok(s.Ledger.Reject(s.ctx, o))
		o.State, o.Units, o.PayBy, o.Given = seckill.Rejected, nil, time.Time{}, seckill.Given{}
		o.History = []seckill.Change{{State: seckill.Rejected, At: o.Placed, Cause: "stopped"}}
		s.same("order", s.read(o.ID), o)
		s.same("units", s.units("1"), []seckill.UnitRow(nil))
	}},
	{"an order that is not there is ErrNoOrder, a quota that is not there zero", func(s *suite) {
		o := s.order("1", "7", 1)
		if _, err := s.Ledger.Order(s.ctx, o.ID); !errors.Is(err, seckill.ErrNoOrder) {
			s.Fatalf("got error %v, want %v", err, seckill.ErrNoOrder)
		}
		q, err := s.Ledger.Quota(s.ctx, "7", "1")
		s.ok(err)
		s.same("quota", q, seckill.Quota{})
	}},
	{"quotas of many users are read, those without one left out", func(s *suite) {
		want := map[string]seckill.Quota{}
		users := []string{"nobody"}
		for i := 1; i < seckill.MaxQuotas; i++ {
			user := fmt.Sprint(i)
			users = append(users, user)
			if i%3 == 0 {
				o := s.placed("1", user, i)
				want[user] = seckill.Quota{Units: 1, Orders: map[string]int{o.ID: 1}, Newest: o.ID}
			}
		}
		s.placed("2", "1", 1)
		got, err := s.Ledger.Quotas(s.ctx, "1", users)
		s.ok(err)
		s.same("quotas", got, want)
		got, err = s.Ledger.Quotas(s.ctx, "1", nil)
		s.ok(err)
		s.same("quotas of nobody", got, map[string]seckill.Quota{})
		if _, err := s.Ledger.Quotas(s.ctx, "1", append(users, "one more")); err == nil {
			s.Fatalf("quotas of %d users: got no error", len(users)+1)
		}
	}},
	{"one of many that place the same unit at once wins", func(s *suite) {
		const n = 16
		var orders []seckill.Order
		for i := range n {
			orders = append(orders, s.order("1", fmt.Sprint(i), 9))
		}
		errs := allTogether(n, func(i int) error { return s.Ledger.Place(s.ctx, orders[i], 1) })
		rows := s.units("1")
		if len(rows) != 1 {
			s.Fatalf("got unit rows %v, want one", rows)
		}
		got := s.count(errs, isError(nil), isCollision(seckill.Collision{Unit: 9, Owner: rows[0].Order,
			User: rows[0].User}))
		s.same("placed and collided", got, []int{1, n - 1})
	}},
	{"one user's orders at once stay within the limit", func(s *suite) {
		const n, limit = 16, 5
		var orders []seckill.Order
		for i := range n {
			orders = append(orders, s.order("1", "7", i+1))
		}
		errs := allTogether(n, func(i int) error { return s.Ledger.Place(s.ctx, orders[i], limit) })
		s.same("placed and refused", s.count(errs, isError(nil), isError(seckill.ErrQuota)), []int{limit, n - limit})
		if got := len(s.units("1")); got != limit {
			s.Fatalf("got %d unit rows, want %d", got, limit)
		}
	}},
	{"one order that is placed many times at once is placed once", func(s *suite) {
		const n = 16
		o := s.order("1", "7", 1)
		errs := allTogether(n, func(i int) error {
			again := o
			again.Units = []int{i + 1}
			return s.Ledger.Place(s.ctx, again, seckill.MaxLimit)
		})
		s.same("placed and existing", s.count(errs, isError(nil), isError(seckill.ErrOrderExists)), []int{1, n - 1})
		rows := s.units("1")
		if len(rows) != 1 || !slices.Equal(s.read(o.ID).Units, []int{rows[0].Unit}) {
			s.Fatalf("got unit rows %v, want the one that order %+v lists", rows, s.read(o.ID))
		}
	}},
}

// upTo returns 1..n.
func upTo(n int) []int {
	units := make([]int, n)
	for i := range units {
		units[i] = i + 1
	}
	return units
}

package drivertest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// shards calls do for every shard.
func shards(do func(shard int)) {
	for shard := range seckill.ReturnShards {
		do(shard)
	}
}

var closingCases = []ledgerCase{
	{"closing keeps the units, names its end and is written in the history", func(s *suite) {
		for _, to := range []seckill.State{seckill.Expired, seckill.Cancelled} {
			o := s.placed("1", "7", len(s.orders)+1)
			at := o.Due().Add(3 * time.Millisecond)
			s.ok(s.Ledger.BeginClosing(s.ctx, o, to, at, "why it closes"))
			o.State, o.CloseTo = seckill.Closing, to
			o.History = append(o.History, seckill.Change{State: seckill.Closing, At: at, Cause: "why it closes"})
			s.same("order", s.read(o.ID), o)
		}
	}},
	{"the first closing stands", func(s *suite) {
		o := s.closing(s.placed("1", "7", 1), seckill.Expired)
		s.refused("cancel", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.BeginClosing(s.ctx, o, seckill.Cancelled, o.Due(), "late cancel")
		})
	}},
	{"only a pending order begins closing", func(s *suite) {
		paid := s.placed("1", "7", 1)
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(paid, "t1"), seckill.PendingPayment, seckill.Paid))
		for what, o := range map[string]seckill.Order{"paid": paid, "expired": s.closed(s.placed("1", "7", 2),
			seckill.Expired), "rejected": s.rejected("1", "7"), "unknown": s.order("1", "7", 3)} {
			s.refused("close "+what, isError(seckill.ErrStateChanged), func() error {
				return s.Ledger.BeginClosing(s.ctx, o, seckill.Expired, epoch, "c")
			})
			s.refused("cancel "+what, isError(seckill.ErrStateChanged), func() error {
				return s.Ledger.BeginClosing(s.ctx, o, seckill.Cancelled, epoch, "c")
			})
			s.refused("reschedule "+what, isError(seckill.ErrStateChanged), func() error {
				return s.Ledger.Reschedule(s.ctx, o.ID, epoch)
			})
		}
	}},
	{"only a closing order is rescheduled", func(s *suite) {
		o := s.placed("1", "7", 1)
		s.refused("reschedule", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.Reschedule(s.ctx, o.ID, epoch)
		})
	}},
	{"cancels of a user and item are counted, and limited; an order that lapses is none", func(s *suite) {
		for n := range seckill.MaxCancels {
			o := s.placed("1", "7", n+1)
			s.ok(s.Ledger.BeginClosing(s.ctx, o, seckill.Cancelled, o.Due(), "c"))
			s.refused("cancel again", isError(seckill.ErrStateChanged), func() error {
				return s.Ledger.BeginClosing(s.ctx, o, seckill.Cancelled, o.Due(), "c")
			})
		}
		o, other, item := s.placed("1", "7", 11), s.placed("1", "8", 12), s.placed("2", "7", 1)
		s.refused("one more", isError(seckill.ErrCancels), func() error {
			return s.Ledger.BeginClosing(s.ctx, o, seckill.Cancelled, o.Due(), "c")
		})
		q, err := s.Ledger.Quota(s.ctx, "7", "1")
		if s.ok(err); q.Cancels != seckill.MaxCancels || q.Units != seckill.MaxCancels+1 {
			s.Fatalf("quota %+v, want %d cancels", q, seckill.MaxCancels)
		}
		s.ok(s.Ledger.BeginClosing(s.ctx, o, seckill.Expired, o.Due(), "c"))
		s.ok(s.Ledger.BeginClosing(s.ctx, other, seckill.Cancelled, o.Due(), "another user"))
		s.ok(s.Ledger.BeginClosing(s.ctx, item, seckill.Cancelled, o.Due(), "another item"))
	}},
	{"an order closes towards expired or cancelled only", func(s *suite) {
		o := s.placed("1", "7", 1)
		for _, to := range []seckill.State{"", "nonsense", seckill.Paid, seckill.Closing, seckill.Rejected,
			seckill.Refunded} {
			s.refused(fmt.Sprintf("close towards %q", to), isPlain, func() error {
				return s.Ledger.BeginClosing(s.ctx, o, to, o.Due(), "c")
			})
		}
	}},
	{"giving back frees units and quota and leaves a return row", func(s *suite) {
		for i, to := range []seckill.State{seckill.Expired, seckill.Cancelled} {
			keep := s.placed("1", "7", 10*i+1)
			o := s.closing(s.placed("1", "7", 10*i+2, 10*i+3), to)
			want := s.sale()
			at := o.Due().Add(time.Second)
			s.ok(s.Ledger.GiveBack(s.ctx, o, at, "trade closed by us"))

			units := o.Units
			o.State, o.CloseTo, o.Units = to, "", nil
			o.History = append(o.History, seckill.Change{State: to, At: at, Cause: "trade closed by us"})
			want.Orders[o.ID] = o
			want.Returns[o.ID] = seckill.ReturnRow{Order: o.ID, Item: "1", User: "7", Units: units}
			want.Units["1"] = slices.DeleteFunc(want.Units["1"], func(r seckill.UnitRow) bool {
				return r.Order == o.ID
			})
			q := want.Quotas["7/1"]
			q.Units -= 2
			delete(q.Orders, o.ID)
			want.Quotas["7/1"] = q
			s.same("world", s.sale(), want)
			if q.Orders[keep.ID] != 1 {
				s.Fatalf("got quota %+v, want the other order %s in it", q, keep.ID)
			}
		}
	}},
	{"a unit given back is sold again, and the first order cannot take it back", func(s *suite) {
		o := s.closing(s.placed("1", "7", 1), seckill.Expired)
		s.ok(s.Ledger.GiveBack(s.ctx, o, o.Due(), "c"))
		again := s.placed("1", "8", 1)
		s.refused("give back again", isError(seckill.ErrStateChanged),
			func() error { return s.Ledger.GiveBack(s.ctx, o, o.Due(), "c") })
		s.same("units", s.units("1"), []seckill.UnitRow{{Unit: 1, Order: again.ID, User: "8"}})
	}},
	{"an order is given back once by many at once", func(s *suite) {
		o := s.closing(s.placed("1", "7", 1, 2), seckill.Expired)
		errs := allTogether(8, func(int) error { return s.Ledger.GiveBack(s.ctx, o, o.Due(), "c") })
		s.same("given back and changed", s.count(errs, isError(nil), isError(seckill.ErrStateChanged)), []int{1, 7})
		q, err := s.Ledger.Quota(s.ctx, "7", "1")
		s.ok(err)
		s.same("quota", q, seckill.Quota{Newest: o.ID})
	}},
	{"an order that is not closing is not given back", func(s *suite) {
		pending := s.placed("1", "7", 1)
		paid := s.placed("1", "7", 2)
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(paid, "t1"), seckill.PendingPayment, seckill.Paid))
		for what, o := range map[string]seckill.Order{"pending": pending, "paid": paid,
			"unknown": s.order("1", "7", 3)} {
			o.CloseTo = seckill.Expired
			s.refused("give back "+what, isError(seckill.ErrStateChanged),
				func() error { return s.Ledger.GiveBack(s.ctx, o, epoch, "c") })
		}
	}},
	{"a copy of the order that is not the row's is not given back", func(s *suite) {
		o := s.closing(s.placed("1", "7", 1, 2), seckill.Expired)
		for what, spoil := range map[string]func(o *seckill.Order){
			"another end": func(o *seckill.Order) { o.CloseTo = seckill.Cancelled },
			"fewer units": func(o *seckill.Order) { o.Units = []int{1} },
			"more units":  func(o *seckill.Order) { o.Units = []int{1, 2, 3} },
		} {
			copied := o
			spoil(&copied)
			s.refused(what, isError(seckill.ErrStateChanged), func() error {
				return s.Ledger.GiveBack(s.ctx, copied, epoch, "c")
			})
		}
		for what, spoil := range map[string]func(o *seckill.Order){
			"no end":     func(o *seckill.Order) { o.CloseTo = "" },
			"paid":       func(o *seckill.Order) { o.CloseTo = seckill.Paid },
			"no units":   func(o *seckill.Order) { o.Units = nil },
			"no buckets": func(o *seckill.Order) { o.Buckets = 0 },
		} {
			copied := o
			spoil(&copied)
			s.refused(what, isPlain, func() error { return s.Ledger.GiveBack(s.ctx, copied, epoch, "c") })
		}
	}},
	{"the state decides giving back, whatever else the row says", func(s *suite) {
		o := s.closing(s.placed("1", "7", 1), seckill.Expired)
		s.ok(s.Rows.Transact(s.ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableOrders, PK: o.ID},
			Op: ledger.OpUpdate, Set: ledger.Row{"state": string(seckill.Paid)}}}))
		s.refused("give back", isError(seckill.ErrStateChanged), func() error {
			return s.Ledger.GiveBack(s.ctx, o, epoch, "c")
		})
	}},
	{"a broken invariant stops giving back, and says so", func(s *suite) {
		for what, spoil := range map[string]func(o seckill.Order) ledger.Write{
			"the unit is another's": func(o seckill.Order) ledger.Write {
				return ledger.Write{Key: unitKey(o, o.Units[1]), Op: ledger.OpUpdate, Set: ledger.Row{"order": "other"}}
			},
			"the unit row is gone": func(o seckill.Order) ledger.Write {
				return ledger.Write{Key: unitKey(o, o.Units[1]), Op: ledger.OpDelete}
			},
			"the quota does not list the order": func(o seckill.Order) ledger.Write {
				return ledger.Write{Key: ledger.Key{Table: ledger.TableQuotas, PK: o.User, SK: o.Item},
					Op: ledger.OpUpdate, Remove: []string{"orders"}}
			},
		} {
			n := 2 * len(s.orders)
			o := s.closing(s.placed("1", "7", n+1, n+2), seckill.Expired)
			s.ok(s.Rows.Transact(s.ctx, []ledger.Write{spoil(o)}))
			s.refused(what, isPlain, func() error { return s.Ledger.GiveBack(s.ctx, o, epoch, "c") })
		}
	}},
	{"return rows are found by shard, at most as many as asked for", func(s *suite) {
		want := map[string]bool{}
		for i := range 40 {
			want[s.closed(s.placed("1", "7", i+1), seckill.Expired).ID] = true
		}
		shards(func(shard int) {
			one, err := s.Ledger.Returns(s.ctx, shard, "", 1)
			s.ok(err)
			all, err := s.Ledger.Returns(s.ctx, shard, "", 100)
			s.ok(err)
			if len(one.Rows) != min(1, len(all.Rows)) {
				s.Fatalf("shard %d: got %d of at most 1, all are %d", shard, len(one.Rows), len(all.Rows))
			}
			for _, r := range all.Rows {
				if !want[r.Order] {
					s.Fatalf("shard %d: got order %s, unknown or found before", shard, r.Order)
				}
				delete(want, r.Order)
			}
		})
		if len(want) > 0 {
			s.Fatalf("%d return rows are in no shard", len(want))
		}
	}},
	{"a return row goes when its units are confirmed, and going twice is no error", func(s *suite) {
		o := s.closed(s.placed("1", "7", 1, 2), seckill.Expired)
		r, err := s.Ledger.Return(s.ctx, o.ID)
		s.ok(err)
		other := r
		other.Units = []int{1}
		s.refused("other units", isError(nil), func() error { return s.Ledger.DeleteReturn(s.ctx, other) })
		for range 2 {
			s.ok(s.Ledger.DeleteReturn(s.ctx, r))
			if _, err := s.Ledger.Return(s.ctx, o.ID); !errors.Is(err, seckill.ErrNoReturn) {
				s.Fatalf("got error %v, want %v", err, seckill.ErrNoReturn)
			}
		}
	}},
}

// unitKey returns the key of a unit's row according to docs/DATA.md.
func unitKey(o seckill.Order, unit int) ledger.Key {
	return ledger.Key{Table: ledger.TableUnits, PK: fmt.Sprintf("%s#%d", o.Item, unit%o.Buckets),
		SK: fmt.Sprintf("%07d", unit)}
}

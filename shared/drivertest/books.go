package drivertest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

var bookCases = []ledgerCase{
	{"a notification is kept as it came first", func(s *suite) {
		o, other := s.order("1", "7", 1), s.order("1", "8", 2)
		n := seckill.KeptNotification{Order: o.ID, ID: "n2", TradeNo: "t1", Amount: 8_80, At: now,
			Outcome: seckill.NotificationRecorded, Raw: "sign=a%2B&subject=%E8%8C%85",
			Expires: now.Add(24 * time.Hour).Truncate(time.Second)}
		s.ok(s.Ledger.KeepNotification(s.ctx, n))
		again := n
		again.At, again.Outcome, again.Raw = now.Add(time.Minute), seckill.NotificationNothing, "other"
		s.ok(s.Ledger.KeepNotification(s.ctx, again))
		first := n
		first.ID, first.Outcome, first.Raw, first.Expires = "n1", string(seckill.CodeNotOurs),
			strings.Repeat("a", 200<<10), time.Time{}
		s.ok(s.Ledger.KeepNotification(s.ctx, first))
		got, err := s.Ledger.Notifications(s.ctx, o.ID)
		s.ok(err)
		s.same("notifications", got, []seckill.KeptNotification{first, n})
		got, err = s.Ledger.Notifications(s.ctx, other.ID)
		s.ok(err)
		s.same("another order's", got, []seckill.KeptNotification{})
	}},
	{"every reconciliation of a day is kept", func(s *suite) {
		full := seckill.Reconciliation{Day: "2096-07-01", At: now, Payments: 3, Captured: 26_40, Refunds: 1,
			Returned: 8_80, Others: 2, Count: seckill.MaxDifferences + 1}
		for i := range seckill.MaxDifferences {
			full.Differences = append(full.Differences, seckill.Difference{Kind: seckill.RefundForeign,
				Order:   s.order("1", "7", 1).ID,
				TradeNo: strings.Repeat("9", 64), RefundID: strings.Repeat("款", 64), Here: seckill.Fen(i), There: 8_80})
		}
		full.Differences[0] = seckill.Difference{Kind: seckill.LineUnreadable, Order: s.order("1", "7", 1).ID, Line: 7,
			Why: strings.Repeat("款", seckill.MaxWhy/3)}
		s.ok(s.Ledger.KeepReconciliation(s.ctx, full))
		empty := seckill.Reconciliation{Day: full.Day, At: now.Add(-time.Hour), NoBill: true,
			Differences: []seckill.Difference{}}
		s.ok(s.Ledger.KeepReconciliation(s.ctx, empty))
		got, err := s.Ledger.Reconciliations(s.ctx, full.Day)
		s.ok(err)
		s.same("reconciliations", got, []seckill.Reconciliation{empty, full})
		got, err = s.Ledger.Reconciliations(s.ctx, "2096-07-02")
		s.ok(err)
		s.same("of another day", got, []seckill.Reconciliation{})
		full.Differences = append(full.Differences, full.Differences[0])
		s.refused("too many differences", isPlain, func() error { return s.Ledger.KeepReconciliation(s.ctx, full) })
	}},
	{"a day's payments and refunds are found by their days in UTC+8", func(s *suite) {
		midnight := time.Date(2096, 7, 1, 16, 0, 0, 0, time.UTC)
		want := map[string][]string{}
		for i := range 40 {
			o := s.placed("1", fmt.Sprint(7+i), i+1)
			p := payment(o, fmt.Sprintf("t%02d", i))
			p.At = midnight.Add(time.Duration(i-20) * time.Millisecond)
			day := map[bool]string{true: "2096-07-01", false: "2096-07-02"}[i < 20]
			s.ok(s.Ledger.RecordPayment(s.ctx, p, seckill.PendingPayment, seckill.Paid))
			want["paid "+day] = append(want["paid "+day], p.TradeNo)
			if i%2 == 0 {
				continue
			}
			s.ok(s.Ledger.StartRefund(s.ctx, s.read(o.ID), p, true, seckill.Decision{}, midnight, "c"))
			back := midnight.Add(time.Duration(20-i) * time.Millisecond)
			s.ok(s.Ledger.Refunded(s.ctx, p, p.Outside, "", seckill.RefundOwed, seckill.Refunded, back, "c"))
			day = map[bool]string{true: "2096-07-01", false: "2096-07-02"}[i > 20]
			want["back "+day] = append(want["back "+day], p.TradeNo)
		}
		s.CatchUp()
		for _, limit := range []int{1, 3, 100} {
			for _, day := range []string{"2096-06-30", "2096-07-01", "2096-07-02"} {
				s.same("paid on "+day, s.trades(limit, func(after string) (seckill.Page[seckill.Payment], error) {
					return s.Ledger.PaymentsOn(s.ctx, day, after, limit)
				}), want["paid "+day])
				s.same("refunded on "+day, s.trades(limit, func(after string) (seckill.Page[seckill.Payment], error) {
					return s.Ledger.RefundsOn(s.ctx, day, after, limit)
				}), want["back "+day])
			}
		}
		page, err := s.Ledger.RefundsOn(s.ctx, "2096-07-01", "", 1)
		s.ok(err)
		all := s.payments(page.Rows[0].Order)
		s.same("a row of the index", page.Rows, all)
		if _, err := s.Ledger.PaymentsOn(s.ctx, "2096-07-01", "no cursor", 1); !isPlain(err) {
			s.Errorf("a page after nothing: %v", err)
		}
	}},
	{"a closing order is due at once when somebody wants it, and its history says so", func(s *suite) {
		o := s.closing(s.placed("1", "7", 1), seckill.Expired)
		s.ok(s.Ledger.Reschedule(s.ctx, o.ID, now.Add(time.Hour)))
		due := func() (all []string) {
			s.CatchUp()
			shards(func(shard int) {
				ids, err := s.Ledger.DueOrders(s.ctx, shard, now, "", 10)
				s.ok(err)
				all = append(all, ids.Rows...)
			})
			return all
		}
		s.same("due before", due(), []string(nil))
		s.ok(s.Ledger.RescheduleNow(s.ctx, o.ID, now, "asked again by ann: late"))
		s.same("due after", due(), []string{o.ID})
		s.same("order", s.read(o.ID), moved(o, seckill.Closing, now, "asked again by ann: late"))
		s.ok(s.Ledger.GiveBack(s.ctx, s.read(o.ID), now, "c"))
		open := s.placed("1", "8", 2)
		for _, id := range []string{o.ID, open.ID, s.order("1", "9", 3).ID} {
			s.refused("one that is not closing", isError(seckill.ErrStateChanged), func() error {
				return s.Ledger.RescheduleNow(s.ctx, id, now, "c")
			})
		}
	}},
}

// erasures checks that an address is erased and nothing else changes.
var erasures = []ledgerCase{
	{"an erased address is gone from the order and every list of it, and nothing else is", func(s *suite) {
		o := s.closing(s.placed("1", "7", 1, 2), seckill.Expired)
		s.ok(s.Ledger.GiveBack(s.ctx, s.read(o.ID), now, "c"))
		was := s.read(o.ID)
		other := s.placed("1", "8", 3)
		s.ok(s.Ledger.EraseAddress(s.ctx, o.ID, seckill.Expired, now))
		want := was
		want.Given, want.Erased = seckill.Given{}, now
		s.same("order", s.read(o.ID), want)
		s.CatchUp()
		list, err := s.Ledger.OrdersByUser(s.ctx, "7", "", 10)
		s.ok(err)
		s.same("the user's list", list.Orders, []seckill.Order{want})
		list, err = s.Ledger.OrdersByItem(s.ctx, "1", "", 10)
		s.ok(err)
		s.same("orders of the item", len(list.Orders), 2)
		s.same("another's order", s.read(other.ID), other)
		again := now.Add(time.Hour)
		s.ok(s.Ledger.EraseAddress(s.ctx, o.ID, seckill.Expired, again))
		want.Erased = again
		s.same("erased again", s.read(o.ID), want)
	}},
	{"an erased network address is gone from the order, and nothing else is", func(s *suite) {
		o := s.placed("1", "7", 1, 2)
		for id, state := range map[string]seckill.State{
			o.ID: seckill.Paid, s.order("1", "9", 3).ID: seckill.PendingPayment,
		} {
			s.refused("another state", isError(seckill.ErrStateChanged), func() error {
				return s.Ledger.EraseNetwork(s.ctx, id, state)
			})
		}
		s.same("order", s.read(o.ID), o)
		o.Network = netip.Addr{}
		for range 2 {
			s.ok(s.Ledger.EraseNetwork(s.ctx, o.ID, seckill.PendingPayment))
			s.same("order", s.read(o.ID), o)
		}
	}},
	{"an address is erased only in the state that was read, and a repeated request does not write it back",
		func(s *suite) {
			o := s.placed("1", "7", 1)
			for _, c := range []struct {
				id    string
				state seckill.State
			}{{o.ID, seckill.Expired}, {s.order("1", "9", 3).ID, seckill.Expired}} {
				s.refused("another state", isError(seckill.ErrStateChanged), func() error {
					return s.Ledger.EraseAddress(s.ctx, c.id, c.state, now)
				})
			}
			s.ok(s.Ledger.EraseAddress(s.ctx, o.ID, seckill.PendingPayment, now))
			s.refused("placed again", isError(seckill.ErrOrderExists), func() error {
				return s.Ledger.Place(s.ctx, o, 5)
			})
			s.refused("rejected", isError(seckill.ErrOrderExists), func() error { return s.Ledger.Reject(s.ctx, o) })
			if got := s.read(o.ID); got.Given != (seckill.Given{}) {
				s.Errorf("the address is back: %q", got.Address)
			}
		}},
}

// trades reads a listing of payments page by page and returns their trade numbers in order.
func (s *suite) trades(limit int, read func(after string) (seckill.Page[seckill.Payment], error)) (nos []string) {
	s.Helper()
	for after := ""; ; {
		page, err := read(after)
		s.ok(err)
		if len(page.Rows) > limit || page.Next != "" && len(page.Rows) < limit {
			s.Fatalf("a page of %d with %d, next %q", limit, len(page.Rows), page.Next)
		}
		for _, p := range page.Rows {
			nos = append(nos, p.TradeNo)
		}
		if after = page.Next; after == "" {
			slices.Sort(nos)
			return nos
		}
	}
}

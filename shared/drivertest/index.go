package drivertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// dueIDs returns the due orders of all shards.
func (s *suite) dueIDs(now time.Time) []string {
	s.Helper()
	s.CatchUp()
	var ids []string
	shards(func(shard int) {
		some, err := s.Ledger.DueOrders(s.ctx, shard, now, "", 100)
		s.ok(err)
		ids = append(ids, some.Rows...)
	})
	slices.Sort(ids)
	return ids
}

// refunds returns the due refunds of all shards.
func (s *suite) refunds() []seckill.Payment {
	s.Helper()
	s.CatchUp()
	var all []seckill.Payment
	shards(func(shard int) {
		some, err := s.Ledger.RefundsDue(s.ctx, shard, epoch.Add(time.Hour), "", 100)
		s.ok(err)
		all = append(all, some.Rows...)
	})
	slices.SortFunc(all, func(a, b seckill.Payment) int { return a.At.Compare(b.At) })
	return all
}

// pages reads a listing to its end in pages of size; it fails if a page is too long.
func (s *suite) pages(size int, read func(after string, limit int) (seckill.OrderPage, error)) []seckill.Order {
	s.Helper()
	var all []seckill.Order
	for after := ""; ; {
		page, err := read(after, size)
		s.ok(err)
		if len(page.Orders) > size {
			s.Fatalf("got a page of %d orders, want at most %d", len(page.Orders), size)
		}
		all = append(all, page.Orders...)
		if page.Next == "" {
			return all
		}
		if page.Next == after {
			s.Fatalf("the cursor %q leads to itself", after)
		}
		after = page.Next
	}
}

func (s *suite) byUser(user string) func(string, int) (seckill.OrderPage, error) {
	return func(after string, limit int) (seckill.OrderPage, error) {
		return s.Ledger.OrdersByUser(s.ctx, user, after, limit)
	}
}

func (s *suite) byItem(item string) func(string, int) (seckill.OrderPage, error) {
	return func(after string, limit int) (seckill.OrderPage, error) {
		return s.Ledger.OrdersByItem(s.ctx, item, after, limit)
	}
}

// newest reads the newest orders to the end.
func (s *suite) newest(q seckill.NewestOrders) (all []seckill.Order) {
	s.Helper()
	rows, _ := sweep(s, q.Limit, func(after string) (seckill.Page[seckill.Order], error) {
		if after != "" {
			q.After = after
		}
		return s.Ledger.NewestOrders(s.ctx, q)
	})
	return rows
}

var indexCases = []ledgerCase{
	{"a user's placed orders are listed newest first in pages of any size", func(s *suite) {
		var want []seckill.Order
		for i := range 5 {
			want = append(want, s.placed(fmt.Sprint(i%2+1), "7", i+1))
			s.placed("1", "8", i+10)
			s.rejected("1", "7")
		}
		want = append(want, s.closed(s.placed("1", "7", 30), seckill.Cancelled))
		slices.Reverse(want)
		s.CatchUp()
		for size := 1; size <= 7; size++ {
			s.same(fmt.Sprintf("orders in pages of %d", size), s.pages(size, s.byUser("7")), want)
		}
		s.same("orders of nobody", s.pages(3, s.byUser("9")), []seckill.Order(nil))
	}},
	{"orders of one millisecond are all listed, each once", func(s *suite) {
		var want []string
		for i := range 6 {
			o := s.order("1", "7", i+1)
			o.Created = epoch
			s.ok(s.Ledger.Place(s.ctx, o, 9))
			want = append(want, o.ID)
		}
		s.CatchUp()
		slices.Sort(want)
		s.same("by item", slices.Sorted(slices.Values(ids(s.pages(2, s.byItem("1"))))), want)
		slices.Reverse(want)
		s.same("by user", ids(s.pages(4, s.byUser("7"))), want)
	}},
	{"an item's orders are listed shard by shard, oldest first in each, rejected ones included", func(s *suite) {
		shardOf := map[string]string{}
		var want []seckill.Order
		for i := range 20 {
			want = append(want, s.placed("1", fmt.Sprint(i), i+1), s.rejected("1", "7"))
			s.placed("2", "7", i+1)
		}
		for _, o := range want {
			row, _, err := s.Rows.Get(s.ctx, ledger.Key{Table: ledger.TableOrders, PK: o.ID})
			s.ok(err)
			shardOf[o.ID] = row["item_shard"].(string)
		}
		slices.SortStableFunc(want, func(a, b seckill.Order) int {
			return strings.Compare(shardOf[a.ID], shardOf[b.ID])
		})
		s.CatchUp()
		for _, size := range []int{1, 2, 3, 39, 40, 41, 100} {
			s.same(fmt.Sprintf("orders in pages of %d", size), s.pages(size, s.byItem("1")), want)
		}
		s.same("orders of no item", s.pages(3, s.byItem("3")), []seckill.Order(nil))
	}},
	{"a page of an item's orders is full unless it is the last", func(s *suite) {
		for i := range 20 {
			s.placed("1", fmt.Sprint(i), i+1)
		}
		s.CatchUp()
		for after, left := "", 20; left > 0; left -= 3 {
			page, err := s.Ledger.OrdersByItem(s.ctx, "1", after, 3)
			s.ok(err)
			if len(page.Orders) != min(3, left) {
				s.Fatalf("got a page of %d orders with %d left, want %d", len(page.Orders), left, min(3, left))
			}
			after = page.Next
		}
	}},
	{"a page goes on where it ended though newer orders came", func(s *suite) {
		first, second := s.placed("1", "7", 1), s.placed("1", "7", 2)
		s.CatchUp()
		page, err := s.Ledger.OrdersByUser(s.ctx, "7", "", 1)
		s.ok(err)
		s.same("first page", page.Orders, []seckill.Order{second})
		s.placed("1", "7", 3)
		s.CatchUp()
		page, err = s.Ledger.OrdersByUser(s.ctx, "7", page.Next, 1)
		s.ok(err)
		s.same("second page", page.Orders, []seckill.Order{first})
	}},
	{"a cursor that is none is refused", func(s *suite) {
		s.placed("1", "7", 1)
		s.CatchUp()
		for _, cursor := range []string{"?", "AAAA", "no cursor at all"} {
			if page, err := s.Ledger.OrdersByUser(s.ctx, "7", cursor, 1); seckill.CodeOf(err) != seckill.CodeInvalid {
				s.Fatalf("cursor %q: got %+v, %v, want invalid_request", cursor, page, err)
			}
		}
		for _, cursor := range []string{"?", "AAAA", "16.", "00000000000001#o", "0000000000000001#o",
			"000000000000001#o?"} {
			page, err := s.Ledger.NewestOrders(s.ctx, seckill.NewestOrders{After: cursor, Limit: 1})
			if seckill.CodeOf(err) != seckill.CodeInvalid {
				s.Fatalf("cursor %q of all: got %+v, %v, want invalid_request", cursor, page, err)
			}
		}
		for _, cursor := range []string{"?", "AAAA", "16.", "-1.", "1.", "00", "00.?", "00.AAAA"} {
			if page, err := s.Ledger.OrdersByItem(s.ctx, "1", cursor, 1); seckill.CodeOf(err) != seckill.CodeInvalid {
				s.Fatalf("cursor %q of an item: got %+v, %v, want invalid_request", cursor, page, err)
			}
		}
	}},
	{"all orders, and an item's, are listed newest first in pages of any size, rejected ones included",
		func(s *suite) {
			var all, one []seckill.Order
			for i := range 30 {
				one = append(one, s.placed("1", fmt.Sprint(i), i+1), s.rejected("1", "7"))
				all = append(all, one[2*i:]...)
				all = append(all, s.placed("2", "7", i+1))
			}
			slices.Reverse(all)
			slices.Reverse(one)
			s.CatchUp()
			for _, size := range []int{1, 2, 7, 89, 90, 91, 250} {
				s.same(fmt.Sprintf("orders in pages of %d", size), s.newest(seckill.NewestOrders{Limit: size}), all)
				s.same(fmt.Sprintf("an item's in pages of %d", size),
					s.newest(seckill.NewestOrders{Item: "1", Limit: size}), one)
			}
			s.same("orders of no item", s.newest(seckill.NewestOrders{Item: "3", Limit: 9}), []seckill.Order(nil))
			s.same("orders before a time", s.newest(seckill.NewestOrders{To: all[4].Created, Limit: 2}), all[5:])
			s.same("orders after one", s.newest(seckill.NewestOrders{After: all[4].Position(), To: all[1].Created,
				Limit: 50}), all[5:])
		}},
	{"the newest orders of one millisecond are all listed, each once", func(s *suite) {
		var want []string
		for i := range 20 {
			o := s.order("1", "7", i+1)
			o.Created = epoch
			s.ok(s.Ledger.Place(s.ctx, o, 99))
			want = append(want, o.ID)
		}
		s.CatchUp()
		slices.Sort(want)
		slices.Reverse(want)
		s.same("orders", ids(s.newest(seckill.NewestOrders{Limit: 3})), want)
		s.same("before them", s.newest(seckill.NewestOrders{To: epoch, Limit: 3}), []seckill.Order(nil))
	}},
	{"one order that cannot be read hides no other from the list of all", func(s *suite) {
		first := s.placed("1", "7", 1)
		s.ok(s.Rows.Transact(s.ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableOrders, PK: "obad"},
			Op: ledger.OpPut, Row: ledger.Row{"v": int64(99), "time_shard": "07",
				"created_id": first.Position()[:len("000000000000000#o")] + strings.Repeat("z", len(first.ID)-1)}}}))
		second := s.placed("1", "7", 2)
		s.CatchUp()
		s.same("orders", s.newest(seckill.NewestOrders{Limit: 1}), []seckill.Order{second, first})
		page, err := s.Ledger.NewestOrders(s.ctx, seckill.NewestOrders{Limit: 9})
		s.ok(err)
		s.same("that cannot be read", len(page.Unreadable), 1)
	}},
	{"an order is due when hold and grace are over, to the millisecond", func(s *suite) {
		o := s.placed("1", "7", 1)
		s.same("just before", s.dueIDs(o.Due().Add(-time.Millisecond)), []string(nil))
		s.same("now", s.dueIDs(o.Due()), []string{o.ID})
		s.same("long after", s.dueIDs(o.Due().Add(1000*time.Hour)), []string{o.ID})
	}},
	{"closing makes an order due at once, postponing later", func(s *suite) {
		o := s.placed("1", "7", 1)
		at := o.Created.Add(time.Second)
		s.ok(s.Ledger.BeginClosing(s.ctx, o, seckill.Cancelled, at, "cancel"))
		s.same("after closing", s.dueIDs(at), []string{o.ID})
		s.ok(s.Ledger.Reschedule(s.ctx, o.ID, at.Add(time.Minute)))
		s.same("before the later time", s.dueIDs(at.Add(time.Minute-time.Millisecond)), []string(nil))
		s.same("at the later time", s.dueIDs(at.Add(time.Minute)), []string{o.ID})
	}},
	{"paid, closed and rejected orders are due no more", func(s *suite) {
		paid, saved := s.placed("1", "7", 1), s.closing(s.placed("1", "7", 2), seckill.Expired)
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(paid, "t1"), seckill.PendingPayment, seckill.Paid))
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(saved, "t2"), seckill.Closing, seckill.Paid))
		s.closed(s.placed("1", "7", 3), seckill.Expired)
		s.rejected("1", "7")
		open := s.placed("1", "7", 4)
		s.same("due", s.dueIDs(epoch.Add(100*time.Hour)), []string{open.ID})
	}},
	{"the longest overdue come first, at most as many as asked for", func(s *suite) {
		perShard := map[int][]string{}
		for i := range 60 {
			s.placed("1", fmt.Sprint(i), i+1)
		}
		now := epoch.Add(time.Hour)
		s.CatchUp()
		total := 0
		shards(func(shard int) {
			page, err := s.Ledger.DueOrders(s.ctx, shard, now, "", 100)
			s.ok(err)
			all := page.Rows
			perShard[shard] = all
			total += len(all)
			if !slices.IsSortedFunc(all, func(a, b string) int { return s.read(a).PayBy.Compare(s.read(b).PayBy) }) {
				s.Fatalf("shard %d: got %v, want oldest first", shard, all)
			}
			some, err := s.Ledger.DueOrders(s.ctx, shard, now, "", 2)
			s.ok(err)
			s.same(fmt.Sprintf("first two of shard %d", shard), some.Rows, all[:min(2, len(all))])
		})
		if total != 60 {
			s.Fatalf("got %d due orders in all shards %v, want 60", total, perShard)
		}
	}},
	{"a row that cannot be read hides no other, whatever the pages", func(s *suite) {
		now, soon := epoch.Add(time.Hour), fmt.Sprintf("%015d", epoch.UnixMilli())
		var orders, returns []string
		var payments []seckill.Payment
		for i := range 3 {
			o := s.placed("1", fmt.Sprint(i), i+1)
			orders = append(orders, o.ID)
			p := late(o, fmt.Sprint("t", i))
			s.ok(s.Ledger.RecordPayment(s.ctx, p, seckill.PendingPayment, seckill.PendingPayment))
			payments = append(payments, p)
			returns = append(returns, s.closed(s.placed("1", fmt.Sprint(i), i+11), seckill.Expired).ID)
		}
		var want []string // unreadable rows before and between the other rows
		later := ledger.Version + 1
		shards(func(shard int) {
			for _, id := range []string{"bad", "o5bad", "zbad"} {
				in := fmt.Sprintf("%02d", shard)
				id += in
				s.ok(s.Rows.Transact(s.ctx, []ledger.Write{
					{Key: ledger.Key{Table: ledger.TableReturns, PK: in, SK: id}, Op: ledger.OpPut,
						Row: ledger.Row{"v": later}},
					{Key: ledger.Key{Table: ledger.TablePayments, PK: id, SK: "t"}, Op: ledger.OpPut,
						Row: ledger.Row{"v": later,
							"refund_shard": in, "refund_at": soon, "paid_day": "2096-07-01#" + in,
							"back_day": "2096-07-01#" + in}},
				}))
				want = append(want, id)
			}
		})
		s.CatchUp()
		for _, limit := range []int{1, 2, 3, 100} {
			var found, unreadable []string
			var due []seckill.Payment
			shards(func(shard int) {
				rows, bad := sweep(s, limit, func(after string) (seckill.Page[seckill.ReturnRow], error) {
					return s.Ledger.Returns(s.ctx, shard, after, limit)
				})
				for _, r := range rows {
					found = append(found, r.Order)
				}
				unreadable = append(unreadable, bad...)
			})
			s.same("returns", slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(returns)))
			s.same("returns that cannot be read", slices.Sorted(slices.Values(unreadable)),
				slices.Sorted(slices.Values(want)))
			unreadable = nil
			shards(func(shard int) {
				rows, bad := sweep(s, limit, func(after string) (seckill.Page[seckill.Payment], error) {
					return s.Ledger.RefundsDue(s.ctx, shard, now, after, limit)
				})
				due, unreadable = append(due, rows...), append(unreadable, bad...)
			})
			slices.SortFunc(due, func(a, b seckill.Payment) int { return a.At.Compare(b.At) })
			s.same("refunds", due, payments)
			s.same("refunds that cannot be read", slices.Sorted(slices.Values(unreadable)),
				slices.Sorted(slices.Values(want)))
			shards(func(shard int) {
				rows, bad := sweep(s, limit, func(after string) (seckill.Page[seckill.Payment], error) {
					return s.Ledger.RefundsDue(s.ctx, shard, epoch.Add(-time.Millisecond), after, limit)
				})
				s.same("refunds that are not due", len(rows)+len(bad), 0)
			})
			paid, bad := sweep(s, limit, func(after string) (seckill.Page[seckill.Payment], error) {
				return s.Ledger.PaymentsOn(s.ctx, "2096-07-01", after, limit)
			})
			s.same("payments of the day", len(paid), len(payments))
			s.same("payments that cannot be read", slices.Sorted(slices.Values(bad)),
				slices.Sorted(slices.Values(want)))
			var ids []string
			shards(func(shard int) {
				rows, _ := sweep(s, limit, func(after string) (seckill.Page[string], error) {
					return s.Ledger.DueOrders(s.ctx, shard, now, after, limit)
				})
				ids = append(ids, rows...)
			})
			s.same("due orders", slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(orders)))
		}
	}},
	{"refunds due are found, kept money is not", func(s *suite) {
		o := s.placed("1", "7", 1)
		s.ok(s.Ledger.RecordPayment(s.ctx, payment(o, "t1"), seckill.PendingPayment, seckill.Paid))
		s.same("refunds", s.refunds(), []seckill.Payment(nil))
		second := late(o, "t2")
		s.ok(s.Ledger.RecordPayment(s.ctx, second, seckill.Paid, seckill.Paid))
		closed := s.closed(s.placed("1", "7", 2), seckill.Expired)
		third := late(closed, "t3")
		s.ok(s.Ledger.RecordPayment(s.ctx, third, seckill.Expired, seckill.RefundOwed))
		s.same("refunds", s.refunds(), []seckill.Payment{second, third})
	}},
	{"an index that lags is tolerated: reads fail never, and catch up", func(s *suite) {
		for i := range 10 {
			o := s.placed("1", "7", i+1)
			page, err := s.Ledger.OrdersByUser(s.ctx, "7", "", 100)
			s.ok(err)
			if len(page.Orders) > i+1 {
				s.Fatalf("got %d orders listed, only %d were placed", len(page.Orders), i+1)
			}
			s.same("the order itself, read at once", s.read(o.ID), o)
		}
		s.CatchUp()
		if got := len(s.pages(100, s.byUser("7"))); got != 10 {
			s.Fatalf("got %d orders listed, want 10", got)
		}
	}},
	{"an index carries the whole row, or the keys of table and index", func(s *suite) {
		o := s.placed("1", "7", 1)
		s.CatchUp()
		full, _, err := s.Rows.Get(s.ctx, ledger.Key{Table: ledger.TableOrders, PK: o.ID})
		s.ok(err)
		rows, _, err := s.Rows.Index(s.ctx, ledger.IndexOrdersByItem, full["item_shard"].(string), "", 5, false)
		s.ok(err)
		s.same("orders_by_item", rows, []ledger.Row{full})
		shard := full["due_shard"].(string)
		rows, _, err = s.Rows.Index(s.ctx, ledger.IndexOrdersDue, shard, "", 5, true)
		s.ok(err)
		s.same("orders_due", rows, []ledger.Row{{"id": o.ID, "due_shard": shard, "due_at": full["due_at"]}})
	}},
}

func ids(orders []seckill.Order) []string {
	out := make([]string, len(orders))
	for i, o := range orders {
		out[i] = o.ID
	}
	return out
}

// sweep reads a listing to its end, and returns also the orders of its unreadable rows.
func sweep[T any](s *suite, limit int, read func(after string) (seckill.Page[T], error)) (rows []T,
	unreadable []string) {
	s.Helper()
	for after := ""; ; {
		page, err := read(after)
		s.ok(err)
		if n := len(page.Rows) + len(page.Unreadable); n > limit || page.Next != "" && page.Next == after {
			s.Fatalf("a page of at most %d rows has %d, and %q leads to %q", limit, n, after, page.Next)
		}
		rows = append(rows, page.Rows...)
		for _, err := range page.Unreadable {
			var row *seckill.Unreadable
			if !errors.As(err, &row) || !errors.Is(err, seckill.ErrUnreadable) {
				s.Fatalf("got error %v, want one that names a row", err)
			}
			if row.Table == ledger.TableReturns {
				row.PK = row.SK
			}
			unreadable = append(unreadable, row.PK)
		}
		if after = page.Next; after == "" {
			return rows, unreadable
		}
	}
}

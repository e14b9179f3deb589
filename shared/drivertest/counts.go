package drivertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// counted reads the counts of item 1.
func (s *suite) counted() seckill.Counts {
	s.Helper()
	c, err := s.Ledger.Counts(s.ctx, "1")
	s.ok(err)
	return c
}

// marks reads the marks of orders.
func (s *suite) marks(orders ...string) map[string]seckill.CountMark {
	s.Helper()
	m, err := s.Ledger.Counted(s.ctx, orders)
	s.ok(err)
	return m
}

// noon is the first minute of the suite's counts; one, two and three are counts.
var (
	noon            = time.Date(2096, 7, 1, 12, 0, 0, 0, time.UTC)
	one, two, three = seckill.Count{Placed: 1}, seckill.Count{Paid: 2}, seckill.Count{Placed: 1, GivenBack: 3}
)

// adds returns what one minute adds by one order, up to a place in its history.
func adds(order string, was seckill.CountMark, sequence int, minute time.Time, n seckill.Count) seckill.Addition {
	return seckill.Addition{At: epoch, Orders: []seckill.CountedOrder{{Order: order, Was: was, Sequence: sequence}},
		Total: n, Minutes: []seckill.MinuteCount{{Minute: minute, Count: n}}}
}

var countCases = []ledgerCase{
	{"counts begin with the first addition and add up by minute", func(s *suite) {
		none := s.counted()
		s.same("before", none, seckill.Counts{Item: "1"})
		s.same("marks before", s.marks("oa", "ob"), map[string]seckill.CountMark{})
		s.ok(s.Ledger.AddCounts(s.ctx, none, adds("oa", seckill.CountMark{}, 1, noon.Add(time.Minute), one)))
		c := s.counted()
		s.same("mark", s.marks("oa", "ob"), map[string]seckill.CountMark{"oa": {Since: epoch, Sequence: 1}})
		s.ok(s.Ledger.AddCounts(s.ctx, c, adds("oa", s.marks("oa")["oa"], 3, noon.Add(time.Minute), two)))
		s.ok(s.Ledger.AddCounts(s.ctx, c, adds("ob", seckill.CountMark{}, 2, noon, three)))
		s.same("after", s.counted(), seckill.Counts{Item: "1", Since: epoch,
			Total: seckill.Count{Placed: 2, Paid: 2, GivenBack: 3},
			Minutes: []seckill.MinuteCount{{Minute: noon, Count: three},
				{Minute: noon.Add(time.Minute), Count: seckill.Count{Placed: 1, Paid: 2}}}})
		s.same("marks after", s.marks("oa", "ob"), map[string]seckill.CountMark{
			"oa": {Since: epoch, Sequence: 3}, "ob": {Since: epoch, Sequence: 2}})
	}},
	{"what is beyond the minutes of a row is in its totals", func(s *suite) {
		a := adds("oa", seckill.CountMark{}, 1, noon, one)
		a.Minutes = nil
		s.ok(s.Ledger.AddCounts(s.ctx, s.counted(), a))
		s.same("counts", s.counted(), seckill.Counts{Item: "1", Since: epoch, Total: one})
	}},
	{"counts or marks that are not as read refuse an addition, and nothing is written", func(s *suite) {
		none := s.counted()
		s.ok(s.Ledger.AddCounts(s.ctx, none, adds("oa", seckill.CountMark{}, 1, noon, one)))
		c, mark := s.counted(), s.marks("oa")["oa"]
		other := c
		other.Since = c.Since.Add(time.Millisecond)
		old, ahead := mark, mark
		old.Since, ahead.Sequence = mark.Since.Add(-time.Hour), 2
		for what, add := range map[string]func() error{
			"a count that began meanwhile": func() error {
				return s.Ledger.AddCounts(s.ctx, none, adds("ob", seckill.CountMark{}, 1, noon, one))
			},
			"another count": func() error {
				return s.Ledger.AddCounts(s.ctx, other, adds("ob", seckill.CountMark{}, 1, noon, one))
			},
			"a new mark": func() error {
				return s.Ledger.AddCounts(s.ctx, c, adds("oa", seckill.CountMark{}, 2, noon, one))
			},
			"a mark of another count": func() error {
				return s.Ledger.AddCounts(s.ctx, c, adds("oa", old, 2, noon, one))
			},
			"a mark that moved": func() error { return s.Ledger.AddCounts(s.ctx, c, adds("oa", ahead, 3, noon, one)) },
			"a second mark that moved": func() error {
				a := adds("ob", seckill.CountMark{}, 1, noon, one)
				a.Orders = append(a.Orders, seckill.CountedOrder{Order: "oa", Was: ahead, Sequence: 3})
				return s.Ledger.AddCounts(s.ctx, c, a)
			},
		} {
			must.Is(s, seckill.ErrCountsChanged, add(), what)
		}
		s.same("counts", s.counted(), c)
		s.same("marks", s.marks("oa", "ob"), map[string]seckill.CountMark{"oa": mark})
	}},
	{"an addition that no caller means is a fault", func(s *suite) {
		many := adds("oa", seckill.CountMark{}, 1, noon, one)
		for i := range seckill.MaxCounted {
			many.Orders = append(many.Orders, seckill.CountedOrder{Order: fmt.Sprint("o", i), Sequence: 1})
		}
		for what, a := range map[string]seckill.Addition{
			"no order": {At: epoch, Total: one}, "too many": many,
			"a mark that stays": adds("oa", seckill.CountMark{Sequence: 2}, 2, noon, one)} {
			err := s.Ledger.AddCounts(s.ctx, s.counted(), a)
			if err == nil || errors.Is(err, seckill.ErrCountsChanged) {
				s.Errorf("%s: got error %v", what, err)
			}
		}
		for _, n := range []int{0, seckill.MaxCounted + 1} {
			if _, err := s.Ledger.Counted(s.ctx, make([]string, n)); err == nil {
				s.Errorf("%d marks: no error", n)
			}
		}
		s.same("counts", s.counted(), seckill.Counts{Item: "1"})
	}},
	{"a recount begins empty, and marks of the count before it mean nothing", func(s *suite) {
		s.ok(s.Ledger.AddCounts(s.ctx, s.counted(), adds("oa", seckill.CountMark{}, 2, noon, one)))
		before, mark := s.counted(), s.marks("oa")["oa"]
		s.ok(s.Ledger.BeginRecount(s.ctx, before, epoch)) // at the same moment as the count before it
		c := s.counted()
		s.same("empty", c, seckill.Counts{Item: "1", Since: epoch.Add(time.Millisecond), Recounting: true})
		for what, err := range map[string]error{
			"an addition to the count before": s.Ledger.AddCounts(s.ctx, before, adds("oa", mark, 3, noon, two)),
			"a second recount of it":          s.Ledger.BeginRecount(s.ctx, before, epoch.Add(time.Hour)),
			"its end":                         s.Ledger.EndRecount(s.ctx, before),
			"a first count":                   s.Ledger.BeginRecount(s.ctx, seckill.Counts{Item: "1"}, epoch),
		} {
			must.Is(s, seckill.ErrCountsChanged, err, what)
		}
		s.ok(s.Ledger.AddCounts(s.ctx, c, adds("oa", mark, 1, noon, three))) // the mark may move back
		s.same("mark", s.marks("oa")["oa"], seckill.CountMark{Since: c.Since, Sequence: 1})
		s.ok(s.Ledger.EndRecount(s.ctx, c))
		c.Recounting, c.Total, c.Minutes = false, three, []seckill.MinuteCount{{Minute: noon, Count: three}}
		s.same("counted anew", s.counted(), c)
	}},
	{"an item that nobody counted can be recounted", func(s *suite) {
		must.Is(s, seckill.ErrCountsChanged, s.Ledger.EndRecount(s.ctx, s.counted()),
			"the end of a recount that never began")
		s.ok(s.Ledger.BeginRecount(s.ctx, s.counted(), epoch))
		s.same("counts", s.counted(), seckill.Counts{Item: "1", Since: epoch, Recounting: true})
	}},
	{"the largest addition is one write", func(s *suite) {
		var a seckill.Addition
		a.At = epoch
		want := seckill.Counts{Item: "1", Since: epoch}
		for i := range seckill.MaxCounted {
			a.Orders = append(a.Orders, seckill.CountedOrder{Order: fmt.Sprint("o", i), Sequence: 3})
			for kind := range 3 {
				m := seckill.MinuteCount{Minute: noon.Add(time.Duration(3*i+kind) * time.Minute),
					Count: []seckill.Count{{Placed: 7}, {Paid: 7}, {GivenBack: 7}}[kind]}
				a.Minutes, a.Total = append(a.Minutes, m), a.Total.Plus(m.Count)
			}
		}
		s.ok(s.Ledger.AddCounts(s.ctx, s.counted(), a))
		want.Total, want.Minutes = a.Total, a.Minutes
		s.same("counts", s.counted(), want)
	}},
	{"readers that count one change at once count it once", func(s *suite) {
		const n = 8
		s.ok(s.Ledger.AddCounts(s.ctx, s.counted(), adds("oa", seckill.CountMark{}, 1, noon, one)))
		c, mark := s.counted(), s.marks("oa")["oa"]
		errs := allTogether(n, func(int) error { return s.Ledger.AddCounts(s.ctx, c, adds("oa", mark, 2, noon, two)) })
		s.same("counted and refused", s.count(errs, isError(nil), isError(seckill.ErrCountsChanged)), []int{1, n - 1})
		s.same("total", s.counted().Total, seckill.Count{Placed: 1, Paid: 2})
	}},
}

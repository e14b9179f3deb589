package drivertest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

func (s *suite) block(subject seckill.Subject, item string, until time.Time) seckill.Block {
	b := seckill.Block{Subject: subject, Item: item, Reason: "a script", By: "ada", Made: epoch, Until: until}
	s.ok(s.Ledger.PutBlock(s.ctx, b))
	return b
}

func (s *suite) listed() []seckill.Block {
	s.CatchUp()
	var all []seckill.Block
	for shard := range seckill.BlockShards {
		for after := ""; ; {
			p, err := s.Ledger.ListBlocks(s.ctx, shard, after, 2)
			s.ok(err)
			all = append(all, p.Rows...)
			if after = p.Next; after == "" {
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b seckill.Block) int {
		return strings.Compare(string(a.Subject)+a.Item, string(b.Subject)+b.Item)
	})
	return all
}

var blockCases = []ledgerCase{
	{"a blocked user's order is not placed, and another user's is", func(s *suite) {
		for _, item := range []string{seckill.Everywhere, "1"} {
			b := s.block("user:7", item, time.Time{})
			o := s.order("1", "7", 1)
			s.refused("place for 7, blocked for "+item, isError(seckill.ErrBlocked),
				func() error { return s.Ledger.Place(s.ctx, o, 9) })
			dropped, err := s.Ledger.DropBlock(s.ctx, b.Subject, b.Item)
			s.ok(err)
			s.same("dropped", dropped, true)
		}
		s.block("user:7", "1", time.Time{})
		s.block("net:203.0.113.7/32", seckill.Everywhere, time.Time{})
		s.ok(s.Ledger.Place(s.ctx, s.order("2", "7", 1), 9))
		s.ok(s.Ledger.Place(s.ctx, s.order("1", "8", 2), 9))
		s.ok(s.Ledger.Place(s.ctx, s.order("1", "70", 3), 9))
	}},
	{"a block ends at its time, without anybody's doing", func(s *suite) {
		o := s.order("1", "7", 1)
		s.block("user:7", "1", o.Placed.Add(time.Millisecond))
		s.refused("a moment before", isError(seckill.ErrBlocked), func() error { return s.Ledger.Place(s.ctx, o, 9) })
		s.block("user:7", "1", o.Placed)
		s.ok(s.Ledger.Place(s.ctx, o, 9))
	}},
	{"an existing order is named before a block, a block before quota and collision", func(s *suite) {
		placed := s.placed("1", "8", 1)
		o := s.placed("1", "7", 2)
		s.block("user:7", seckill.Everywhere, time.Time{})
		s.refused("again", isError(seckill.ErrOrderExists), func() error { return s.Ledger.Place(s.ctx, o, 9) })
		more := s.order("1", "7", placed.Units...)
		s.refused("over the limit", isError(seckill.ErrBlocked), func() error { return s.Ledger.Place(s.ctx, more, 1) })
		s.refused("a taken unit", isError(seckill.ErrBlocked), func() error { return s.Ledger.Place(s.ctx, more, 9) })
	}},
	{"a blocked user's orders go on", func(s *suite) {
		o := s.placed("1", "7", 1)
		s.block("user:7", seckill.Everywhere, time.Time{})
		s.closed(o, seckill.Cancelled)
		s.rejected("1", "7")
	}},
	{"blocks are read, replaced, listed and dropped", func(s *suite) {
		everywhere := s.block("user:7", seckill.Everywhere, now.Add(time.Hour))
		s.block("user:7", "1", time.Time{})
		one := s.block("user:7", "1", time.UnixMilli(math.MaxInt32).UTC().AddDate(160, 0, 0))
		s.block("user:7", "2", time.Time{})
		net := s.block("net:2001:db8::/64", "1", time.Time{})
		s.CatchUp()
		for item, want := range map[string]int{"1": 1, "2": 0} {
			got, err := s.Ledger.RangeBlocks(s.ctx, []seckill.Subject{"net:2001:db8::/64", "net:2001:db8::/32"}, item)
			s.ok(err)
			s.same("blocks of ranges for item "+item, got, []seckill.Block{net}[:want])
		}
		s.same("listed", len(s.listed()), 4)
		for _, want := range []bool{true, false} {
			dropped, err := s.Ledger.DropBlock(s.ctx, "user:7", "2")
			s.ok(err)
			s.same("dropped", dropped, want)
		}
		s.same("listed", s.listed(), []seckill.Block{net, everywhere, one})
	}},
	{"many blocks are written at once, all or none, and read", func(s *suite) {
		many := make([]seckill.Block, seckill.MaxBlockBatch)
		for i := range many {
			many[i] = seckill.Block{Subject: seckill.UserSubject(fmt.Sprint(1000 + i)), Item: "1", Reason: "a list",
				By: "ada", Made: epoch, Until: now.Add(time.Duration(i) * time.Second)}
		}
		bad := slices.Clone(many)
		bad[99].Reason = ""
		if err := s.Ledger.PutBlocks(s.ctx, bad); seckill.CodeOf(err) != seckill.CodeInvalid {
			s.Errorf("one of many says nothing: %v", err)
		}
		got, err := s.Ledger.Stored(s.ctx, many)
		s.ok(err)
		s.same("stored", len(got), 0)
		everywhere := s.block("user:1000", seckill.Everywhere, time.Time{})
		s.ok(s.Ledger.PutBlocks(s.ctx, many))
		got, err = s.Ledger.Stored(s.ctx, many)
		s.ok(err)
		slices.SortFunc(got, func(a, b seckill.Block) int { return a.Until.Compare(b.Until) })
		s.same("stored", got, many)
		for after, want := range map[string][]seckill.Block{"": {everywhere, many[0]}, everywhere.Item: {many[0]},
			"1": {}} {
			got, err := s.Ledger.BlocksOn(s.ctx, "user:1000", after, 9)
			s.ok(err)
			s.same("after "+after, got, want)
		}
		s.same("listed", len(s.listed()), 101)
		o := s.order("1", "1099", 1)
		s.refused("one of many", isError(seckill.ErrBlocked), func() error { return s.Ledger.Place(s.ctx, o, 9) })
	}},
	{"a block that says nothing is not written", func(s *suite) {
		for _, b := range []seckill.Block{{}, {Subject: "user:7", Item: "1", By: "ada", Made: now}} {
			if err := s.Ledger.PutBlock(s.ctx, b); seckill.CodeOf(err) != seckill.CodeInvalid {
				s.Errorf("%+v: %v", b, err)
			}
		}
		s.same("listed", s.listed(), []seckill.Block(nil))
	}},
	{"after a block is acknowledged, none of many purchases in flight is placed", func(s *suite) {
		const purchases = 20
		orders := make([]seckill.Order, purchases)
		for i := range orders {
			orders[i] = s.order("1", "7", 1+i)
		}
		var acknowledged atomic.Bool
		for _, err := range allTogether(purchases+1, func(i int) error {
			if i == purchases {
				defer acknowledged.Store(true)
				return s.Ledger.PutBlock(s.ctx,
					seckill.Block{Subject: "user:7", Item: "1", Reason: "x", By: "ada", Made: epoch})
			}
			late := acknowledged.Load()
			err := s.Ledger.Place(s.ctx, orders[i], purchases)
			if err == nil && late {
				return fmt.Errorf("purchase %d began after the acknowledgement, and was placed", i)
			}
			return err
		}) {
			if err != nil && !isError(seckill.ErrBlocked)(err) {
				s.Error(err)
			}
		}
		last := s.order("1", "7", 99)
		s.refused("afterwards", isError(seckill.ErrBlocked), func() error { return s.Ledger.Place(s.ctx, last, 99) })
	}},
}

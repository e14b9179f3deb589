package drivertest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// act keeps an act.
func (s *suite) act(at time.Time, tail string) seckill.Act {
	s.Helper()
	a := seckill.Act{ID: seckill.ActID(at, tail), At: at, Item: "1", Action: seckill.ActTicket,
		Result: seckill.CheckProof,
		Rules:  seckill.RuleFast | seckill.RuleEarly, User: "7", UserKey: "00aa", Network: "11bb", Agent: "curl/8",
		Referrer: "https://x/y", Took: 12 * time.Millisecond}
	s.ok(s.Ledger.KeepAct(s.ctx, a))
	return a
}

// acts reads a day's acts, a few at a time, sorted.
func (s *suite) acts(day string) (all []seckill.Act) {
	s.Helper()
	for shard := range seckill.ActShards {
		for after := ""; ; {
			acts, err := s.Ledger.ActsOn(s.ctx, day, shard, after, 3)
			s.ok(err)
			all = append(all, acts...)
			if len(acts) < 3 {
				break
			}
			after = acts[2].ID
		}
	}
	slices.SortFunc(all, func(a, b seckill.Act) int { return a.At.Compare(b.At) })
	return all
}

var actCases = []ledgerCase{
	{"acts are kept, and listed by day", func(s *suite) {
		at := now.UTC().Truncate(time.Millisecond)
		var want []seckill.Act
		for i := range 60 {
			want = append(want, s.act(at.Add(time.Duration(i)*time.Millisecond), fmt.Sprint(i)))
		}
		other := s.act(at.Add(24*time.Hour), "0")
		s.same("acts", s.acts(seckill.Day(at)), want)
		s.same("of the next day", s.acts(seckill.Day(other.At)), []seckill.Act{other})
		got, err := s.Ledger.Act(s.ctx, want[7].ID)
		s.ok(err)
		s.same("one", got, want[7])
	}},
	{"who handled an act stays when it is delivered again", func(s *suite) {
		at := now.UTC().Truncate(time.Millisecond)
		a := s.act(at, "a")
		s.ok(s.Ledger.HandleAct(s.ctx, a.ID, "ada", "a test", at.Add(time.Hour)))
		s.act(at, "a")
		a.Handled, a.By, a.Note = at.Add(time.Hour), "ada", "a test"
		s.same("acts", s.acts(seckill.Day(at)), []seckill.Act{a})
	}},
	{"no act can be read or handled that is not kept", func(s *suite) {
		s.act(now, "a")
		for _, id := range []string{"", "x", seckill.ActID(now, "b"), seckill.ActID(now, "g"), "1-a",
			"12345678901234a-a"} {
			_, err := s.Ledger.Act(s.ctx, id)
			if err2 := s.Ledger.HandleAct(s.ctx, id, "ada", "x", now); !isError(seckill.ErrNoAct)(err) ||
				!isError(seckill.ErrNoAct)(err2) {
				s.Errorf("%q: %v, %v", id, err, err2)
			}
			if _, ok := seckill.ActTime(id); !ok && s.Ledger.KeepAct(s.ctx, seckill.Act{ID: id}) == nil {
				s.Errorf("%q was kept", id)
			}
		}
		s.same("acts", len(s.acts(seckill.Day(now))), 1)
	}},
	{"a user's blocks, for an item and for every item", func(s *suite) {
		blocks := func(want ...seckill.Block) {
			s.Helper()
			got, err := s.Ledger.UserBlocks(s.ctx, "7", "1")
			s.ok(err)
			slices.SortFunc(got, func(a, b seckill.Block) int { return cmp.Compare(a.Item, b.Item) })
			s.same("blocks", got, want)
		}
		none, err := s.Ledger.UserBlocks(s.ctx, "7", "1")
		s.ok(err)
		s.same("blocks at first", len(none), 0)
		everywhere := s.block("user:7", seckill.Everywhere, now.Add(time.Hour))
		one := s.block("user:7", "1", time.Time{})
		s.block("user:7", "2", time.Time{})
		s.block("user:8", "1", time.Time{})
		s.block("net:203.0.113.7/32", "1", time.Time{})
		blocks(everywhere, one)
	}},
}

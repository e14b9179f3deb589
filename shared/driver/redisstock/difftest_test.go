package redisstock_test

import (
	"context"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/fake/memory"
)

// replay runs calls on another embedded Redis, with one text replaced in the scripts' source.
func replay(old, with string) Other {
	m := memory.NewRedis()
	return func(calls []Call) (o Outcome, err error) {
		m.Flush()
		for _, c := range calls {
			v, err := m.Run(context.Background(), redisstock.NewScript(c.Script.Name,
				strings.ReplaceAll(c.Script.Source, old, with)), c.Keys, c.Args)
			o.Replies, o.Errs = append(o.Replies, v), append(o.Errs, err)
		}
		o.Keys = m.Dump()
		return o, nil
	}
}

// TestSameIsSame checks that two equal Redises show no difference, and that the histories cover every script:
// accepted and refused, with installed items and builds.
func TestSameIsSame(t *testing.T) {
	answers, m, same := map[string]map[string]int{}, memory.NewRedis(), replay("", "")
	for seed := range uint64(2000) {
		calls, keys := Play(m, History(seed))
		o, err := same(calls)
		if err != nil {
			t.Fatal(err)
		}
		if d := Difference(calls, keys, o); d != "" {
			t.Fatal(Report(seed, History(seed), d))
		}
		for _, c := range calls {
			if c.Err != nil {
				t.Fatalf("seed %d: script %s %q: %v", seed, c.Script.Name, c.Args, c.Err)
			}
			name := c.Script.Name
			if answers[name] == nil {
				answers[name] = map[string]int{}
			}
			answers[name][c.Reply.([]any)[0].(string)]++
		}
	}
	for _, name := range redisstock.Names() {
		if strings.HasSuffix(name, "common") {
			continue
		}
		want := 2
		if name == "remove" { // it has only one answer
			want = 1
		}
		if len(answers[name]) < want || answers[name]["not_installed"]+answers[name]["lost"] == len(answers[name]) {
			t.Errorf("script %s answers only %v", name, answers[name])
		}
	}
	for _, word := range []string{"reserved", "again", "before", "reused", "limit", "none", "few", "held_back",
		"not_started", "ended", "stopped"} {
		if answers["reserve"][word] == 0 {
			t.Errorf("reserve never answers %s: %v", word, answers["reserve"])
		}
	}
	for _, word := range []string{"units", "confirmed", "wait", "none"} {
		if answers["redraw"][word] == 0 {
			t.Errorf("redraw never answers %s: %v", word, answers["redraw"])
		}
	}
}

// TestPlantedBugs checks that a difference visible only in a reply, or only in a key, is found within a few hundred
// histories and shrunk to a few steps.
func TestPlantedBugs(t *testing.T) {
	for _, c := range []struct{ name, old, with string }{
		{"the highest free number first", "'ZPOPMIN', FREE, count", "'ZPOPMAX', FREE, count"},
		{"confirm keeps what it should free", "if not given[tostring(n)] then", "if n < 0 then"},
		{"one more in the count", "{'ok', available(stock, hw)", "{'ok', 1 + available(stock, hw)"},
		{"an entry stays", "charge(ARGV[2], ARGV[1], function() return nil end)", ""},
	} {
		other := replay(c.old, c.with)
		for seed := uint64(0); ; seed++ {
			if seed == 1000 {
				t.Errorf("%s: not found", c.name)
				break
			}
			h, d := Shrink(History(seed), other)
			if d == "" {
				continue
			}
			if len(h) > 8 {
				t.Errorf("%s: %s", c.name, Report(seed, h, d))
			}
			break
		}
	}
}

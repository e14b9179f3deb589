package branches

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest/difftest"
	"github.com/your-org/seckill/shared/drivertest/stocktest"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// histories is the number of random histories in the tests, with some 14 calls each.
const histories = 3000

func newCounter(t *testing.T) *Counter {
	t.Helper()
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// play plays the histories on two Redises, one with original scripts and one that counts, and checks that answers and
// keys are equal.
func play(t *testing.T, c *Counter) {
	t.Helper()
	plain, counted := memory.NewRedis(), memory.NewRedis()
	run := c.Wrap(counted)
	for seed := range uint64(histories) {
		calls, keys := difftest.Play(plain, difftest.History(seed))
		counted.Flush()
		var o difftest.Outcome
		for _, call := range calls {
			v, err := run.Run(context.Background(), call.Script, call.Keys, call.Args)
			o.Replies, o.Errs = append(o.Replies, v), append(o.Errs, err)
		}
		o.Keys = counted.Dump()
		if d := difftest.Difference(calls, keys, o); d != "" {
			t.Fatal(difftest.Report(seed, difftest.History(seed), d))
		}
	}
}

// TestEveryBranch checks that every condition of every script has both outcomes in the conformance suite, the random
// histories and the unusual calls below. Impossible lists the exceptions; no entry of Unplayed may be impossible.
func TestEveryBranch(t *testing.T) {
	c := newCounter(t)
	if !t.Run("conformance", func(t *testing.T) {
		stocktest.Run(t, func(*testing.T) seckill.Stock { return redisstock.New(c.Wrap(memory.NewRedis())) })
	}) {
		return
	}
	if !t.Run("histories", func(t *testing.T) { play(t, c) }) {
		return
	}
	unusualCalls(t, c)
	if n := len(c.Branches()); n < 100 {
		t.Errorf("%d conditions; the scripts have more than 100", n)
	}
	untaken, err := Untaken(c.Branches(), Impossible)
	if err != nil {
		t.Error(err)
	}
	for _, name := range untaken {
		t.Error(name)
	}
	if _, err := Untaken(c.Branches(), slices.Concat(Impossible, Unplayed)); err == nil ||
		strings.Count(err.Error(), "\n")+1 != len(Unplayed) {
		t.Errorf("of %d entries of Unplayed not all were taken here:\n%v", len(Unplayed), err)
	}
}

// unusualCalls makes calls that neither the flows nor the other suites make.
func unusualCalls(t *testing.T, c *Counter) {
	t.Helper()
	ctx, now := context.Background(), time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	it := seckill.Item{ID: "1001", Price: 8888, Start: now, End: now.Add(time.Hour), Stock: 5, Limit: 1, Buckets: 2,
		Version: 1}
	s := redisstock.New(c.Wrap(memory.NewRedis()))
	var r seckill.ReserveResult
	request := seckill.Request{Order: seckill.KeyedOrderID(it.ID, "7", "k"), Item: it.ID, User: "7", Count: 1,
		Created: now}
	rows := []seckill.UnitRow{{Unit: 5, Order: seckill.KeyedOrderID(it.ID, "8", "k"), User: "8"}}
	for i, call := range []func() error{
		// A build with unit 5, installed as if high-water were 2: unit 2 is in no list.
		func() error { return s.BuildStart(ctx, now, it.ID, "t") },
		func() error { _, err := s.BuildUnits(ctx, now, it.ID, "t", rows); return err },
		func() error { return s.BuildGaps(ctx, now, it.ID, "t", 1, 1) },
		func() error { return s.Install(ctx, it, "t", 1, 1, 2) },
		func() error { return expect(2, seckill.Seen{Unit: 2}, s, it.ID) },
		// An owner without a user.
		func() error {
			_, err := s.Correct(ctx, it.ID, seckill.Correction{Unit: 2, Owner: rows[0].Order})
			return err
		},
		// A unit held for an order whose user entry is gone.
		func() (err error) { r, err = s.Reserve(ctx, now, request, true, time.Minute); return err },
		func() error { return s.Confirm(ctx, it.ID, request.Order, "7", r.Reservation.Units) },
		func() error { return s.Return(ctx, it.ID, request.Order, "7", nil) },
		func() error {
			_, err := s.Correct(ctx, it.ID, seckill.Correction{Unit: r.Reservation.Units[0], Holder: request.Order})
			return err
		},
		// A unit far above high-water.
		func() error {
			_, err := s.Correct(ctx, it.ID, seckill.Correction{Unit: 10_000, Owner: rows[0].Order, User: "8"})
			return err
		},
	} {
		if err := call(); err != nil {
			t.Fatalf("odd call %d: %v", i, err)
		}
	}
	for i := range 10 { // more drift passes than are remembered
		if _, err := s.DriftBegin(ctx, it.ID, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// expect checks one unit.
func expect(n int, want seckill.Seen, s *redisstock.Stock, item string) error {
	seen, err := s.Scan(context.Background(), item, n%2, 2)
	if err == nil && !slices.Contains(seen, want) {
		err = fmt.Errorf("scan: %+v, want %+v among them", seen, want)
	}
	return err
}

// refusing is a runner without a Redis, or one with invalid replies.
type refusing struct {
	reply any
	err   error
}

func (r refusing) Run(context.Context, *redisstock.Script, []string, []string) (any, error) {
	return r.reply, r.err
}

func TestWrapPassesErrorsOn(t *testing.T) {
	c, away := newCounter(t), errors.New("away")
	plain, err := scripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name   string
		next   refusing
		script *redisstock.Script
		want   string
	}{
		{"trouble on the way", refusing{err: away}, plain[0], "away"},
		{"a script that nobody knows", refusing{}, redisstock.NewScript("other", "return 1"),
			"script other: not one of the stock's"},
		{"no trace", refusing{reply: "ok"}, plain[0], "script reserve: answered ok, no trace"},
		{"a trace of another script", refusing{reply: []any{[]any{int64(1000)}}}, plain[0],
			"script reserve: a trace of 1000"},
	} {
		v, err := c.Wrap(x.next).Run(context.Background(), x.script, nil, nil)
		if v != nil || err == nil || err.Error() != x.want {
			t.Errorf("%s: %v, %v; want the error %q", x.name, v, err, x.want)
		}
	}
	for _, b := range c.Branches() {
		if b.True+b.False > 0 {
			t.Errorf("%+v: counted, and nothing ran", b)
		}
	}
}

func TestUntaken(t *testing.T) {
	branches := []Branch{{"a.lua", 3, "x", 1, 2}, {"a.lua", 5, "x", 0, 2}, {"b.lua", 1, "y", 0, 0}}
	for _, x := range []struct {
		name       string
		exceptions []Exception
		want       []string
		wrong      string
	}{
		{"all", nil, []string{"a.lua:5 x: never true", "b.lua:1 y: never true", "b.lua:1 y: never false"}, ""},
		{"but for exceptions", []Exception{{"a.lua", "x", 2, true, ""}, {"b.lua", "y", 1, false, ""}},
			[]string{"b.lua:1 y: never true"}, ""},
		{"an exception that was taken", []Exception{{"a.lua", "x", 1, false, ""}}, []string{"a.lua:5 x: never true",
			"b.lua:1 y: never true", "b.lua:1 y: never false"},
			"a.lua:3 x: came out false 2 times, which is listed as not happening"},
		{"an exception for what is not there", []Exception{{"a.lua", "x", 3, true, ""}},
			[]string{"a.lua:5 x: never true", "b.lua:1 y: never true", "b.lua:1 y: never false"},
			`a.lua: no condition "x" (number 3 of this text): the list of exceptions is out of date`},
	} {
		got, err := Untaken(branches, x.exceptions)
		wrong := ""
		if err != nil {
			wrong = err.Error()
		}
		if !slices.Equal(got, x.want) || wrong != x.wrong {
			t.Errorf("%s: %q, %q; want %q, %q", x.name, got, wrong, x.want, x.wrong)
		}
	}
}

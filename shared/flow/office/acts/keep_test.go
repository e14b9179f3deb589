package acts_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/seckill"
)

// failing is a ledger whose writes fail after some.
type failing struct {
	*ledger.Ledger
	left int
}

func (l *failing) KeepAct(ctx context.Context, a seckill.Act) error {
	if l.left--; l.left < 0 {
		return errors.New("no answer")
	}
	return l.Ledger.KeepAct(ctx, a)
}

func newFlow() (*acts.Flow, *failing, *memory.Clock, memory.Meter) {
	clock := memory.NewClock(now)
	l := &failing{ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})), 1 << 30}
	m := memory.Meter{}
	return acts.New(acts.Deps{Ledger: l, Clock: clock, Meter: m, Each: system.Several(1)}), l, clock, m
}

func suspect(user, item string, at time.Time, tail int) seckill.Act {
	return seckill.Act{ID: seckill.ActID(at, fmt.Sprintf("%04x", tail)), At: at, User: user, Item: item,
		Action: seckill.ActTicket, Result: seckill.ActDone, Rules: seckill.RulePrelude}
}

// TestKeep: suspicious acts are kept; normal and old ones are not; what a fault left out is kept when it comes again.
func TestKeep(t *testing.T) {
	t.Parallel()
	f, l, _, m := newFlow()
	normal := suspect("3", "1", now, 3)
	normal.Rules = 0
	list := []seckill.Act{suspect("1", "1", now.Add(-time.Hour), 1), suspect("1", "1", now.Add(-2*time.Hour), 2),
		normal,
		suspect("4", "1", now.Add(-25*time.Hour), 4), suspect("5", "1", now.Add(-seckill.ActLife), 5), suspect("", "1",
			now, 6)}
	l.left = 1
	if err := f.Keep(t.Context(), list); err == nil {
		t.Error("a fault is not told")
	}
	l.left = 100
	if err := f.Keep(t.Context(), list); err != nil || len(list) != 6 || m[seckill.EventSuspicious] != 8 {
		t.Errorf("%v, %d acts, %v", err, len(list), m)
	}
	for _, a := range list {
		_, err := f.Act(t.Context(), a.ID)
		if want := a.Rules != 0 && a.User != "5"; (err == nil) != want || !want &&
			seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("user %q: %v, want kept: %v", a.User, err, want)
		}
	}
}

// TestList: a day's acts come by time, page by page, by item, without those that are handled.
func TestList(t *testing.T) {
	t.Parallel()
	f, _, clock, _ := newFlow()
	var all []seckill.Act
	for i := range 300 {
		all = append(all, suspect("1", fmt.Sprint(1+i%2), now.Add(time.Duration(i/3)*time.Millisecond), i))
	}
	must.OK(t, f.Keep(t.Context(), append(all, suspect("1", "1", now.Add(-24*time.Hour), 0))))
	for _, id := range []string{all[10].ID, all[11].ID} {
		must.OK(t, f.Handle(t.Context(), id, "ada", "a test"))
		clock.Advance(time.Second)
	}
	all[10].Handled, all[11].Handled = now, now.Add(time.Second)
	for i := range 2 {
		all[10+i].By, all[10+i].Note = "ada", "a test"
	}
	pick := func(keep func(i int) bool) (out []seckill.Act) {
		for i := range all {
			if keep(i) {
				out = append(out, all[i])
			}
		}
		return out
	}
	open := func(i int) bool { return i != 10 && i != 11 }
	for name, c := range map[string]struct {
		acts.Filter
		want []seckill.Act
	}{
		"open":             {acts.Filter{}, pick(open)},
		"all":              {acts.Filter{All: true}, all},
		"of an item":       {acts.Filter{Item: "2"}, pick(func(i int) bool { return i%2 == 1 && open(i) })},
		"of that day":      {acts.Filter{Day: "2026-11-11", All: true}, all},
		"of the day after": {acts.Filter{Day: "2026-11-12", All: true}, nil},
	} {
		for _, limit := range []int{1, 7, acts.MaxPage} {
			var got []seckill.Act
			for c.After = ""; ; {
				c.Limit = limit
				list, next, err := f.List(t.Context(), c.Filter)
				if err != nil || len(list) > limit {
					t.Fatalf("%s: %d acts, %v", name, len(list), err)
				}
				got = append(got, list...)
				if c.After = next; next == "" {
					break
				}
			}
			must.Equal(t, c.want, got, name, limit, "in a page")
		}
	}
}

// TestHandleRefuses what nobody could read later, and acts that are not kept.
func TestHandleRefuses(t *testing.T) {
	t.Parallel()
	f, _, _, _ := newFlow()
	a := suspect("1", "1", now, 1)
	must.OK(t, f.Keep(t.Context(), []seckill.Act{a}))
	for what, c := range map[string][2]string{"no note": {a.ID, ""}, "two lines": {a.ID, "a\nb"},
		"another": {suspect("1", "1", now, 2).ID, "x"}, "no id": {"x", "x"}} {
		if err := f.Handle(t.Context(), c[0], "ada", c[1]); seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, limit := range []int{0, acts.MaxPage + 1} {
		if _, _, err := f.List(t.Context(), acts.Filter{Limit: limit}); seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("%d acts: %v", limit, err)
		}
	}
}

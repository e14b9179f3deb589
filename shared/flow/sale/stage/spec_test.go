package stage_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// scripted is a stock whose calls fail as the table says; calls records what the step did.
type scripted struct {
	seckill.Stock
	faults map[string]error // by call
	calls  []string
}

func (s *scripted) call(name string) error {
	s.calls = append(s.calls, name)
	return s.faults[name]
}

func (s *scripted) Assert(context.Context, seckill.Item) error { return s.call("assert") }

func (s *scripted) BuildStart(context.Context, time.Time, string, string) error {
	return s.call("build")
}

func (s *scripted) Install(context.Context, seckill.Item, string, int, int, int, int) error {
	return s.call("install")
}

func (s *scripted) Remove(_ context.Context, id string) error { return s.call("remove " + id) }

// endless are items of which those that ended cannot be listed.
type endless struct{ seckill.Items }

func (endless) ListEnded(context.Context, seckill.Kept, time.Time) ([]seckill.Item, error) {
	return nil, context.DeadlineExceeded
}

// newScripted returns an instance at a time after the opening of an item whose sale lasts an hour.
func newScripted(t *testing.T, at time.Duration, faults map[string]error) (*stage.Flow, *scripted) {
	t.Helper()
	opening := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	items, s := memory.NewItems(), &scripted{faults: faults}
	must.OK(t, items.Put(t.Context(), drivertest.Item("1", opening), nil))
	return stage.New(stage.Deps{Stock: s, Items: items, Clock: memory.NewClock(opening.Add(at)),
		IDs: system.NewIDs(nil), Activities: newLedger()}), s
}

// TestRun is the specification of a run: what it does to the stock, by time and by the stock's answers.
func TestRun(t *testing.T) {
	t.Parallel()
	lost := map[string]error{"assert": seckill.ErrNotInstalled}
	but := func(call string, err error) map[string]error {
		return map[string]error{"assert": seckill.ErrNotInstalled, call: err}
	}
	for _, c := range []struct {
		name   string
		at     time.Duration // after the start
		faults map[string]error
		calls  string // joined with "; "
		fails  bool
	}{
		{"long before the sale", -11 * time.Minute, lost, "", false},
		{"ten minutes before", -10 * time.Minute, lost, "assert; build; install", false},
		{"installed", -9 * time.Minute, nil, "assert", false},
		{"another builder is at work", -9 * time.Minute, but("build", seckill.ErrBuildBusy), "assert; build", false},
		{"another builder takes over", -9 * time.Minute, but("install", seckill.ErrBuildLost),
			"assert; build; install", false},
		{"too late to install it empty", -10 * time.Second, lost, "assert", false},
		{"on sale", time.Minute, nil, "assert", false},
		{"on sale and lost: for repair", time.Minute, lost, "assert", false},
		{"the stock does not answer", time.Minute, map[string]error{"assert": context.DeadlineExceeded}, "assert",
			true},
		{"a moment less than two days after the end", 49*time.Hour - 1, nil, "assert", false},
		{"two days after the end", 49 * time.Hour, nil, "remove 1", false},
		{"the removal fails", 49 * time.Hour, map[string]error{"remove 1": context.DeadlineExceeded}, "remove 1", true},
		{"a year after the end: stage was away", 365 * 24 * time.Hour, nil, "remove 1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, s := newScripted(t, c.at, c.faults)
			if err := f.Run(t.Context()); (err != nil) != c.fails {
				t.Errorf("run: %v, want an error: %t", err, c.fails)
			}
			if want := strings.Split(c.calls, "; "); !slices.Equal(s.calls, want) && (c.calls != "" || s.calls != nil) {
				t.Errorf("calls %q, want %q", s.calls, want)
			}
		})
	}
}

// TestWhatIsOverLeavesTheStockForGood: an ended item is removed at each run for a day, because a restored stock may
// have it again, or as soon as stage is back; then its row says so, and no run looks at it again.
func TestWhatIsOverLeavesTheStockForGood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first time.Duration // after the start of a sale of an hour
		runs  int           // one an hour
		calls int
		fails bool
	}{{49 * time.Hour, 60, 25, false}, {500 * time.Hour, 3, 1, false}, {500 * time.Hour, 3, 3, true}} {
		faults := map[string]error{}
		if c.fails {
			faults["remove 1"] = context.DeadlineExceeded
		}
		f, s := newScripted(t, c.first, faults)
		for range c.runs {
			must.Equal(t, c.fails, f.Run(t.Context()) != nil, "a run fails")
			f.Clock.(*memory.Clock).Advance(time.Hour)
		}
		must.Equal(t, c.calls, len(s.calls), "removals from", c.first)
	}
	f, s := newScripted(t, 49*time.Hour, nil)
	f.Items = endless{f.Items}
	if err := f.Run(t.Context()); err == nil || s.calls != nil {
		t.Errorf("what ended cannot be listed: %v, %v", err, s.calls)
	}
}

// TestStop is the specification of an operator's stop: the answer, and whether the items table has it.
func TestStop(t *testing.T) {
	t.Parallel()
	lost := map[string]error{"assert": seckill.ErrNotInstalled}
	for _, c := range []struct {
		name   string
		at     time.Duration // after the start
		faults map[string]error
		item   string
		code   seckill.Code // "" if done
		stops  bool         // in the items table
	}{
		{"on sale", time.Minute, nil, "1", "", true},
		{"not loaded yet", -time.Hour, lost, "1", "", true},
		{"the stock is lost", time.Minute, lost, "1", seckill.CodeNotReady, true},
		{"the stock does not answer", time.Minute, map[string]error{"assert": context.DeadlineExceeded}, "1",
			seckill.CodeUnavailable, true},
		{"no such item", time.Minute, nil, "2", seckill.CodeItemUnknown, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, _ := newScripted(t, c.at, c.faults)
			err := f.SetStopped(t.Context(), c.item, true)
			if c.code == "" && err != nil || c.code != "" && (err == nil || seckill.CodeOf(err) != c.code) {
				t.Errorf("got %v, want code %q", err, c.code)
			}
			must.Equal(t, c.stops, must.Get(f.Items.Get(t.Context(), "1")).Stopped, "stopped")
		})
	}
}

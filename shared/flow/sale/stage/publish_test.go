package stage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// willing is a stock that accepts everything.
type willing struct{ seckill.Stock }

func (willing) Assert(context.Context, seckill.Item) error { return nil }

// lists fails a publication, or calls a function before it.
type lists struct {
	seckill.Items
	published int
	before    func() error
	lost      bool // the stored list cannot be read
}

func (l *lists) Publish(ctx context.Context, list seckill.List) error {
	if before := l.before; before != nil {
		l.before = nil
		if err := before(); err != nil {
			return err
		}
	}
	l.published++
	return l.Items.Publish(ctx, list)
}

func (l *lists) Published(ctx context.Context) (seckill.List, error) {
	list, err := l.Items.Published(ctx)
	if l.lost {
		l.lost = false
		return seckill.List{Version: list.Version}, &seckill.Unreadable{Table: "catalog", PK: "list#00"}
	}
	return list, err
}

// listed returns the version of an item in the published list, 0 if it is not listed.
func (l *lists) listed(t *testing.T, id string) int64 {
	t.Helper()
	list := must.Get(l.Items.Published(t.Context()))
	for _, it := range list.Items {
		if it.ID == id {
			return it.Version
		}
	}
	return 0
}

func publisher(t *testing.T) (*stage.Flow, *lists, *memory.Clock) {
	t.Helper()
	l, clock := &lists{Items: memory.NewItems()}, memory.NewClock(now)
	f := stage.New(stage.Deps{Items: l, Stock: willing{}, Clock: clock, Activities: newLedger()})
	must.Get(f.Import(t.Context(), []seckill.Listing{item("1", time.Hour)}))
	return f, l, clock
}

// TestEachActPublishes checks that an operator's change is in the list when the command returns.
func TestEachActPublishes(t *testing.T) {
	f, l, _ := publisher(t)
	if l.listed(t, "1") != 1 {
		t.Error("an imported item is not listed")
	}
	for n, act := range []func() error{
		func() error { return f.SetStopped(t.Context(), "1", true) },
		func() error { return f.SetStopped(t.Context(), "1", false) },
		func() error { return f.AddStock(t.Context(), "1", 11) },
	} {
		if err := act(); err != nil || l.listed(t, "1") != int64(n+2) {
			t.Errorf("act %d: error %v, listed as version %d", n, err, l.listed(t, "1"))
		}
	}
	before := l.published
	for range 3 {
		must.OK(t, errors.Join(f.AddStock(t.Context(), "1", 11), f.Run(t.Context())))
	}
	if l.published != before {
		t.Errorf("%d publications of what is published", l.published-before)
	}
}

// TestAStopStandsThoughItCannotBePublished checks that a stop holds if publishing fails, that the next run publishes
// it, and that runs report the failure.
func TestAStopStandsThoughItCannotBePublished(t *testing.T) {
	f, l, _ := publisher(t)
	fails := func() error { return errDeaf }
	l.before = fails
	if err := f.SetStopped(t.Context(), "1", true); err != nil || l.listed(t, "1") != 1 {
		t.Fatalf("error %v, listed as version %d", err, l.listed(t, "1"))
	}
	l.before = fails
	must.Is(t, errDeaf, f.Run(t.Context()), "a run that cannot publish")
	if err := f.Run(t.Context()); err != nil || l.listed(t, "1") != 2 {
		t.Errorf("the next run: error %v, listed as version %d", err, l.listed(t, "1"))
	}
}

// TestTwoThatPublishAtOnce checks that the later change stays listed, whichever call read the items first.
func TestTwoThatPublishAtOnce(t *testing.T) {
	f, l, _ := publisher(t)
	l.before = func() error { return f.SetStopped(t.Context(), "1", true) }
	if err := f.AddStock(t.Context(), "1", 11); err != nil || l.listed(t, "1") != 3 {
		t.Errorf("error %v, listed as version %d, want that of the stop", err, l.listed(t, "1"))
	}
}

// TestAListThatIsLostIsPublishedAnew also checks that a list whose last item is over becomes empty.
func TestAListThatIsLostIsPublishedAnew(t *testing.T) {
	f, l, clock := publisher(t)
	l.lost = true
	before := l.published
	if err := f.Run(t.Context()); err != nil || l.published != before+1 {
		t.Errorf("error %v, %d publications", err, l.published-before)
	}
	clock.Advance(2*time.Hour + seckill.MaxUnplaced - time.Millisecond)
	if err := f.Run(t.Context()); err != nil || l.listed(t, "1") != 1 {
		t.Errorf("while an order may still wait: error %v, listed as version %d", err, l.listed(t, "1"))
	}
	clock.Advance(time.Millisecond)
	if err := f.Run(t.Context()); err != nil || l.listed(t, "1") != 0 {
		t.Errorf("when it is over: error %v, listed as version %d", err, l.listed(t, "1"))
	}
}

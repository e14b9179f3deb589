package stage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// willing is a stock that accepts everything, unless it is deaf.
type willing struct {
	seckill.Stock
	has  map[string]bool
	deaf bool
}

func (willing) Assert(context.Context, seckill.Item) error { return nil }

func (willing) Remove(context.Context, string) error { return nil }

func (w *willing) Level(_ context.Context, id string) (seckill.Level, error) {
	if w.deaf {
		return seckill.Level{}, errDeaf
	}
	if !w.has[id] {
		return seckill.Level{}, seckill.ErrNotInstalled
	}
	return seckill.Level{}, nil
}

func (w *willing) BuildStart(context.Context, time.Time, string, string) error {
	if w.deaf {
		return errDeaf
	}
	return nil
}

func (w *willing) Install(_ context.Context, it seckill.Item, _ string, _, _, _, _ int) error {
	w.has[it.ID] = true
	return nil
}

func (*willing) CopiedBlocks(context.Context, string, uint64) ([]seckill.Block, uint64, error) {
	return nil, 0, nil
}

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
	rows := newLedger()
	f := stage.New(stage.Deps{Items: l, Stock: &willing{has: map[string]bool{}}, Clock: clock,
		IDs: system.NewIDs(nil), Activities: rows, Blocks: rows})
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

// TestAnItemIsListedOnSaleWhenItCanBeBought checks items that an import puts into an open window: they are installed by
// it and listed; if the stock does not answer, they are not listed as on sale before it has them.
func TestAnItemIsListedOnSaleWhenItCanBeBought(t *testing.T) {
	f, l, clock := publisher(t)
	stock := f.Stock.(*willing)
	state := func(id string) seckill.ItemState {
		t.Helper()
		for _, it := range must.Get(l.Items.Published(t.Context())).Items {
			if it.ID == id {
				return it.StateAt(clock.Now())
			}
		}
		return "unlisted"
	}
	must.Get(f.Import(t.Context(), []seckill.Listing{item("2", -time.Minute), item("3", time.Minute)}))
	must.Equal(t, true, stock.has["2"] && stock.has["3"] && !stock.has["1"], "2 and 3 are installed, and 1 is not")
	must.Equal(t, seckill.ItemOnline, state("2"), "an item that can be bought")

	stock.deaf = true
	must.Get(f.Import(t.Context(), []seckill.Listing{item("4", -time.Minute), item("1", -time.Minute),
		item("5", 20*time.Minute)}))
	for id, want := range map[string]seckill.ItemState{"1": seckill.ItemWaiting, "4": "unlisted",
		"2": seckill.ItemOnline, "5": seckill.ItemWaiting} {
		must.Equal(t, want, state(id), "item "+id+" while the stock does not answer")
	}
	stock.deaf = false
	must.OK(t, f.Run(t.Context()))
	must.Equal(t, "unlisted", state("4"), "before repair has installed it")
	stock.has["1"], stock.has["4"] = true, true // repair did
	must.OK(t, f.Run(t.Context()))
	must.Equal(t, seckill.ItemOnline, state("1"), "an item whose start was moved")
	must.Equal(t, seckill.ItemOnline, state("4"), "a new item")

	clear(stock.has) // Redis has lost its data: what is listed stays, shoppers wait for the rebuild
	must.OK(t, f.AddStock(t.Context(), "2", 11))
	must.OK(t, f.SetStopped(t.Context(), "1", true))
	must.OK(t, f.SetStopped(t.Context(), "1", false))
	must.Equal(t, seckill.ItemOnline, state("1"), "a sale that was resumed after a loss")
	clock.Advance(time.Minute)
	must.OK(t, f.Run(t.Context()))
	for _, id := range []string{"1", "2", "3", "4"} {
		must.Equal(t, seckill.ItemOnline, state(id), "item "+id+" after a loss")
	}
}

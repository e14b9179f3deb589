package shop

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// published counts the reads of the list and fails them while broken.
type published struct {
	seckill.Items
	versions, lists, scans atomic.Int64
	broken                 atomic.Bool
	lag                    atomic.Int64 // in versions
	hold                   chan struct{}
	slow                   func()
}

func (p *published) ListVersion(ctx context.Context) (int64, error) {
	p.versions.Add(1)
	if p.hold != nil {
		<-p.hold
	}
	if p.slow != nil {
		p.slow()
	}
	if p.broken.Load() {
		return 0, errBroken
	}
	version, err := p.Items.ListVersion(ctx)
	return version - p.lag.Load(), err
}

func (p *published) ReadList(ctx context.Context, version int64) (seckill.List, error) {
	p.lists.Add(1)
	if p.broken.Load() {
		return seckill.List{}, errBroken
	}
	return p.Items.ReadList(ctx, version)
}

func (p *published) List(context.Context, time.Time) ([]seckill.Item, error) {
	p.scans.Add(1)
	return nil, errBroken
}

func (p *published) Get(context.Context, string) (seckill.Item, error) {
	return seckill.Item{}, errBroken
}

// full is a stock with all units left.
type full struct{ seckill.Stock }

func (full) Level(context.Context, string) (seckill.Level, error) { return seckill.Level{Left: 5}, nil }

func onSale(version int64) seckill.Item {
	it := drivertest.Item("1001", time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	it.Buckets, it.Version = countBuckets+1, version
	return it
}

func newPublished(t *testing.T) (*published, *memory.Clock) {
	t.Helper()
	return &published{Items: memory.NewItems()}, memory.NewClock(onSale(1).Start.Add(time.Minute))
}

func (p *published) publish(t *testing.T, version int64, items ...seckill.Item) {
	t.Helper()
	must.OK(t, p.Publish(t.Context(), seckill.List{Version: version, Items: items}))
}

// TestLooksReadOneSmallRowASecond checks the reads of 100 instances, each asked ten times a second for ten seconds,
// during which the list changes once.
func TestLooksReadOneSmallRowASecond(t *testing.T) {
	p, clock := newPublished(t)
	p.publish(t, 1, onSale(1))
	var flows []*Flow
	for range 100 {
		flows = append(flows, New(Deps{Items: p, Stock: full{}, Clock: clock}))
	}
	for n := range 100 {
		if n == 50 {
			p.publish(t, 2, onSale(2))
		}
		for _, f := range flows {
			list, err := f.Live(t.Context(), 1, 10)
			detail, derr := f.Detail(t.Context(), "1001")
			if err := errors.Join(err, derr); err != nil || len(list.Items) != 1 || !list.AsOf.IsZero() ||
				detail.Item.Version != 1+int64(n/50) {
				t.Fatalf("look %d: %+v, %+v, error %v", n, list, detail, err)
			}
		}
		clock.Advance(100 * time.Millisecond)
	}
	if v, l, s := p.versions.Load(), p.lists.Load(), p.scans.Load(); v != 1000 || l != 200 || s != 0 {
		t.Errorf(
			"%d reads of the version, %d of the list, %d scans; want one a second and instance, two an instance, none",
			v, l, s)
	}
}

// TestNothingPublished checks that before the first run of stage pages answer not_ready, and that no page reads all
// items.
func TestNothingPublished(t *testing.T) {
	p, clock := newPublished(t)
	f := New(Deps{Items: p, Stock: full{}, Clock: clock})
	for range 2 {
		if list, err := f.Live(t.Context(), 1, 10); seckill.CodeOf(err) != seckill.CodeNotReady {
			t.Errorf("%+v, error %v, want CodeNotReady", list, err)
		}
	}
	p.publish(t, 1)
	clock.Advance(seckill.ItemFresh)
	must.Equal(t, 0, len(must.Get(f.Live(t.Context(), 1, 10)).Items))
	if p.scans.Load() != 0 {
		t.Error("the table of items was read")
	}
}

// TestWhatIsKnownIsShownForAMinute checks that while no list can be read the remembered one is shown with its time,
// and that the read is not repeated within a second.
func TestWhatIsKnownIsShownForAMinute(t *testing.T) {
	p, clock := newPublished(t)
	p.publish(t, 1, onSale(1))
	f := New(Deps{Items: p, Stock: full{}, Clock: clock})
	look := func(when string, asOf time.Time, known bool) {
		t.Helper()
		list, err := f.Live(t.Context(), 1, 10)
		detail, derr := f.Detail(t.Context(), "1001")
		if (err == nil) != known || (derr == nil) != known {
			t.Fatalf("%s: errors %v and %v", when, err, derr)
		}
		if !known {
			if seckill.CodeOf(err) != seckill.CodeUnavailable {
				t.Errorf("%s: error %v, want CodeUnavailable", when, err)
			}
			return
		}
		if len(list.Items) != 1 || !list.AsOf.Equal(asOf) || !detail.AsOf.Equal(asOf) {
			t.Errorf("%s: %d items as of %v, detail as of %v; want 1 as of %v", when, len(list.Items), list.AsOf,
				detail.AsOf, asOf)
		}
	}
	began := clock.Now()
	look("at first", time.Time{}, true)
	p.broken.Store(true)
	clock.Advance(seckill.ItemFresh)
	look("a second later", began, true)
	reads := p.versions.Load()
	look("again", began, true)
	if p.versions.Load() != reads {
		t.Error("a failed read was repeated within a second")
	}
	clock.Advance(maxAge - seckill.ItemFresh - time.Millisecond)
	look("after almost a minute", began, true)
	clock.Advance(time.Millisecond)
	look("after a minute", began, false)
	p.broken.Store(false)
	clock.Advance(seckill.ItemFresh)
	look("well again", time.Time{}, true)
}

// TestASlowFailureIsRememberedFromItsEnd checks that a read which takes 2 s to fail is made once a second, not by
// each request in turn, and that a client which goes away causes no remembered failure.
func TestASlowFailureIsRememberedFromItsEnd(t *testing.T) {
	p, clock := newPublished(t)
	p.publish(t, 1, onSale(1))
	f := New(Deps{Items: p, Stock: full{}, Clock: clock})
	must.Get(f.Live(t.Context(), 1, 10))
	clock.Advance(seckill.ItemFresh)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Live(gone, 1, 10); err == nil {
		t.Error("a client that went away had an answer")
	}
	if list, err := f.Live(t.Context(), 1, 10); err != nil || !list.AsOf.IsZero() {
		t.Errorf("the next client: as of %v, error %v", list.AsOf, err)
	}
	clock.Advance(seckill.ItemFresh)
	p.broken.Store(true)
	p.slow = func() { clock.Advance(2 * time.Second) }
	before := p.versions.Load()
	for range 10 {
		if list, err := f.Live(t.Context(), 1, 10); err != nil || list.AsOf.IsZero() {
			t.Errorf("as of %v, error %v", list.AsOf, err)
		}
	}
	must.Equal(t, 1, p.versions.Load()-before, "10 requests made", "reads that take 2 s and fail")
}

// TestACopyThatLagsTakesNothingBack checks that a lagging replica does not undo what was shown.
func TestACopyThatLagsTakesNothingBack(t *testing.T) {
	p, clock := newPublished(t)
	p.publish(t, 1, onSale(1))
	p.publish(t, 2, onSale(2))
	f := New(Deps{Items: p, Stock: full{}, Clock: clock})
	for _, lag := range []int64{0, 1, 2, 0} {
		p.lag.Store(lag)
		if v, err := f.Detail(t.Context(), "1001"); err != nil || v.Item.Version != 2 || !v.AsOf.IsZero() {
			t.Errorf("%d behind: version %d as of %v, error %v", lag, v.Item.Version, v.AsOf, err)
		}
		clock.Advance(seckill.ItemFresh)
	}
}

// TestACrowdWaitsForNoRead checks that while one request reads, the others show the remembered list.
func TestACrowdWaitsForNoRead(t *testing.T) {
	p, clock := newPublished(t)
	p.publish(t, 1, onSale(1))
	f := New(Deps{Items: p, Stock: full{}, Clock: clock})
	must.Get(f.Live(t.Context(), 1, 10))
	p.hold = make(chan struct{})
	clock.Advance(seckill.ItemFresh)
	read := make(chan error)
	go func() {
		_, err := f.Live(context.Background(), 1, 10)
		read <- err
	}()
	for p.versions.Load() != 2 {
		time.Sleep(time.Millisecond)
	}
	if list, err := f.Live(t.Context(), 1, 10); err != nil || len(list.Items) != 1 || !list.AsOf.IsZero() {
		t.Errorf("beside a read: %+v, error %v", list, err)
	}
	clock.Advance(seckill.ItemFresh)
	if list, err := f.Live(t.Context(), 1, 10); err != nil || list.AsOf.IsZero() {
		t.Errorf("beside a slow read: %+v, error %v, want as of when", list, err)
	}
	close(p.hold)
	if err := <-read; err != nil {
		t.Error(err)
	}
}

// TestAStockThatCannotSayHidesNoItem checks that without the stock the last known level is shown with its time.
func TestAStockThatCannotSayHidesNoItem(t *testing.T) {
	p, clock := newPublished(t)
	p.publish(t, 1, onSale(1))
	f := New(Deps{Items: p, Stock: unknown{}, Clock: clock})
	if v, err := f.Detail(t.Context(), "1001"); err != nil || v.Left != 5 || !v.AsOf.Equal(onSale(1).Start) {
		t.Errorf("%d left as of %v, error %v, want all of it, as when the sale began", v.Left, v.AsOf, err)
	}
	f.Stock = full{}
	clock.Advance(seckill.ItemFresh)
	asked := clock.Now()
	if v, err := f.Detail(t.Context(), "1001"); err != nil || v.Left != 5 || !v.AsOf.IsZero() {
		t.Errorf("%d left as of %v, error %v", v.Left, v.AsOf, err)
	}
	f.Stock = unknown{}
	clock.Advance(10 * seckill.ItemFresh)
	list, err := f.Live(t.Context(), 1, 10)
	if err != nil || len(list.Items) != 1 || !list.AsOf.Equal(asked) || !list.Items[0].AsOf.Equal(asked) {
		t.Errorf("%+v, error %v, want as of %v", list, err, asked)
	}
}

// TestItemsOfAnActivity: each item of the list names its activity, and a newer list takes the name back.
func TestItemsOfAnActivity(t *testing.T) {
	p, clock := newPublished(t)
	other := onSale(1)
	other.ID = "1002"
	a := seckill.ListedActivity{ID: "70", Title: "早场", Items: []string{"1001"}}
	must.OK(t, p.Publish(t.Context(), seckill.List{Version: 1, Items: []seckill.Item{onSale(1), other},
		Activities: []seckill.ListedActivity{a}}))
	f := New(Deps{Items: p, Stock: full{}, Clock: clock})
	for _, titles := range []map[string]string{{"1001": "早场", "1002": ""}, {"1001": "", "1002": ""}} {
		list, err := f.Live(t.Context(), 1, 10)
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		for _, v := range list.Items {
			detail, err := f.Detail(t.Context(), v.Item.ID)
			title := ""
			if v.Activity != nil {
				title = v.Activity.Title
			}
			if title != titles[v.Item.ID] || err != nil || (detail.Activity == nil) != (v.Activity == nil) {
				t.Errorf("item %s: %+v in the list, %+v alone, %v", v.Item.ID, v.Activity, detail.Activity, err)
			}
		}
		if titles["1001"] != "" {
			p.publish(t, 2, onSale(1), other)
		}
		clock.Advance(seckill.ItemFresh)
	}
}

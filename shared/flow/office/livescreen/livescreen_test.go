package livescreen_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/livescreen"
	"github.com/your-org/seckill/shared/seckill"
)

var start = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// source counts how often each part was read.
type source struct {
	clock *memory.Clock
	fails map[string]error
	hold  chan struct{} // LiveStock waits for it; nil if it does not

	mu    sync.Mutex
	reads map[string]int
}

func (s *source) read(part string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads[part]++
	return s.fails[part]
}

func (s *source) LiveStock(context.Context, string) (seckill.LiveStock, error) {
	if s.hold != nil {
		<-s.hold
	}
	err := s.read("stock")
	return seckill.LiveStock{State: seckill.ItemOnline, Stock: 10, Left: 6, Held: 4, Installed: true,
		Clock: s.clock.Now()}, err
}

func (s *source) Queues(context.Context) ([]seckill.LiveQueue, error) {
	return []seckill.LiveQueue{{Name: "orders", Parked: 1}}, s.read("queues")
}

func (s *source) Metrics(context.Context) (seckill.LiveMetrics, error) {
	return seckill.LiveMetrics{Presses: 7}, s.read("metrics")
}

func (s *source) Servers(context.Context) ([]seckill.LiveServer, error) {
	return []seckill.LiveServer{{Address: "a:1", Problem: "full"}}, s.read("servers")
}

func newFlow() (*livescreen.Flow, *source, *memory.Clock) {
	clock := memory.NewClock(start)
	s := &source{clock: clock, fails: map[string]error{}, reads: map[string]int{}}
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	return livescreen.New(livescreen.Deps{Ledger: l, Source: s, Clock: clock, MetricsAge: livescreen.MinuteAge,
		Each: system.Several(1)}), s, clock
}

func of(t *testing.T, f *livescreen.Flow) livescreen.Seen { return must.Get(f.Of(t.Context(), "1")) }

// TestViewersShareARenewal: within a second one reading serves all, after it the next one, and what only metrics know
// is read once a minute. A viewer who comes while another one renews gets the row as it is.
func TestViewersShareARenewal(t *testing.T) {
	f, s, clock := newFlow()
	for range 20 {
		if seen := of(t, f); seen.Stock.Value.Left != 6 || !seen.Stock.At.Equal(start) || !seen.Now.Equal(start) {
			t.Fatalf("seen %+v", seen)
		}
	}
	want := map[string]int{"stock": 1, "queues": 1, "metrics": 1, "servers": 1}
	check := func(when string) {
		t.Helper()
		for part, n := range want {
			if s.reads[part] != n {
				t.Errorf("%s: %s read %d times, want %d", when, part, s.reads[part], n)
			}
		}
	}
	check("20 viewers at once")
	clock.Advance(time.Second)
	s.hold = make(chan struct{})
	renewed := make(chan livescreen.Seen)
	go func() {
		seen, _ := f.Of(context.Background(), "1")
		renewed <- seen
	}()
	for { // until it has the lease
		if row, err := f.Ledger.Live(t.Context(), "1"); err != nil || row.Until.After(clock.Now()) {
			break
		}
	}
	for range 20 {
		if seen := of(t, f); !seen.Stock.At.Equal(start) || !seen.Now.Equal(start.Add(time.Second)) {
			t.Fatalf("seen %+v while it is renewed", seen.Stock)
		}
	}
	close(s.hold)
	if seen := <-renewed; !seen.Stock.At.Equal(start.Add(time.Second)) || !seen.Metrics.At.Equal(start) {
		t.Fatalf("renewed %+v", seen)
	}
	want["stock"], want["queues"] = 2, 2
	check("a second later")
	clock.Advance(time.Minute)
	of(t, f)
	want = map[string]int{"stock": 3, "queues": 3, "metrics": 2, "servers": 2}
	check("a minute later")
}

// TestAFailedPart: it keeps its figures and their time, says why, is tried again a second later, and holds up nothing.
func TestAFailedPart(t *testing.T) {
	f, s, clock := newFlow()
	of(t, f)
	var failed []string
	f.Failed = func(_ context.Context, part string, _ error) { failed = append(failed, part) }
	s.fails["stock"] = &seckill.Error{Code: seckill.CodeUnavailable}
	s.fails["metrics"] = errors.New("no")
	clock.Advance(time.Minute)
	for range 3 {
		seen := of(t, f)
		if seen.Stock.Failed != seckill.CodeUnavailable || seen.Stock.Value.Left != 6 || !seen.Stock.At.Equal(start) ||
			seen.Metrics.Failed != seckill.CodeUnavailable || seen.Metrics.Value.Presses != 7 ||
			seen.Queues.Failed != "" || !seen.Queues.At.Equal(start.Add(time.Minute)) {
			t.Fatalf("seen %+v", seen)
		}
	}
	if slices.Sort(failed); !slices.Equal(failed, []string{"metrics", "stock"}) {
		t.Errorf("failed: %v", failed)
	}
	clear(s.fails)
	clock.Advance(time.Second)
	if seen := of(t, f); seen.Stock.Failed != "" || seen.Metrics.Failed != "" || !seen.Metrics.At.Equal(clock.Now()) {
		t.Errorf("mended: %+v", seen)
	}
}

// TestAnUnknownItem: viewers of an item that does not exist have the stock asked once a second, and nothing else read.
func TestAnUnknownItem(t *testing.T) {
	f, s, clock := newFlow()
	s.fails["stock"] = seckill.Refuse(seckill.CodeItemUnknown)
	counted := &counting{Ledger: f.Ledger}
	f.Ledger = counted
	for second := range 3 {
		for range 20 {
			if _, err := f.Of(t.Context(), "1"); seckill.CodeOf(err) != seckill.CodeItemUnknown {
				t.Fatalf("an unknown item: %v", err)
			}
		}
		if want := map[string]int{"stock": second + 1}; !maps.Equal(s.reads, want) || counted.n != 0 {
			t.Fatalf("in second %d: read %v, want %v; other reads %d", second, s.reads, want, counted.n)
		}
		clock.Advance(time.Second)
	}
	clear(s.fails) // it was imported
	if seen := of(t, f); seen.Stock.Value.Left != 6 || seen.Counts.At.IsZero() || seen.Queues.At.IsZero() {
		t.Errorf("an item that came to be: %+v", seen)
	}
}

// counting counts the reads of everything but live rows.
type counting struct {
	livescreen.Ledger
	n int
}

func (c *counting) Counts(ctx context.Context, item string) (seckill.Counts, error) {
	c.n++
	return c.Ledger.Counts(ctx, item)
}

func (c *counting) RefundsDue(ctx context.Context, shard int, at time.Time, after string,
	limit int) (seckill.Page[seckill.Payment], error) {
	c.n++
	return c.Ledger.RefundsDue(ctx, shard, at, after, limit)
}

func (c *counting) AuditOn(ctx context.Context, day, after string, limit int) ([]seckill.AuditEntry, error) {
	c.n++
	return c.Ledger.AuditOn(ctx, day, after, limit)
}

// TestItemsShareTheShopsFigures: viewers of several items read the figures of the whole shop once.
func TestItemsShareTheShopsFigures(t *testing.T) {
	f, s, clock := newFlow()
	for second := 1; second <= 2; second++ {
		for _, item := range []string{"1", "2", "3"} {
			if seen, err := f.Of(t.Context(), item); err != nil || seen.Item != item ||
				seen.Metrics.Value.Presses != 7 || len(seen.Queues.Value) != 1 || !seen.Queues.At.Equal(clock.Now()) {
				t.Fatalf("item %s: %+v, %v", item, seen, err)
			}
		}
		if s.reads["queues"] != second || s.reads["metrics"] != 1 || s.reads["stock"] != 3*second {
			t.Errorf("second %d: read %v", second, s.reads)
		}
		clock.Advance(time.Second)
	}
}

// TestActs: who stopped, resumed or enlarged the sale, and moved dead letters back, the newest first; nothing of other
// items, of other acts, or of what only began. An act stays when the log has grown past it.
func TestActs(t *testing.T) {
	f, _, clock := newFlow()
	log, ok := f.Ledger.(*ledger.Ledger)
	if !ok {
		t.Fatal("no ledger")
	}
	did := func(kind seckill.AuditKind, id, act, subject, result string) {
		t.Helper()
		e := seckill.AuditEntry{Kind: kind, ID: id, Who: "ada", Act: act, Subject: subject, Result: result}
		e.Stamp(clock.Now())
		must.OK(t, log.AppendAudit(t.Context(), e))
	}
	want := func(when string, ids ...string) {
		t.Helper()
		clock.Advance(time.Second)
		seen, got := of(t, f), []string{}
		for _, a := range seen.Acts.Value.List {
			got = append(got, a.ID)
		}
		if !slices.Equal(got, ids) || seen.Acts.Failed != "" {
			t.Errorf("%s: acts %v, want %v; failed %q", when, got, ids, seen.Acts.Failed)
		}
	}
	want("an empty log")
	did(seckill.AuditBegun, "a", "stop", "item=1", "")
	did(seckill.AuditEnded, "a", "stop", "item=1", "changed")
	did(seckill.AuditEnded, "b", "stop", "item=11", "changed")
	did(seckill.AuditWhole, "c", "order", "order=o1", "read")
	did(seckill.AuditBegun, "d", "resume", "item=1", "")
	want("a stop", "a")
	for i := range 3 * 100 {
		did(seckill.AuditWhole, fmt.Sprint("n", i), "orders", "item=1", "read")
	}
	clock.Advance(24 * time.Hour)
	did(seckill.AuditEnded, "e", "redrive", "queue=orders", "changed")
	did(seckill.AuditEnded, "f", "add-stock", "item=1 stock=5", "unchanged")
	did(seckill.AuditEnded, "g", "offline", "activity=7", "changed")
	did(seckill.AuditEnded, "h", "online", "activity=7", "changed")
	want("a day later", "e", "f", "g", "h", "a")
	for i := range 5 {
		clock.Advance(time.Second)
		did(seckill.AuditEnded, fmt.Sprint("i", i), "stop", "item=1", "changed")
	}
	want("more than are shown", "i4", "i3", "i2", "i1", "i0")
}

// TestALeaseEndsByItself: a viewer who dies while renewing holds up the others for a lease only.
func TestALeaseEndsByItself(t *testing.T) {
	f, s, clock := newFlow()
	of(t, f)
	row := must.Get(f.Ledger.Live(t.Context(), "1"))
	clock.Advance(time.Second)
	must.Get(f.Ledger.LeaseLive(t.Context(), row, clock.Now().Add(5*time.Second)))
	if of(t, f); s.reads["stock"] != 1 {
		t.Error("renewed during another's lease")
	}
	clock.Advance(5 * time.Second)
	if of(t, f); s.reads["stock"] != 2 {
		t.Error("not renewed after another's lease")
	}
}

// TestMoneyIsCountedUpToALimit counts refunds that are due and refused.
func TestMoneyIsCountedUpToALimit(t *testing.T) {
	f, _, _ := newFlow()
	f.Ledger = refunds{f.Ledger}
	want := seckill.LiveMoney{Due: 2 + 25, MoreDue: true, Refused: 1}
	if got := of(t, f).Money; got.Failed != "" || got.Value != want {
		t.Errorf("money %+v, want %+v", got, want)
	}
}

// refunds has two refunds in shard 1, more than are counted in shard 3, and a refused one.
type refunds struct{ livescreen.Ledger }

func (refunds) RefundsDue(_ context.Context, shard int, _ time.Time, _ string,
	limit int) (seckill.Page[seckill.Payment], error) {
	switch shard {
	case 1:
		return seckill.Page[seckill.Payment]{Rows: make([]seckill.Payment, 2)}, nil
	case 3:
		return seckill.Page[seckill.Payment]{Rows: make([]seckill.Payment, limit), Next: "more"}, nil
	}
	return seckill.Page[seckill.Payment]{}, nil
}

func (refunds) RefundsRefused(context.Context, string, int) (seckill.Page[seckill.Payment], error) {
	return seckill.Page[seckill.Payment]{Rows: make([]seckill.Payment, 1)}, nil
}

// TestReady names what is wrong before a start.
func TestReady(t *testing.T) {
	f, _, _ := newFlow()
	wrong := func() (names []string) {
		for _, c := range of(t, f).Ready {
			if !c.OK {
				names = append(names, c.Check+" "+c.Detail)
			}
			if c.Unknown {
				names = append(names, "unknown")
			}
		}
		return names
	}
	if got, want := wrong(), []string{"server a:1 full", "dead_letters orders"}; !slices.Equal(got, want) {
		t.Errorf("wrong: %q, want %q", got, want)
	}
	next, s, _ := newFlow()
	f = next
	s.fails["stock"], s.fails["servers"] = errors.New("no"), errors.New("no")
	want := []string{"installed ", "unknown", "not_stopped ", "unknown", "units ", "unknown", "clock 0s", "unknown",
		"server ", "unknown", "dead_letters orders"}
	if got := wrong(); !slices.Equal(got, want) {
		t.Errorf("wrong: %q, want %q", got, want)
	}
}

package count_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/count"
	"github.com/your-org/seckill/shared/seckill"
)

var opens = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// rows fail the transactions that fails lists, counted from 1, and call before ahead of each.
type rows struct {
	*memory.Rows
	fails  []int
	before func(n int)
	n      int
}

func (r *rows) Transact(ctx context.Context, w []ledger.Write) error {
	r.n++
	if r.before != nil {
		r.before(r.n)
	}
	if slices.Contains(r.fails, r.n) {
		return errors.New("throttled")
	}
	return r.Rows.Transact(ctx, w)
}

type env struct {
	rows  *rows
	clock *memory.Clock
	flow  *count.Flow
	meter memory.Meter
}

func newEnv() *env {
	clock := memory.NewClock(opens)
	e := &env{rows: &rows{Rows: memory.NewRows(memory.RowsOptions{Clock: clock})}, clock: clock, meter: memory.Meter{}}
	e.flow = count.New(count.Deps{Ledger: ledger.New(e.rows), Clock: clock, Meter: e.meter})
	return e
}

func (e *env) total(t *testing.T, item string) seckill.Count {
	return must.Get(e.flow.Of(t.Context(), item)).Total
}

// change is a write that made the order's history as long as states, a minute each.
func change(item, order string, states ...seckill.State) seckill.OrderChange {
	o := seckill.Order{ID: order, Item: item, Count: 2}
	for i, s := range states {
		at := opens.Add(time.Duration(i)*time.Minute + time.Second)
		o.History = append(o.History, seckill.Change{State: s, At: at})
		if s.Info().Holds {
			o.Units = []int{1, 2}
		} else {
			o.Units = nil
		}
	}
	return seckill.OrderChange{Order: o}
}

const (
	placed, closing, paid = seckill.PendingPayment, seckill.Closing, seckill.Paid
	expired               = seckill.Expired
)

// TestEachChangeCountsOnce passes batches whose changes come late, twice, in parts and in another order.
func TestEachChangeCountsOnce(t *testing.T) {
	t.Parallel()
	life := []seckill.OrderChange{change("1", "oa", placed), change("1", "oa", placed, closing),
		change("1", "oa", placed, closing, expired), change("1", "ob", placed), change("1", "ob", placed, paid),
		change("1", "oc", seckill.Rejected), change("2", "od", placed)}
	want := map[string]seckill.Count{"1": {Placed: 4, Paid: 2, GivenBack: 2}, "2": {Placed: 2}}
	for what, batches := range map[string][][]seckill.OrderChange{
		"one batch":         {life},
		"one by one":        {life[:1], life[1:2], life[2:3], life[3:4], life[4:5], life[5:]},
		"twice":             {life, life},
		"again in parts":    {life[:4], life[2:5], life},
		"the newest only":   {life[2:3], life[4:]},
		"oldest ones again": {life, life[:1], life[3:4]},
		"turned round":      {{life[6], life[5], life[4], life[3], life[2], life[1], life[0]}},
	} {
		e := newEnv()
		for _, b := range batches {
			must.Equal(t, len(b), must.Get(e.flow.Changes(t.Context(), b)), what)
		}
		for item, want := range want {
			must.Equal(t, want, e.total(t, item), what, "item", item, "has")
		}
	}
}

func TestMinutes(t *testing.T) {
	t.Parallel()
	e := newEnv()
	_, err := e.flow.Changes(t.Context(), []seckill.OrderChange{change("1", "oa", placed, paid),
		change("1", "ob", placed, closing, expired)})
	must.OK(t, err)
	got, err := e.flow.Of(t.Context(), "1")
	want := []seckill.MinuteCount{{Minute: opens, Count: seckill.Count{Placed: 4}},
		{Minute: opens.Add(time.Minute), Count: seckill.Count{Paid: 2}},
		{Minute: opens.Add(2 * time.Minute), Count: seckill.Count{GivenBack: 2}}}
	if diff := cmp.Diff(want, got.Minutes); diff != "" || err != nil {
		t.Errorf("minutes: got (+), want (-), %v:\n%s", err, diff)
	}
	if e.meter[seckill.EventCounted] != 2 {
		t.Errorf("metric says %d orders, want 2", e.meter[seckill.EventCounted])
	}
}

// TestMoreMinutesThanARowHolds checks that what happens later is in the totals, and known minutes still count.
func TestMoreMinutesThanARowHolds(t *testing.T) {
	t.Parallel()
	e := newEnv()
	var all []seckill.OrderChange
	for i := range seckill.MaxCountMinutes + 3 {
		c := change("1", fmt.Sprint("o", i), placed)
		c.Order.History[0].At = opens.Add(time.Duration(i) * time.Minute)
		all = append(all, c)
	}
	last := change("1", "again", placed)
	must.Get(e.flow.Changes(t.Context(), append(all, last)))
	c, _ := e.flow.Of(t.Context(), "1")
	if len(c.Minutes) != seckill.MaxCountMinutes || c.Total.Placed != 2*(len(all)+1) || c.Minutes[0].Placed != 4 {
		t.Errorf("%d minutes, total %+v, first %+v", len(c.Minutes), c.Total, c.Minutes[0])
	}
}

// TestWhatComesBack checks which changes come back when a write fails: none that is not counted is left out.
func TestWhatComesBack(t *testing.T) {
	t.Parallel()
	batch := []seckill.OrderChange{change("1", "oa", placed), change("2", "ob", placed), change("1", "oc", placed),
		change("3", "od", placed), change("2", "ob", placed, paid)}
	for fails, want := range map[int]int{1: 0, 2: 1, 3: 3} {
		e := newEnv()
		e.rows.fails = []int{fails}
		n, err := e.flow.Changes(t.Context(), batch)
		if n != want || err == nil {
			t.Errorf("write %d fails: %d are counted, %v, want %d", fails, n, err, want)
		}
		must.Equal(t, len(batch)-n, must.Get(e.flow.Changes(t.Context(), batch[n:])), "again")
		for item, want := range map[string]seckill.Count{"1": {Placed: 4}, "2": {Placed: 2, Paid: 2},
			"3": {Placed: 2}} {
			must.Equal(t, want, e.total(t, item), "write", fails, "fails: item", item, "has")
		}
	}
}

// TestMoreOrdersThanAWriteCounts checks that a group's rest comes back after the item's first group was counted.
func TestMoreOrdersThanAWriteCounts(t *testing.T) {
	t.Parallel()
	var batch []seckill.OrderChange
	for i := range 2*seckill.MaxCounted + 5 {
		batch = append(batch, change("1", fmt.Sprint("o", i), placed))
	}
	e := newEnv()
	e.rows.fails = []int{2}
	if n, err := e.flow.Changes(t.Context(), batch); n != seckill.MaxCounted || err == nil {
		t.Errorf("%d are counted, %v, want %d", n, err, seckill.MaxCounted)
	}
	must.Equal(t, len(batch), must.Get(e.flow.Changes(t.Context(), batch)), "again")
	if got := e.total(t, "1"); got.Placed != 2*len(batch) || e.rows.n != 4 {
		t.Errorf("%+v after %d writes, want %d placed after 4", got, e.rows.n, 2*len(batch))
	}
}

// TestAnotherReaderMeanwhile checks that a write which meets another reader's is decided anew, and not for ever.
func TestAnotherReaderMeanwhile(t *testing.T) {
	t.Parallel()
	e := newEnv()
	other := count.New(count.Deps{Ledger: ledger.New(e.rows.Rows), Clock: e.clock, Meter: memory.Meter{}})
	batch := []seckill.OrderChange{change("1", "oa", placed, paid), change("1", "ob", placed)}
	e.rows.before = func(n int) {
		if n == 1 {
			if _, err := other.Changes(t.Context(), batch[:1]); err != nil {
				t.Error(err)
			}
		}
	}
	must.Get(e.flow.Changes(t.Context(), batch))
	if got, want := e.total(t, "1"), (seckill.Count{Placed: 4, Paid: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	e.rows.before = func(n int) {
		if _, err := other.Changes(t.Context(), []seckill.OrderChange{change("1", "oz", slices.Repeat(
			[]seckill.State{placed, paid}, n)...)}); err != nil {
			t.Error(err)
		}
	}
	if _, err := e.flow.Changes(t.Context(), []seckill.OrderChange{change("1", "oz", slices.Repeat(
		[]seckill.State{placed, paid}, 99)...)}); err == nil {
		t.Error("a mark that moves before each write: no error")
	}
}

// TestUnreadableCountsHoldUpNothing checks that a row of counts which cannot be read delays no other item's.
func TestUnreadableCountsHoldUpNothing(t *testing.T) {
	t.Parallel()
	e := newEnv()
	must.OK(t, e.rows.Rows.Transact(t.Context(), []ledger.Write{{Key: ledger.Key{Table: ledger.TableCounts, PK: "1"},
		Op: ledger.OpPut, Row: ledger.Row{"v": ledger.Version + 1}}}))
	n, err := e.flow.Changes(t.Context(), []seckill.OrderChange{change("1", "oa", placed), change("2", "ob", placed)})
	if n != 2 || err != nil || e.total(t, "2").Placed != 2 || e.meter[seckill.EventUncounted] != 1 {
		t.Errorf("%d, %v, %+v, %d uncounted", n, err, e.total(t, "2"), e.meter[seckill.EventUncounted])
	}
	must.Is(t, seckill.ErrUnreadable, must.Err(e.flow.Recount(t.Context(), "1", "")), "recount")
}

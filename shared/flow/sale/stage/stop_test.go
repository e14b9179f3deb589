package stage_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// deaf is a stock that never answers.
type deaf struct{ seckill.Stock }

var errDeaf = errors.New("i/o timeout")

func (deaf) Assert(context.Context, seckill.Item) error { return errDeaf }

// While Redis does not answer, the stop is written to the table, and the operator is told what is missing.
func TestStopSaysThatRedisIsPending(t *testing.T) {
	t.Parallel()
	items := memory.NewItems()
	must.OK(t, items.Put(t.Context(), item("2", 0).Item, nil))
	f := stage.New(stage.Deps{Items: items, Stock: deaf{}, Clock: memory.NewClock(now), Activities: newLedger()})
	for _, when := range []string{"first", "again"} {
		err := f.SetStopped(t.Context(), "2", true)
		if seckill.CodeOf(err) != seckill.CodeUnavailable || !errors.Is(err, errDeaf) || err == nil ||
			!strings.Contains(err.Error(), "Redis is pending") {
			t.Errorf("%s: %v, want unavailable, and that Redis is pending", when, err)
		}
	}
	if it, err := items.Get(t.Context(), "2"); err != nil || !it.Stopped {
		t.Errorf("%+v, %v: want it stopped in the items table", it, err)
	}
}

// shards is a stock of which one item's shard hangs, until the port's own time is up.
type shards struct {
	seckill.Stock
	hangs    string
	rows     func() (stopped []string)
	seen     [][]string // which rows were stopped at each call
	asserted []string
}

func (s *shards) Assert(_ context.Context, it seckill.Item) error {
	s.seen = append(s.seen, s.rows())
	if it.ID == s.hangs {
		return errDeaf
	}
	s.asserted = append(s.asserted, it.ID)
	return nil
}

// When several items are stopped, all are in the items table before the stock is asked for the first; one whose shard
// hangs keeps none after it back, and is named.
func TestAllAreWrittenBeforeTheStockIsAsked(t *testing.T) {
	t.Parallel()
	items, ids := memory.NewItems(), []string{"1", "2", "3", "4"}
	for _, id := range ids[1:] {
		must.OK(t, items.Put(t.Context(), item(id, 0).Item, nil))
	}
	s := &shards{hangs: "2", rows: func() (stopped []string) {
		for _, id := range ids {
			if it, err := items.Get(t.Context(), id); err == nil && it.Stopped {
				stopped = append(stopped, id)
			}
		}
		return stopped
	}}
	var calls []int
	f := stage.New(stage.Deps{Items: items, Stock: s, Clock: memory.NewClock(now), Activities: newLedger(),
		Each: func(n int, do func(int)) {
			calls = append(calls, n)
			system.Several(1)(n, do)
		}})
	changed, err := f.SetAllStopped(t.Context(), ids, true)
	var left *stage.NotAllError
	if changed != 3 || !errors.As(err, &left) || !slices.Equal(left.Unwritten, []string{"1"}) ||
		!slices.Equal(left.Pending, []string{"2"}) || !errors.Is(err, errDeaf) ||
		seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("changed %d, %v", changed, err)
	}
	if want := "not written to the items table: 1; written, Redis is pending: 2; "; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	for _, rows := range s.seen {
		if !slices.Equal(rows, ids[1:]) {
			t.Errorf("the stock is asked while %q of %q are stopped in the table", rows, ids[1:])
		}
	}
	if !slices.Equal(s.asserted, []string{"3", "4"}) || !slices.Equal(calls, []int{3}) {
		t.Errorf("the stock has %q, by calls of %v items", s.asserted, calls)
	}
	s.hangs = ""
	must.Equal(t, 0, must.Get(f.SetAllStopped(t.Context(), ids[1:], true)), "again: changed")
}

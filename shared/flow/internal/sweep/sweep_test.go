package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/internal/sweep"
	"github.com/your-org/seckill/shared/seckill"
)

// TestEveryShard checks that each minute begins with another shard and that all shards are visited. A run continues
// after failures, returns them all, and stops when its context ends.
func TestEveryShard(t *testing.T) {
	lost, bad := errors.New("lost"), errors.New("bad")
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		name    string
		minutes int
		ends    int // the context ends with this row; 0 means before the first
		want    int // rows finished
		errs    []error
	}{
		{"all", 0, 100, 2*seckill.DueShards - 2, []error{lost, bad}},
		{"a minute later", 1, 100, 2*seckill.DueShards - 2, []error{lost, bad}},
		{"time is up", 2, 3, 3, []error{context.Canceled}},
		{"time was up", 3, 0, 0, []error{context.Canceled}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		now := start.Add(time.Duration(x.minutes) * time.Minute)
		first := int(now.Unix()/60) % seckill.DueShards
		var asked []int
		var did []string
		if x.ends == 0 {
			cancel()
		}
		s := sweep.Sweep[string]{Meter: memory.Meter{}}
		err := s.Run(ctx, now, func(_ context.Context, shard int, at time.Time, _ string) (seckill.Page[string],
			error) {
			asked = append(asked, shard)
			if !at.Equal(now) {
				t.Errorf("%s: what is due by %s", x.name, at)
			}
			if (shard-first+seckill.DueShards)%seckill.DueShards == 5 {
				return seckill.Page[string]{}, lost
			}
			return seckill.Page[string]{Rows: []string{fmt.Sprint(shard, "a"), fmt.Sprint(shard, "b")}}, nil
		}, func(_ context.Context, s string) error {
			if did = append(did, s); len(did) == x.ends {
				cancel()
			}
			if len(did) == 7 {
				return bad
			}
			return nil
		})
		cancel()
		var want []int
		var all []string
		for i := range seckill.DueShards {
			shard := (first + i) % seckill.DueShards
			want = append(want, shard)
			if i != 5 {
				all = append(all, fmt.Sprint(shard, "a"), fmt.Sprint(shard, "b"))
			}
		}
		asks := min((x.want+1)/2, len(want))
		if x.want == len(all) {
			asks = len(want)
		}
		if !slices.Equal(asked, want[:asks]) || !slices.Equal(did, all[:x.want]) {
			t.Errorf("%s: shards %v, did %v; want %v, %v", x.name, asked, did, want[:asks], all[:x.want])
		}
		for _, e := range []error{lost, bad, context.Canceled} {
			if errors.Is(err, e) != slices.Contains(x.errs, e) {
				t.Errorf("%s: error %v, want %v", x.name, err, x.errs)
			}
		}
	}
}

// shard0 holds the rows of one shard in pages of ten; finished rows leave it.
type shard0 []int

func (r *shard0) page(_ context.Context, shard int, _ time.Time, after string) (seckill.Page[int], error) {
	var p seckill.Page[int]
	if shard != 0 {
		return p, nil
	}
	for _, n := range *r {
		if fmt.Sprintf("%05d", n) <= after {
			continue
		}
		if len(p.Rows)+len(p.Unreadable) == 10 {
			return p, nil
		}
		if p.Next = fmt.Sprintf("%05d", n); n%1000 < 500 { // the first half of each thousand cannot be read
			p.Unreadable = append(p.Unreadable, &seckill.Unreadable{Table: "t", PK: p.Next})
		} else {
			p.Rows = append(p.Rows, n)
		}
	}
	p.Next = ""
	return p, nil
}

func (r *shard0) done(n int) { *r = slices.DeleteFunc(*r, func(m int) bool { return m == n }) }

// TestRowsThatStay checks that rows which stay at a shard's beginning do not block those behind them: within the run
// or, if its time is up, in the instance's next runs. Unreadable rows are counted, and up to twenty are listed.
func TestRowsThatStay(t *testing.T) {
	var rows shard0
	for n := range 1001 {
		rows = append(rows, n)
	}
	now, m, did := time.Unix(0, 0), memory.Meter{}, 0
	s := sweep.Sweep[int]{Meter: m}
	err := s.Run(t.Context(), now, rows.page, func(_ context.Context, n int) error {
		did++
		if n%2 == 1 {
			return sweep.Skipped
		}
		rows.done(n)
		return nil
	})
	if did != 500 || m[seckill.EventUnreadable] != 501 || !errors.Is(err, seckill.ErrUnreadable) {
		t.Errorf("did %d, %d unreadable, %v", did, m[seckill.EventUnreadable], err)
	}
	if told := strings.Count(err.Error(), "\n") + 1; told != 21 ||
		!strings.HasSuffix(err.Error(), "and 481 errors more") {
		t.Errorf("%d lines are told: %v", told, err)
	}
	// each run has time for three pages; every row but the last fails and stays
	for runs := 0; slices.Contains(rows, 999); runs++ {
		if runs > 100 {
			t.Fatal("the last row is never reached")
		}
		ctx, cancel := context.WithCancel(t.Context())
		pages := 0
		page := func(c context.Context, shard int, now time.Time, after string) (seckill.Page[int], error) {
			if pages++; pages == 3 {
				cancel()
			}
			return rows.page(c, shard, now, after)
		}
		_ = s.Run(ctx, now, page, func(_ context.Context, n int) error {
			if n != 999 {
				return errors.New("fails")
			}
			rows.done(n)
			return nil
		})
		cancel()
	}
}

// TestMost checks that a run finishes no more rows of a shard than Most; failed and skipped rows do not count.
func TestMost(t *testing.T) {
	var rows shard0
	for n := range 100 {
		rows = append(rows, 500+n)
	}
	s := sweep.Sweep[int]{Meter: memory.Meter{}, Most: 7}
	for run := 1; run <= 5; run++ {
		_ = s.Run(t.Context(), time.Unix(0, 0), rows.page, func(_ context.Context, n int) error {
			switch {
			case n < 540:
				return errors.New("fails")
			case n < 560:
				return sweep.Skipped
			}
			rows.done(n)
			return nil
		})
		if len(rows) != max(100-7*run, 60) {
			t.Fatalf("after %d runs %d rows are left", run, len(rows))
		}
	}
}

// In a local run an import and the schedule may sweep at the same time; the race detector checks what they share.
func TestRunsAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := sweep.Sweep[int]{Meter: memory.Meter{}}
	page := func(_ context.Context, _ int, _ time.Time, after string) (seckill.Page[int], error) {
		if after == "" {
			return seckill.Page[int]{Rows: []int{1}, Next: "1"}, nil
		}
		return seckill.Page[int]{Rows: []int{2}}, nil
	}
	var done atomic.Int64
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			if err := s.Run(t.Context(), time.Unix(0, 0), page, func(context.Context, int) error {
				done.Add(1)
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	if want := int64(4 * 2 * seckill.DueShards); done.Load() < want/2 {
		t.Errorf("%d rows were done, want at least %d", done.Load(), want/2)
	}
}

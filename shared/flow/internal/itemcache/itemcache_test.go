package itemcache_test

import (
	"context"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/flow/internal/itemcache"
	"github.com/your-org/seckill/shared/seckill"
)

// clock has a settable time and a monotonic reading that can pause.
type clock struct {
	now   time.Time
	count time.Duration
}

func (c *clock) Now() time.Time           { return c.now }
func (c *clock) Monotonic() time.Duration { return c.count }

type items struct {
	seckill.Items
	reads int
}

func (t *items) Get(context.Context, string) (seckill.Item, error) {
	t.reads++
	return seckill.Item{ID: "1001"}, nil
}

// An entry is used for one second by both clocks: the wall clock may have jumped, the monotonic one may have paused.
func TestMemoryEndsByClockAndByCount(t *testing.T) {
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name         string
		clock, count time.Duration // how far each clock moves
		fresh        bool
	}{
		{"nothing passes", 0, 0, true},
		{"nearly a second", time.Second - 1, time.Second - 1, true},
		{"a second", time.Second, time.Second, false},
		{"three seconds, in which the clock was set back", 400 * time.Millisecond, 3 * time.Second, false},
		{"ten minutes frozen, in which the count stood still", 10 * time.Minute, 0, false},
		{"set back", -time.Millisecond, 0, false},
	} {
		c, from := &clock{now: start}, &items{}
		cache := itemcache.New(from, c)
		_, checked, err := cache.Get(t.Context(), "1001")
		if err != nil {
			t.Fatal(err)
		}
		c.now, c.count = c.now.Add(tc.clock), c.count+tc.count
		must.Equal(t, tc.fresh, cache.Fresh(checked), tc.name, "fresh")
		if _, _, err := cache.Get(t.Context(), "1001"); err != nil || from.reads == 1 != tc.fresh {
			t.Errorf("%s: read %d times, %v", tc.name, from.reads, err)
		}
	}
}

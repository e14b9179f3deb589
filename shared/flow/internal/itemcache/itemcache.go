// Package itemcache remembers items in an instance's memory: it does not read an item again within a second.
package itemcache

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// maxEntries bounds the memory. Unknown ids are remembered too; otherwise each random id from a stranger would cost a
// read.
const maxEntries = 2 * seckill.MaxItems

// Cache remembers items for seckill.ItemFresh. It is safe for concurrent use and holds no lock during a read.
type Cache struct {
	items seckill.Items
	clock seckill.Clock
	count seckill.MonotonicClock // nil if the clock has no monotonic reading

	mu      sync.RWMutex
	entries map[string]*entry
}

type entry struct {
	item seckill.Item
	err  error // CodeItemUnknown or nil
	at   Check // taken before the read began
}

// Check is a moment at which the item's state was at least as new as what was read.
type Check struct {
	at    time.Time
	count time.Duration
}

// New returns an empty cache.
func New(items seckill.Items, clock seckill.Clock) *Cache {
	count, _ := clock.(seckill.MonotonicClock)
	return &Cache{items: items, clock: clock, count: count, entries: map[string]*entry{}}
}

func (c *Cache) now() Check {
	k := Check{at: c.clock.Now()}
	if c.count != nil {
		k.count = c.count.Monotonic()
	}
	return k
}

// Fresh reports whether what was read at then may still be used. It checks both the wall clock, which may jump, and
// the monotonic clock, which may pause.
func (c *Cache) Fresh(then Check) bool { return then.fresh(c.now()) }

func (k Check) fresh(now Check) bool {
	return Fresh(k.at, now.at) && now.count-k.count < seckill.ItemFresh
}

// Get returns the item and the moment at which that was certainly its state. CodeItemUnknown; faults of Items.Get.
// The item is shared: callers must not change it.
func (c *Cache) Get(ctx context.Context, id string) (*seckill.Item, Check, error) {
	now := c.now()
	c.mu.RLock()
	e := c.entries[id]
	c.mu.RUnlock()
	if e != nil && e.at.fresh(now) {
		return &e.item, e.at, e.err
	}
	it, err := c.items.Get(ctx, id)
	if err != nil && !errors.Is(err, errUnknown) {
		return nil, now, err
	}
	e = &entry{it, err, now}
	c.mu.Lock()
	if len(c.entries) >= maxEntries {
		clear(c.entries)
	}
	c.entries[id] = e
	c.mu.Unlock()
	return &e.item, now, err
}

var errUnknown = seckill.Refuse(seckill.CodeItemUnknown)

// Fresh reports whether what was read at a time may still be used now. It is stale if the clock has jumped back.
func Fresh(at, now time.Time) bool {
	age := now.Sub(at)
	return age >= 0 && age < seckill.ItemFresh
}

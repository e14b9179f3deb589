// Package itemcache is an instance's memory of items: what it read at most a second ago it does not read again.
package itemcache

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// maxEntries bounds the memory; unknown ids count too, or a stranger's random ids would each cost a read.
const maxEntries = 2 * seckill.MaxItems

// Cache remembers items for seckill.ItemFresh. Safe for concurrent use; no lock is held during a read.
type Cache struct {
	items seckill.Items
	clock seckill.Clock
	count seckill.MonotonicClock // nil: the clock has none

	mu      sync.RWMutex
	entries map[string]*entry
}

type entry struct {
	item seckill.Item
	err  error // CodeItemUnknown
	at   Check // before the read began
}

// Check is a moment at which an item's state was certainly not older than what was read.
type Check struct {
	at    time.Time
	count time.Duration
}

// New makes an empty cache.
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

// Fresh reports whether what was read then may still be acted on now: by the clock, which may have jumped, and by the
// count, which may have stood still.
func (c *Cache) Fresh(then Check) bool { return then.fresh(c.now()) }

func (k Check) fresh(now Check) bool {
	return Fresh(k.at, now.at) && now.count-k.count < seckill.ItemFresh
}

// Get returns the item and when that was certainly its state. CodeItemUnknown; faults of Items.Get. The item is
// shared: it must not be changed.
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

// Fresh reports whether what was read at a time may still be used now. A clock that jumped back makes it stale.
func Fresh(at, now time.Time) bool {
	age := now.Sub(at)
	return age >= 0 && age < seckill.ItemFresh
}

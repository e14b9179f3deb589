// Package itemcache is an instance's memory of items: what it read at most a second ago it does not read again.
package itemcache

import (
	"context"
	"errors"
	"sync"
	"time"

	"seckill/shared/seckill"
)

// maxEntries bounds the memory; unknown ids count too, or a stranger's random ids would each cost a read.
const maxEntries = 2 * seckill.MaxItems

// Cache remembers items for seckill.ItemFresh. Safe for concurrent use; no lock is held during a read.
type Cache struct {
	items seckill.Items
	clock seckill.Clock

	mu      sync.RWMutex
	entries map[string]*entry
}

type entry struct {
	item seckill.Item
	err  error     // CodeItemUnknown
	at   time.Time // before the read began
}

// New makes an empty cache.
func New(items seckill.Items, clock seckill.Clock) *Cache {
	return &Cache{items: items, clock: clock, entries: map[string]*entry{}}
}

// Get returns the item and the time at which its state was certainly not older. CodeItemUnknown; faults of Items.Get. The item is
// shared: it must not be changed.
func (c *Cache) Get(ctx context.Context, id string) (*seckill.Item, time.Time, error) {
	now := c.clock.Now()
	c.mu.RLock()
	e := c.entries[id]
	c.mu.RUnlock()
	if e != nil && Fresh(e.at, now) {
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

// Fresh says whether what was learnt at a time may still be used now. A clock that jumped back makes it stale.
func Fresh(at, now time.Time) bool {
	age := now.Sub(at)
	return age >= 0 && age < seckill.ItemFresh
}

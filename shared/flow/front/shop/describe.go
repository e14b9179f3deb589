package shop

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/itemcache"
	"github.com/your-org/seckill/shared/seckill"
)

// maxDescribed bounds the remembered descriptions, in bytes: 640 of the longest, 100,000 bytes each.
const maxDescribed = 64 << 20

// description is a remembered description. It is read again only when its item names a newer version.
type description struct {
	seckill.Description
	version int64     // the item's Described when it was read
	failed  time.Time // when reading a newer version failed
}

// describe returns an item's description. If it cannot be read, the page shows the last known description or none:
// shoppers must be able to buy. A request one second later tries again.
func (f *Flow) describe(ctx context.Context, it *seckill.Item) seckill.Description {
	now := f.Clock.Now()
	f.mu.Lock()
	known := f.described[it.ID]
	f.mu.Unlock()
	if known.version >= it.Described || itemcache.Fresh(known.failed, now) {
		return known.Description
	}
	fresh := description{version: it.Described}
	var err error
	if fresh.Description, err = f.Items.Description(ctx, it.ID, it.Described); err != nil {
		fresh = known
		fresh.failed = now
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if other, ok := f.described[it.ID]; ok {
		if other.version > fresh.version {
			return other.Description // another request read the description meanwhile
		}
		f.describedSize -= other.size()
	}
	if f.describedSize+fresh.size() > maxDescribed {
		clear(f.described)
		f.describedSize = 0
	}
	f.described[it.ID] = fresh
	f.describedSize += fresh.size()
	return fresh.Description
}

// size returns its approximate size in memory, in bytes, with the map entry.
func (d description) size() int {
	n := len(d.Detail) + 200
	for _, c := range d.Covers {
		n += len(c)
	}
	return n
}

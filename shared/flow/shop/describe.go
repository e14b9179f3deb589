package shop

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/itemcache"
	"github.com/your-org/seckill/shared/seckill"
)

// maxDescribed is how many bytes of descriptions are remembered: 640 of the longest, 100,000 each.
const maxDescribed = 64 << 20

// description is what was read of one: again only when its item says that there is a newer one.
type description struct {
	seckill.Description
	version int64     // its item's Described when it was read
	failed  time.Time // when a newer one could not be read
}

// describe returns an item's description. When it cannot be read, what was known before is shown, or none: a page is
// there to buy on, and a look at it a second later asks again.
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
			return other.Description // read meanwhile by another request
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

// size is about how many bytes it takes, in a map, too.
func (d description) size() int {
	n := len(d.Detail) + 200
	for _, c := range d.Covers {
		n += len(c)
	}
	return n
}

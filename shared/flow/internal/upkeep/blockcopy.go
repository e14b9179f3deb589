package upkeep

import (
	"context"
	"errors"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

const pageBlocks = 1000 // rows per read of the list of blocks

// Copier copies the blocks of users that held when it first listed them. Its list is not safe for concurrent use.
type Copier struct {
	Stock  seckill.BlockCopier
	Ledger seckill.BlockLister
	Clock  seckill.Clock

	at   time.Time
	list []seckill.Block
	err  error
}

// Copy makes the copy beside an item what the ledger says: when the item was installed, after a command that broke off,
// and when a block has ended. A change that a command makes meanwhile stands. It does nothing once the item's sale is
// over, and leaves an item that is not installed to the run after its rebuild.
func (c *Copier) Copy(ctx context.Context, it *seckill.Item) error {
	if !it.CopiesBlocks(c.Clock.Now()) {
		return nil
	}
	if c.at.IsZero() {
		c.at = c.Clock.Now()
		c.err = c.listBlocks(ctx)
	}
	if c.err != nil {
		return c.err
	}
	type key struct{ subject, item string }
	wanted, same := map[key]seckill.Block{}, map[key]bool{}
	for _, b := range c.list {
		if len(wanted) < seckill.MaxCopied && b.Copied(it.ID) {
			wanted[key{string(b.Subject), b.Item}] = b
		}
	}
	var drop []seckill.Block
	for cursor := uint64(0); ; {
		page, next, err := c.Stock.CopiedBlocks(ctx, it.ID, cursor)
		if errors.Is(err, seckill.ErrNotInstalled) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, b := range page {
			k := key{string(b.Subject), b.Item}
			if want, ok := wanted[k]; !ok {
				drop = append(drop, b)
			} else if want.Until.Equal(b.Until) {
				same[k] = true // Redis may list it twice
			}
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	var put []seckill.Block
	for _, b := range c.list {
		k := key{string(b.Subject), b.Item}
		if _, ok := wanted[k]; ok && !same[k] {
			put = append(put, b)
			delete(wanted, k)
		}
	}
	if len(put)+len(drop) == 0 {
		return nil
	}
	return c.Stock.CopyBlocks(ctx, it.ID, c.Clock.Now(), c.at, put, drop)
}

func (c *Copier) listBlocks(ctx context.Context) error {
	for shard := range seckill.BlockShards {
		for after := ""; ; {
			page, err := c.Ledger.ListBlocks(ctx, shard, after, pageBlocks)
			if err != nil {
				return err
			}
			for _, b := range page.Rows {
				if _, ok := b.Subject.User(); ok && b.Holds(c.at) {
					c.list = append(c.list, b)
				}
			}
			if after = page.Next; after == "" {
				break
			}
		}
	}
	return nil
}

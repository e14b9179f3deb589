package local

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/flow/office/count"
	"github.com/your-org/seckill/shared/seckill"
)

// counts keeps the counts of items, from the moment when somebody first asks for one: a run that nobody asks does
// nothing for them. What happened before is counted when an item is asked for, from its orders.
type counts struct {
	*count.Flow
	asked   atomic.Bool
	changes *changes

	mu   sync.Mutex
	next map[string]string // of items: the next page of orders from before; "" after the last
}

func newCounts(flow *count.Flow, t *takers) *counts {
	c := &counts{Flow: flow, next: map[string]string{}}
	c.changes = t.watch(c.asked.Load)
	return c
}

// Changes implements stream.Step. One at a time: two would meet in the rows of counts.
func (c *counts) Changes(ctx context.Context, changes []seckill.OrderChange) (counted int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Flow.Changes(ctx, changes)
}

// before counts what happened to an item before somebody asked for counts. A call that runs out of time has done a
// part, and the next one goes on.
func (c *counts) before(ctx context.Context, item string) error {
	c.asked.Store(true) // first, so that an order is either on a page or comes as a change
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		after, begun := c.next[item]
		if begun && after == "" {
			return nil
		}
		page, err := c.Ledger.OrdersByItem(ctx, item, after, 2*seckill.MaxCounted)
		if err != nil || len(page.Orders) == 0 && page.Next == "" && !begun {
			return err // nothing, and nothing to remember
		}
		list := make([]seckill.OrderChange, len(page.Orders))
		for i := range page.Orders {
			list[i].Order = page.Orders[i]
		}
		if _, err := c.Flow.Changes(ctx, list); err != nil {
			return err
		}
		c.next[item] = page.Next
	}
}

// askedLedger is the ledger as readers of counts see it.
type askedLedger struct {
	*ledger.Ledger
	counts *counts
}

// Counts implements seckill.Counter.
func (l askedLedger) Counts(ctx context.Context, item string) (seckill.Counts, error) {
	if err := l.counts.before(ctx, item); err != nil {
		return seckill.Counts{}, err
	}
	return l.Ledger.Counts(ctx, item)
}

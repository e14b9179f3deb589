package expire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// sentPage reads a page of the orders that are on their way or received, and due.
func (f *Flow) sentPage(ctx context.Context, shard int, now time.Time, after string) (seckill.Page[string], error) {
	return f.Ledger.FulfilDue(ctx, shard, now, after, pageRows)
}

// moveOn moves a shipped order to received, or a received order to completed, if it is time. It checks because the
// index that named the order may lag, and a refund may be faster.
func (f *Flow) moveOn(ctx context.Context, id string) error {
	o, err := f.Ledger.Order(ctx, id)
	if err != nil {
		return fmt.Errorf("order %s: %w", id, err)
	}
	now := f.Clock.Now()
	i := slices.IndexFunc(o.History, func(c seckill.Change) bool { return c.State == o.State })
	if i < 0 {
		return fmt.Errorf("order %s: its history has no %s", id, o.State)
	}
	since := o.History[i].At
	switch {
	case o.State == seckill.Shipped && !now.Before(since.Add(seckill.ReceivedAfter)):
		err = f.Ledger.Fulfil(ctx, o, seckill.Received, now.Add(seckill.CompletedAfter), now, "15 days after shipping")
	case o.State == seckill.Received && !now.Before(since.Add(seckill.CompletedAfter)):
		err = f.Ledger.Fulfil(ctx, o, seckill.Completed, time.Time{}, now, "7 days after receipt")
	}
	if err != nil && !errors.Is(err, seckill.ErrStateChanged) {
		return fmt.Errorf("order %s: %w", id, err)
	}
	return nil
}

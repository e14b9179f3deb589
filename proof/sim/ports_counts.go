package sim

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Counts implements seckill.Counter.
func (l Ledger) Counts(ctx context.Context, item string) (seckill.Counts, error) {
	return get(l.Hook, "ledger.Counts", func() (seckill.Counts, error) { return l.Next.Counts(ctx, item) })
}

// Counted implements seckill.Counter.
func (l Ledger) Counted(ctx context.Context, orders []string) (map[string]seckill.CountMark, error) {
	return get(l.Hook, "ledger.Counted", func() (map[string]seckill.CountMark, error) {
		return l.Next.Counted(ctx, orders)
	})
}

// AddCounts implements seckill.Counter.
func (l Ledger) AddCounts(ctx context.Context, c seckill.Counts, a seckill.Addition) error {
	return l.Hook("ledger.AddCounts", func() error { return l.Next.AddCounts(ctx, c, a) })
}

// BeginRecount implements seckill.Counter.
func (l Ledger) BeginRecount(ctx context.Context, c seckill.Counts, at time.Time) error {
	return l.Hook("ledger.BeginRecount", func() error { return l.Next.BeginRecount(ctx, c, at) })
}

// EndRecount implements seckill.Counter.
func (l Ledger) EndRecount(ctx context.Context, c seckill.Counts) error {
	return l.Hook("ledger.EndRecount", func() error { return l.Next.EndRecount(ctx, c) })
}

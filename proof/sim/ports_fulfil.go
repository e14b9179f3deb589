package sim

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

func (l Ledger) Fulfil(ctx context.Context, o seckill.Order, to seckill.State, next, at time.Time,
	cause string) error {
	return l.Hook("ledger.Fulfil", func() error { return l.Next.Fulfil(ctx, o, to, next, at, cause) })
}

func (l Ledger) Note(ctx context.Context, o seckill.Order, at time.Time, cause string) error {
	return l.Hook("ledger.Note", func() error { return l.Next.Note(ctx, o, at, cause) })
}

func (l Ledger) Hide(ctx context.Context, o seckill.Order, hidden bool, at time.Time, cause string) error {
	return l.Hook("ledger.Hide", func() error { return l.Next.Hide(ctx, o, hidden, at, cause) })
}

func (l Ledger) AskRefund(ctx context.Context, o seckill.Order, why string, at time.Time, cause string) error {
	return l.Hook("ledger.AskRefund", func() error { return l.Next.AskRefund(ctx, o, why, at, cause) })
}

func (l Ledger) FulfilDue(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[string], error) {
	return get(l.Hook, "ledger.FulfilDue", func() (seckill.Page[string], error) {
		return l.Next.FulfilDue(ctx, shard, now, after, limit)
	})
}

package sim

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// KeepAct implements seckill.ActKeeper.
func (l Ledger) KeepAct(ctx context.Context, a seckill.Act) error {
	return l.Hook("ledger.KeepAct", func() error { return l.Next.KeepAct(ctx, a) })
}

// Act implements seckill.ActHandler.
func (l Ledger) Act(ctx context.Context, id string) (seckill.Act, error) {
	return get(l.Hook, "ledger.Act", func() (seckill.Act, error) { return l.Next.Act(ctx, id) })
}

// ActsOn implements seckill.ActHandler.
func (l Ledger) ActsOn(ctx context.Context, day string, shard int, after string, limit int) ([]seckill.Act, error) {
	return get(l.Hook, "ledger.ActsOn", func() ([]seckill.Act, error) {
		return l.Next.ActsOn(ctx, day, shard, after, limit)
	})
}

// HandleAct implements seckill.ActHandler.
func (l Ledger) HandleAct(ctx context.Context, id, by, note string, at time.Time) error {
	return l.Hook("ledger.HandleAct", func() error { return l.Next.HandleAct(ctx, id, by, note, at) })
}

// PutMark implements seckill.ActKeeper.
func (l Ledger) PutMark(ctx context.Context, m seckill.Mark) error {
	return l.Hook("ledger.PutMark", func() error { return l.Next.PutMark(ctx, m) })
}

// Standing implements seckill.StandingReader.
func (l Ledger) Standing(ctx context.Context, user, item string) (seckill.Standing, error) {
	return get(l.Hook, "ledger.Standing", func() (seckill.Standing, error) { return l.Next.Standing(ctx, user, item) })
}

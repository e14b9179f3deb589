package sim

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// PutBlock implements seckill.Blocks.
func (l Ledger) PutBlock(ctx context.Context, b seckill.Block) error {
	return l.Hook("ledger.PutBlock", func() error { return l.Next.PutBlock(ctx, b) })
}

// DropBlock implements seckill.Blocks.
func (l Ledger) DropBlock(ctx context.Context, s seckill.Subject, item string) (bool, error) {
	return get(l.Hook, "ledger.DropBlock", func() (bool, error) { return l.Next.DropBlock(ctx, s, item) })
}

// RangeBlocks implements seckill.StandingReader.
func (l Ledger) RangeBlocks(ctx context.Context, ranges []seckill.Subject, item string) ([]seckill.Block, error) {
	return get(l.Hook, "ledger.RangeBlocks", func() ([]seckill.Block, error) {
		return l.Next.RangeBlocks(ctx, ranges, item)
	})
}

// ListBlocks implements seckill.Blocks.
func (l Ledger) ListBlocks(ctx context.Context, shard int, after string,
	limit int) (seckill.Page[seckill.Block], error) {
	return get(l.Hook, "ledger.ListBlocks", func() (seckill.Page[seckill.Block], error) {
		return l.Next.ListBlocks(ctx, shard, after, limit)
	})
}

// PutBlocks implements seckill.BlockKeeper.
func (l Ledger) PutBlocks(ctx context.Context, blocks []seckill.Block) error {
	return l.Hook("ledger.PutBlocks", func() error { return l.Next.PutBlocks(ctx, blocks) })
}

// Stored implements seckill.BlockKeeper.
func (l Ledger) Stored(ctx context.Context, blocks []seckill.Block) ([]seckill.Block, error) {
	return get(l.Hook, "ledger.Stored", func() ([]seckill.Block, error) { return l.Next.Stored(ctx, blocks) })
}

// BlocksOn implements seckill.BlockKeeper.
func (l Ledger) BlocksOn(ctx context.Context, s seckill.Subject, after string, limit int) ([]seckill.Block, error) {
	return get(l.Hook, "ledger.BlocksOn", func() ([]seckill.Block, error) {
		return l.Next.BlocksOn(ctx, s, after, limit)
	})
}

// CountAttempt implements seckill.Attempts.
func (l Ledger) CountAttempt(ctx context.Context, user, item string, now time.Time) error {
	return l.Hook("ledger.CountAttempt", func() error { return l.Next.CountAttempt(ctx, user, item, now) })
}

// Questions implements seckill.Questions.
func (l Ledger) Questions(ctx context.Context, item string) ([]seckill.Question, error) {
	return get(l.Hook, "ledger.Questions", func() ([]seckill.Question, error) { return l.Next.Questions(ctx, item) })
}

// PutQuestion implements seckill.QuestionKeeper.
func (l Ledger) PutQuestion(ctx context.Context, item string, q seckill.Question) error {
	return l.Hook("ledger.PutQuestion", func() error { return l.Next.PutQuestion(ctx, item, q) })
}

// DropQuestion implements seckill.QuestionKeeper.
func (l Ledger) DropQuestion(ctx context.Context, item, id string) error {
	return l.Hook("ledger.DropQuestion", func() error { return l.Next.DropQuestion(ctx, item, id) })
}

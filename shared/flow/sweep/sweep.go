// Package sweep goes through what is due, shard by shard: expire's orders and refund's payments lie in the same number of shards, and neither
// step may starve a shard.
package sweep

import (
	"context"
	"errors"
	"time"

	"seckill/shared/seckill"
)

// Shards asks due for what is due in each of the seckill.DueShards shards, and does each for all of it. Each minute's sweep, by now, begins with
// another shard: a provider that is slow to answer for a few must not keep a sweep whose time is up from the rest for ever. It goes on after a
// failure of due or of each, but not when ctx has ended. The error joins them all.
func Shards[T any](ctx context.Context, now time.Time, due func(ctx context.Context, shard int) ([]T, error), each func(context.Context, T) error) error {
	var errs []error
	first := int(now.Unix() / 60)
	for i := range seckill.DueShards {
		list, err := due(ctx, (first+i)%seckill.DueShards)
		errs = append(errs, err)
		for _, t := range list {
			if ctx.Err() != nil {
				return errors.Join(append(errs, ctx.Err())...)
			}
			errs = append(errs, each(ctx, t))
		}
	}
	return errors.Join(errs...)
}

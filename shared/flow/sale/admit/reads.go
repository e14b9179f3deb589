package admit

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	// Questions are fixed before the first of them is asked, so that a memory of a minute is never wrong for long.
	poolFresh = time.Minute
	maxPools  = 32 // items; a pool has some kilobytes, at most five megabytes

	// RangesFresh is how long an instance gives tickets after a block of a network range was made, and refuses them
	// after its end. Thousands of shoppers share a wide range, and would read its row each time.
	RangesFresh = 10 * time.Second
	maxRanges   = 20_000 // ranges and items; about four megabytes
)

// pool returns an item's questions. They are shared: callers must not change them.
func (f *Flow) pool(ctx context.Context, item string, now time.Time) ([]seckill.Question, error) {
	if all, known := f.pools.get(item, now); known {
		return all, nil
	}
	all, err := f.Questions.Questions(ctx, item)
	if err == nil {
		f.pools.put(item, all, now)
	}
	return all, err
}

// blocked reports whether one of the ranges is blocked for an item, as it was at most RangesFresh ago.
func (f *Flow) blocked(ctx context.Context, ranges []seckill.Subject, item string, now time.Time) (bool, error) {
	var unknown []seckill.Subject
	for _, r := range ranges {
		blocks, known := f.ranges.get(string(r)+" "+item, now)
		if !known {
			unknown = append(unknown, r)
		} else if hold(blocks, now) {
			return true, nil
		}
	}
	if len(unknown) == 0 {
		return false, nil
	}
	blocks, err := f.Ledger.RangeBlocks(ctx, unknown, item)
	if err != nil {
		return false, err
	}
	for _, r := range unknown {
		var own []seckill.Block
		for i := range blocks {
			if blocks[i].Subject == r {
				own = append(own, blocks[i])
			}
		}
		f.ranges.put(string(r)+" "+item, own, now)
	}
	return hold(blocks, now), nil
}

// hold reports whether one of the blocks holds.
func hold(blocks []seckill.Block, now time.Time) bool {
	for i := range blocks {
		if blocks[i].Holds(now) {
			return true
		}
	}
	return false
}

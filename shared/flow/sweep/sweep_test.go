package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"seckill/shared/flow/sweep"
	"seckill/shared/seckill"
)

// TestShards: each minute another shard is the first, and all have their turn. A sweep goes on after failures and tells them all; it stops when its
// context ends.
func TestShards(t *testing.T) {
	lost, bad := errors.New("lost"), errors.New("bad")
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		name    string
		minutes int
		ends    int // the context ends with this one, 0: before the first
		want    int // how many are done
		errs    []error
	}{
		{"all", 0, 100, 2*seckill.DueShards - 2, []error{lost, bad}},
		{"a minute later", 1, 100, 2*seckill.DueShards - 2, []error{lost, bad}},
		{"time is up", 2, 3, 3, []error{context.Canceled}},
		{"time was up", 3, 0, 0, []error{context.Canceled}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		now := start.Add(time.Duration(x.minutes) * time.Minute)
		first := int(now.Unix()/60) % seckill.DueShards
		var asked []int
		var did []string
		if x.ends == 0 {
			cancel()
		}
		err := sweep.Shards(ctx, now, func(_ context.Context, shard int) ([]string, error) {
			asked = append(asked, shard)
			if (shard-first+seckill.DueShards)%seckill.DueShards == 5 {
				return nil, lost
			}
			return []string{fmt.Sprint(shard, "a"), fmt.Sprint(shard, "b")}, nil
		}, func(_ context.Context, s string) error {
			if did = append(did, s); len(did) == x.ends {
				cancel()
			}
			if len(did) == 7 {
				return bad
			}
			return nil
		})
		cancel()
		var want []int
		var all []string
		for i := range seckill.DueShards {
			shard := (first + i) % seckill.DueShards
			want = append(want, shard)
			if i != 5 {
				all = append(all, fmt.Sprint(shard, "a"), fmt.Sprint(shard, "b"))
			}
		}
		if asks := min(x.want/2+1, len(want)); !slices.Equal(asked, want[:asks]) || !slices.Equal(did, all[:x.want]) {
			t.Errorf("%s: shards %v, did %v; want %v, %v", x.name, asked, did, want[:asks], all[:x.want])
		}
		for _, e := range []error{lost, bad, context.Canceled} {
			if errors.Is(err, e) != slices.Contains(x.errs, e) {
				t.Errorf("%s: error %v, want %v", x.name, err, x.errs)
			}
		}
	}
}

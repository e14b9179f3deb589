//go:build real

package growth

import (
	"context"
	"flag"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/redisconn"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/seckill"
)

var fields = flag.Int("fields", 100_000, "fields in each key of the item that is removed")

// mostBlocked is how long removing an item, however large, may block a Redis on this machine.
const mostBlocked = 100 * time.Millisecond

// TestRemovalStallsNobody removes an item with -fields fields in each of its keys while scripts of another item run
// on the same Redis, and reports how long the slowest of those took. The server's own slow log also times the removal
// and the two build scripts that drop keys.
func TestRemovalStallsNobody(t *testing.T) {
	w := newGrowingSale(t, 1)
	w.server.Do(t, "CONFIG", "SET", "slowlog-log-slower-than", 100, "slowlog-max-len", 100_000)
	w.server.Do(t, "CONFIG", "SET", "save", "") // a concurrent snapshot would be timed, too
	w.must(w.stage.Run(t.Context()))            // the other item, 1001
	old := seckill.Item{ID: "1002", Start: w.item.Start, End: w.item.End, Stock: 1, Limit: 1, Buckets: 1, Version: 1}
	live := []string{"item", "free", "held", "res", "awaiting", "users", "buyers"}
	build := []string{"new", "new:free", "new:held", "new:users", "new:buyers"}
	keys := func(names []string) (out []string) {
		for _, n := range names {
			out = append(out, "{1002}:"+n)
		}
		return out
	}
	r, err := redisconn.New(redisconn.Options{Addrs: []string{w.server.Addr}})
	w.must(err)
	t.Cleanup(func() { _ = r.Close() })
	for _, c := range []struct {
		name string
		fill []string
		run  func(ctx context.Context) error
	}{
		{"remove", append(keys(live), keys(build)...), func(ctx context.Context) error {
			return w.stock.Remove(ctx, old.ID)
		}},
		{"build_start over an old build", keys(build), func(ctx context.Context) error {
			return w.stock.BuildStart(ctx, w.clock.Now(), old.ID, "t")
		}},
		{"install over what was left", keys(live[1:]), func(ctx context.Context) error {
			return w.stock.Install(ctx, old, "t", 0, 0, 0, 0)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, key := range c.fill {
				fill(t, w, r, key)
			}
			w.slowest()
			quiet := slowestBeside(t, w, func(context.Context) error { time.Sleep(time.Second); return nil })
			w.slowest()
			beside := slowestBeside(t, w, c.run)
			blocked := w.slowest()
			t.Logf(
				"%s, %d fields in each of %d keys: the server was blocked for %s; the other item's longest call took "+
					"%s (%s before)",
				c.name, *fields, len(c.fill), blocked, beside, quiet)
			if blocked > mostBlocked {
				t.Errorf("the server was blocked for %s, want at most %s", blocked, mostBlocked)
			}
		})
	}
}

// fill makes a key with -fields fields: a sorted set or a hash. {1002}:item and {1002}:new stay small, as in reality.
func fill(t *testing.T, w *growingSale, r redisstock.Runner, key string) {
	const script = `for n = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  if ARGV[3] == 'zset' then redis.call('ZADD', KEYS[1], n, 'oabcdefghijklmnopqrstuvwxyz' .. n)
  else redis.call('HSET', KEYS[1], 'oabcdefghijklmnopqrstuvwxyz' .. n, 's|1|' .. n .. '||||' .. n .. '|abcdefghijklmnop|') end
end return 'ok'`
	kind, last := "hash", *fields
	switch key {
	case "{1002}:item", "{1002}:new":
		last = 1
	case "{1002}:free", "{1002}:new:free", "{1002}:awaiting":
		kind = "zset"
	}
	s := redisstock.NewScript("fill", script)
	for n := 1; n <= last; n += 1000 {
		args := []string{strconv.Itoa(n), strconv.Itoa(min(n+999, last)), kind}
		_, err := r.Run(t.Context(), s, []string{key}, args)
		// the machine may be busy, and filling is idempotent
		for tries := 0; err != nil && tries < 10; tries++ {
			_, err = r.Run(t.Context(), s, []string{key}, args)
		}
		w.must(err)
	}
}

// slowestBeside runs a step while four callers continuously read another item's level, and returns the longest of
// their calls.
func slowestBeside(t *testing.T, w *growingSale, step func(context.Context) error) time.Duration {
	t.Helper()
	var wg sync.WaitGroup
	done, longest := make(chan struct{}), make([]time.Duration, 4)
	for n := range longest {
		wg.Go(func() {
			for {
				begin := time.Now()
				_, _ = w.stock.Level(t.Context(), w.item.ID) // fails if it takes longer than redisconn waits
				longest[n] = max(longest[n], time.Since(begin))
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
	err := step(t.Context())
	// a failed call is still running on the server
	for until := time.Now().Add(time.Minute); err != nil && time.Now().Before(until); {
		if _, err = w.stock.Level(t.Context(), w.item.ID); err == nil {
			t.Log("the call itself failed: it took longer than redisconn waits")
		}
	}
	time.Sleep(100 * time.Millisecond)
	close(done)
	wg.Wait()
	w.must(err)
	return max(longest[0], longest[1], longest[2], longest[3])
}

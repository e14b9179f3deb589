package bucket_test

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/bucket"
)

var begin = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// TestTake: the burst at once, then one call each so often; the wait is exact, and a refused call costs nothing.
func TestTake(t *testing.T) {
	t.Parallel()
	b := bucket.New(bucket.Rate{Every: 100 * time.Millisecond, Burst: 5}, 100)
	now := begin
	for i := range 5 {
		if wait := b.Take("a", now); wait != 0 {
			t.Fatalf("call %d waits %v", i, wait)
		}
	}
	for range 3 {
		if wait := b.Take("a", now); wait != 100*time.Millisecond {
			t.Errorf("after the burst: %v, want 100ms", wait)
		}
	}
	if wait := b.Take("b", now); wait != 0 {
		t.Errorf("another caller waits %v", wait)
	}
	now = now.Add(99 * time.Millisecond)
	if wait := b.Take("a", now); wait != time.Millisecond {
		t.Errorf("after 99 ms: %v, want 1ms", wait)
	}
	now = now.Add(time.Millisecond)
	if wait := b.Take("a", now); wait != 0 {
		t.Errorf("after 100 ms: %v", wait)
	}
	now = now.Add(-time.Hour) // the clock is set back
	if wait := b.Take("a", now); wait != 0 {
		t.Errorf("after the clock was set back: %v", wait)
	}
}

// TestTakeIsTheSlowAlgorithm compares with a bucket that counts, for random callers, times and rates.
func TestTakeIsTheSlowAlgorithm(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		r := bucket.Rate{Every: time.Duration(1+random.IntN(50)) * time.Millisecond, Burst: 1 + random.IntN(10)}
		b := bucket.New(r, 1000)
		calls := map[string][]time.Time{}
		now := begin
		for range 300 {
			now = now.Add(time.Duration(random.IntN(30)) * time.Millisecond)
			caller := strconv.Itoa(random.IntN(4))
			allowed := b.Take(caller, now) == 0
			if want := room(r, calls[caller], now); allowed != want {
				t.Fatalf("%+v after %v at %v: %v, want %v", r, calls[caller], now, allowed, want)
			}
			if allowed {
				calls[caller] = append(calls[caller], now)
			}
		}
	}
}

// room reports whether a bucket that had these calls taken from it has room for one more.
func room(r bucket.Rate, calls []time.Time, now time.Time) bool {
	level := time.Duration(r.Burst) * r.Every
	last := begin
	for _, at := range append(calls, now) {
		level = min(level+at.Sub(last), time.Duration(r.Burst)*r.Every)
		last = at
		if level < r.Every {
			return false
		}
		level -= r.Every
	}
	return true
}

// TestManyCallers: a caller whose bucket is empty has it empty after a flood of more callers than there is room for.
func TestManyCallers(t *testing.T) {
	t.Parallel()
	b := bucket.New(bucket.Rate{Every: time.Second, Burst: 10}, 4096)
	for range 10 {
		b.Take("greedy", begin)
	}
	for i := range 100_000 {
		b.Take("new "+strconv.Itoa(i), begin)
	}
	if wait := b.Take("greedy", begin); wait == 0 {
		t.Error("a flood of callers, each with one call, refilled an empty bucket")
	}
}

// TestTakeAtTheSameTime: of many calls at once exactly the burst goes on.
func TestTakeAtTheSameTime(t *testing.T) {
	t.Parallel()
	b := bucket.New(bucket.Rate{Every: time.Hour, Burst: 50}, 16)
	var passed atomic.Int32
	var all sync.WaitGroup
	for range 500 {
		all.Go(func() {
			if b.Take("a", begin) == 0 {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if passed.Load() != 50 {
		t.Errorf("%d calls passed, want 50", passed.Load())
	}
}

func BenchmarkTake(b *testing.B) {
	all := bucket.New(bucket.Rate{Every: time.Millisecond, Burst: 10}, 65536)
	b.ReportAllocs()
	for b.Loop() {
		all.Take("203.0.113.7", begin)
	}
}

package account

import (
	"math"
	"sync"
	"time"
)

// bucket is a token bucket, full at first. It is safe for concurrent use.
type bucket struct {
	clock Clock

	mu          sync.Mutex
	rate, burst float64 // tokens per second, and the bucket's size
	tokens      float64 // may be negative: a call's cost is known only after it was executed
	at          time.Time
}

func newBucket(clock Clock, rate, burst float64) *bucket {
	return &bucket{clock: clock, rate: rate, burst: burst, tokens: burst, at: clock()}
}

// aSecond returns a bucket that holds one second's refill.
func aSecond(clock Clock, rate float64) *bucket { return newBucket(clock, rate, rate) }

func (b *bucket) fill() {
	now := b.clock()
	b.tokens = math.Min(b.burst, b.tokens+b.rate*math.Max(0, now.Sub(b.at).Seconds()))
	b.at = now
}

// take removes a whole token if the bucket has it.
func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	if b.tokens < 1-tiny {
		return false
	}
	b.tokens--
	return true
}

// tiny is the largest error of summing fractions of seconds.
const tiny = 1e-9

// open reports whether anything is left, however little.
func (b *bucket) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	return b.tokens > tiny
}

// charge removes n tokens, whatever is left, and returns the time until the debt is paid.
func (b *bucket) charge(n float64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	b.tokens -= n
	if b.tokens >= -tiny {
		return 0
	}
	return time.Duration(-b.tokens / b.rate * float64(time.Second))
}

// set changes rate and size.
func (b *bucket) set(rate, burst float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	b.rate, b.burst = rate, burst
	b.tokens = math.Min(b.tokens, burst)
}

// growing is a bucket whose rate is initially as given, and later twice the highest use in a second at least wait
// ago.
type growing struct {
	*bucket
	initial float64
	wait    time.Duration

	mu     sync.Mutex
	second time.Time // the current second
	used   float64   // use within it
	peaks  []peak    // ascending: a second with less use than an older second has no effect
}

type peak struct {
	at   time.Time
	used float64
}

func newGrowing(clock Clock, rate float64, wait time.Duration) *growing {
	return &growing{bucket: aSecond(clock, rate), initial: rate, wait: wait}
}

// grow raises the rate as past use allows.
func (g *growing) grow() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	rate := g.initial
	for _, p := range g.peaks {
		if now.Sub(p.at) >= g.wait {
			rate = math.Max(rate, 2*p.used)
		}
	}
	g.set(rate, rate)
}

func (g *growing) open() bool {
	g.grow()
	return g.bucket.open()
}

func (g *growing) charge(n float64) time.Duration {
	g.grow()
	g.mu.Lock()
	if second := g.clock().Truncate(time.Second); !second.Equal(g.second) {
		if g.used > 0 && (len(g.peaks) == 0 || g.used > g.peaks[len(g.peaks)-1].used) {
			g.peaks = append(g.peaks, peak{g.second, g.used})
		}
		g.second, g.used = second, 0
	}
	g.used += n
	g.mu.Unlock()
	return g.bucket.charge(n)
}

package account

import (
	"math"
	"sync"
	"time"
)

// bucket is a token bucket, full at first. Safe for concurrent use.
type bucket struct {
	clock Clock

	mu          sync.Mutex
	rate, burst float64 // tokens a second, and at most
	tokens      float64 // may be below 0: what a call cost is known when it has been carried out
	at          time.Time
}

func newBucket(clock Clock, rate, burst float64) *bucket {
	return &bucket{clock: clock, rate: rate, burst: burst, tokens: burst, at: clock()}
}

// aSecond makes a bucket that holds one second's refill.
func aSecond(clock Clock, rate float64) *bucket { return newBucket(clock, rate, rate) }

func (b *bucket) fill() {
	now := b.clock()
	b.tokens = math.Min(b.burst, b.tokens+b.rate*math.Max(0, now.Sub(b.at).Seconds()))
	b.at = now
}

// take takes a whole token if there is one.
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

// tiny is what adding up fractions of seconds may lose.
const tiny = 1e-9

// open reports whether something is left, however little.
func (b *bucket) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	return b.tokens > tiny
}

// charge takes n tokens, whatever is left, and says how long it lasts until the debt is paid.
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

// growing is a bucket whose rate is at first as given, and later twice the most that was used in a second at least wait
// ago.
type growing struct {
	*bucket
	initial float64
	wait    time.Duration

	mu     sync.Mutex
	second time.Time // the running one
	used   float64   // in it
	peaks  []peak    // rising: a second that used less than an older one changes nothing
}

type peak struct {
	at   time.Time
	used float64
}

func newGrowing(clock Clock, rate float64, wait time.Duration) *growing {
	return &growing{bucket: aSecond(clock, rate), initial: rate, wait: wait}
}

// grow sets the rate that the past allows.
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

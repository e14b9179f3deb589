// Package memory has drivers that need nothing but this process: for local runs, tests and simulation. Each has the
// manners, limits and troubles of the service that it stands in for, and passes the same conformance suite as the
// driver of that service. Nothing in it outlives the process, starts a goroutine or reads a clock but the one it is
// given.
package memory

import (
	"fmt"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Clock is a clock that can be moved forward: one that stands still until it is moved (NewClock), or the machine's with
// an offset (NewRealClock). Its times are UTC, cut to milliseconds, without a monotonic part.
type Clock struct {
	base  func() time.Time
	began time.Time // by base, with a monotonic part when that has one

	mu      sync.Mutex
	offset  time.Duration
	changed chan struct{}
}

// NewClock makes a clock that stays at start until Advance moves it.
func NewClock(start time.Time) *Clock {
	return &Clock{base: func() time.Time { return start }, began: start, changed: make(chan struct{})}
}

// NewRealClock makes a clock that runs with the machine's, ahead by the sum of Advance.
func NewRealClock() *Clock {
	return &Clock{base: time.Now, began: time.Now(), changed: make(chan struct{})}
}

// Now tells the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time { return c.base().Add(c.offset).UTC().Truncate(time.Millisecond) }

// Monotonic is the time since the clock was made, Advance's included.
func (c *Clock) Monotonic() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base().Sub(c.began) + c.offset
}

// Advance moves the clock forward, wakes those who wait on Changed, and returns the new time. It panics on a negative
// d: schedules and queues rely on a clock that does not go back.
func (c *Clock) Advance(d time.Duration) time.Time {
	if d < 0 {
		panic(fmt.Sprintf("memory: clock advanced by %v", d))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
	close(c.changed)
	c.changed = make(chan struct{})
	return c.now()
}

// Changed is closed at the next Advance, not by the passing of time. Take it before reading Now, or a jump in between
// is missed.
func (c *Clock) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

var (
	_ seckill.Clock          = (*Clock)(nil)
	_ seckill.MonotonicClock = (*Clock)(nil)
)

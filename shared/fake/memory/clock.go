// Package memory has drivers that need only this process: for local runs, tests and simulation. Each behaves like the
// service that it replaces, with its limits and faults, and passes the same conformance suite as that service's
// driver. They keep nothing after the process ends, start no goroutine, and read only the given clock.
package memory

import (
	"fmt"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Clock is a clock that can be moved forward: it stands still until it is moved (NewClock), or it is the machine's
// with an offset (NewRealClock). Its times are UTC, truncated to milliseconds, without a monotonic part.
type Clock struct {
	base  func() time.Time
	began time.Time // from base, with a monotonic part if base has it

	mu      sync.Mutex
	offset  time.Duration
	changed chan struct{}
}

// NewClock returns a clock that stands at start until Advance moves it.
func NewClock(start time.Time) *Clock {
	return &Clock{base: func() time.Time { return start }, began: start, changed: make(chan struct{})}
}

// NewRealClock returns a clock that runs with the machine's, ahead of it by the sum of all Advances.
func NewRealClock() *Clock {
	return &Clock{base: time.Now, began: time.Now(), changed: make(chan struct{})}
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time { return c.base().Add(c.offset).UTC().Truncate(time.Millisecond) }

// Monotonic returns the time since the clock was made, including Advance.
func (c *Clock) Monotonic() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base().Sub(c.began) + c.offset
}

// Advance moves the clock forward, wakes those who wait on Changed, and returns the new time. It panics on a negative
// d: schedules and queues rely on a clock that never goes back.
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

// Changed returns a channel that the next Advance closes; passing time does not. Take it before reading Now, or a
// jump in between is missed.
func (c *Clock) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

var (
	_ seckill.Clock          = (*Clock)(nil)
	_ seckill.MonotonicClock = (*Clock)(nil)
)

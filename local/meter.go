package local

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Meter counts events in memory. It implements seckill.Meter and is safe for concurrent use.
type Meter struct {
	mu       sync.Mutex
	counts   map[seckill.Event]int
	refusals map[seckill.Reason]int
}

// NewMeter makes a meter at zero.
func NewMeter() *Meter {
	return &Meter{counts: map[seckill.Event]int{}, refusals: map[seckill.Reason]int{}}
}

// Count adds n to an event.
func (m *Meter) Count(e seckill.Event, n int) {
	m.mu.Lock()
	m.counts[e] += n
	m.mu.Unlock()
}

// Counts copies the counts of events.
func (m *Meter) Counts() map[seckill.Event]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.counts)
}

// Refused counts a refused request.
func (m *Meter) Refused(r seckill.Reason) {
	m.mu.Lock()
	m.refusals[r]++
	m.mu.Unlock()
}

// Refusals copies the counts of refused requests by reason.
func (m *Meter) Refusals() map[seckill.Reason]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.refusals)
}

var _ seckill.Meter = (*Meter)(nil)

// countedReserver counts the purchases that reach the stock.
type countedReserver struct {
	seckill.Reserver
	calls atomic.Int64
}

// Reserve implements seckill.Reserver.
func (c *countedReserver) Reserve(ctx context.Context, now time.Time, r seckill.Request, keyed bool,
	resend time.Duration) (seckill.ReserveResult, error) {
	c.calls.Add(1)
	return c.Reserver.Reserve(ctx, now, r, keyed, resend)
}

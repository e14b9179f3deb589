package local

import (
	"maps"
	"sync"

	"seckill/shared/seckill"
)

// Meter counts events in memory. It implements seckill.Meter and is safe for concurrent use.
type Meter struct {
	mu     sync.Mutex
	counts map[seckill.Event]int
}

// NewMeter makes a meter at zero.
func NewMeter() *Meter { return &Meter{counts: map[seckill.Event]int{}} }

// Count adds n to an event.
func (m *Meter) Count(e seckill.Event, n int) {
	m.mu.Lock()
	m.counts[e] += n
	m.mu.Unlock()
}

// Counts copies what was counted so far.
func (m *Meter) Counts() map[seckill.Event]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.counts)
}

var _ seckill.Meter = (*Meter)(nil)

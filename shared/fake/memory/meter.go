package memory

import "github.com/your-org/seckill/shared/seckill"

// Meter counts events for one goroutine; a nil one counts nothing.
type Meter map[seckill.Event]int

// Count implements seckill.Meter.
func (m Meter) Count(e seckill.Event, n int) {
	if m != nil {
		m[e] += n
	}
}

package local

import (
	"context"
	"log/slog"
	"maps"
	"math/bits"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/livescreen"
	"github.com/your-org/seckill/shared/seckill"
)

// liveReads is how many figures of a live row are read at once.
const liveReads = 2

// tookSteps is the number of steps of a duration: eight for each doubling of a microsecond, up to half an hour.
const tookSteps = 8 * 32

// traffic counts what the API serves, as CloudWatch does in a stack.
type traffic struct {
	requests, presses atomic.Int64
	took              [tookSteps]atomic.Int64 // presses by how long they took

	mu      sync.Mutex
	begun   sample
	last    sample   // the sample of the newest reading
	minutes []sample // one at the end of each minute, the newest last
}

// sample is what was counted up to a time.
type sample struct {
	at                        time.Time
	requests, presses, errors int
	refused, drift, unknown   int
	took                      [tookSteps]int64
}

// liveHandler returns what shows running sales.
func (s *System) liveHandler() *operator.LiveHandler {
	stock := operator.Client{Who: "the live screen", Call: operator.Serve(slog.New(slog.DiscardHandler), s.items)}
	queues := []operator.LiveQueue{{Name: "orders", OperatedQueue: s.orders},
		{Name: "closings", OperatedQueue: s.closings}}
	source := operator.LiveSource{Items: stock, Measured: s.measured, Waiting: queues}
	return operator.NewLiveHandler(livescreen.New(livescreen.Deps{Ledger: asked{&s.drivers}.Ledger(), Source: &source,
		Clock: s.Clock, MetricsAge: time.Second, Each: system.Several(liveReads)}), queues)
}

// count counts the requests that a handler gets.
func (c *traffic) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		next.ServeHTTP(w, r)
	})
}

// purchases measures the purchases that a handler gets.
func (c *traffic) purchases(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		next.ServeHTTP(w, r)
		c.presses.Add(1)
		c.took[stepOf(time.Since(begun))].Add(1)
	})
}

// stepOf returns a duration's step.
func stepOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 0))
	n := bits.Len64(us)
	if n <= 3 {
		return int(us)
	}
	return min((n-3)*8+int(us>>(n-4)&7), tookSteps-1)
}

// endOf returns the end of a step in milliseconds.
func endOf(step int) float64 {
	if step < 8 {
		return float64(step+1) / 1000
	}
	return float64(uint64(8+step%8+1)<<(step/8-1)) / 1000
}

// p99 returns the duration that 99 % of the presses since another sample did not exceed, within an eighth; nil without
// presses.
func (now *sample) p99(since *sample) *float64 {
	left := int64(now.presses-since.presses) / 100
	for step := tookSteps - 1; step >= 0; step-- {
		if left -= now.took[step] - since.took[step]; left < 0 {
			ms := endOf(step)
			return &ms
		}
	}
	return nil
}

// sample returns what was counted up to now.
func (s *System) sample() sample {
	c := &s.traffic
	out := sample{at: s.Clock.Now(), requests: int(c.requests.Load()), presses: int(c.presses.Load())}
	for i := range c.took {
		out.took[i] = c.took[i].Load()
	}
	for reason, n := range s.Meter.Refusals() {
		out.refused += n
		if httpapi.Status(seckill.Code(reason)) >= http.StatusInternalServerError {
			out.errors += n
		}
	}
	events := s.Meter.Counts()
	out.drift, out.unknown = events[seckill.EventDrift], events[seckill.EventUnknown]
	return out
}

// endMinute keeps a sample. The schedule runs it at the end of each minute.
func (s *System) endMinute(context.Context) error {
	c := &s.traffic
	now := s.sample()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.minutes = append(c.minutes, now)
	if n := len(c.minutes) - seckill.LiveMinutes - 1; n > 0 {
		c.minutes = append([]sample(nil), c.minutes[n:]...)
	}
	return nil
}

// measured returns the metrics of the live screen.
func (s *System) measured(context.Context) (seckill.LiveMetrics, error) {
	c := &s.traffic
	now := s.sample()
	c.mu.Lock()
	defer c.mu.Unlock()
	lag := float64(s.counts.changes.lag().Milliseconds())
	out := seckill.LiveMetrics{Since: c.begun.at, Requests: now.requests, Presses: now.presses, Errors: now.errors,
		Refusals: maps.Clone(s.Meter.Refusals()), Lag: &lag, Age: map[string]int{}}
	if past := now.at.Sub(c.last.at).Seconds(); past > 0 {
		out.PerSecond = float64(now.requests-c.last.requests) / past
	}
	c.last = now
	for name, q := range map[string]*memory.Queue{"orders": s.Orders, "closings": s.Closings} {
		if q != nil {
			out.Age[name] = int(q.Oldest().Seconds())
		}
	}
	out.Drift = now.drift
	var minutes []seckill.LiveMinute
	from := c.begun
	for _, to := range append(c.minutes[:len(c.minutes):len(c.minutes)], now) { // and the minute that runs
		minutes = append(minutes, seckill.LiveMinute{Minute: from.at.Truncate(time.Minute),
			Requests: to.requests - from.requests, Presses: to.presses - from.presses,
			Refused: to.refused - from.refused, Errors: to.errors - from.errors, Unknown: to.unknown - from.unknown,
			P99: to.p99(&from)})
		from = to
	}
	out.SetMinutes(minutes)
	return out, nil
}

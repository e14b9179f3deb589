package crowd

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histograms clamp longer latencies and keep this many significant digits.
const (
	longest     = 10 * time.Minute
	significant = 3
)

// spread is a latency histogram in microseconds.
type spread struct{ *hdrhistogram.Histogram }

func newSpread() spread { return spread{hdrhistogram.New(1, longest.Microseconds(), significant)} }

func (s spread) add(d time.Duration) {
	_ = s.RecordValue(min(max(d, 0), longest).Microseconds()) // fails only out of range
}

// Latency is a distribution in milliseconds.
type Latency struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	P999  float64 `json:"p999_ms"`
	Max   float64 `json:"max_ms"`
}

func (s spread) latency() Latency {
	if s.TotalCount() == 0 {
		return Latency{}
	}
	milli := func(us int64) float64 { return math.Round(float64(us)/10) / 100 }
	at := func(p float64) float64 { return milli(s.ValueAtPercentile(p)) }
	return Latency{s.TotalCount(), at(50), at(99), at(99.9), milli(s.Max())}
}

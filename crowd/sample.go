package crowd

import (
	"context"
	"time"

	"github.com/your-org/seckill/record/process"
	"github.com/your-org/seckill/shared/seckill"
)

const sampleEvery = 100 * time.Millisecond

// sample is what a `seckill run` had counted at a moment.
type sample struct {
	at           time.Time
	placed, paid int
}

// sample asks a `seckill run` for its own counts until it is over: what shoppers see lags by as long as they wait
// before they ask.
func (r *run) sample(ctx context.Context, d *operatorClient, before *process.Usage, over <-chan struct{}) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		if p := d.process(ctx); p != nil {
			since := func(e seckill.Event) int { return p.Events[e] - before.Events[e] }
			r.samples = append(r.samples, sample{time.Now(), since(seckill.EventPlaced), since(seckill.EventPaid)})
		}
		select {
		case <-over:
			return
		case <-tick.C:
		}
	}
}

// sampled is how many a second there were until n were counted: from the last sample without any to the first with n,
// or with the most.
func sampled(samples []sample, n int, count func(sample) int) float64 {
	if len(samples) == 0 || n == 0 {
		return 0
	}
	n = min(n, count(samples[len(samples)-1]))
	var from time.Time
	for _, s := range samples {
		c := count(s)
		if c == 0 || from.IsZero() {
			from = s.at
		}
		if d := s.at.Sub(from).Seconds(); c > 0 && c >= n && d > 0 {
			return float64(c) / d
		}
	}
	return 0
}

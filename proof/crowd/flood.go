package crowd

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// perSecond is the number of users signed per second of flood. A system that answers faster sees users repeat.
const perSecond = 30_000

// mostReturned bounds how many orders' units may be back on sale when a flood starts. A flood has more users.
const mostReturned = 2_000

// Flood is the result of a closed loop after the sell-out. Each client waits for its answer before it asks again, so
// the latencies do not apply to a crowd that does not wait.
type Flood struct {
	Seconds   float64        `json:"seconds"`
	Clients   int            `json:"clients"`
	Answered  int            `json:"answered"`
	PerSecond float64        `json:"answered_per_second"`
	Answers   map[string]int `json:"answers"` // by code
	Latency   Latency        `json:"closed_loop_latency"`
	NotRun    string         `json:"not_run,omitempty"` // why there was no flood
}

// flood runs a client per connection, each buying as a fresh user as soon as it is answered. The sale has to be sold
// out.
func (r *run) flood(ctx context.Context, d *operatorClient) *Flood {
	f := &Flood{Clients: r.opt.Connections, Answers: map[string]int{}}
	it, err := d.item(ctx, r.item.ID)
	switch {
	case ctx.Err() != nil:
		f.NotRun = "the crowd was interrupted"
	case err != nil:
		f.NotRun = err.Error()
	case it.Left > mostReturned*r.opt.Count:
		f.NotRun = "the sale is not sold out: " + strconv.Itoa(it.Left) + " units are left"
	}
	if f.NotRun != "" {
		return f
	}
	users := min(int(r.opt.Flood.Seconds()*perSecond)+mostReturned, usersApart/2)
	r.opt.note("signing the tokens of %d users for the flood", users)
	signed, err := tokens(ctx, r.opt, r.opt.firstUser()+int64(r.opt.Shoppers), users, time.Now().Add(r.offset))
	if err != nil {
		f.NotRun = err.Error()
		return f
	}
	r.opt.note("flood of %d clients for %v", f.Clients, r.opt.Flood)
	began := time.Now()
	end := began.Add(r.opt.Flood)
	var next atomic.Int64
	var mu sync.Mutex
	all := newSpread()
	var clients sync.WaitGroup
	for range f.Clients {
		clients.Go(func() {
			answers, took := map[string]int{}, newSpread()
			for time.Now().Before(end) && ctx.Err() == nil {
				r.wave(ctx, int(next.Add(1)-1), signed, answers, took)
			}
			mu.Lock()
			defer mu.Unlock()
			for code, n := range answers {
				f.Answers[code] += n
			}
			all.Merge(took.Histogram)
		})
	}
	clients.Wait()
	f.Seconds = time.Since(began).Seconds()
	for code, n := range f.Answers {
		if code != noAnswer {
			f.Answered += n
		}
	}
	f.PerSecond, f.Latency = float64(f.Answered)/f.Seconds, all.latency()
	return f
}

// wave sends one purchase of a flood.
func (r *run) wave(ctx context.Context, i int, signed []string, answers map[string]int, took spread) {
	n := r.opt.Shoppers + 1 + i%len(signed)
	s := &shopper{run: r, n: n, token: signed[i%len(signed)]}
	s.user = strconv.FormatInt(r.opt.firstUser()+int64(n-1), 10)
	s.body, s.address = purchase(r.opt, n)
	moment := time.Now()
	a := s.send(ctx, moment)
	answers[a.word()]++
	if a.status != 0 {
		took.add(a.at.Sub(moment))
	}
}

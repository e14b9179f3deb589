package crowd

import (
	"context"
	"net/http"
	"sync"
	"time"

	"seckill/shared/seckill"
)

const (
	lookEvery   = 250 * time.Millisecond // at a `seckill run`
	restWait    = 2 * time.Minute        // in all, for what is queued or being closed there, before the clock is moved on
	firstMove   = time.Minute
	longestMove = 4 * time.Hour
	mostMoved   = 26 * time.Hour // longer than any hold
	askEvery    = 2 * time.Second
	askers      = 16
)

// Settled says how the orders came to rest.
type Settled struct {
	Open            int     `json:"open"` // orders still open
	Known           bool    `json:"known"`
	AdvancedSeconds int64   `json:"advanced_seconds"` // the clock of a `seckill run` was moved on by so much
	WaitedSeconds   float64 `json:"waited_seconds"`
}

// settleLocal moves the clock of a `seckill run` until no order is open. What is queued is waited for first: an hour later it would be rejected.
func (r *run) settleLocal(ctx context.Context, d *desk) Settled {
	began, out := time.Now(), Settled{Known: true}
	move := firstMove
	for {
		st := d.calm(ctx, began.Add(restWait))
		if st == nil {
			return Settled{AdvancedSeconds: out.AdvancedSeconds, WaitedSeconds: time.Since(began).Seconds()}
		}
		out.Open, out.WaitedSeconds = st.openOrders(), time.Since(began).Seconds()
		if out.Open == 0 || ctx.Err() != nil || out.AdvancedSeconds > int64(mostMoved/time.Second) {
			return out
		}
		if out.AdvancedSeconds == 0 {
			r.opt.note("%d orders are open: moving the clock of the run until none is", out.Open)
		}
		if d.advance(ctx, move) != nil {
			return out
		}
		out.AdvancedSeconds += int64(move / time.Second)
		move = min(2*move, longestMove)
	}
}

// calm waits until nothing is queued and nothing is being closed, or until a moment; it gives what it saw last.
func (d *desk) calm(ctx context.Context, until time.Time) *localState {
	for {
		st := d.state(ctx)
		if st == nil {
			return nil
		}
		if st.Orders[seckill.Queued]+st.Orders[seckill.Closing] == 0 || time.Now().After(until) || !sleep(ctx, time.Now().Add(lookEvery)) {
			return st
		}
	}
}

// settleElsewhere asks after the orders that were open when their shoppers left, until they are at rest or the time is up.
func (r *run) settleElsewhere(ctx context.Context) Settled {
	began := time.Now()
	ctx, stop := context.WithTimeout(ctx, r.opt.Settle)
	defer stop()
	open := r.open
	if len(open) > 0 {
		r.opt.note("%d orders are open: waiting up to %v for them", len(open), r.opt.Settle)
	}
	for len(open) > 0 && sleep(ctx, time.Now().Add(askEvery)) {
		open = r.stillOpen(ctx, open)
	}
	return Settled{Known: true, Open: len(open), WaitedSeconds: time.Since(began).Seconds()}
}

// stillOpen asks about each of these orders once.
func (r *run) stillOpen(ctx context.Context, orders []left) []left {
	var mu sync.Mutex
	var still []left
	var all sync.WaitGroup
	line := make(chan left)
	for range min(askers, len(orders)) {
		all.Go(func() {
			for o := range line {
				s := r.shopper(o.shopper)
				if a := s.look(ctx, o.order, time.Now()); a.status != http.StatusOK || !atRest(a.state) {
					mu.Lock()
					still = append(still, o)
					mu.Unlock()
				}
			}
		})
	}
	for _, o := range orders {
		line <- o
	}
	close(line)
	all.Wait()
	return still
}

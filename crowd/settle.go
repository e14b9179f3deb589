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
	Open            int     `json:"open"`        // orders still open
	RefundsDue      int     `json:"refunds_due"` // that will be asked for without a person; known of a `seckill run`
	Known           bool    `json:"known"`
	AdvancedSeconds int64   `json:"advanced_seconds"` // the clock of a `seckill run` was moved on by so much
	WaitedSeconds   float64 `json:"waited_seconds"`
}

// settleLocal has those pay who are late, and moves the clock of a `seckill run` until no order is open, no refund is due, and the ledger knows all the
// money that the gateway has. What is queued is waited for first: an hour later it would be rejected. Faults of the gateway end with the last open order.
func (r *run) settleLocal(ctx context.Context, d *desk) Settled {
	began, out := time.Now(), Settled{Known: true}
	d.calm(ctx, began.Add(restWait))
	out.AdvancedSeconds = int64(r.payLate(ctx, d) / time.Second)
	move, told := firstMove, false
	for {
		st := d.calm(ctx, began.Add(restWait))
		if st == nil {
			return Settled{AdvancedSeconds: out.AdvancedSeconds, WaitedSeconds: time.Since(began).Seconds()}
		}
		out.Open, out.RefundsDue, out.WaitedSeconds = st.openOrders(), len(st.Refunds), time.Since(began).Seconds()
		if r.settled(ctx, d, &out) || ctx.Err() != nil || out.AdvancedSeconds > int64(mostMoved/time.Second) {
			return out
		}
		if !told {
			told = true
			r.opt.note("%d orders are open, %d refunds are due: moving the clock of the run until none is and the shop has heard of every payment", out.Open, out.RefundsDue)
		}
		if d.advance(ctx, move) != nil {
			return out
		}
		out.AdvancedSeconds += int64(move / time.Second)
		move = min(2*move, longestMove)
	}
}

// settled says whether nothing is left to come. It looks at the money only when orders and refunds say so.
func (r *run) settled(ctx context.Context, d *desk, s *Settled) bool {
	if s.Open > 0 {
		return false
	}
	if err := r.faults.end(ctx); err != nil {
		return false // a later round tries again
	}
	if s.RefundsDue > 0 {
		return false
	}
	r.money = d.money(ctx, r.item.id)
	return !r.money.Known || r.money.Differ == 0
}

// calm waits until nothing is queued and nothing is being closed, or until a moment; it gives what it saw last.
func (d *desk) calm(ctx context.Context, until time.Time) *localState {
	return d.await(ctx, until, func(st *localState) bool { return st.Orders[seckill.Queued]+st.Orders[seckill.Closing] == 0 })
}

// await looks until what it sees is enough, or until a moment; it gives what it saw last.
func (d *desk) await(ctx context.Context, until time.Time, enough func(*localState) bool) *localState {
	for {
		st := d.state(ctx)
		if st == nil {
			return nil
		}
		if enough(st) || time.Now().After(until) || !sleep(ctx, time.Now().Add(lookEvery)) {
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

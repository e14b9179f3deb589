package crowd

import (
	"context"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	lookEvery   = 250 * time.Millisecond // between looks at the state of a `seckill run`
	restWait    = 2 * time.Minute        // for queued and closing orders there, before its clock is moved
	firstMove   = time.Minute
	longestMove = 4 * time.Hour
	mostMoved   = 26 * time.Hour  // longer than any hold
	sayEvery    = 5 * time.Second // between notes about what the crowd waits for
	askers      = 16              // concurrent requests
)

// Idle is how the orders came to rest.
type Idle struct {
	Open            int   `json:"open"`        // orders still open
	RefundsDue      int   `json:"refunds_due"` // automatic refunds still due; known for a `seckill run` only
	Known           bool  `json:"known"`
	AdvancedSeconds int64 `json:"advanced_seconds"` // by which the clock of a `seckill run` was moved
}

// waitIdleLocal moves the clock of a `seckill run` until no order is open, no refund is due, and ledger and gateway
// agree about all money. It first waits for queued messages, because orders that are placed too late are rejected.
func (r *run) waitIdleLocal(ctx context.Context, d *operatorClient) Idle {
	began, out := time.Now(), Idle{Known: true}
	for move := firstMove; ; move = min(2*move, longestMove) {
		st := r.waitDecided(ctx, d, began.Add(restWait))
		if st == nil {
			return Idle{AdvancedSeconds: out.AdvancedSeconds}
		}
		out.Open, out.RefundsDue = st.openOrders(), len(st.Refunds)
		if r.idle(ctx, d, &out) || ctx.Err() != nil || out.AdvancedSeconds > int64(mostMoved/time.Second) {
			return out
		}
		r.opt.note("%s at %s of the run's clock: moving it by %v; moved %v of at most %v so far",
			st.outstanding(r.money.Differ), st.Now.Local().Format(time.TimeOnly),
			move, time.Duration(out.AdvancedSeconds)*time.Second, mostMoved+longestMove)
		if d.advance(ctx, move) != nil {
			return out
		}
		out.AdvancedSeconds += int64(move / time.Second)
	}
}

// idle reports whether nothing is left to wait for. It reads the money only when no order is open and no refund due.
func (r *run) idle(ctx context.Context, d *operatorClient, s *Idle) bool {
	if s.Open+s.RefundsDue > 0 {
		return false
	}
	r.money = d.money(ctx, r.item.ID)
	return !r.money.Known || r.money.Differ == 0
}

// waitDecided waits until no order is queued or closing, or until a moment. It returns the last state.
func (r *run) waitDecided(ctx context.Context, d *operatorClient, until time.Time) *localState {
	return r.await(ctx, d, until, func(st *localState) bool {
		return st.Orders[seckill.Queued]+st.Orders[seckill.Closing] == 0
	})
}

// await polls the state until enough accepts it, or until a moment, and notes now and then what it waits for. It
// returns the last state, or nil when there is no state.
func (r *run) await(ctx context.Context, d *operatorClient, until time.Time,
	enough func(*localState) bool) *localState {
	say := time.Now().Add(sayEvery)
	for {
		st := d.state(ctx)
		if st == nil {
			return nil
		}
		if enough(st) || time.Now().After(until) || !sleep(ctx, time.Now().Add(lookEvery)) {
			return st
		}
		if now := time.Now(); now.After(say) {
			say = now.Add(sayEvery)
			r.opt.note("waiting until %s at most: %s", until.Format(time.TimeOnly), st.outstanding(0))
		}
	}
}

// outstanding names what is not at rest. unheard counts trades whose money differs between ledger and gateway.
func (s *localState) outstanding(unheard int) string {
	text := openText(s.Orders[seckill.Queued], s.Orders[seckill.PendingPayment], s.Orders[seckill.Closing])
	text += fmt.Sprintf("; %d refunds due", len(s.Refunds))
	if unheard > 0 {
		text += fmt.Sprintf("; ledger and gateway differ about %d trades", unheard)
	}
	return text
}

func openText(queued, unpaid, closing int) string {
	return fmt.Sprintf("%d orders open (%d to be placed, %d awaiting payment, %d closing)", queued+unpaid+closing,
		queued, unpaid, closing)
}

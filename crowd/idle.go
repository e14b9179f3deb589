package crowd

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	lookEvery = 250 * time.Millisecond // at a `seckill run`
	// in all, for what is queued or being closed there, before the clock is moved on
	restWait    = 2 * time.Minute
	firstMove   = time.Minute
	longestMove = 4 * time.Hour
	mostMoved   = 26 * time.Hour // longer than any hold
	askEvery    = 2 * time.Second
	sayEvery    = 5 * time.Second // what is waited for
	askers      = 16
)

// Idle says how the orders came to rest.
type Idle struct {
	Open            int     `json:"open"`        // orders still open
	RefundsDue      int     `json:"refunds_due"` // that will be asked for without a person; known of a `seckill run`
	Known           bool    `json:"known"`
	AdvancedSeconds int64   `json:"advanced_seconds"` // the clock of a `seckill run` was moved on by so much
	WaitedSeconds   float64 `json:"waited_seconds"`
}

// waitIdleLocal has those pay who are late, and moves the clock of a `seckill run` until no order is open, no refund is
// due, and the ledger knows all the money that the gateway has. What is queued is waited for first: an hour later it
// would be rejected. Faults of the gateway end with the last open order.
func (r *run) waitIdleLocal(ctx context.Context, d *operatorClient) Idle {
	began, out := time.Now(), Idle{Known: true}
	r.waitDecided(ctx, d, began.Add(restWait))
	out.AdvancedSeconds = int64(r.payLate(ctx, d) / time.Second)
	for move := firstMove; ; move = min(2*move, longestMove) {
		st := r.waitDecided(ctx, d, began.Add(restWait))
		if st == nil {
			return Idle{AdvancedSeconds: out.AdvancedSeconds, WaitedSeconds: time.Since(began).Seconds()}
		}
		out.Open, out.RefundsDue, out.WaitedSeconds = st.openOrders(), len(st.Refunds), time.Since(began).Seconds()
		if r.idle(ctx, d, &out) || ctx.Err() != nil || out.AdvancedSeconds > int64(mostMoved/time.Second) {
			return out
		}
		r.opt.note("%s, as of %s of the run: moving its clock on by %v; %v of at most %v so far",
			st.outstanding(r.money.Differ), st.Now.Local().Format(time.TimeOnly),
			move, time.Duration(out.AdvancedSeconds)*time.Second, mostMoved+longestMove)
		if d.advance(ctx, move) != nil {
			return out
		}
		out.AdvancedSeconds += int64(move / time.Second)
	}
}

// idle says whether nothing is left to come. It looks at the money only when orders and refunds say so.
func (r *run) idle(ctx context.Context, d *operatorClient, s *Idle) bool {
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

// waitDecided waits until nothing is queued and nothing is being closed, or until a moment; it gives what it saw last.
func (r *run) waitDecided(ctx context.Context, d *operatorClient, until time.Time) *localState {
	return r.await(ctx, d, until, func(st *localState) bool {
		return st.Orders[seckill.Queued]+st.Orders[seckill.Closing] == 0
	})
}

// await looks until what it sees is enough, or until a moment, and says now and then what it waits for; it gives what
// it saw last.
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
			r.opt.note("%s: waiting until %s at most", st.outstanding(0), until.Format(time.TimeOnly))
		}
	}
}

// outstanding says what of the sale is not at rest: unheard are trades whose money the shop does not know as the
// gateway does.
func (s *localState) outstanding(unheard int) string {
	text := openText(s.Orders[seckill.Queued], s.Orders[seckill.PendingPayment], s.Orders[seckill.Closing])
	text += fmt.Sprintf("; %d refunds due", len(s.Refunds))
	if unheard > 0 {
		text += fmt.Sprintf("; %d trades of whose money shop and gateway do not say the same yet", unheard)
	}
	return text
}

func openText(queued, unpaid, closing int) string {
	return fmt.Sprintf("%d orders open (%d to be placed, %d awaiting payment, %d closing)", queued+unpaid+closing,
		queued, unpaid, closing)
}

// waitIdleRemote asks after the orders that were open when their shoppers left, until they are at rest or the time is
// up.
func (r *run) waitIdleRemote(ctx context.Context) Idle {
	began := time.Now()
	ctx, stop := context.WithTimeout(ctx, r.opt.WaitIdle)
	defer stop()
	open, until, say := r.open, began.Add(r.opt.WaitIdle), began
	for len(open) > 0 {
		if now := time.Now(); !now.Before(say) {
			say = now.Add(sayEvery)
			r.opt.note("%s: waiting until %s at most", openOf(open), until.Format(time.TimeOnly))
		}
		if !sleep(ctx, time.Now().Add(askEvery)) {
			break
		}
		open = r.stillOpen(ctx, open)
	}
	return Idle{Known: true, Open: len(open), WaitedSeconds: time.Since(began).Seconds()}
}

// openOf says where orders were when they were looked at last.
func openOf(orders []left) string {
	n := map[seckill.State]int{}
	for _, o := range orders {
		n[o.state]++
	}
	unpaid, closing := n[seckill.PendingPayment], n[seckill.Closing]
	return openText(len(orders)-unpaid-closing, unpaid, closing)
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
					if a.status == http.StatusOK {
						o.state = a.state
					}
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

// payLate moves the clock of a `seckill run` past the hold, and has those press "pay" whose cashiers are open: a third
// of them while the shop still waits for payments that were begun in time, a third as the orders are closed, the others
// when they are. It gives how far the clock was moved.
func (r *run) payLate(ctx context.Context, d *operatorClient) (moved time.Duration) {
	st := d.state(ctx)
	if len(r.late) == 0 || st == nil {
		return 0
	}
	// whose orders are closed last come first
	slices.SortFunc(r.late, func(a, b opened) int { return b.payBy.Compare(a.payBy) })
	r.opt.note("%d shoppers pay late: moving the clock of the run past their holds", len(r.late))
	move := func(by time.Duration) {
		by = max(by, time.Second).Truncate(time.Second) + time.Second
		if d.advance(ctx, by) == nil {
			moved += by
		}
	}
	if by := r.late[0].payBy.Sub(st.Now); by > 0 {
		move(by)
	}
	third := (len(r.late) + 2) / 3
	r.pressLate(ctx, r.late[:third])
	var closing sync.WaitGroup
	closing.Go(func() { move(seckill.Grace) })
	r.pressLate(ctx, r.late[third:min(2*third, len(r.late))])
	closing.Wait()
	r.await(ctx, d, time.Now().Add(restWait), func(st *localState) bool { return st.openOrders() == 0 })
	r.pressLate(ctx, r.late[min(2*third, len(r.late)):])
	return moved
}

// pressLate sends the forms of cashiers that are open.
func (r *run) pressLate(ctx context.Context, pages []opened) {
	var all sync.WaitGroup
	line := make(chan opened)
	for range min(askers, len(pages)) {
		all.Go(func() {
			for p := range line {
				s := r.shopper(p.shopper)
				a := s.insist(ctx, func(moment time.Time) answer { return s.pressPay(ctx, p.form, p.order, moment) })
				s.tally.change(func(t *tally) {
					switch {
					case a.status == http.StatusOK:
						t.odd.LateTaken++
					case a.err != nil || a.later():
						t.odd.LateFailed++
					default:
						t.odd.LateRefused++
					}
				})
			}
		})
	}
	for _, p := range pages {
		line <- p
	}
	close(line)
	all.Wait()
}

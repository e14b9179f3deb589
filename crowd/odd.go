package crowd

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Odd is how shoppers paid who did not just pay, and what went wrong with payments meanwhile.
type Odd struct {
	// opened the cashier in time and pressed "pay" when the hold had ended
	Late        int            `json:"late"`
	LateTaken   int            `json:"late_taken"`   // the cashier took their money
	LateRefused int            `json:"late_refused"` // it said that it is too late
	LateFailed  int            `json:"late_failed"`  // it said nothing that means something
	Twice       int            `json:"twice"`        // pressed "pay" twice
	ToldPaid    int            `json:"told_paid"`    // of these: the second press was answered that it is paid
	BothPaid    int            `json:"two_trades"`   // paid at two cashiers of the order
	Landed      map[string]int `json:"faults,omitempty"`
	// false notifications that the shop answered with "success": each is a fault of the shop
	TakenIn map[string]int `json:"taken_in,omitempty"`
}

// opened is a cashier's page that a shopper has left open, to pay late.
type opened struct {
	shopper int
	order   string
	form    *form
	payBy   time.Time
}

// openOnly opens the cashier and leaves it open.
func (s *shopper) openOnly(ctx context.Context, a *answer, order string) {
	var f *form
	page := answer{status: http.StatusGone, at: time.Now()}
	if a.pay != "" {
		page = s.insist(ctx, func(moment time.Time) (page answer) {
			f, page = s.openCashier(ctx, a.pay, order, moment)
			return page
		})
	}
	if !s.took(&page) || f == nil {
		return
	}
	payBy, err := time.Parse(time.RFC3339Nano, a.payBy)
	if err != nil {
		payBy = time.Now().Add(s.offset) // pressed with the first then
	}
	s.tally.change(func(t *tally) { t.odd.Late++ })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, opened{s.n, order, f, payBy})
}

// onceMore is what those do who have paid with a form and are not content with it.
func (s *shopper) onceMore(ctx context.Context, f *form, pay, order string) {
	switch s.manner {
	case twice:
		if f == nil {
			return // the answer to the first press was lost, and the page says that it is paid
		}
		a := s.insist(ctx, func(moment time.Time) answer { return s.pressPay(ctx, f, order, moment) })
		_, again := cashierForm(a.body)
		s.tally.change(func(t *tally) {
			t.odd.Twice++
			if a.status == http.StatusOK && again == nil {
				t.odd.ToldPaid++
			}
		})
	case both:
		if second, a := s.atCashier(ctx, pay, order); second != nil && a.status == http.StatusOK {
			s.tally.change(func(t *tally) { t.odd.BothPaid++ })
		}
	}
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

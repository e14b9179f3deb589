package crowd

import (
	"context"
	"net/http"
	"time"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/shared/seckill"
)

// heardSoon is how long a shopper who has paid waits for the shop to know it, where notifications are lost: then it may
// take until the hold ends.
const heardSoon = 5 * time.Second

// payFor pays at the cashier with the order's pay string, and goes back to the page. It says whether the cashier took
// the money and the shopper is there to see what the shop says of it.
func (s *shopper) payFor(ctx context.Context, a answer) bool {
	order := a.order
	for a.pay == "" && a.state == seckill.PendingPayment { // placed, and not signed yet
		moment := time.Now().Add(max(a.retry, firstWait))
		if !sleep(ctx, moment) {
			return false
		}
		if b := s.look(ctx, order, moment); !b.later() {
			a = b
		}
	}
	if s.manner == late {
		s.openOnly(ctx, &a, order)
		return false
	}
	f, page := s.atCashier(ctx, a.pay, order)
	if !s.took(&page) {
		return false
	}
	s.onceMore(ctx, f, a.pay, order)
	return sleep(ctx, time.Now().Add(backIn))
}

// seesPaid follows a paid order until the shop knows of the money. It says whether the order is at rest then.
func (s *shopper) seesPaid(ctx context.Context, order string) bool {
	defer s.tally.waiting(func(w *Waits) *int { return &w.Hear })()
	patience := ctx
	if s.opt.LostNotifications+s.opt.Unknown > 0 {
		var stop context.CancelFunc
		patience, stop = context.WithTimeout(ctx, heardSoon)
		defer stop()
	}
	b, err := s.follow(patience, order, atRest)
	switch {
	case err != nil && ctx.Err() == nil && patience.Err() != nil:
		s.tally.change(func(t *tally) { t.unseen++ })
		return false
	case err != nil:
		return false
	}
	now := time.Now()
	s.tally.change(func(t *tally) {
		if b.state != seckill.Paid && b.state != seckill.Confirmed {
			t.tooLate++
			return
		}
		t.paid++
		t.paidAt = append(t.paidAt, now)
	})
	return true
}

// cancel gives the order up.
func (s *shopper) cancel(ctx context.Context, order string) {
	known := journal.Entry{Shopper: s.n, User: s.user, Order: order}
	moment := time.Now()
	for try := range payTries {
		a := s.client.do(ctx, &ask{act: journal.ActCancel, moment: moment, method: http.MethodPost, url: s.base +
			"/order/" + order + "/cancel", token: s.token, entry: known})
		switch {
		case a.status == http.StatusOK:
			s.tally.change(func(t *tally) { t.cancelled++ })
			return
		case !a.later():
			s.tally.change(func(t *tally) { t.uncancelled++ })
			return
		}
		moment = time.Now().Add(s.retryWait(try, a.retry))
		if !sleep(ctx, moment) {
			return
		}
	}
	s.tally.change(func(t *tally) { t.uncancelled++ })
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

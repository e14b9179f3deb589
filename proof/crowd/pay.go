package crowd

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// heardSoon bounds how long a shopper who has paid waits for the shop to record it when notifications may be lost.
// Without a bound the wait could last until the hold ends.
const heardSoon = 5 * time.Second

// payFor pays an order at the cashier and returns to the page. It reports whether the cashier took the money and the
// crowd has not ended.
func (s *shopper) payFor(ctx context.Context, a answer) bool {
	order := a.order
	for a.pay == "" && a.state == seckill.PendingPayment { // the pay string is not signed yet
		moment := time.Now()
		if !a.heard {
			moment = moment.Add(max(a.retry, firstWait))
		}
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

// seesPaid follows a paid order until the shop has recorded the payment. It reports whether the order is at rest then.
func (s *shopper) seesPaid(ctx context.Context, order string) bool {
	defer s.tally.waiting(func(w *Waits) *int { return &w.Hear })()
	patience := ctx
	if s.opt.LostNotifications+s.opt.Unknown > 0 {
		var stop context.CancelFunc
		patience, stop = context.WithTimeout(ctx, heardSoon)
		defer stop()
	}
	b, err := s.follow(patience, order, "", atRest)
	switch {
	case err != nil && ctx.Err() == nil && patience.Err() != nil:
		s.tally.change(func(t *tally) { t.orders.Unseen++ })
		return false
	case err != nil:
		return false
	}
	now := time.Now()
	s.tally.change(func(t *tally) {
		if b.state != seckill.Paid && b.state != seckill.Confirmed {
			t.orders.TooLate++
			return
		}
		t.orders.Paid++
		t.paidAt = append(t.paidAt, now)
	})
	return true
}

// cancel cancels an order.
func (s *shopper) cancel(ctx context.Context, order string) {
	a := s.insist(ctx, func(moment time.Time) answer {
		return s.client.do(ctx, &ask{act: record.ActCancel, moment: moment, method: http.MethodPost,
			url: s.base + "/order/" + order + "/cancel", token: s.token, entry: s.about(order)})
	})
	s.tally.change(func(t *tally) {
		switch {
		case a.status == http.StatusOK:
			t.orders.Cancelled++
		case !errors.Is(a.err, errLeft):
			t.orders.Uncancelled++
		}
	})
}

// openOnly opens the cashier of a shopper who pays late.
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
		payBy = time.Now().Add(s.offset) // payLate then presses it among the last
	}
	s.tally.change(func(t *tally) { t.odd.Late, t.orders.Late = t.odd.Late+1, t.orders.Late+1 })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, opened{s.n, order, f, payBy})
}

// onceMore repeats a payment, for shoppers who press twice or pay at two cashiers.
func (s *shopper) onceMore(ctx context.Context, f *form, pay, order string) {
	switch s.manner {
	case twice:
		if f == nil {
			return // the answer to the first press was lost; the page then said "paid" and had no form
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

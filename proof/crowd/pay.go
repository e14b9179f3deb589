package crowd

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// payFor pays an order at the cashier and returns to the page. It reports whether the cashier took the money and the
// crowd has not ended.
func (s *shopper) payFor(ctx context.Context, a answer) bool {
	order := a.Order
	for a.Pay == "" && a.State == seckill.PendingPayment { // the pay string is not signed yet
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
	page := s.atCashier(ctx, a.Pay, order)
	return s.took(&page) && sleep(ctx, time.Now().Add(backIn))
}

// seesPaid follows a paid order until the shop has recorded the payment. It reports whether the order is at rest then.
func (s *shopper) seesPaid(ctx context.Context, order string) bool {
	defer s.tally.waiting(func(w *Waits) *int { return &w.Hear })()
	b, err := s.follow(ctx, order, "", atRest)
	if err != nil {
		return false
	}
	now := time.Now()
	s.tally.change(func(t *tally) {
		if b.State != seckill.Paid && b.State != seckill.Confirmed {
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

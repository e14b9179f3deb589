package crowd

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/your-org/seckill/proof/record"
)

const payTries = 5

// openCashier opens the cashier's page. The form is nil when the page has none; the answer then says why.
func (s *shopper) openCashier(ctx context.Context, pay, order string, moment time.Time) (*form, answer) {
	separator := "?"
	if strings.Contains(s.cashier, "?") {
		separator = "&"
	}
	a := s.client.do(ctx, &ask{act: record.ActPay, moment: moment, method: http.MethodGet, url: s.cashier + separator +
		pay, entry: s.about(order)})
	if a.status != http.StatusOK {
		return nil, a
	}
	action, fields := cashierForm(a.body)
	if fields == nil {
		return nil, a // already paid
	}
	return &form{relative(s.cashier, action), fields}, a
}

// pressPay sends the cashier's form.
func (s *shopper) pressPay(ctx context.Context, f *form, order string, moment time.Time) answer {
	return s.client.do(ctx, &ask{act: record.ActPay, moment: moment, method: http.MethodPost, url: f.url,
		kind: "application/x-www-form-urlencoded",
		body: []byte(f.fields.Encode()), entry: s.about(order)})
}

// insist repeats a request while the answer is to come back later, at most payTries times.
func (s *shopper) insist(ctx context.Context, send func(moment time.Time) answer) (a answer) {
	moment := time.Now()
	for try := range payTries {
		if a = send(moment); a.err == nil && !a.later() {
			return a
		}
		moment = time.Now().Add(s.retryWait(try, a.retry))
		if !sleep(ctx, moment) {
			return answer{err: errLeft}
		}
	}
	return a
}

// atCashier pays. Status 200 means that the cashier took the money, now or at an earlier try; 410 that it is too late.
func (s *shopper) atCashier(ctx context.Context, pay, order string) answer {
	if pay == "" {
		return answer{status: http.StatusGone, at: time.Now()}
	}
	return s.insist(ctx, func(moment time.Time) answer {
		f, a := s.openCashier(ctx, pay, order, moment)
		if f != nil {
			a = s.pressPay(ctx, f, order, a.at)
		}
		return a
	})
}

// took reports whether the cashier answered 200. It counts other answers as unpaid or too late.
func (s *shopper) took(page *answer) bool {
	switch {
	case page.err != nil, page.later():
		s.tally.change(func(t *tally) { t.orders.Unpaid++ })
		return false
	case page.status != http.StatusOK:
		s.tally.change(func(t *tally) { t.orders.TooLate++ })
		return false
	}
	return true
}

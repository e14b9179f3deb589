package crowd

import (
	"bytes"
	"context"
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"

	"seckill/crowd/journal"
	"seckill/shared/seckill"
)

const payTries = 5 // at the cashier

// payFor opens the cashier with the order's pay string, sends its form, and goes back to the page until the shop knows of the money. It says whether the order is at
// rest then.
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
	switch page := s.atCashier(ctx, a.pay, order); {
	case page.err != nil, page.later():
		s.tally.change(func(t *tally) { t.unpaid++ })
		return false
	case page.status != http.StatusOK:
		s.tally.change(func(t *tally) { t.tooLate++ })
		return false
	}
	if !sleep(ctx, time.Now().Add(backIn)) {
		return false
	}
	b, err := s.follow(ctx, order, atRest)
	if err != nil {
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
		t.paying.add(now.Sub(t.opening))
	})
	return true
}

// atCashier pays. 200 means that the cashier took the money, now or at an earlier try; 410 that it is too late.
func (s *shopper) atCashier(ctx context.Context, pay, order string) (a answer) {
	if pay == "" {
		return answer{status: http.StatusGone, at: time.Now()}
	}
	separator := "?"
	if strings.Contains(s.cashier, "?") {
		separator = "&"
	}
	known := journal.Entry{Shopper: s.n, User: s.user, Order: order}
	moment := time.Now()
	for try := range payTries {
		a = s.client.do(ctx, &ask{act: journal.ActPay, moment: moment, method: http.MethodGet, url: s.cashier + separator + pay, entry: known})
		if a.status == http.StatusOK {
			action, form := cashierForm(a.body)
			if form == nil {
				return a // paid already
			}
			a = s.client.do(ctx, &ask{act: journal.ActPay, moment: a.at, method: http.MethodPost, url: relative(s.cashier, action), kind: "application/x-www-form-urlencoded",
				body: []byte(form.Encode()), entry: known})
		}
		if a.err == nil && !a.later() {
			return a
		}
		moment = time.Now().Add(s.retryWait(try, a.retry))
		if !sleep(ctx, moment) {
			return answer{err: errLeft}
		}
	}
	return a
}

// cashierForm reads the form of the test cashier: where it goes, relative to the page, and its hidden fields; nil when the page has none.
func cashierForm(page []byte) (action string, form url.Values) {
	_, rest, ok := bytes.Cut(page, []byte(`<form method="post" action="`))
	if !ok {
		return "", nil
	}
	to, rest, _ := bytes.Cut(rest, []byte(`"`))
	rest, _, _ = bytes.Cut(rest, []byte(`</form>`))
	form = url.Values{}
	for {
		_, after, ok := bytes.Cut(rest, []byte(`<input type="hidden" name="`))
		if !ok {
			return html.UnescapeString(string(to)), form
		}
		name, after, _ := bytes.Cut(after, []byte(`" value="`))
		value, after, _ := bytes.Cut(after, []byte(`"`))
		form.Set(string(name), html.UnescapeString(string(value)))
		rest = after
	}
}

// relative is where a page's link leads.
func relative(page, link string) string {
	base, err := url.Parse(page)
	if err != nil {
		return link
	}
	to, err := base.Parse(link)
	if err != nil {
		return link
	}
	return to.String()
}

// cancel gives the order up.
func (s *shopper) cancel(ctx context.Context, order string) {
	known := journal.Entry{Shopper: s.n, User: s.user, Order: order}
	moment := time.Now()
	for try := range payTries {
		a := s.client.do(ctx, &ask{act: journal.ActCancel, moment: moment, method: http.MethodPost, url: s.base + "/order/" + order + "/cancel", token: s.token, entry: known})
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

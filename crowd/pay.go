package crowd

import (
	"bytes"
	"context"
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/shared/seckill"
)

const payTries = 5 // at the cashier

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

// took says whether the cashier took the money, and counts it when not.
func (s *shopper) took(page *answer) bool {
	switch {
	case page.err != nil, page.later():
		s.tally.change(func(t *tally) { t.unpaid++ })
		return false
	case page.status != http.StatusOK:
		s.tally.change(func(t *tally) { t.tooLate++ })
		return false
	}
	return true
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
		t.paying.add(now.Sub(t.opening))
	})
	return true
}

// form is what the cashier's page sends, and where to.
type form struct {
	url    string
	fields url.Values
}

// openCashier opens the cashier. nil: it has no form, and the answer says why.
func (s *shopper) openCashier(ctx context.Context, pay, order string, moment time.Time) (*form, answer) {
	separator := "?"
	if strings.Contains(s.cashier, "?") {
		separator = "&"
	}
	a := s.client.do(ctx, &ask{act: journal.ActPay, moment: moment, method: http.MethodGet, url: s.cashier + separator +
		pay, entry: s.about(order)})
	if a.status != http.StatusOK {
		return nil, a
	}
	action, fields := cashierForm(a.body)
	if fields == nil {
		return nil, a // paid already
	}
	return &form{relative(s.cashier, action), fields}, a
}

// pressPay sends the cashier's form.
func (s *shopper) pressPay(ctx context.Context, f *form, order string, moment time.Time) answer {
	return s.client.do(ctx, &ask{act: journal.ActPay, moment: moment, method: http.MethodPost, url: f.url,
		kind: "application/x-www-form-urlencoded",
		body: []byte(f.fields.Encode()), entry: s.about(order)})
}

func (s *shopper) about(order string) journal.Entry {
	return journal.Entry{Shopper: s.n, User: s.user, Order: order}
}

// insist asks until an answer means something, but not for ever.
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

// atCashier pays. 200 means that the cashier took the money, now or at an earlier try; 410 that it is too late. The
// form is nil when none was sent at last.
func (s *shopper) atCashier(ctx context.Context, pay, order string) (f *form, a answer) {
	if pay == "" {
		return nil, answer{status: http.StatusGone, at: time.Now()}
	}
	a = s.insist(ctx, func(moment time.Time) (a answer) {
		if f, a = s.openCashier(ctx, pay, order, moment); f != nil {
			a = s.pressPay(ctx, f, order, a.at)
		}
		return a
	})
	return f, a
}

// cashierForm reads the form of the test cashier: where it goes, relative to the page, and its hidden fields; nil when
// the page has none.
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

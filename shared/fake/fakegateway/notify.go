package fakegateway

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/seckill"
)

// buyerID is the buyer of every trade.
const buyerID = "2088000000000002"

// AlipayRetries are Alipay's waits between the attempts to deliver a notification ("异步通知说明": 4m, 10m, 10m, 1h, 2h,
// 6h, 15h).
var AlipayRetries = []time.Duration{4 * time.Minute, 10 * time.Minute, 10 * time.Minute, time.Hour, 2 * time.Hour,
	6 * time.Hour, 15 * time.Hour}

// Limits of an attempt.
const (
	// how long an attempt under way blocks another attempt; if its process dies, the attempt is repeated after that
	claimFor      = time.Minute
	recordTimeout = time.Second // for recording an attempt after the caller's time is over
)

// Pending is an undelivered notification.
type Pending struct {
	OutTradeNo string
	Attempts   int       // attempts made
	Next       time.Time // time of the next attempt
}

// start is the time of a notification's first attempt, drawn before it is known whether there will be a notification.
type start struct {
	reordered, delayed bool
	wait               time.Duration
}

func (g *Gateway) drawStart() (s start) {
	if s.reordered = g.faults.draw(NotificationReordered); s.reordered {
		s.wait = heldBack
	}
	if s.delayed = g.faults.draw(NotificationDelayed); s.delayed {
		s.wait += time.Millisecond * time.Duration(1+g.faults.number(NotificationDelayed, longestDelay.Milliseconds()))
	}
	return s
}

// notification returns a new notification about a movement of money at now.
func (s start) notification(now time.Time) Notification {
	at := now.In(seckill.Zone)
	return Notification{ID: at.Format("20060102") + "00222" + at.Format("150405") + digits(), Next: now.Add(s.wait)}
}

// moved records a movement of money, which starts a notification.
func (g *Gateway) moved(s start) {
	if s.reordered {
		g.faults.count(NotificationReordered)
	}
	if s.delayed {
		g.faults.count(NotificationDelayed)
	}
	select {
	case g.ready <- struct{}{}:
	default: // an unread value already means the same
	}
}

// Ready receives a value after payments and refunds at this gateway. One value may stand for several of these.
func (g *Gateway) Ready() <-chan struct{} { return g.ready }

// Next returns when the next attempt is due, or false if there is none, and always with Options.Store.
func (g *Gateway) Next() (time.Time, bool) {
	if g.own == nil {
		return time.Time{}, false
	}
	return g.own.next()
}

// Pending lists the undelivered notifications, earliest due first. It omits those that have failed as often as Alipay
// tries. With Options.Store it lists none.
func (g *Gateway) Pending() []Pending {
	out := []Pending{}
	if g.own == nil {
		return out
	}
	for _, r := range g.own.waiting() {
		for _, n := range r.Notifications {
			if !n.Next.IsZero() {
				out = append(out, Pending{OutTradeNo: r.OutTradeNo, Attempts: n.Attempts, Next: n.Next})
			}
		}
	}
	slices.SortFunc(out, func(a, b Pending) int {
		return cmp.Or(a.Next.Compare(b.Next), cmp.Compare(a.OutTradeNo, b.OutTradeNo))
	})
	return out
}

// Tick makes every due attempt, one after the other, until ctx ends. An attempt succeeds if the answer is 200 with
// exactly the text "success"; otherwise the next attempt follows after the wait in Options.Retries.
func (g *Gateway) Tick(ctx context.Context) (delivered, failed int) {
	delivered, failed, err := g.Repeat(ctx)
	if err != nil {
		g.opt.Log.WarnContext(ctx, "notifications wait", "err", err)
	}
	return delivered, failed
}

// Repeat is Tick with an error if the store is unavailable.
func (g *Gateway) Repeat(ctx context.Context) (delivered, failed int, err error) {
	delivered, failed, err = g.repeat(ctx)
	if ctx.Err() != nil {
		err = nil // a failure because the caller's time is over is not a fault
	}
	return delivered, failed, err
}

func (g *Gateway) repeat(ctx context.Context) (delivered, failed int, err error) {
	// a lagging index may return finished keys again, so stop after a round without an attempt
	for before := -1; before < delivered+failed; {
		before = delivered + failed
		due, err := g.store.Due(ctx, g.opt.Clock.Now())
		if err != nil {
			return delivered, failed, unavailable(err)
		}
		for _, k := range due {
			made, ok, err := g.attempt(ctx, k)
			switch {
			case err != nil:
				return delivered, failed, err
			case made && ok:
				delivered++
			case made:
				failed++
			}
		}
	}
	return delivered, failed, nil
}

// attempt sends the notification of the trade that has been due longest, unless another attempt is under way. An
// attempt that the caller interrupts does not count.
func (g *Gateway) attempt(ctx context.Context, k Key) (made, ok bool, err error) {
	var which int
	var due time.Time // due time before the claim
	r, err := g.change(ctx, k, func(r *Record, now time.Time) error {
		if which = r.next(); which < 0 || r.Notifications[which].Next.After(now) {
			return errNothing
		}
		due = r.Notifications[which].Next
		// rounded as the store will return it
		r.Notifications[which].Next = now.Add(claimFor).Truncate(time.Millisecond)
		return nil
	})
	if errors.Is(err, errNothing) || errors.Is(err, ErrNoTrade) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	ok = !g.faults.hit(NotificationLost) && g.deliver(ctx, &r, which)
	broken := !ok && ctx.Err() != nil
	claimed := r.Notifications[which].Next
	if ctx.Err() != nil { // record the outcome even then
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
	}
	_, err = g.change(ctx, k, func(r *Record, now time.Time) error {
		switch n := &r.Notifications[which]; {
		case n.Next.IsZero(), !ok && !n.Next.Equal(claimed): // the claim expired and another attempt took over
			return errNothing
		case broken:
			n.Next = due
		case ok, n.Attempts >= len(g.opt.Retries):
			n.Attempts, n.Next = n.Attempts+1, time.Time{}
		default:
			n.Attempts, n.Next = n.Attempts+1, now.Add(g.opt.Retries[n.Attempts])
		}
		return nil
	})
	if errors.Is(err, errNothing) {
		err = nil
	}
	return !broken, ok, err
}

// deliver makes one attempt, with the faults around it, and reports whether the shop confirmed it.
func (g *Gateway) deliver(ctx context.Context, r *Record, which int) bool {
	at := g.opt.Clock.Now()
	form := func(change func(url.Values)) url.Values {
		f, err := g.NotificationForm(r.Notifications[which].ID, told(r, which), at)
		if err != nil {
			panic(err) // cannot happen: the key has signed before
		}
		if change != nil {
			change(f)
		}
		return f
	}
	for _, lie := range []struct {
		fault  Fault
		signed bool
		change func(url.Values)
	}{
		{NotificationForged, false, func(f url.Values) { f.Set("total_amount", "0.01") }},
		{NotificationWrongAmount, true, func(f url.Values) { f.Set("total_amount", (r.Amount + 1).Yuan()) }},
		{NotificationOtherApp, true, func(f url.Values) { f.Set("app_id", f.Get("app_id")+"1") }},
	} {
		if !g.faults.hit(lie.fault) {
			continue
		}
		f := form(func(f url.Values) {
			// another id makes it another notification, which a shop may store
			f.Set("notify_id", f.Get("notify_id")+"1")
			lie.change(f)
		})
		if lie.signed {
			if err := g.SignForm(f); err != nil {
				panic(err) // cannot happen: the key has signed before
			}
		}
		if g.send(ctx, r.NotifyURL, f) {
			g.faults.taken(lie.fault)
		}
	}
	ok := g.send(ctx, r.NotifyURL, form(nil))
	if g.faults.hit(NotificationDuplicated) {
		ok = g.send(ctx, r.NotifyURL, form(nil)) || ok
	}
	return ok
}

// told returns the trade as it was after the movement that the notification is about.
func told(r *Record, which int) Trade {
	t := r.Trade
	t.Refunds, t.Status = r.Refunds[:which], StatusSuccess
	if t.Kept() == 0 {
		t.Status = StatusClosed
	}
	return t
}

// send posts a notification and reports whether the shop confirmed it.
func (g *Gateway) send(ctx context.Context, to string, form url.Values) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return false
	}
	// as Alipay sends it, although text/html is not a valid parameter
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; text/html; charset=utf-8")
	resp, err := g.opt.HTTP.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	const want = "success"
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(len(want))+1))
	return err == nil && resp.StatusCode == http.StatusOK && string(body) == want
}

// NotificationForm writes and signs the notification about a trade as of that time: about its last refund, if it has
// one. Tests change it to check that it is refused.
func (g *Gateway) NotificationForm(id string, t Trade, at time.Time) (url.Values, error) {
	amount := t.Amount.Yuan()
	form := url.Values{
		"notify_id":        {id},
		"notify_type":      {"trade_status_sync"},
		"notify_time":      {stamp(at)},
		"app_id":           {g.opt.AppID},
		"auth_app_id":      {g.opt.AppID},
		"seller_id":        {g.opt.SellerID},
		"buyer_id":         {buyerID},
		"out_trade_no":     {t.OutTradeNo},
		"trade_no":         {t.TradeNo},
		"trade_status":     {string(t.Status)},
		"subject":          {t.Subject},
		"total_amount":     {amount},
		"receipt_amount":   {amount},
		"buyer_pay_amount": {amount},
		"invoice_amount":   {amount},
		"point_amount":     {"0.00"},
		"fund_bill_list":   {`[{"amount":"` + amount + `","fundChannel":"ALIPAYACCOUNT"}]`},
		"gmt_create":       {stamp(t.Created)},
		"charset":          {"utf-8"},
		"version":          {"1.0"},
		"sign_type":        {"RSA2"},
	}
	if !t.Paid.IsZero() {
		form.Set("gmt_payment", stamp(t.Paid))
	}
	if n := len(t.Refunds); n > 0 {
		last := t.Refunds[n-1]
		form.Set("refund_fee", t.Refunded().Yuan()) // sum of all refunds
		form.Set("gmt_refund", last.At.In(seckill.Zone).Format(alipay.TimeLayout+".000"))
		form.Set("out_biz_no", last.RequestNo)
		if t.Kept() == 0 {
			form.Set("gmt_close", stamp(last.At))
		}
	}
	return form, g.SignForm(form)
}

// stamp formats a time as Alipay does.
func stamp(t time.Time) string { return t.In(seckill.Zone).Format(alipay.TimeLayout) }

// SignForm signs a notification's form as the gateway does, replacing any signature.
func (g *Gateway) SignForm(form url.Values) error {
	sign, err := alipay.Sign(g.key, alipay.SignContent(form, "sign", "sign_type"))
	if err != nil {
		return err
	}
	form.Set("sign", sign)
	return nil
}

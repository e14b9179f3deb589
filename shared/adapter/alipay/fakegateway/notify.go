package fakegateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"seckill/shared/adapter/alipay"
)

// buyerID is who pays: there is one buyer in this world.
const buyerID = "2088000000000002"

// Limits of an attempt.
const (
	claimFor      = time.Minute // how long a started attempt keeps others from the next; one whose process died is made again then
	recordTimeout = time.Second // to record an attempt whose caller's time is over
)

// Pending is a notify that is not delivered yet.
type Pending struct {
	OutTradeNo string
	Attempts   int       // made so far
	Next       time.Time // of the next one
}

// Ready receives after a payment at this gateway. One value may stand for several.
func (g *Gateway) Ready() <-chan struct{} { return g.ready }

// SetDropNotifies makes every attempt from now on fail as if it were lost on the way, or ends that.
func (g *Gateway) SetDropNotifies(drop bool) { g.drop.Store(drop) }

// Next tells when the next attempt is due; false when there is none, and always with Options.Store.
func (g *Gateway) Next() (time.Time, bool) {
	var next time.Time
	for _, p := range g.Pending() {
		if next.IsZero() || p.Next.Before(next) {
			next = p.Next
		}
	}
	return next, !next.IsZero()
}

// Pending lists the notifies that are not delivered, oldest first. One that failed as often as Alipay tries is given up
// and is not among them. With Options.Store it lists none.
func (g *Gateway) Pending() []Pending {
	all := g.owned()
	slices.SortStableFunc(all, func(a, b Record) int { return a.Paid.Compare(b.Paid) })
	out := []Pending{}
	for _, r := range all {
		if !r.Notify.Next.IsZero() {
			out = append(out, Pending{OutTradeNo: r.OutTradeNo, Attempts: r.Notify.Attempts, Next: r.Notify.Next})
		}
	}
	return out
}

// Tick makes every attempt that is due, one after the other, until ctx ends. An attempt delivers when it is answered 200
// with the text "success" and nothing else; otherwise the next one follows after the wait that Options.Retries has for it.
func (g *Gateway) Tick(ctx context.Context) (delivered, failed int) {
	delivered, failed, err := g.Repeat(ctx)
	if err != nil {
		g.opt.Log.WarnContext(ctx, "notifies wait", "err", err)
	}
	return delivered, failed
}

// Repeat is Tick, and says when the store cannot be reached.
func (g *Gateway) Repeat(ctx context.Context) (delivered, failed int, err error) {
	delivered, failed, err = g.repeat(ctx)
	if ctx.Err() != nil {
		err = nil // what fails because the caller's time is over is no fault
	}
	return delivered, failed, err
}

func (g *Gateway) repeat(ctx context.Context) (delivered, failed int, err error) {
	for before := -1; before < delivered+failed; { // an index that lags names again what was done: a round without an attempt is the last
		before = delivered + failed
		due, err := g.store.Due(ctx, g.opt.Clock.Now())
		if err != nil {
			return delivered, failed, unavailable(err)
		}
		for _, no := range due {
			made, ok, err := g.attempt(ctx, no)
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

// attempt tells the shop of a payment, if that is due and nobody else is at it. One that the caller breaks off is not made.
func (g *Gateway) attempt(ctx context.Context, outTradeNo string) (made, ok bool, err error) {
	var due time.Time // as it was
	r, err := g.change(ctx, outTradeNo, func(r *Record, now time.Time) error {
		due = r.Notify.Next
		if due.IsZero() || due.After(now) {
			return errNothing
		}
		r.Notify.Next = now.Add(claimFor).Truncate(time.Millisecond) // as it will be loaded
		return nil
	})
	if errors.Is(err, errNothing) || errors.Is(err, ErrNoTrade) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	ok = !g.drop.Load() && g.send(ctx, &r)
	broken := !ok && ctx.Err() != nil
	claimed := r.Notify.Next
	if ctx.Err() != nil { // what was found is recorded all the same
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
	}
	_, err = g.change(ctx, outTradeNo, func(r *Record, now time.Time) error {
		switch n := &r.Notify; {
		case n.Next.IsZero(), !ok && !n.Next.Equal(claimed): // the claim ran out, and another one went on
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

// send makes one attempt and says whether the shop confirmed it.
func (g *Gateway) send(ctx context.Context, r *Record) bool {
	form, err := g.NotifyForm(r.Notify.ID, r.Trade, g.opt.Clock.Now())
	if err != nil {
		return false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.NotifyURL, strings.NewReader(form.Encode()))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	resp, err := g.opt.HTTP.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	const want = "success"
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(len(want))+1))
	return err == nil && resp.StatusCode == http.StatusOK && string(body) == want
}

// NotifyForm writes and signs the notify about a trade, as sent at that time. Tests change it to see it refused.
func (g *Gateway) NotifyForm(id string, t Trade, at time.Time) (url.Values, error) {
	amount := t.Amount.Yuan()
	form := url.Values{
		"notify_id":        {id},
		"notify_type":      {"trade_status_sync"},
		"notify_time":      {at.In(alipay.Zone).Format(alipay.TimeLayout)},
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
		"gmt_create":       {t.Created.In(alipay.Zone).Format(alipay.TimeLayout)},
		"charset":          {"utf-8"},
		"version":          {"1.0"},
		"sign_type":        {"RSA2"},
	}
	if !t.Paid.IsZero() {
		form.Set("gmt_payment", t.Paid.In(alipay.Zone).Format(alipay.TimeLayout))
	}
	return form, g.SignForm(form)
}

// SignForm signs a notify's form as the gateway does, replacing the signature that it has.
func (g *Gateway) SignForm(form url.Values) error {
	sign, err := alipay.Sign(g.key, alipay.SignContent(form, "sign", "sign_type"))
	if err != nil {
		return err
	}
	form.Set("sign", sign)
	return nil
}

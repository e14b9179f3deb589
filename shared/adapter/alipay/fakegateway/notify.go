package fakegateway

import (
	"context"
	"fmt"
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

// notify is a payment that the shop has not yet confirmed to know of.
type notify struct {
	id       string // the same for every attempt
	trade    Trade  // as it was when the notify was queued
	url      string
	attempts int
	next     time.Time
	busy     bool // an attempt is on its way
}

// Pending is a notify that is not delivered yet.
type Pending struct {
	OutTradeNo string
	Attempts   int       // made so far
	Next       time.Time // of the next one
}

// queueNotify makes the trade's notify due at once. The lock is held.
func (g *Gateway) queueNotify(t *trade, now time.Time) {
	g.serial++
	id := fmt.Sprintf("%s00222%s%015d", now.In(alipay.Zone).Format("20060102"), now.In(alipay.Zone).Format("150405"), g.serial)
	g.notifies = append(g.notifies, &notify{id: id, trade: t.Trade, url: t.notifyURL, next: now})
	select {
	case g.ready <- struct{}{}:
	default: // it has not been read yet and says the same
	}
}

// Ready receives after a notify was queued. One value may stand for several.
func (g *Gateway) Ready() <-chan struct{} { return g.ready }

// SetDropNotifies makes every attempt from now on fail as if it were lost on the way, or ends that.
func (g *Gateway) SetDropNotifies(drop bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop = drop
}

// Next tells when the next attempt is due; false when there is none.
func (g *Gateway) Next() (time.Time, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var next time.Time
	found := false
	for _, n := range g.notifies {
		if !n.busy && (!found || n.next.Before(next)) {
			next, found = n.next, true
		}
	}
	return next, found
}

// Pending lists the notifies that are not delivered, oldest first. One that failed as often as Alipay tries is given up
// and is not among them.
func (g *Gateway) Pending() []Pending {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]Pending, 0, len(g.notifies))
	for _, n := range g.notifies {
		out = append(out, Pending{OutTradeNo: n.trade.OutTradeNo, Attempts: n.attempts, Next: n.next})
	}
	return out
}

// Tick makes every attempt that is due, one after the other, until ctx ends. An attempt delivers when it is answered 200
// with the text "success" and nothing else; otherwise the next one follows after the wait that Options.Retries has for it.
func (g *Gateway) Tick(ctx context.Context) (delivered, failed int) {
	for ctx.Err() == nil {
		n, drop := g.take()
		if n == nil {
			break
		}
		ok := !drop && g.send(ctx, n)
		if !g.finish(n, ok, ctx.Err() != nil) {
			break
		}
		if ok {
			delivered++
		} else {
			failed++
		}
	}
	return delivered, failed
}

// take picks a notify that is due and marks it busy.
func (g *Gateway) take() (n *notify, drop bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.opt.Clock.Now()
	for _, n := range g.notifies {
		if !n.busy && !n.next.After(now) {
			n.busy = true
			return n, g.drop
		}
	}
	return nil, false
}

// finish records an attempt; one that the caller broke off does not count, and false is returned.
func (g *Gateway) finish(n *notify, ok, broken bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	n.busy = false
	if !ok && broken {
		return false
	}
	n.attempts++
	if ok || n.attempts > len(g.opt.Retries) {
		g.notifies = slices.DeleteFunc(g.notifies, func(m *notify) bool { return m == n })
		return true
	}
	n.next = g.opt.Clock.Now().Add(g.opt.Retries[n.attempts-1])
	return true
}

// send makes one attempt and says whether the shop confirmed it.
func (g *Gateway) send(ctx context.Context, n *notify) bool {
	form, err := g.NotifyForm(n.id, n.trade, g.opt.Clock.Now())
	if err != nil {
		return false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, strings.NewReader(form.Encode()))
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

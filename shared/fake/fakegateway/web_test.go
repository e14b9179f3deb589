package fakegateway_test

import (
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

const (
	quitTo = "https://shop.example/live/?order=" + orderID
	backTo = "https://shop.example/live/?paid=" + orderID + "#top"
)

var backLink = regexp.MustCompile(`id="back" href="([^"]*)"`)

// backOf returns where the page's link back leads, or "" if the page has no such link.
func backOf(page string) string {
	if m := backLink.FindStringSubmatch(page); m != nil {
		return html.UnescapeString(m[1])
	}
	return ""
}

// TestTheCashierLeadsBack checks where the cashier of a browser sends its shopper, before and after the payment.
func TestTheCashierLeadsBack(t *testing.T) {
	key := must.Get(alipay.ParsePublicKey(gatewayKeys().Public))
	for _, kind := range []string{"page", "wap"} {
		g, s, c := system(t, func(o *fakegateway.Options) { o.ReturnURL = "https://elsewhere.example/" })
		address, err := s.client.PagePay(t.Context(), order(0), backTo)
		quit := ""
		if kind == "wap" {
			address, err = s.client.WapPay(t.Context(), order(0), quitTo, backTo)
			quit = quitTo
		}
		must.OK(t, err)
		opened := ask(g, http.MethodGet, address, "").Body.String()
		must.Equal(t, quit, backOf(opened), kind, "who gives up goes to")
		c.set(start.Add(time.Minute))
		to := backOf(post(g, inputs(opened)).Body.String())
		u, err := url.Parse(to)
		if err != nil || !strings.HasPrefix(to, strings.TrimSuffix(backTo, "#top")+"&") || u.Fragment != "top" {
			t.Fatalf("%s: returns to %s, %v", kind, to, err)
		}
		form := u.Query()
		form.Del("paid") // the shop's own parameter is not signed
		signed := []byte(alipay.SignContent(form, "sign", "sign_type"))
		if err := alipay.CheckSign(key, signed, form.Get("sign")); err != nil {
			t.Errorf("%s: %v in %s", kind, err, to)
		}
		form.Del("sign")
		want := url.Values{"app_id": {appID}, "auth_app_id": {appID}, "charset": {"utf-8"}, "out_trade_no": {orderID},
			"method": {"alipay.trade." + kind + ".pay.return"}, "seller_id": {sellerID}, "sign_type": {"RSA2"},
			"timestamp": {"2026-01-01 20:01:00"}, "total_amount": {"88.80"}, "version": {"1.0"},
			"trade_no": {g.Trades()[0].TradeNo}}
		if !maps.EqualFunc(form, want, slices.Equal[[]string]) {
			t.Errorf("%s: returns with\n%v, want\n%v", kind, form, want)
		}
		again := backOf(ask(g, http.MethodGet, address, "").Body.String())
		if !strings.Contains(again, "paid="+orderID) {
			t.Errorf("%s: the paid trade opened again leads back to %q", kind, again)
		}
	}
}

// TestTheCashierOfABrowserPastTheHold: the page was opened in time and stayed open; Alipay takes no money then.
func TestTheCashierOfABrowserPastTheHold(t *testing.T) {
	g, s, c := system(t, nil)
	address := must.Get(s.client.PagePay(t.Context(), order(0), backTo))
	form := inputs(ask(g, http.MethodGet, address, "").Body.String())
	c.set(start.Add(15 * time.Minute))
	for name, w := range map[string]*httptest.ResponseRecorder{"paid": post(g, form),
		"opened": ask(g, http.MethodGet, address, "")} {
		if w.Code != http.StatusGone || !strings.Contains(w.Body.String(), "支付已过期") ||
			strings.Contains(w.Body.String(), "paid=") {
			t.Errorf("%s: status %d, page\n%s", name, w.Code, w.Body)
		}
	}
}

// TestTwoKindsOpenOneTrade: an order opened by a computer and by a phone is one trade, which is paid once.
func TestTwoKindsOpenOneTrade(t *testing.T) {
	g, s, _ := system(t, nil)
	page := must.Get(s.client.PagePay(t.Context(), order(0), backTo))
	wap := must.Get(s.client.WapPay(t.Context(), order(0), quitTo, backTo))
	onComputer := inputs(ask(g, http.MethodGet, page, "").Body.String())
	onPhone := inputs(ask(g, http.MethodGet, wap, "").Body.String())
	for _, form := range []url.Values{onComputer, onPhone} {
		if w := post(g, form); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "支付成功") {
			t.Errorf("paid with status %d, page\n%s", w.Code, w.Body)
		}
	}
	if trades := g.Trades(); len(trades) != 1 || trades[0].Status != fakegateway.StatusSuccess {
		t.Errorf("trades: %+v", trades)
	}
}

// TestCallsThatOtherSDKsMake: a product code of theirs, an amount as a number, no time_expire, no way back.
func TestCallsThatOtherSDKsMake(t *testing.T) {
	g, s, c := system(t, nil)
	query := resign(t, prepare(t, s, order(0)), func(f url.Values, biz map[string]string) {
		f.Set("method", alipay.MethodWapPay)
		f.Set("return_url", "javascript:alert(1)")
		biz["product_code"] = "QUICK_WAP_PAY"
		delete(biz, "time_expire")
		delete(biz, "seller_id")
	})
	w := ask(g, http.MethodGet, "/gateway.do?"+query, "")
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "javascript:") {
		t.Fatalf("status %d, page\n%s", w.Code, w.Body)
	}
	if got, want := g.Trades()[0].Expires, start.Add(15*24*time.Hour); !got.Equal(want) {
		t.Errorf("expires %v, want %v", got, want)
	}
	c.set(start.Add(14 * 24 * time.Hour))
	if w = ask(g, http.MethodGet, "/gateway.do?"+query, ""); w.Code != http.StatusOK || len(g.Trades()) != 1 {
		t.Errorf("opened again: status %d, %d trades", w.Code, len(g.Trades()))
	}
	if w = post(g, inputs(w.Body.String())); w.Code != http.StatusOK || backOf(w.Body.String()) != "" {
		t.Errorf("paid: status %d, back to %q", w.Code, backOf(w.Body.String()))
	}
}

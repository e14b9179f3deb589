package local_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

var goesBack = regexp.MustCompile(`id="back" href="([^"]*)"`)

// way asks for the way to the cashier and opens it, as a browser does. It returns the page.
func (w *shopTest) way(user, order, kind string) answer {
	w.t.Helper()
	a := w.call(w.token(user), "POST", "/order/"+order+"/payment", map[string]any{"kind": kind})
	address, ok := strings.CutPrefix(a.text("url"), w.URL())
	if a.status != 200 || !ok {
		w.t.Fatalf("the way by %s: %v", kind, a)
	}
	page := w.call("", "GET", address, nil)
	if page.status != 200 {
		w.t.Fatalf("the cashier by %s: %v", kind, page)
	}
	return page
}

// press presses the button of a cashier's page and returns the page that follows.
func (w *shopTest) press(page answer) answer {
	w.t.Helper()
	action, form, err := contracttest.CashierForm(page.raw)
	if err != nil {
		w.t.Fatalf("no form: %v, %v", page, err)
	}
	return w.call("", "POST", "/"+action, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// back returns where a page of the cashier leads back to.
func back(page answer) *url.URL {
	m := goesBack.FindStringSubmatch(page.raw)
	if m == nil {
		return &url.URL{}
	}
	u, _ := url.Parse(html.UnescapeString(m[1])) // the zero URL differs from every wanted one
	return u
}

// TestPaidInABrowser pays by each kind; the way back leads to the page and proves nothing.
func TestPaidInABrowser(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 2, 1)}})
	for user, kind := range map[string]string{"1001": "page", "1002": "wap"} {
		order, _ := w.bought(user, "5")
		page := w.way(user, order, kind)
		if quit := back(page); kind == "wap" && quit.String() != w.URL()+"/?order="+order {
			t.Errorf("who gives up goes to %s", quit)
		}
		to := back(w.press(page))
		if q := to.Query(); to.Host == "" || !strings.HasPrefix(to.String(), w.URL()+"/?paid="+order+"&") ||
			q.Get("out_trade_no") != order || q.Get("method") != "alipay.trade."+kind+".pay.return" {
			t.Errorf("%s: back to %s", kind, to)
		}
		w.awaitState(user, "5", seckill.Paid)
		a := w.call(w.token(user), "POST", "/order/"+order+"/payment", map[string]any{"kind": kind})
		if a.status != http.StatusConflict || a.text("code") != "not_payable" {
			t.Errorf("a paid order: %v", a)
		}
	}
}

// TestPaidTwiceByTwoKinds pays one order on a computer and on a phone, at a provider that takes both for trades of
// their own. One payment stays, the other goes back; PAYMENT.md has it as "t2 due back".
func TestPaidTwiceByTwoKinds(t *testing.T) {
	t.Parallel()
	apart := fakegateway.Faults{Shares: map[fakegateway.Fault]float64{fakegateway.TwoTrades: 1}}
	for name, c := range map[string]struct {
		kinds  []string
		faults fakegateway.Faults
		trades int
	}{
		"the computer first": {[]string{"page", "wap"}, apart, 2},
		"the phone first":    {[]string{"wap", "page"}, apart, 2},
		"one trade for both": {[]string{"page", "wap"}, fakegateway.Faults{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}, GatewayFaults: c.faults})
			order, _ := w.bought("1001", "5")
			first, second := w.way("1001", order, c.kinds[0]), w.way("1001", order, c.kinds[1]) // both open at once
			for _, page := range []answer{first, second} {
				if paid := w.press(page); paid.status != 200 || !strings.Contains(back(paid).String(), "paid="+order) {
					t.Errorf("the cashier: %v", paid)
				}
			}
			w.awaitState("1001", "5", seckill.Paid)
			w.waitIdle()
			if trades := w.Gateway.Trades(); len(trades) != c.trades {
				t.Fatalf("%d trades, want %d", len(trades), c.trades)
			}
			w.pass(time.Minute) // refund asks
			a := w.call(w.token("1001"), "GET", "/order/"+order, nil, "Accept-Language", "en")
			states := map[string]int{}
			payments, _ := a.json["payments"].([]any)
			for _, p := range payments {
				m, _ := p.(map[string]any)
				s, _ := m["state"].(string)
				states[s]++
			}
			if a.text("state") != "paid" || states["captured"] != 1 || states["refunded"] != c.trades-1 ||
				len(payments) != c.trades {
				t.Errorf("the order: %v", a)
			}
			kept := seckill.Fen(0)
			for _, trade := range w.Gateway.Trades() {
				kept += trade.Kept()
			}
			if price := w.Gateway.Trades()[0].Amount; kept != price {
				t.Errorf("the shop kept %s yuan, want %s", kept.Yuan(), price.Yuan())
			}
			w.drained()
		})
	}
}

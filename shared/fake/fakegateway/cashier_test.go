package fakegateway_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

func get(g *fakegateway.Gateway, query, acceptLanguage string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/cashier?"+query, nil)
	r.Header.Set("Accept-Language", acceptLanguage)
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

func post(g *fakegateway.Gateway, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/cashier/pay", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// inputs returns the fields of the page's form.
func inputs(page string) url.Values {
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	return form
}

func TestPayingAtTheCashier(t *testing.T) {
	g, s, c := system(t, func(o *fakegateway.Options) { o.ReturnURL = "https://shop.example/orders?from=cashier" })
	str := prepare(t, s, order(0))
	c.set(start.Add(time.Minute))
	w := get(g, str, "en-GB")
	page := w.Body.String()
	for _, want := range []string{`<html lang="en">`, "no real money", "¥</small>88.80", "红色外套 &lt;Red&gt; coat",
		orderID,
		`data-seconds="840"`, `href="https://shop.example/orders?from=cashier&amp;out_trade_no=` + orderID + `"`,
		"Cancel"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if w.Code != http.StatusOK || strings.Contains(page, "<Red>") || len(g.Trades()) != 1 {
		t.Fatalf("status %d, %d trades, want 200 and 1; page:\n%s", w.Code, len(g.Trades()), page)
	}
	if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("Content-Security-Policy %q", csp)
	}
	form := inputs(page)
	for name, change := range map[string]func(url.Values){
		"other token": func(f url.Values) { f.Set("token", "x"+form.Get("token")[1:]) },
		"no token":    func(f url.Values) { f.Del("token") },
		"other trade": func(f url.Values) { f.Set("out_trade_no", order(1).ID) },
		"nothing":     func(f url.Values) { clear(f) },
	} {
		f := inputs(page)
		change(f)
		if w := post(g, f); w.Code != http.StatusBadRequest || g.Trades()[0].Status != fakegateway.StatusWait {
			t.Errorf("%s: status %d, trade %s, want 400 and no payment", name, w.Code, g.Trades()[0].Status)
		}
	}
	for range 2 { // a second click changes nothing and shows the same page
		w = post(g, form)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Payment successful") ||
			!strings.Contains(w.Body.String(), "Back to the shop") {
			t.Errorf("paid: status %d, page\n%s", w.Code, w.Body)
		}
	}
	if d, _ := g.Tick(context.Background()); d != 1 || g.Trades()[0].Status != fakegateway.StatusSuccess {
		t.Errorf("%d notifications, trade %s, want 1 and TRADE_SUCCESS", d, g.Trades()[0].Status)
	}
	if w := get(g, str, "en"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Payment successful") {
		t.Errorf("opened when paid: status %d", w.Code)
	}
}

func TestTheCashierIsHonestWhenItCannotBePaid(t *testing.T) {
	g, s, c := system(t, nil)
	str := prepare(t, s, order(0))
	if w := get(g, strings.Replace(str, "88.80", "00.01", 1), "en"); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "cannot be opened") ||
		w.Header().Get("X-Sub-Code") != "isv.invalid-signature" {
		t.Errorf("forged: status %d, %s", w.Code, w.Header())
	}
	form := inputs(get(g, str, "en").Body.String())
	c.set(start.Add(15 * time.Minute))
	for name, w := range map[string]*httptest.ResponseRecorder{"opened late": get(g, str, "en"),
		"paid late": post(g, form)} {
		if w.Code != http.StatusGone || !strings.Contains(w.Body.String(), "This payment has expired") ||
			strings.Contains(w.Body.String(), "<form") {
			t.Errorf("%s: status %d, page\n%s", name, w.Code, w.Body)
		}
	}
	o := order(1)
	o.PayBy = start.Add(time.Hour)
	str = prepare(t, s, o)
	form = inputs(get(g, str, "en").Body.String())
	closeTrade(t, g, s, o.ID)
	for name, w := range map[string]*httptest.ResponseRecorder{"opened": get(g, str, "en"), "paid": post(g, form)} {
		if w.Code != http.StatusGone || !strings.Contains(w.Body.String(), "This payment is closed") {
			t.Errorf("%s after close: status %d, page\n%s", name, w.Code, w.Body)
		}
	}
	if len(g.Pending()) != 0 {
		t.Errorf("notifications of trades that were not paid: %v", g.Pending())
	}
}

// closeTrade closes a trade for the shop by alipay.trade.close.
func closeTrade(t *testing.T, g *fakegateway.Gateway, s *shop, id string) {
	t.Helper()
	signed := resign(t, prepare(t, s, order(0)), func(f url.Values, biz map[string]string) {
		f.Set("method", "alipay.trade.close")
		biz["out_trade_no"] = id
	})
	w := ask(g, http.MethodPost, "/gateway.do?"+signed, "")
	if !strings.Contains(w.Body.String(), `"code":"10000"`) {
		t.Fatalf("close %s: %s", id, w.Body)
	}
}

func TestTheCashiersLanguage(t *testing.T) {
	g, s, _ := system(t, nil)
	str := prepare(t, s, order(0))
	for _, tc := range []struct{ add, accept, want string }{
		{"", "", "zh"},
		{"", "zh-CN,zh;q=0.9,en;q=0.8", "zh"},
		{"", "en-US,en;q=0.9", "en"},
		{"", "fr, en;q=0.5, zh;q=0.4", "en"},
		{"", "zh;q=0.3, en;q=0.7", "en"},
		{"", "fr", "zh"},
		{"", "en;q=x, zh", "zh"},
		{"&lang=en", "zh", "en"},
		{"&lang=zh", "en", "zh"},
		{"&lang=xx", "en", "en"},
	} {
		w := get(g, str+tc.add, tc.accept)
		if want := fmt.Sprintf(`<html lang="%s">`, tc.want); w.Code != http.StatusOK ||
			!strings.Contains(w.Body.String(), want) {
			t.Errorf("%q with Accept-Language %q: status %d, want %s", tc.add, tc.accept, w.Code, want)
		}
	}
	page := get(g, str, "en").Body.String()
	m := regexp.MustCompile(`href="\?([^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no link to the other language in\n%s", page)
	}
	if w := get(g, html.UnescapeString(m[1]), "en"); w.Code != http.StatusOK ||
		!strings.Contains(w.Body.String(), "确认付款") {
		t.Errorf("the link to the other language gives status %d", w.Code)
	}
}

func TestOtherRoutesAndMethods(t *testing.T) {
	g, _, _ := system(t, nil)
	for _, tc := range []struct {
		method, path string
		want         int
	}{
		{http.MethodPost, "/cashier", http.StatusMethodNotAllowed},
		{http.MethodGet, "/cashier/pay", http.StatusMethodNotAllowed},
		{http.MethodGet, "/elsewhere", http.StatusNotFound},
		{http.MethodGet, "/gateway.do", http.StatusOK}, // refused in the format of the call's answer
	} {
		must.Equal(t, tc.want, ask(g, tc.method, tc.path, "").Code, tc.method, tc.path, "status")
	}
}

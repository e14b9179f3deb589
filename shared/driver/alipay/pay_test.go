package alipay_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	quitURL   = "https://shop.example/quit?a=1&b=2"
	returnURL = "https://shop.example/back?order=x&y=%E7%BA%A2"
)

// ways returns the calls that sign an order, by name.
func ways(c *alipay.Client) map[string]func(seckill.Order, string) (string, error) {
	all := pages(c)
	all["app"] = func(o seckill.Order, _ string) (string, error) { return c.Prepare(o) }
	return all
}

// pages returns both calls for a browser by name.
func pages(c *alipay.Client) map[string]func(seckill.Order, string) (string, error) {
	return map[string]func(seckill.Order, string) (string, error){
		alipay.MethodPagePay: func(o seckill.Order, returnURL string) (string, error) {
			return c.PagePay(context.Background(), o, returnURL)
		},
		alipay.MethodWapPay: func(o seckill.Order, returnURL string) (string, error) {
			return c.WapPay(context.Background(), o, quitURL, returnURL)
		},
	}
}

// sent returns the parameters that reach Alipay when a browser opens the address.
func sent(t *testing.T, address string) url.Values {
	t.Helper()
	rest, found := strings.CutPrefix(address, "https://gateway.example/gateway.do?")
	if !found || strings.ContainsAny(address, "+ \"<>'") {
		t.Fatalf("address %s", address)
	}
	return must.Get(url.ParseQuery(rest))
}

func TestPagesSignWhatAlipayWants(t *testing.T) {
	key, err := alipay.ParsePublicKey(shopKeys().Public)
	must.OK(t, err)
	const content = `app_id=2021000000000001&biz_content={"out_trade_no":"oabcdefghijklmnopqrstuvwxyz","total_amount":"88.80",` +
		`"subject":"红色外套 Red coat","product_code":"PRODUCT","time_expire":"2026-01-01 20:15:00"MORE}&charset=utf-8&format=JSON&method=METHOD` +
		`&notify_url=https://shop.example/seckill/alipay/notify&return_url=https://shop.example/back?order=x&y=%E7%BA%A2&sign_type=RSA2` +
		`&timestamp=2026-01-01 20:00:00&version=1.0`
	want := map[string]string{
		alipay.MethodPagePay: strings.NewReplacer("PRODUCT", "FAST_INSTANT_TRADE_PAY", "METHOD",
			"alipay.trade.page.pay", "MORE", "").Replace(content),
		alipay.MethodWapPay: strings.NewReplacer("PRODUCT", "QUICK_WAP_WAY", "METHOD", "alipay.trade.wap.pay", "MORE",
			`,"seller_id":"2088000000000001","quit_url":"https://shop.example/quit?a=1&b=2"`).Replace(content),
	}
	for method, sign := range pages(client(t, nil, &clock{start})) {
		p, err := sign(order(), returnURL)
		must.OK(t, err)
		form := sent(t, p)
		must.Equal(t, want[method], alipay.SignContent(form, "sign"), method, "signed")
		if err := alipay.CheckSign(key, []byte(want[method]), form.Get("sign")); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		if p, err = sign(order(), ""); err != nil || strings.Contains(p, "return_url") {
			t.Errorf("%s without a return URL: %v: %s", method, err, p)
		}
	}
}

func TestAnOrderIsSignedTheSameEachTime(t *testing.T) {
	now := &clock{start}
	for method, sign := range ways(client(t, nil, now)) {
		now.now = start
		first, err := sign(order(), returnURL)
		now.now = start.Add(9 * time.Minute)
		o := order()
		o.State, o.PayBy, o.Placed = seckill.Closing, o.PayBy.In(seckill.Zone), o.Placed.Local()
		second, err2 := ways(client(t, nil, now))[method](o, returnURL)
		if err != nil || err2 != nil || first != second {
			t.Errorf("%s: %v, %v\n%s\n%s", method, err, err2, first, second)
		}
	}
}

func TestPagesEscapeWhatAShopMayWrite(t *testing.T) {
	for _, title := range []string{`"><script>alert(1)</script>`, `'"<&>`, "50% + 1", "红\u2028色", "🎧 𠮷野家", `\"`,
		"&quot;", "&#34;><b>"} {
		for method, sign := range pages(client(t, nil, &clock{start})) {
			o := order()
			o.Title = title
			p := must.Get(sign(o, `https://shop.example/back?"><script>&a='`))
			form := sent(t, p)
			var biz struct{ Subject string }
			if err := json.Unmarshal([]byte(form.Get("biz_content")), &biz); err != nil ||
				biz.Subject != alipay.Subject(title) || len(form) != 11 {
				t.Errorf("%s %q: %v, %v", method, title, form, err)
			}
		}
	}
}

func TestOrdersThatAlipayWouldRefuse(t *testing.T) {
	for method, sign := range ways(client(t, nil, &clock{start})) {
		for name, change := range map[string]func(*seckill.Order){
			"id of another form": func(o *seckill.Order) { o.ID = "1234" },
			"no amount":          func(o *seckill.Order) { o.Amount = 0 },
			"negative amount":    func(o *seckill.Order) { o.Amount = -1 },
			"too much":           func(o *seckill.Order) { o.Amount = seckill.MaxFen + 1 },
			"never placed":       func(o *seckill.Order) { o.Placed = time.Time{} },
			"no hold":            func(o *seckill.Order) { o.PayBy = o.Placed },
			"rejected":           func(o *seckill.Order) { o.PayBy = time.Time{} },
		} {
			o := order()
			change(&o)
			if got, err := sign(o, returnURL); err == nil || got != "" {
				t.Errorf("%s: %s: got %s, %v", method, name, got, err)
			}
		}
	}
}

func TestPagesRefuseAddresses(t *testing.T) {
	c := client(t, nil, &clock{start})
	for method, sign := range pages(c) {
		for _, address := range []string{"/back", "shop.example", "javascript:alert(1)", "https://",
			"https://shop.example/" + strings.Repeat("x", 256)} {
			if got, err := sign(order(), address); err == nil || !strings.Contains(err.Error(), "return URL") {
				t.Errorf("%s to %s: got %s, %v", method, address, got, err)
			}
		}
	}
	for _, address := range []string{"", "/quit", "ftp://shop.example/quit", "https://shop.example/" +
		strings.Repeat("x", 400)} {
		got, err := c.WapPay(t.Context(), order(), address, returnURL)
		if err == nil || !strings.Contains(err.Error(), "quit URL") {
			t.Errorf("quit to %q: got %s, %v", address, got, err)
		}
	}
}

// TestPagesOfAGatewayWithAQuery covers a gateway whose own URL has a query.
func TestPagesOfAGatewayWithAQuery(t *testing.T) {
	conf := config(nil, &clock{start})
	conf.Gateway += "?env=test"
	c := must.Get(alipay.New(conf))
	p := must.Get(c.PagePay(t.Context(), order(), ""))
	if u, err := url.Parse(p); err != nil || u.Query().Get("env") != "test" || u.Query().Get("app_id") != appID {
		t.Errorf("%v: %s", err, p)
	}
}

//go:build real

package alipaysdk_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/alipay"
)

const (
	quitURL   = "https://shop.example/quit?a=1&b=2"
	returnURL = "https://shop.example/back?order=x&y=%E7%BA%A2"
)

var (
	action = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

// query returns the parameters of a URL.
func query(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	v, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// unquoted decodes an attribute as the SDK writes it: the SDK escapes only quotes, and relies on browsers not to read
// "&notify_url" as "¬ify_url".
func unquoted(s string) string { return strings.ReplaceAll(s, "&quot;", `"`) }

// posted returns the parameters that a browser sends to Alipay with the form.
func posted(t *testing.T, form string) url.Values {
	t.Helper()
	address, body := fields(t, form)
	v := query(t, address)
	for name := range body {
		v.Set(name, body.Get(name))
	}
	return v
}

// fields returns where a form is sent, and what with.
func fields(t *testing.T, form string) (address string, body url.Values) {
	t.Helper()
	m := action.FindStringSubmatch(form)
	if m == nil {
		t.Fatalf("no form: %s", form)
	}
	body = url.Values{}
	for _, input := range hidden.FindAllStringSubmatch(form, -1) {
		body.Set(input[1], unquoted(input[2]))
	}
	return unquoted(m[1]), body
}

// same removes what may differ: the signature (checked elsewhere), the SDK's own name, and the order of biz_content's
// members, which came from a Go map.
func same(t *testing.T, v url.Values) string {
	t.Helper()
	var content map[string]string
	if err := json.Unmarshal([]byte(v.Get("biz_content")), &content); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	v.Set("biz_content", string(b))
	v.Del("sign")
	v.Del("alipay_sdk")
	return v.Encode()
}

func TestPagesBothWays(t *testing.T) {
	w := newGateway(t)
	key, err := alipay.ParsePublicKey(w.shop.Public)
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	var ours, titles, queries []string
	for i, title := range texts() {
		if alipay.Subject(title) == "" {
			continue // our client puts the order's id there, which the SDK does not know
		}
		o := order(i, title)
		content := map[string]string{"outTradeNo": o.ID, "totalAmount": o.Amount.Yuan(),
			"subject":    alipay.Subject(title),
			"timeExpire": "2026-01-01 20:15:00", "productCode": "FAST_INSTANT_TRADE_PAY"}
		method := alipay.MethodPagePay
		p, err := w.client.PagePay(t.Context(), o, returnURL)
		if i%2 == 1 {
			method, content["productCode"], content["sellerId"], content["quitUrl"] = alipay.MethodWapPay,
				"QUICK_WAP_WAY", sellerID, quitURL
			p, err = w.client.WapPay(t.Context(), o, quitURL, returnURL)
		}
		if err != nil {
			t.Fatal(err)
		}
		ours, titles = append(ours, p), append(titles, title)
		_, q, _ := strings.Cut(p, "?")
		queries = append(queries, q)
		list = append(list, map[string]any{"method": method, "notifyUrl": notifyURL, "returnUrl": returnURL,
			"timestamp": "2026-01-01 20:00:00",
			"content":   content})
	}
	var theirs []struct{ Address, Form string }
	w.call("pages", map[string]any{"list": list}, &theirs)
	for i, title := range titles {
		byAddress, byForm := query(t, theirs[i].Address), posted(t, theirs[i].Form)
		for _, v := range []url.Values{byAddress, byForm} {
			if err := alipay.CheckSign(key, []byte(alipay.SignContent(v, "sign")), v.Get("sign")); err != nil {
				t.Errorf("%q: the SDK's %v: %v", title, v, err)
			}
		}
		want := same(t, byAddress)
		for how, v := range map[string]url.Values{"the SDK's form": byForm, "our address": query(t, ours[i])} {
			if got := same(t, v); got != want {
				t.Errorf("%q: %s has\n%s, the SDK's address\n%s", title, how, got, want)
			}
		}
	}
	var got []checked
	w.call("check_order_strings", map[string]any{"list": queries}, &got)
	for i := range got {
		if !got[i].V1 || !got[i].V2 {
			t.Errorf("%q: the SDK refuses %s: %v", titles[i], queries[i], got[i])
		}
	}
}

// cashier is what a browser shows of the fake gateway.
type cashier struct {
	t    *testing.T
	page string
	form url.Values // of its button
}

var (
	cashierInput = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)
	cashierBack  = regexp.MustCompile(`id="back" href="([^"]*)"`)
)

// shows reads an answer of the gateway.
func shows(t *testing.T, resp *http.Response, err error) cashier {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the cashier answers %d, %v, %s: %s", resp.StatusCode, err, resp.Header.Get("X-Sub-Code"), b)
	}
	c := cashier{t, string(b), url.Values{}}
	for _, m := range cashierInput.FindAllStringSubmatch(c.page, -1) {
		c.form.Set(m[1], html.UnescapeString(m[2]))
	}
	return c
}

// back returns where the page leads back to.
func (c *cashier) back() string {
	c.t.Helper()
	m := cashierBack.FindStringSubmatch(c.page)
	if m == nil {
		c.t.Fatalf("no way back in %s", c.page)
	}
	return html.UnescapeString(m[1])
}

// pay presses the button and returns what Alipay adds to return_url, without the shop's own parameters.
func (c *cashier) pay(gateway string) map[string]string {
	c.t.Helper()
	resp, err := http.PostForm(strings.TrimSuffix(gateway, "gateway.do")+"cashier/pay", c.form)
	paid := shows(c.t, resp, err)
	own, out := query(c.t, returnURL), map[string]string{}
	for name, values := range query(c.t, paid.back()) {
		if !own.Has(name) {
			out[name] = values[0]
		}
	}
	return out
}

// TestTheSDKsPagesAtOurCashier: a browser opens what the SDK makes, by its address or by its form, pays, and returns
// with what the SDK takes for Alipay's.
func TestTheSDKsPagesAtOurCashier(t *testing.T) {
	w := newGateway(t)
	var list []map[string]any
	for i, method := range []string{alipay.MethodPagePay, alipay.MethodWapPay} {
		content := map[string]string{"outTradeNo": orderID(i), "totalAmount": "0.01", "subject": "红色外套",
			"timeExpire": "2026-01-01 20:15:00", "productCode": "FAST_INSTANT_TRADE_PAY"}
		if method == alipay.MethodWapPay {
			content["productCode"], content["quitUrl"] = "QUICK_WAP_WAY", quitURL
		}
		list = append(list, map[string]any{"method": method, "notifyUrl": notifyURL, "returnUrl": returnURL,
			"timestamp": "2026-01-01 20:00:00", "content": content})
	}
	var theirs []struct{ Address, Form string }
	w.call("pages", map[string]any{"list": list}, &theirs)
	var returns []string
	for i, p := range theirs {
		resp, err := http.Get(p.Address)
		byAddress := shows(t, resp, err)
		address, body := fields(t, p.Form)
		resp, err = http.PostForm(address, body)
		byForm := shows(t, resp, err)
		if byAddress.form.Get("token") != byForm.form.Get("token") || len(w.gateway.Trades()) != i+1 {
			t.Errorf("%d: address and form open two trades: %+v", i, w.gateway.Trades())
		}
		if list[i]["method"] == alipay.MethodWapPay && byForm.back() != quitURL {
			t.Errorf("who gives up goes to %s", byForm.back())
		}
		form := url.Values{}
		for name, value := range byForm.pay(w.url) {
			form.Set(name, value)
		}
		changed := url.Values{}
		for name := range form {
			changed.Set(name, form.Get(name))
		}
		changed.Set("total_amount", "0.02")
		returns = append(returns, form.Encode(), changed.Encode())
	}
	var got []checked
	w.call("check_notifications", map[string]any{"list": returns}, &got)
	for i := range got {
		if genuine := i%2 == 0; got[i].V2 != genuine {
			t.Errorf("the SDK says %v of %s", got[i], returns[i])
		}
	}
}

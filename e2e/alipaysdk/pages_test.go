//go:build real

package alipaysdk_test

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/adapter/alipay"
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
func posted(t *testing.T, form string, attribute func(string) string) url.Values {
	t.Helper()
	m := action.FindStringSubmatch(form)
	if m == nil {
		t.Fatalf("no form: %s", form)
	}
	v := query(t, attribute(m[1]))
	for _, input := range hidden.FindAllStringSubmatch(form, -1) {
		v.Set(input[1], attribute(input[2]))
	}
	return v
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
	var ours []alipay.Page
	var titles, queries []string
	for i, title := range texts() {
		if alipay.Subject(title) == "" {
			continue // our client puts the order's id there, which the SDK does not know
		}
		o := order(i, title)
		content := map[string]string{"outTradeNo": o.ID, "totalAmount": o.Amount.Yuan(),
			"subject":    alipay.Subject(title),
			"timeExpire": "2026-01-01 20:15:00", "productCode": "FAST_INSTANT_TRADE_PAY"}
		method := alipay.MethodPagePay
		p, err := w.client.PagePay(o, returnURL)
		if i%2 == 1 {
			method, content["productCode"], content["sellerId"], content["quitUrl"] = alipay.MethodWapPay,
				"QUICK_WAP_WAY", sellerID, quitURL
			p, err = w.client.WapPay(o, quitURL, returnURL)
		}
		if err != nil {
			t.Fatal(err)
		}
		ours, titles = append(ours, p), append(titles, title)
		_, q, _ := strings.Cut(p.URL, "?")
		queries = append(queries, q)
		list = append(list, map[string]any{"method": method, "notifyUrl": notifyURL, "returnUrl": returnURL,
			"timestamp": "2026-01-01 20:00:00",
			"content":   content})
	}
	var theirs []struct{ Address, Form string }
	w.call("pages", map[string]any{"list": list}, &theirs)
	for i, title := range titles {
		byAddress, byForm := query(t, theirs[i].Address), posted(t, theirs[i].Form, unquoted)
		for _, v := range []url.Values{byAddress, byForm} {
			if err := alipay.CheckSign(key, []byte(alipay.SignContent(v, "sign")), v.Get("sign")); err != nil {
				t.Errorf("%q: the SDK's %v: %v", title, v, err)
			}
		}
		want := same(t, byAddress)
		for how, v := range map[string]url.Values{"the SDK's form": byForm, "our address": query(t, ours[i].URL),
			"our form": posted(t, ours[i].Form, html.UnescapeString)} {
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

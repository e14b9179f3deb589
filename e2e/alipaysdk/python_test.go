//go:build real

package alipaysdk_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
)

// TestPythonBothWays has python-alipay-sdk sign pages that our gateway opens, also with its own product code and
// without a time_expire, check the addresses that we sign, and check what our gateway returns with.
func TestPythonBothWays(t *testing.T) {
	w := newGateway(t)
	var requests []map[string]string
	for i, title := range texts() {
		address, err := w.client.PagePay(t.Context(), order(1000+i, title), returnURL)
		if i%2 == 1 {
			address, err = w.client.WapPay(t.Context(), order(1000+i, title), quitURL, returnURL)
		}
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, plain(query(t, address)))
	}
	changed := plain(query(t, requestURL(requests[0])))
	changed["return_url"] += "x"
	requests = append(requests, changed)
	var pages []map[string]any
	for i, kind := range []string{"page", "wap", "page", "wap"} {
		more := map[string]string{}
		if i < 2 {
			more["time_expire"] = "2026-01-01 20:15:00"
		}
		pages = append(pages, map[string]any{"kind": kind, "subject": "红色外套 50% + 1", "out_trade_no": orderID(i),
			"total_amount": 0.01 * float64(i+1), "return_url": returnURL, "more": more})
	}
	first := w.python(t, pages, requests, []map[string]string{})
	for i, ok := range first.Requests {
		if ok != (i < len(requests)-1) {
			t.Errorf("of our address %v it says %v", requests[i], ok)
		}
	}
	var returns []map[string]string
	for i, theirs := range first.Pages {
		resp, err := http.Get(w.url + "?" + theirs)
		c := shows(t, resp, err)
		if product := query(t, w.url+"?"+theirs).Get("biz_content"); i%2 == 1 &&
			!strings.Contains(product, "QUICK_WAP_PAY") {
			t.Errorf("its product code is ours by now: %s", product)
		}
		returns = append(returns, c.pay(w.url))
	}
	forged := plain(query(t, requestURL(returns[0])))
	forged["total_amount"] = "0.02"
	second := w.python(t, []map[string]any{}, []map[string]string{}, append(returns, forged))
	for i, ok := range second.Returns {
		if ok != (i < len(returns)) {
			t.Errorf("of the return %d it says %v", i, ok)
		}
	}
	if trades := w.gateway.Trades(); len(trades) != len(pages) {
		t.Errorf("%d trades, want %d", len(trades), len(pages))
	}
}

// verdict is what peer.py answers.
type verdict struct {
	Pages             []string
	Requests, Returns []bool
}

// python runs peer.py once.
func (w *gateway) python(t *testing.T, pages []map[string]any, requests, returns []map[string]string) (v verdict) {
	t.Helper()
	python, err := exec.CommandContext(t.Context(), "./install.sh").Output()
	if err != nil {
		t.Fatalf("install.sh: %v", err)
	}
	asked, err := json.Marshal(map[string]any{"app_id": appID, "notify_url": notifyURL, "app_private": w.shop.Private,
		"app_public": w.shop.Public, "alipay_private": w.provider.Private, "alipay_public": w.provider.Public,
		"pages": pages, "requests": requests, "returns": returns})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), strings.TrimSpace(string(python)), "peer.py")
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(asked), &complaint
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &v)
	}
	if err != nil || len(v.Pages) != len(pages) || len(v.Requests) != len(requests) || len(v.Returns) != len(returns) {
		t.Fatalf("peer.py: %v\n%s%s", err, out, &complaint)
	}
	return v
}

// plain returns parameters that occur once each.
func plain(form url.Values) map[string]string {
	out := map[string]string{}
	for name := range form {
		out[name] = form.Get(name)
	}
	return out
}

// requestURL is the inverse of plain, as an address.
func requestURL(params map[string]string) string {
	form := url.Values{}
	for name, value := range params {
		form.Set(name, value)
	}
	return "https://x.example/?" + form.Encode()
}

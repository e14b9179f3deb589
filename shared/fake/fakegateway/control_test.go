package fakegateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

// ask sends a request to a gateway.
func ask(g *fakegateway.Gateway, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

// tune sends a request to its control.
func tune(g *fakegateway.Gateway, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	fakegateway.Control(g).ServeHTTP(w, r)
	return w
}

func controlled(t *testing.T) (*fakegateway.Gateway, *shop) {
	t.Helper()
	g, s, _ := system(t, nil)
	open(t, g, s, order(0))
	return g, s
}

func TestFaultsOverHTTP(t *testing.T) {
	g, _ := controlled(t)
	if w := tune(g, http.MethodGet, "/faults", ""); w.Code != http.StatusOK ||
		strings.TrimSpace(w.Body.String()) != `{"seed":0,"shares":{},"landed":{},"taken":{}}` {
		t.Errorf("at first: status %d, %s", w.Code, w.Body)
	}
	if w := tune(g, http.MethodPut, "/faults", `{"seed": 7, "shares": {"call-5xx": 1}}`); w.Code != http.StatusOK {
		t.Fatalf("put: status %d, %s", w.Code, w.Body)
	}
	if _, status := call(t, g, alipay.MethodQuery,
		map[string]any{"out_trade_no": orderID}); status != http.StatusBadGateway {
		t.Errorf("status %d, want 502", status)
	}
	var got fakegateway.FaultReport
	w := tune(g, http.MethodGet, "/faults", "")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := fakegateway.FaultReport{Faults: fakegateway.Faults{Seed: 7,
		Shares: map[fakegateway.Fault]float64{"call-5xx": 1}},
		Landed: map[fakegateway.Fault]int{"call-5xx": 1}, Taken: map[fakegateway.Fault]int{}}
	must.Equal(t, want, got, "then")
	for name, body := range map[string]string{
		"nothing":       "",
		"no JSON":       "notification-lost=1",
		"a list":        "[]",
		"other field":   `{"share": {"call-5xx": 1}}`,
		"other fault":   `{"shares": {"lost": 1}}`,
		"out of range":  `{"shares": {"call-5xx": 2}}`,
		"text as share": `{"shares": {"call-5xx": "1"}}`,
		"seed below 0":  `{"seed": -1}`,
		"two values":    `{} {}`,
		"too long":      `{"seed": 1` + strings.Repeat(" ", 64<<10) + `}`,
	} {
		w := tune(g, http.MethodPut, "/faults", body)
		var problem struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Code != http.StatusBadRequest ||
			!strings.Contains(problem.Error, "want") && !strings.Contains(problem.Error, "known: ") {
			t.Errorf("%s: status %d, %s, want 400 that says what is known", name, w.Code, w.Body)
		}
	}
	must.Equal(t, want, g.Faults(), "after what was refused")
	if w := tune(g, http.MethodPut, "/faults", `{}`); w.Code != http.StatusOK || len(g.Faults().Landed) != 0 {
		t.Errorf("back to nothing: status %d, %+v", w.Code, g.Faults())
	}
}

func TestTradesOverHTTP(t *testing.T) {
	g, s := controlled(t)
	must.OK(t, g.Pay(orderID))
	refund(t, g, "8.80", "r1", "Y")
	open(t, g, s, order(1))
	first := `{"out_trade_no":"` + orderID + `","trade_no":"` + g.Trades()[0].TradeNo +
		`","subject":"红色外套 \u003cRed\u003e coat","amount":88.80,"status":"TRADE_SUCCESS",` +
		`"created":"2026-01-01T12:00:00Z","expires":"2026-01-01T12:15:00Z","paid":"2026-01-01T12:00:00Z","refunded":8.80,"kept":80.00,` +
		`"refunds":[{"out_request_no":"r1","amount":8.80,"at":"2026-01-01T12:00:00Z"}]}` + "\n"
	w := tune(g, http.MethodGet, "/trades", "")
	rest, ok := strings.CutPrefix(w.Body.String(), first)
	if w.Code != http.StatusOK || !ok || strings.Count(rest, "\n") != 1 ||
		!strings.Contains(rest, `"status":"WAIT_BUYER_PAY"`) || !strings.Contains(rest, `"kept":0.00,"refunds":[]`) {
		t.Errorf("status %d,\n%s\nwant\n%s and one more", w.Code, w.Body, first)
	}
	if w := tune(g, http.MethodGet, "/trades?out_trade_no="+orderID, ""); w.Body.String() != first {
		t.Errorf("of one order:\n%s", w.Body)
	}
}

// TestControlHasToBeAskedFor checks that a gateway alone has no path that changes the faults, and that /trades answers
// 501 for a store that cannot list.
func TestControlHasToBeAskedFor(t *testing.T) {
	g, _, _ := system(t, nil)
	for _, path := range fakegateway.ControlPaths {
		w := httptest.NewRecorder()
		if g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil)); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, w.Code)
		}
	}
	g, _, _ = system(t, func(o *fakegateway.Options) {
		o.Store = struct{ fakegateway.Store }{fakegateway.NewMemory(o.Clock, 10)}
	})
	must.Equal(t, http.StatusNotImplemented, tune(g, http.MethodGet, "/trades", "").Code,
		"a store that cannot list: status")
	g, _, _ = system(t, func(o *fakegateway.Options) {
		o.Store = failing{fakegateway.NewMemory(o.Clock, 10)}
	})
	must.Equal(t, http.StatusServiceUnavailable, tune(g, http.MethodGet, "/trades", "").Code,
		"a store that fails: status")
}

// failing is a store whose listing fails.
type failing struct{ fakegateway.Store }

func (failing) All(context.Context) ([]fakegateway.Record, error) {
	return nil, errors.New("no table")
}

// TestPayingOnTheWeb checks that the web calls open the cashier at /gateway.do, by URL or by form.
func TestPayingOnTheWeb(t *testing.T) {
	for method, product := range map[string]string{alipay.MethodPagePay: "FAST_INSTANT_TRADE_PAY",
		alipay.MethodWapPay: "QUICK_WAP_WAY"} {
		for _, httpMethod := range []string{http.MethodGet, http.MethodPost} {
			g, s, _ := system(t, nil)
			web := func(product string) *httptest.ResponseRecorder {
				order := resign(t, prepare(t, s, order(0)), func(f url.Values, biz map[string]string) {
					f.Set("method", method)
					f.Set("return_url", "https://shop.example/back")
					biz["product_code"] = product
				})
				r := httptest.NewRequest(httpMethod, "/gateway.do?"+order, nil)
				if httpMethod == http.MethodPost {
					r = httptest.NewRequest(httpMethod, "/gateway.do", strings.NewReader(order))
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				}
				w := httptest.NewRecorder()
				g.ServeHTTP(w, r)
				return w
			}
			if w := web("QUICK_MSECURITY_PAY"); w.Code != http.StatusBadRequest ||
				w.Header().Get("X-Sub-Code") != "ACQ.INVALID_PARAMETER" {
				t.Errorf("%s with the product of another: status %d, %v", method, w.Code, w.Header())
			}
			w := web(product)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "确认付款") {
				t.Fatalf("%s %s: status %d, page\n%s", httpMethod, method, w.Code, w.Body)
			}
			if w := post(g, inputs(w.Body.String())); w.Code != http.StatusOK ||
				g.Trades()[0].Status != fakegateway.StatusSuccess {
				t.Errorf("%s: paid with status %d, %+v", method, w.Code, g.Trades())
			}
		}
	}
}

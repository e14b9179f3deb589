package local_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestEveryAnswerIsGuarded checks the security headers of all kinds of answers; pages and cashier have their own
// policy.
func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("11", 10, 5)}})
	for _, path := range []string{"/", "/status", "/app.js", "/nothing", "/seckill/ing", "/seckill/buy",
		"/seckill/nothing", "/healthz",
		"/seckill/alipay/notify", "/order/o1", "/cashier", "/gateway.do", "/_local/clock", "/_local/nothing"} {
		for _, host := range []string{"", "shop.example"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL()+path, nil)
			must.OK(t, err)
			r.Host = host
			resp, err := w.http.Do(r)
			must.OK(t, err)
			resp.Body.Close()
			policy := resp.Header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
				t.Errorf("%s%s, %d: policy %q", host, path, resp.StatusCode, policy)
			}
			for name, want := range map[string]string{"X-Content-Type-Options": "nosniff",
				"Referrer-Policy":              "no-referrer",
				"Cross-Origin-Resource-Policy": "same-origin",
				"Cross-Origin-Opener-Policy":   "", "Strict-Transport-Security": ""} {
				if got := resp.Header.Values(name); strings.Join(got, "|") != want {
					t.Errorf("%s%s, %d: %s %q, want %q", host, path, resp.StatusCode, name, got, want)
				}
			}
		}
	}
}

package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/bucket"
)

type steppedClock struct{ now time.Time }

func (c *steppedClock) Now() time.Time { return c.now }

// limited serves every route with limits.
func limited(clock *steppedClock) *Handler {
	h, _ := newStubsWith(Options{Limits: NewLimits(clock)})
	return h
}

// knock sends n requests and returns how many were told that they are too many, and the last Retry-After of these.
func knock(t *testing.T, h http.Handler, n int, path, remote, token string, header ...string) (refused int,
	wait string) {
	t.Helper()
	for range n {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.RemoteAddr = remote
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == http.StatusTooManyRequests {
			refused, wait = refused+1, w.Header().Get("Retry-After")
		}
	}
	return refused, wait
}

// TestLimitsOfNetworks checks which networks share a bucket, and which have no bucket. No header changes a client's
// network.
func TestLimitsOfNetworks(t *testing.T) {
	t.Parallel()
	const burst, more = 1000, 50
	one := []string{"203.0.113.7:1"}
	for what, c := range map[string]struct {
		remotes []string // take turns
		header  []string
		refused int
	}{
		"one address":                       {[]string{"203.0.113.7:4711"}, nil, more},
		"its ports":                         {[]string{"203.0.113.7:1", "203.0.113.7:2"}, nil, more},
		"without a port":                    {[]string{"203.0.113.7"}, nil, more},
		"written as IPv6":                   {[]string{"203.0.113.7:1", "[::ffff:203.0.113.7]:1"}, nil, more},
		"two addresses":                     {[]string{"203.0.113.7:1", "203.0.113.8:1"}, nil, 0},
		"one IPv6 network of 64 bits":       {[]string{"[2001:db8::1]:1", "[2001:db8::2:0:0:1]:1"}, nil, more},
		"two IPv6 networks":                 {[]string{"[2001:db8:0:1::1]:1", "[2001:db8:0:2::1]:1"}, nil, 0},
		"a carrier's NAT":                   {[]string{"100.64.0.1:1", "100.64.0.1:2"}, nil, more},
		"this machine":                      {[]string{"127.0.0.1:1", "[::1]:1"}, nil, 0},
		"a private network":                 {[]string{"10.0.0.1:1", "192.168.1.1:1", "[fd00::1]:1"}, nil, 0},
		"no address":                        {[]string{""}, nil, 0},
		"X-Forwarded-For of another":        {one, []string{"X-Forwarded-For", "198.51.100.1"}, more},
		"Forwarded of another":              {one, []string{"Forwarded", "for=198.51.100.1"}, more},
		"X-Real-Ip of this machine":         {one, []string{"X-Real-Ip", "127.0.0.1"}, more},
		"CloudFront-Viewer-Address of some": {one, []string{"CloudFront-Viewer-Address", "1.2.3.4:5"}, more},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := limited(&steppedClock{now})
			refused := 0
			for i := range burst + more {
				n, wait := knock(t, h, 1, "/seckill/time", c.remotes[i%len(c.remotes)], "", c.header...)
				if refused += n; n > 0 && wait != "1" {
					t.Fatalf("Retry-After %q, want 1", wait)
				}
			}
			if refused != c.refused {
				t.Errorf("%d of %d requests refused, want %d", refused, burst+more, c.refused)
			}
		})
	}
}

// TestLimitsOfUsers: a user's calls are bounded by route and by verified user, whatever networks they come from; a
// token that is not verified takes nothing from anybody's bucket; the wait that is told is enough.
func TestLimitsOfUsers(t *testing.T) {
	t.Parallel()
	const burst = 60
	clock := &steppedClock{now}
	h := limited(clock)
	from := func(i int) string { return fmt.Sprintf("203.0.113.%d:1", i) }
	if refused, _ := knock(t, h, 3*burst, "/order/list", from(0), "Bearer forged"); refused != 0 {
		t.Errorf("%d requests with a forged token were counted as a user's", refused)
	}
	for i := range burst {
		if refused, _ := knock(t, h, 1, "/order/list", from(i), bearer(alice)); refused != 0 {
			t.Fatalf("request %d refused", i)
		}
	}
	if refused, _ := knock(t, h, 5, "/order/list", from(99), bearer(alice)); refused != 5 {
		t.Errorf("%d of 5 requests over the limit refused", refused)
	}
	if refused, _ := knock(t, h, 1, "/seckill/order/"+itemID, from(1), bearer(alice)); refused != 0 {
		t.Error("another route has the same bucket")
	}
	clock.now = clock.now.Add(100 * time.Millisecond)
	if refused, _ := knock(t, h, 1, "/order/list", from(1), bearer(alice)); refused != 0 {
		t.Error("still refused after the wait")
	}
}

// TestEveryRouteHasALine: a public route without a line in the table would have no limit.
func TestEveryRouteHasALine(t *testing.T) {
	t.Parallel()
	has := map[string]bool{}
	for _, r := range rules {
		has[r.pattern] = true
		if r.network == (bucket.Rate{}) && r.pattern != "/seckill/alipay/notify" {
			t.Errorf("%s sets no limit for a network", r.pattern)
		}
	}
	for _, r := range limited(&steppedClock{now}).Routes() {
		if !has[r.Pattern] {
			t.Errorf("%s has no line", r.Pattern)
		}
	}
}

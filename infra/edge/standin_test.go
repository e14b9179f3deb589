package edge_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/infra/edge"
	"github.com/your-org/seckill/infra/edge/edgetest"
	"github.com/your-org/seckill/shared/api/bucket"
)

const listed = "public, max-age=1, stale-while-revalidate=5, stale-if-error=60" // as function shop sends lists

// origin is an API that gives set answers, and counts requests.
type origin struct {
	*httptest.Server
	status atomic.Int32
	pause  atomic.Int64 // ns before each answer
	calls  atomic.Int32
	answer func(w http.ResponseWriter, r *http.Request)
}

// start starts a stand-in before an origin and returns its address.
func start(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) (*origin, string) {
	t.Helper()
	o := &origin{answer: answer}
	o.status.Store(http.StatusOK)
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.calls.Add(1)
		time.Sleep(time.Duration(o.pause.Load()))
		o.answer(w, r)
	}))
	t.Cleanup(o.Close)
	return o, edgetest.Start(t, o.URL+"/live", "the-key")
}

// ask sends a request and returns its status and body.
func ask(t *testing.T, method, url string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true // nginx answers a connection's next request only after what it fetches in the background
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// TestTakenAddressIsRefused: an address at which something else answers is an error, and never called ready.
func TestTakenAddressIsRefused(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	taken := strings.TrimPrefix(other.URL, "http://")
	s := edge.StandIn{Listen: taken, Origin: "http://127.0.0.1:1", Dir: t.TempDir()}
	err := s.Run(t.Context(), func() { t.Error("ready, though nginx cannot listen") })
	if err == nil || !strings.Contains(err.Error(), "something else takes connections at "+taken) {
		t.Error(err)
	}
}

// TestStaleWhileTheAPIFails: lists go on with the last good answer while the API is slow, fails, throttles or is gone,
// and are new again a moment after it is well.
func TestStaleWhileTheAPIFails(t *testing.T) {
	t.Parallel()
	var version atomic.Int32
	o, base := start(t, nil)
	o.answer = func(w http.ResponseWriter, _ *http.Request) {
		status := int(o.status.Load())
		if status == http.StatusOK {
			w.Header().Set("Cache-Control", listed)
			_, _ = fmt.Fprintf(w, "version %d", version.Load())
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
	}
	expired := func() { time.Sleep(2500 * time.Millisecond) } // nginx's clock has whole seconds
	fresh := func(want int32) {
		t.Helper()
		version.Store(want)
		expired()
		// The first answer may be the old one; it makes the CDN fetch the new answer.
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			status, body := ask(t, "GET", base+"/seckill/ing")
			if body == fmt.Sprint("version ", want) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d %q, want version %d", status, body, want)
			}
		}
	}
	stale := func(what string, want int32) {
		t.Helper()
		expired()
		for range 5 {
			begin := time.Now()
			status, body := ask(t, "GET", base+"/seckill/ing")
			if status != http.StatusOK || body != fmt.Sprint("version ", want) {
				t.Errorf("%s: %d %q, want version %d", what, status, body, want)
			}
			if took := time.Since(begin); took > time.Second {
				t.Errorf("%s: an answer took %v", what, took)
			}
		}
	}
	fresh(1)
	for i, status := range []int32{500, 502, 503, 504} {
		o.status.Store(status)
		stale(fmt.Sprint("the API answers ", status), int32(i+1))
		o.status.Store(http.StatusOK)
		fresh(int32(i + 2))
	}
	o.pause.Store(int64(3 * time.Second))
	stale("the API takes 3 s", 5)
	o.pause.Store(0)
	time.Sleep(3 * time.Second)
	fresh(6)
	o.status.Store(http.StatusTooManyRequests) // 429 is not a failure to CloudFront: for 6 s only
	stale("the API throttles", 6)
	o.status.Store(http.StatusOK)
	fresh(7)
	o.CloseClientConnections()
	_ = o.Listener.Close()
	stale("the API is gone", 7)
}

// TestRefusalsAreNotKept: whatever the API refuses or fails at, on any path, the next request reaches it again.
func TestRefusalsAreNotKept(t *testing.T) {
	t.Parallel()
	o, base := start(t, nil)
	header := atomic.Pointer[string]{}
	o.answer = func(w http.ResponseWriter, _ *http.Request) {
		if h := *header.Load(); h != "" {
			w.Header().Set("Cache-Control", h)
		}
		w.WriteHeader(int(o.status.Load()))
		_, _ = fmt.Fprint(w, o.status.Load())
	}
	for _, h := range []string{"no-store", ""} { // as the API answers, and as an API that forgot the header
		header.Store(&h)
		for i, b := range append(edge.Behaviours(), edge.Behaviour{Path: "/order/list"},
			edge.Behaviour{Path: "/seckill/order/1"}) {
			url := base + strings.Replace(b.Path, "*", fmt.Sprintf("x%d%s", i, h), 1)
			for _, status := range []int32{400, 403, 404, 405, 409, 410, 414, 422, 429, 500, 501, 502, 503, 504} {
				o.status.Store(status)
				ask(t, "GET", url)
				o.status.Store(http.StatusAccepted)
				if got, body := ask(t, "GET", url); got != http.StatusAccepted {
					t.Errorf("%s after %d with Cache-Control %q: %d %q", b.Path, status, h, got, body)
				}
			}
		}
	}
}

// TestOneAnswerForAll: 200 requests at once for an answer that nobody has make one call; and what is cached is cached
// whatever else is in the requests.
func TestOneAnswerForAll(t *testing.T) {
	t.Parallel()
	o, base := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", strings.Replace(listed, "max-age=1", "max-age=60", 1))
		_, _ = io.WriteString(w, "list "+r.URL.RawQuery)
	})
	o.pause.Store(int64(300 * time.Millisecond))
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() {
			ask(t, "GET", fmt.Sprintf("%s/seckill/ing?buster=%d", base, i), "Authorization", fmt.Sprint("Bearer ", i),
				"Cookie", fmt.Sprint("a=", i), "Accept-Language", fmt.Sprintf("en-%d,de;q=0.%d", i, i), "User-Agent",
				fmt.Sprint(i), "Cache-Control", "no-cache", "Accept-Encoding", "identity")
		})
	}
	wait.Wait()
	if n := o.calls.Load(); n != 1 {
		t.Errorf("%d calls for 200 looks at once", n)
	}
	ask(t, "GET", base+"/seckill/ing", "Accept-Language", "zh", "Accept-Encoding", "identity")
	ask(t, "GET", base+"/seckill/ing", "Accept-Language", "zh-TW", "Accept-Encoding", "br, gzip;q=0.9")
	if n := o.calls.Load(); n != 3 {
		t.Errorf("%d calls for two languages, one of them also compressed: want 3", n)
	}
	if _, got := ask(t, "GET", base+"/seckill/will?b=1&size=7&page=3"); got != "list page=3&size=7&" {
		t.Errorf("the API was asked for %q", got)
	}
	o.calls.Add(-1)
	ask(t, "GET", base+"/seckill/ing?page=2", "Accept-Language", "zh", "Accept-Encoding", "identity")
	if n := o.calls.Load(); n != 4 {
		t.Errorf("%d calls after a list's second page: want 4", n)
	}
}

// TestNobodyGetsAnothersAnswer: 200 users on every path, headers and cookies varied, at an API that is forgetful: it
// lets every answer be kept for a year, and writes into each what it was told of the user.
func TestNobodyGetsAnothersAnswer(t *testing.T) {
	t.Parallel()
	_, base := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=31536000")
		_, _ = fmt.Fprintf(w, "path=%s query=%s token=%s cookie=%s own=%s key=%s from=%s", r.URL.Path, r.URL.RawQuery,
			r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("Idempotency-Key"),
			r.Header.Get("X-Api-Key"), r.Header.Get("X-Viewer-Address"))
	})
	own := []string{"/seckill/buy", "/seckill/order/2002", "/order/list", "/order/17", "/order/17/cancel", "/healthz",
		"/seckill/alipay/notify", "/nothing", "/seckill/ingX", "/Seckill/ing", "//seckill/ing"}
	var wait sync.WaitGroup
	slots := make(chan struct{}, 32)
	for user := range 200 {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			header := []string{"Authorization", fmt.Sprintf("Bearer u%dx", user), "Cookie", fmt.Sprintf("s=u%dx", user),
				"Idempotency-Key", fmt.Sprintf("u%dx", user), "X-Forwarded-For", fmt.Sprintf("10.0.0.%d", user),
				"X-Api-Key", "forged", "X-Viewer-Address", "198.51.100.7",
				"Accept-Language", []string{"zh", "en", "x"}[user%3]}
			for _, path := range own {
				for _, method := range []string{"GET", "POST"} {
					_, got := ask(t, method, fmt.Sprintf("%s%s?u=%d", base, path, user), header...)
					want := fmt.Sprintf("path=/live%s query=u=%d token=Bearer u%dx cookie=s=u%dx own=u%dx key=the-key "+
						"from=127.0.0.1", path, user, user, user, user)
					if got != want {
						t.Errorf("%s %s of user %d: %q, want %q", method, path, user, got, want)
					}
				}
			}
			for _, b := range edge.Behaviours() {
				path := strings.Replace(b.Path, "*", "1", 1)
				_, got := ask(t, "GET", fmt.Sprintf("%s%s?u=%d", base, path, user), header...)
				if strings.Contains(got, fmt.Sprintf("u%dx", user)) || strings.Contains(got, "&u=") ||
					strings.Contains(got, "query=u=") ||
					!strings.HasPrefix(got, "path=/live"+path+" ") || !strings.Contains(got, "key=the-key") {
					t.Errorf("%s of user %d: %q", path, user, got)
				}
			}
		})
	}
	wait.Wait()
}

// TestNothingPassesTheFunction: the time comes from the function, without a call; cached answers are stamped anew.
func TestNothingPassesTheFunction(t *testing.T) {
	t.Parallel()
	o, base := start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=60")
	})
	if status, body := ask(t, "GET", base+"/seckill/time"); status != http.StatusOK ||
		!strings.Contains(body, `"now_ms":`) || o.calls.Load() != 0 {
		t.Errorf("%d %q after %d calls", status, body, o.calls.Load())
	}
	stamps := map[string]bool{}
	for range 2 {
		resp, err := http.Get(base + "/seckill/status/1") //nolint:noctx // a test's own server
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		stamps[resp.Header.Get("X-Now")] = true
		time.Sleep(5 * time.Millisecond)
	}
	if len(stamps) != 2 || stamps[""] || o.calls.Load() != 1 {
		t.Errorf("stamps %v after %d calls", stamps, o.calls.Load())
	}
}

// throttled is an API whose methods have buckets at a hundredth of a stack's throttles.
func throttled(t *testing.T) http.Handler {
	t.Helper()
	buckets := map[string]*bucket.Buckets{}
	for path, rate := range map[string]int{"/live/signin": 80, "/live/order/1/payment": 300, "/live/order/list": 300} {
		buckets[path] = bucket.New(bucket.Rate{Every: 100 * time.Second / time.Duration(rate), Burst: 2}, 1)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b := buckets[r.URL.Path]; b == nil || b.Take("all", time.Now()) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable) // nobody's limit: everybody's
		}
	})
}

// TestOneAddressKeepsNobodyOut: one address calls three methods, each more often than its throttle allows, at a
// hundredth of all. Without limits of an address, hardly anybody else gets through. With them, once its allowance for a
// minute is used up, everybody does who signs in, pays, or looks at orders.
func TestOneAddressKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	methods := []string{"POST /signin", "POST /order/1/payment", "GET /order/list"}
	for _, limited := range []bool{true, false} {
		t.Run(fmt.Sprint("limits ", limited), func(t *testing.T) {
			t.Parallel()
			limits, err := edge.Limits(func(parameter string) string {
				if parameter == "SigninRate" {
					return "80"
				}
				return "300"
			}, edge.DefaultShare, 100)
			if err != nil {
				t.Fatal(err)
			}
			if !limited {
				limits = nil
			}
			api := httptest.NewServer(throttled(t))
			t.Cleanup(api.Close)
			base := edgetest.Start(t, api.URL+"/live", "the-key", limits...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var wait sync.WaitGroup
			for _, m := range methods {
				wait.Go(func() {
					for ctx.Err() == nil {
						_, _ = from(ctx, 66, m, base)
						time.Sleep(10 * time.Millisecond)
					}
				})
			}
			time.Sleep(4 * time.Second) // the allowance is used up, and the buckets have filled again
			through, refused := 0, 0
			for honest := range 5 {
				for _, m := range methods {
					status, err := from(t.Context(), 100+honest, m, base)
					if err != nil {
						t.Fatal(err)
					}
					if status == http.StatusOK {
						through++
					} else {
						refused++
					}
				}
				time.Sleep(1400 * time.Millisecond)
			}
			stranger, _ := from(t.Context(), 66, methods[1], base)
			cancel()
			wait.Wait()
			if limited && (refused > 0 || stranger != http.StatusTooManyRequests) || !limited && refused < 10 {
				t.Errorf("%d of others got through, %d were refused; the address that floods hears %d", through,
					refused, stranger)
			}
		})
	}
}

// from sends a method's request from this machine's address 127.0.0.last.
func from(ctx context.Context, last int, call, base string) (int, error) {
	method, path, _ := strings.Cut(call, " ")
	r, err := http.NewRequestWithContext(ctx, method, base+path, nil)
	if err != nil {
		return 0, err
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(last))}}
	client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

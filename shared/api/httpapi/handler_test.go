package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/seckill"
)

func TestUnknownPaths(t *testing.T) {
	for _, path := range []string{
		"/", "/seckill", "/seckill/", "/seckill/ing/", "/seckill/buy/1", "/SECKILL/ing", "/order/", "/order/a/b",
		"/order//cancel", "/order/a/b/cancel",
		"/seckill/detail/", "/seckill/detail/4/2", "/seckill/detail/4%2F2", "/healthz2", "//seckill/ing",
	} {
		h, s := newStubs()
		r := httptest.NewRequest("GET", "http://shop.example"+path, nil)
		want(t, send(t, h, r), seckill.CodeNotFound)
		if s.calls != 0 {
			t.Errorf("%s: the flow was called", path)
		}
	}
}

func TestWrongMethods(t *testing.T) {
	for _, c := range []struct{ method, path, allow string }{
		{"GET", "/seckill/buy", "POST"},
		{"OPTIONS", "/seckill/buy", "POST"},
		{"POST", "/seckill/ing", "GET, HEAD"},
		{"DELETE", "/order/list", "GET, HEAD"},
		{"GET", "/order/x/cancel", "POST"},
		{"PUT", "/seckill/alipay/notify", "POST"},
		{"TRACE", "/seckill/ing", "GET, HEAD"},
	} {
		h, s := newStubs()
		w := send(t, h, httptest.NewRequest(c.method, c.path, nil))
		want(t, w, seckill.CodeMethod)
		if got := w.Header().Get("Allow"); got != c.allow || s.calls != 0 {
			t.Errorf("%s %s: Allow %q, %d calls; want %q, none", c.method, c.path, got, s.calls, c.allow)
		}
	}
}

func TestHeadHasNoBody(t *testing.T) {
	h, s := newStubs()
	for _, path := range []string{"/healthz", "/seckill/ing"} {
		if w := do(t, h, "HEAD", path, ""); w.Code != 200 || w.Body.Len() != 0 {
			t.Errorf("HEAD %s: %d %q, want 200 and no body", path, w.Code, w.Body)
		}
	}
	s.err = seckill.Refuse(seckill.CodeItemUnknown)
	if w := do(t, h, "HEAD", "/seckill/detail/1", ""); w.Code != 404 || w.Body.Len() != 0 {
		t.Errorf("HEAD of an unknown item: %d %q, want 404 and no body", w.Code, w.Body)
	}
}

// A function serves only its own routes.
func TestEachStepServesItsOwnRoutes(t *testing.T) {
	s, auth := &stubs{}, verifier()
	for _, c := range []struct {
		name string
		h    *Handler
		want []Route
	}{
		{"buy", NewBuy(s, auth, Options{}), []Route{{"POST", "/seckill/buy"}}},
		{"notify", NewNotify(s, Options{}), []Route{{"POST", "/seckill/alipay/notify"}}},
		{"shop", NewShop(s, auth, Options{}), []Route{
			{"GET", "/seckill/ing"}, {"GET", "/seckill/will"}, {"GET", "/seckill/detail/{seckill_id}"},
			{"GET", "/seckill/status/{seckill_id}"}, {"GET", "/seckill/order/{seckill_id}"},
			{"GET", "/seckill/time"}, {"GET", "/order/list"}, {"GET", "/order/{id}"}, {"POST", "/order/{id}/cancel"},
			{"POST", "/order/{id}/received"}, {"POST", "/order/{id}/refund-request"},
			{"POST", "/order/{id}/push"}, {"GET", "/healthz"},
		}},
	} {
		if diff := cmp.Diff(c.want, c.h.Routes()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	want(t, send(t, NewBuy(s, auth, Options{}), httptest.NewRequest("GET", "/healthz", nil)), seckill.CodeNotFound)
}

// Patterns have http.ServeMux's syntax, so that a server may mount them beside its own pages.
func TestPatternsFitServeMux(t *testing.T) {
	h, _ := newStubs()
	mux := http.NewServeMux()
	for _, rt := range h.Routes() {
		mux.Handle(rt.Method+" "+rt.Pattern, h)
	}
	for _, rt := range h.Routes() {
		r := httptest.NewRequest(rt.Method, strings.NewReplacer("{id}", orderID, "{seckill_id}",
			itemID).Replace(rt.Pattern), nil)
		found, _, _ := h.find(r)
		if _, pattern := mux.Handler(r); pattern != rt.Method+" "+rt.Pattern || found == nil || found.Route != rt {
			t.Errorf("%v: ServeMux finds %q, the handler %v", rt, pattern, found)
		}
	}
}

func TestFaultsAreLoggedAndTellNothing(t *testing.T) {
	const inner = "dial tcp 10.1.2.3:6379: connection refused"
	cases := []struct {
		name       string
		err        error
		code       seckill.Code
		logged     string // "" if nothing is logged
		retryAfter string
	}{
		{"plain error", errors.New(inner), seckill.CodeUnavailable, inner, "1"},
		{"deadline", context.DeadlineExceeded, seckill.CodeUnavailable, "deadline", "1"},
		{"wrapped refusal", fmt.Errorf("buy: %w", seckill.Refuse(seckill.CodeSoldOut)), seckill.CodeSoldOut, "", ""},
		{"fault with a cause", &seckill.Error{Code: seckill.CodeUnconfirmed, Order: orderID, Err: errors.New(inner)},
			seckill.CodeUnconfirmed, inner, "1"},
		{"expected wait", seckill.Refuse(seckill.CodeNotReady), seckill.CodeNotReady, "", "1"},
		{"refusal with a cause", &seckill.Error{Code: seckill.CodeSoldOut, Err: errors.New(inner)}, seckill.CodeSoldOut,
			"", ""},
		{"internal", seckill.Refuse(seckill.CodeInternal), seckill.CodeInternal, "internal", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			h, s := newStubsWith(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			s.err = c.err
			w := do(t, h, "POST", "/seckill/buy", purchaseBody("42", "1", address), inFront, "req-1")
			want(t, w, c.code)
			if strings.Contains(w.Body.String(), "10.1.2.3") || strings.Contains(w.Body.String(), "deadline") {
				t.Errorf("the answer tells the cause: %s", w.Body)
			}
			if got := w.Header().Get("Retry-After"); got != c.retryAfter {
				t.Errorf("Retry-After = %q, want %q", got, c.retryAfter)
			}
			text := log.String()
			if (c.logged == "") != (text == "") || !strings.Contains(text, c.logged) || text != "" &&
				!strings.Contains(text, "trace=req-1") {
				t.Errorf("log %q, want %q with the trace", text, c.logged)
			}
			if strings.Contains(text, "中关村") || strings.Contains(text, "eyJ") {
				t.Errorf("the log holds an address or a token: %q", text)
			}
		})
	}
}

func TestPanicsBecomeInternalFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		value  any
		logged string
	}{
		{"runtime error", func() (v any) {
			defer func() { v = recover() }()
			var list []int
			return list[len(list)]
		}(), "index out of range"},
		{"a value that holds the address", address, "panic: string"},
	} {
		var log bytes.Buffer
		h, s := newStubsWith(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		s.panic = c.value
		want(t, do(t, h, "POST", "/seckill/buy", purchaseBody("42", "1", address)), seckill.CodeInternal)
		if text := log.String(); !strings.Contains(text, c.logged) || strings.Contains(text, "中关村") {
			t.Errorf("%s: log %q, want %q and no address", c.name, text, c.logged)
		}
	}
}

func TestAbortGoesThrough(t *testing.T) {
	h, s := newStubs()
	s.panic = http.ErrAbortHandler
	defer func() {
		if v := recover(); v != http.ErrAbortHandler { //nolint:errorlint // a recovered value
			t.Errorf("recovered %v, want http.ErrAbortHandler", v)
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/seckill/ing", nil))
	t.Error("no panic came through")
}

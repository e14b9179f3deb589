package httpapi

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/seckill"
)

const notifyPath = "/seckill/alipay/notify"

func notify(t *testing.T, h *Handler, body, kind string) *httptest.ResponseRecorder {
	t.Helper()
	return do(t, h, "POST", notifyPath, body, "Authorization", "-", "Content-Type", kind)
}

const formKind = "application/x-www-form-urlencoded"

func TestNotifyAnswersSuccessExactly(t *testing.T) {
	for _, kind := range []string{formKind, formKind + "; charset=utf-8",
		"Application/X-WWW-Form-URLEncoded;charset=UTF-8",
		formKind + "; text/html; charset=utf-8" /* Alipay's own */, formKind + " ; =", formKind + ";charset=GBK"} {
		h, s := newStubs()
		w := notify(t, h, "out_trade_no="+orderID+"&subject=%E8%8C%B6+%26%20%2B&sign=a%2Bb%3D%3D", kind)
		if w.Code != 200 || w.Body.String() != "success" || !strings.HasPrefix(w.Header().Get("Content-Type"),
			"text/plain") {
			t.Errorf("%s: %d %q as %q, want 200 success as text/plain", kind, w.Code, w.Body,
				w.Header().Get("Content-Type"))
		}
		want := url.Values{"out_trade_no": {orderID}, "subject": {"茶 & +"}, "sign": {"a+b=="}}
		if diff := cmp.Diff(want, s.form); diff != "" {
			t.Errorf("%s: the flow got (-want +got):\n%s", kind, diff)
		}
	}
}

func TestNotifyTakesNothingFromTheAddress(t *testing.T) {
	h, s := newStubs()
	do(t, h, "POST", notifyPath+"?trade_status=TRADE_SUCCESS", "sign=a", "Content-Type", formKind)
	if diff := cmp.Diff(url.Values{"sign": {"a"}}, s.form); diff != "" {
		t.Errorf("the flow got (-want +got):\n%s", diff)
	}
}

func TestNotifyRefusals(t *testing.T) {
	for _, c := range []struct {
		err        *seckill.Error
		retryAfter string
	}{
		{seckill.Refuse(seckill.CodeForged), ""},
		{seckill.Refuse(seckill.CodeNotOurs), ""},
		{&seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: 1500 * time.Millisecond}, "2"},
		{seckill.Refuse(seckill.CodeInternal), ""},
	} {
		h, s := newStubs()
		s.err = c.err
		w := notify(t, h, "sign=a", formKind)
		want(t, w, c.err.Code)
		if got := w.Header().Get("Retry-After"); got != c.retryAfter || strings.Contains(w.Body.String(), "success") {
			t.Errorf("%s: Retry-After %q, want %q; body %s", c.err.Code, got, c.retryAfter, w.Body)
		}
	}
}

// TestRefusedNotificationsAreLogged checks that the log has the cause, which no answer reveals, and nothing else of
// the form. Accepted notifications are not logged.
func TestRefusedNotificationsAreLogged(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		err        error
		logged     []string // nil if nothing is logged
	}{
		{"forged", formKind, &seckill.Error{Code: seckill.CodeForged, Err: errors.New("another key")},
			[]string{"level=WARN", "request refused", "code=notify_forged", "another key", "trace=req-1"}},
		{"not ours", formKind, &seckill.Error{Code: seckill.CodeNotOurs, Order: orderID,
			Err: errors.New("another amount")}, []string{"level=WARN", "code=notify_not_ours", "order=" + orderID,
			"another amount"}},
		{"no form", "application/json", nil, []string{"level=WARN", "request refused", "code=invalid_request",
			"Content-Type"}},
		{"fault", formKind, errors.New("no ledger"), []string{"level=ERROR", "request failed", "code=unavailable",
			"no ledger"}},
		{"taken", formKind, nil, nil},
	} {
		var log bytes.Buffer
		h, s := newStubsWith(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		s.err = c.err
		w := do(t, h, "POST", notifyPath, "buyer=b-2088", "Authorization", "-", "Content-Type", c.kind, inFront,
			"req-1")
		text := log.String()
		if (c.logged == nil) != (text == "") || strings.Contains(text, "b-2088") {
			t.Errorf("%s: log %q, want %q", c.name, text, c.logged)
		}
		for _, part := range c.logged {
			if !strings.Contains(text, part) {
				t.Errorf("%s: log %q has no %q", c.name, text, part)
			}
		}
		if c.err != nil && strings.Contains(w.Body.String(), "another") {
			t.Errorf("%s: the answer tells the cause: %s", c.name, w.Body)
		}
	}
}

func TestNotifyRefusesWhatIsNoForm(t *testing.T) {
	for _, c := range []struct {
		name, body, kind string
		code             seckill.Code
	}{
		{"JSON", `{"sign":"a"}`, "application/json", seckill.CodeInvalid},
		{"multipart", "sign=a", "multipart/form-data; boundary=x", seckill.CodeInvalid},
		{"no type", "sign=a", "-", seckill.CodeInvalid},
		{"another type in front", "sign=a", "text/html; " + formKind, seckill.CodeInvalid},
		{"type with more", "sign=a", formKind + "2", seckill.CodeInvalid},
		{"broken escape", "sign=%zz", formKind, seckill.CodeInvalid},
		{"semicolon", "a=1;b=2", formKind, seckill.CodeInvalid},
		{"over 64 KiB", "a=" + strings.Repeat("x", maxNotify-1), formKind, seckill.CodeTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, s := newStubs()
			want(t, notify(t, h, c.body, c.kind), c.code)
			if s.calls != 0 {
				t.Error("the flow was called")
			}
		})
	}
	h, _ := newStubs()
	if w := notify(t, h, "a="+strings.Repeat("x", maxNotify-2), formKind); w.Code != 200 {
		t.Errorf("64 KiB: %d, want 200", w.Code)
	}
}

package httpapi

import (
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/flow/money/pay"
	"github.com/your-org/seckill/shared/seckill"
)

const payPath = "/order/" + orderID + "/payment"

func TestWaysToPay(t *testing.T) {
	for kind, c := range map[seckill.PayKind]struct {
		way  pay.Way
		want string
	}{
		seckill.PayPage: {pay.Way{Kind: seckill.PayPage, URL: "https://x/?a=1&b=<2>"},
			`{"kind":"page","url":"https://x/?a=1&b=<2>"}`},
		seckill.PayWap: {pay.Way{Kind: seckill.PayWap, URL: "https://x"}, `{"kind":"wap","url":"https://x"}`},
		seckill.PayApp: {pay.Way{Kind: seckill.PayApp, OrderString: "a=1&b=2"}, `{"kind":"app","order_string":"a=1&b=2"}`},
	} {
		h, s := newStubs()
		s.way = c.way
		w := do(t, h, "POST", payPath, `{"kind":"`+string(kind)+`","more":1}`)
		if w.Body.String() != c.want || w.Header().Get("Cache-Control") != "no-store" || s.user != alice ||
			s.id != orderID || s.kind != kind {
			t.Errorf("%s: %s, %s; asked %s %s %s", kind, w.Body, w.Header(), s.user, s.id, s.kind)
		}
	}
}

func TestRefusedWaysToPay(t *testing.T) {
	for name, c := range map[string]struct {
		body    string
		headers []string
		err     error
		code    seckill.Code
		detail  string // in English
		called  bool
	}{
		"no token":     {`{"kind":"page"}`, []string{"Authorization", "-"}, nil, seckill.CodeToken, "sign in", false},
		"nothing":      {"", nil, nil, seckill.CodeInvalid, "could not be read", false},
		"no object":    {`"page"`, nil, nil, seckill.CodeInvalid, "could not be read", false},
		"two objects":  {`{"kind":"page"}{}`, nil, nil, seckill.CodeInvalid, "could not be read", false},
		"kind no text": {`{"kind":1}`, nil, nil, seckill.CodeInvalid, "one of page, wap, app", false},
		"kind empty":   {`{"kind":""}`, nil, nil, seckill.CodeInvalid, "one of page, wap, app", false},
		"kind twice":   {`{"kind":"page","kind":"wap"}`, nil, nil, seckill.CodeInvalid, "one of page, wap", false},
		"too large":    {strings.Repeat(" ", maxPayBody+1), nil, nil, seckill.CodeTooLarge, "too large", false},
		"kind unknown": {`{"kind":"qr"}`, nil, seckill.Invalid("kind", pay.Kinds), seckill.CodeInvalid, "app", true},
		"not payable": {`{"kind":"wap"}`, nil, seckill.Refuse(seckill.CodeNotPayable), seckill.CodeNotPayable,
			"paid or closed", true},
		"unknown order": {`{"kind":"wap"}`, nil, seckill.Refuse(seckill.CodeOrderUnknown), seckill.CodeOrderUnknown,
			"no such", true},
		"no such ledger": {`{"kind":"wap"}`, nil, seckill.ErrSignLater, seckill.CodeUnavailable, "busy", true},
	} {
		h, s := newStubs()
		s.err = c.err
		w := do(t, h, "POST", payPath, c.body, append([]string{"Accept-Language", "en"}, c.headers...)...)
		got := want(t, w, c.code)
		if detail, _ := got["detail"].(string); !strings.Contains(detail, c.detail) || (s.calls > 0) != c.called {
			t.Errorf("%s: %s after %d calls, want %q", name, w.Body, s.calls, c.detail)
		}
		if (c.code == seckill.CodeUnavailable) != (w.Header().Get("Retry-After") != "") {
			t.Errorf("%s: %v", name, w.Header())
		}
	}
	h, s := newStubs()
	if want(t, do(t, h, "POST", "/order/nonsense/payment", `{"kind":"page"}`), seckill.CodeOrderUnknown); s.calls > 0 {
		t.Error("the flow was asked for an order that cannot be")
	}
}

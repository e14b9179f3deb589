package httpapi

import (
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/money/pay"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRequestsThatAreRefused: what a route cannot read never reaches its flow, and what the flow refuses has its code.
// buy_test.go has the purchase, which has its own decoder, and TestTokenTrouble the callers without a token.
func TestRequestsThatAreRefused(t *testing.T) {
	const cancelPath, ticketPath = "/order/" + orderID + "/cancel", "/seckill/ticket"
	for _, c := range []struct {
		method, path, body string
		err                error // of the flow; nil if it is not called
		code               seckill.Code
		says               string // a part of the answer, in English
	}{
		{"GET", "/seckill/detail/abc", "", nil, seckill.CodeItemUnknown, ""},
		{"GET", "/seckill/detail/042", "", nil, seckill.CodeItemUnknown, ""},
		{"GET", "/seckill/detail/12345678901234567890", "", nil, seckill.CodeItemUnknown, ""},
		{"GET", "/seckill/order/4.2", "", nil, seckill.CodeItemUnknown, ""},
		{"GET", "/order/42", "", nil, seckill.CodeOrderUnknown, ""},
		{"GET", "/order/o%00", "", nil, seckill.CodeOrderUnknown, ""},
		{"POST", "/order/" + strings.ToUpper(orderID) + "/cancel", "", nil, seckill.CodeOrderUnknown, ""},
		{"GET", "/seckill/detail/42", "", seckill.Refuse(seckill.CodeItemUnknown), seckill.CodeItemUnknown, ""},
		{"GET", "/seckill/order/42", "", seckill.Refuse(seckill.CodeItemUnknown), seckill.CodeItemUnknown, ""},
		{"GET", "/seckill/order/42", "", seckill.Refuse(seckill.CodeNotReady), seckill.CodeNotReady, ""},
		{"GET", "/order/" + orderID, "", seckill.Refuse(seckill.CodeOrderUnknown), seckill.CodeOrderUnknown, ""},
		{"GET", "/seckill/ing", "", seckill.Refuse(seckill.CodeUnavailable), seckill.CodeUnavailable, "busy"},
		{"GET", "/seckill/will", "", seckill.Refuse(seckill.CodeInternal), seckill.CodeInternal, ""},
		{"GET", "/order/list", "", seckill.Refuse(seckill.CodeUnavailable), seckill.CodeUnavailable, "busy"},
		{"POST", cancelPath, "", seckill.Refuse(seckill.CodeOrderUnknown), seckill.CodeOrderUnknown, "no such"},
		{"POST", cancelPath, "", &seckill.Error{Code: seckill.CodeStillQueued, Order: orderID}, seckill.CodeStillQueued,
			orderID},
		{"POST", cancelPath, "", &seckill.Error{Code: seckill.CodeNotCancelable, Order: orderID},
			seckill.CodeNotCancelable, orderID},

		{"POST", "/order/x/received", "", nil, seckill.CodeOrderUnknown, "no such"},
		{"POST", receivedPath, "", seckill.Refuse(seckill.CodeWrongState), seckill.CodeWrongState, "as it is"},
		{"POST", receivedPath, "", seckill.ErrSignLater, seckill.CodeUnavailable, "busy"},
		{"POST", "/order/x/refund-request", `{"reason":"x"}`, nil, seckill.CodeOrderUnknown, "no such"},
		{"POST", requestPath, "", nil, seckill.CodeInvalid, "could not be read"},
		{"POST", requestPath, `"x"`, nil, seckill.CodeInvalid, "could not be read"},
		{"POST", requestPath, `{"reason":1}`, nil, seckill.CodeInvalid, "1 to 500 characters"},
		{"POST", requestPath, `{"reason":"x","reason":"y"}`, nil, seckill.CodeInvalid, "1 to 500"},
		{"POST", requestPath, `{"reason":"x"}`, seckill.CheckLine("reason", "", shop.MaxReason), seckill.CodeInvalid,
			"1 to 500"},
		{"POST", requestPath, strings.Repeat(" ", maxReasonBody+1), nil, seckill.CodeTooLarge, "too large"},

		{"POST", "/order/nonsense/payment", `{"kind":"page"}`, nil, seckill.CodeOrderUnknown, "no such"},
		{"POST", payPath, "", nil, seckill.CodeInvalid, "could not be read"},
		{"POST", payPath, `"page"`, nil, seckill.CodeInvalid, "could not be read"},
		{"POST", payPath, `{"kind":"page"}{}`, nil, seckill.CodeInvalid, "could not be read"},
		{"POST", payPath, `{"kind":1}`, nil, seckill.CodeInvalid, "one of page, wap, app"},
		{"POST", payPath, `{"kind":""}`, nil, seckill.CodeInvalid, "one of page, wap, app"},
		{"POST", payPath, `{"kind":"page","kind":"wap"}`, nil, seckill.CodeInvalid, "one of page, wap"},
		{"POST", payPath, strings.Repeat(" ", maxPayBody+1), nil, seckill.CodeTooLarge, "too large"},
		{"POST", payPath, `{"kind":"qr"}`, seckill.Invalid("kind", pay.Kinds), seckill.CodeInvalid, "app"},
		{"POST", payPath, `{"kind":"wap"}`, seckill.Refuse(seckill.CodeNotPayable), seckill.CodeNotPayable,
			"paid or closed"},
		{"POST", payPath, `{"kind":"wap"}`, seckill.Refuse(seckill.CodeOrderUnknown), seckill.CodeOrderUnknown, "no such"},
		{"POST", payPath, `{"kind":"wap"}`, seckill.ErrSignLater, seckill.CodeUnavailable, "busy"},

		{"POST", ticketPath, `{"proof":"e30="}`, nil, seckill.CodeInvalid, `"field":"seckill_id"`},
		{"POST", ticketPath, `{"seckill_id":"x","proof":"e30="}`, nil, seckill.CodeInvalid, `"field":"seckill_id"`},
		{"POST", ticketPath, `{"seckill_id":"12345678901234567890","proof":"e30="}`, nil, seckill.CodeInvalid,
			`"field":"seckill_id"`},
		{"POST", ticketPath, `{"seckill_id":"1","proof":"{}"}`, nil, seckill.CodeInvalid, `"field":"proof"`},
		{"POST", ticketPath, `{"seckill_id":"1","proof":"e30=","proof":"e30="}`, nil, seckill.CodeInvalid,
			`"field":"body"`},
		{"POST", ticketPath, `{"seckill_id":"1","proof":"e30=","answer":4}`, nil, seckill.CodeInvalid, `"field":"body"`},
		{"POST", ticketPath, `seckill_id=1`, nil, seckill.CodeInvalid, `"field":"body"`},
		{"POST", ticketPath, `{"answer":"` + strings.Repeat("4", 10<<20) + `"}`, nil, seckill.CodeTooLarge, ""},

		{"POST", "/signin", "", nil, seckill.CodeInvalid, ""},
		{"POST", "/signin", "[]", nil, seckill.CodeInvalid, ""},
		{"POST", "/signin", `{"grant":"token","token":"a","token":"b"}`, nil, seckill.CodeInvalid, ""},
		{"POST", "/signin", `{"grant":"token","token":"a","Token":"b"}`, nil, seckill.CodeInvalid, ""},
		{"POST", "/signin", `{"grant":"token","token":null}`, nil, seckill.CodeInvalid, ""},
		{"POST", "/signin", `{"grant":"token","token":7}`, nil, seckill.CodeInvalid, ""},
		{"POST", "/signin", `{"grant":"token","token":""}`, nil, seckill.CodeInvalid, ""},
		{"POST", "/signin", `{"grant":"token","token":"a"} {}`, nil, seckill.CodeInvalid, ""},
		{"POST", "/signin", largestSignIn + " ", nil, seckill.CodeTooLarge, ""},
	} {
		h, s := newStubs()
		s.err = c.err
		w := do(t, h, c.method, c.path, c.body, "Accept-Language", "en")
		want(t, w, c.code)
		waits := c.code == seckill.CodeUnavailable || c.code == seckill.CodeNotReady
		if !strings.Contains(w.Body.String(), c.says) || (s.calls > 0) != (c.err != nil) ||
			(w.Header().Get("Retry-After") != "") != waits {
			t.Errorf("%s %.60s: %s after %d calls, want %q", c.path, c.body, w.Body, s.calls, c.says)
		}
	}
}

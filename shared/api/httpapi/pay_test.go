package httpapi

import (
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

package fakegateway

import (
	"context"
	"net/http"
	"strings"

	"github.com/your-org/seckill/shared/driver/alipay"
)

// serveCall answers /gateway.do. Like Alipay it accepts parameters in the URL, in a form, or split over the two.
func (g *Gateway) serveCall(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	if err := r.ParseForm(); err != nil {
		g.answer(w, "error_response", refusalNode(ErrForm, ""))
		return
	}
	method := r.Form.Get("method")
	carryOut := map[string]func(context.Context, *content) (node, error){
		alipay.MethodQuery:       g.callQuery,
		alipay.MethodClose:       g.callClose,
		alipay.MethodRefund:      g.callRefund,
		alipay.MethodRefundQuery: g.callRefundQuery,
		alipay.MethodBill: func(ctx context.Context, c *content) (node, error) {
			return g.callBill(ctx, c, g.base(r))
		},
	}[method]
	switch {
	case method == alipay.MethodPagePay, method == alipay.MethodWapPay:
		g.showCashier(w, r, r.Form, "", "")
		return
	case carryOut == nil:
		g.answer(w, "error_response", refusalNode(ErrMethod, ""))
		return
	}
	var c content
	err := g.authentic(r.Form)
	if err == nil {
		err = c.read(r.Form.Get("biz_content"), method)
	}
	name := strings.ReplaceAll(method, ".", "_") + "_response"
	if err != nil {
		g.answer(w, name, refusalNode(err, ""))
		return
	}
	if g.faults.hit(Call5xx) {
		http.Error(w, "bad gateway", http.StatusBadGateway)
		return
	}
	unknown := g.faults.hit(CallUnknown)
	if unknown && g.faults.number(CallUnknown, 2) == 0 {
		g.answer(w, name, refusalNode(g.faults.unknown(CallUnknown), c.OutTradeNo))
		return
	}
	n, err := carryOut(r.Context(), &c)
	if err != nil {
		g.note(r.Context(), err)
		n = refusalNode(err, c.OutTradeNo)
	}
	if g.faults.hit(CallCut) {
		panic(http.ErrAbortHandler) // makes the server cut the connection
	}
	if unknown {
		n = refusalNode(g.faults.unknown(CallUnknown), c.OutTradeNo)
	}
	g.answer(w, name, n)
}

// callClose implements alipay.trade.close.
func (g *Gateway) callClose(ctx context.Context, c *content) (node, error) {
	r, err := g.closeTrades(ctx, c.TradeNo, c.OutTradeNo)
	if err != nil {
		return node{}, err
	}
	n := success()
	n.OutTradeNo, n.TradeNo = r.OutTradeNo, r.TradeNo
	return n, nil
}

package alipay_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/seckill"
)

const tradeNo = "2026010122001000000000000001"

func refund() seckill.Refund {
	return seckill.Refund{ID: seckill.RefundID(orderID, tradeNo), Order: orderID, TradeNo: tradeNo, Amount: 88_80,
		Reason: "付款晚于订单关闭，原路退回"}
}

// envelopeOf returns an answer to a method: the node unchanged, with the gateway's signature over it.
func envelopeOf(t testing.TB, method, node string) string {
	return strings.Replace(envelope(t, node), "alipay_trade_query", strings.ReplaceAll(method, ".", "_"), 1)
}

// node encodes an answer's node without the fields whose value is "".
func node(t testing.TB, fields map[string]any) string {
	t.Helper()
	for k, v := range fields {
		if v == "" {
			delete(fields, k)
		}
	}
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type refundCase struct {
	name    string
	change  map[string]any
	want    seckill.RefundState // "" if a fault is wanted
	code    string
	other   seckill.Fen
	unknown bool // the answer is Alipay's for an unknown trade or refund
}

func runRefunds(t *testing.T, method string, success map[string]any, cases []refundCase,
	call func(*alipay.Client) (seckill.RefundAnswer, error)) {
	t.Helper()
	for _, tc := range cases {
		fields := map[string]any{}
		for k, v := range success {
			if !tc.unknown {
				fields[k] = v
			}
		}
		for k, v := range tc.change {
			fields[k] = v
		}
		n := node(t, fields)
		got, err := call(client(t, answering([]byte(envelopeOf(t, method, n))), &clock{start}))
		if want := (seckill.RefundAnswer{State: tc.want, Code: tc.code, Amount: tc.other}); got != want ||
			(err == nil) != (tc.want != "") {
			t.Errorf("%s: %s\ngot %+v, %v, want %q %q", tc.name, n, got, err, tc.want, tc.code)
		}
		var domain *seckill.Error
		if errors.As(err, &domain) {
			t.Errorf("%s: %v is not a plain error", tc.name, err)
		}
	}
}

func TestRefundReadsEveryAnswer(t *testing.T) {
	const fault = seckill.RefundState("")
	success := map[string]any{"code": "10000", "msg": "Success", "out_trade_no": orderID, "trade_no": tradeNo,
		"fund_change": "Y",
		"refund_fee":  "88.80", "buyer_logon_id": "138****0000", "gmt_refund_pay": "2026-01-01 20:30:00"}
	cases := []refundCase{
		{name: "moved", want: seckill.RefundMade},
		{name: "moved, amount a number", change: map[string]any{"refund_fee": 88.8}, want: seckill.RefundMade},
		{name: "moved, more of the trade had been refunded", change: map[string]any{"refund_fee": "90.00"},
			want: seckill.RefundMade},
		{name: "asked before", change: map[string]any{"fund_change": "N"}, want: seckill.RefundPending},
		{name: "does not say", change: map[string]any{"fund_change": ""}, want: seckill.RefundPending},
		{name: "says something else", change: map[string]any{"fund_change": "y"}, want: seckill.RefundPending},
		{name: "moved less", change: map[string]any{"refund_fee": "88.79"}},
		{name: "moved nothing", change: map[string]any{"refund_fee": "0.00"}},
		{name: "moved, does not say how much", change: map[string]any{"refund_fee": ""}},
		{name: "exponent", change: map[string]any{"refund_fee": json.Number("1e2")}},
		{name: "three decimals", change: map[string]any{"refund_fee": "88.880"}},
		{name: "negative", change: map[string]any{"refund_fee": "-88.80"}},
		{name: "blank", change: map[string]any{"refund_fee": " 88.80"}},
		{name: "full-width digits", change: map[string]any{"refund_fee": "８８.８０"}},
		{name: "another order", change: map[string]any{"out_trade_no": otherID}},
		{name: "no order", change: map[string]any{"out_trade_no": ""}},
		{name: "another trade of the order", change: map[string]any{"trade_no": tradeNo + "2"}},
		{name: "no trade", change: map[string]any{"trade_no": ""}},
		{name: "asked before, of another trade", change: map[string]any{"trade_no": tradeNo + "2", "fund_change": "N"}},
		{name: "no code", change: map[string]any{"code": ""}},
		{name: "code a number", change: map[string]any{"code": 10000}, want: seckill.RefundMade},
	}
	for _, sub := range []string{"ACQ.SELLER_BALANCE_NOT_ENOUGH", "ACQ.TRADE_HAS_FINISHED",
		"ACQ.TRADE_NOT_ALLOW_REFUND",
		"ACQ.REFUND_AMT_NOT_EQUAL_TOTAL", "ACQ.REASON_TRADE_BEEN_FREEZEN", "ACQ.TRADE_NOT_EXIST",
		"ACQ.DISCORDANT_REPEAT_REQUEST",
		"ACQ.TRADE_STATUS_ERROR", "ACQ.REASON_TRADE_REFUND_FEE_ERR", "ACQ.REFUND_FEE_ERROR", "ACQ.INVALID_PARAMETER",
		"ACQ.BUYER_NOT_EXIST", "ACQ.BUYER_ENABLE_STATUS_FORBID", "ACQ.NOT_ALLOW_PARTIAL_REFUND",
		"ACQ.ACCESS_FORBIDDEN"} {
		cases = append(cases,
			refundCase{name: sub, change: map[string]any{"code": "40004", "sub_code": sub, "fund_change": "",
				"refund_fee": "0.00"}, want: seckill.RefundRefused, code: sub},
			refundCase{name: sub + ", no numbers", unknown: true, change: map[string]any{"code": "40004",
				"sub_code": sub}, want: seckill.RefundRefused, code: sub},
			refundCase{name: sub + " of another trade", change: map[string]any{"code": "40004", "sub_code": sub,
				"trade_no": tradeNo + "2"}},
			refundCase{name: sub + " with a code of the gateway", change: map[string]any{"code": "20000",
				"sub_code": sub}})
	}
	for _, r := range [][2]string{{"40004", "ACQ.SYSTEM_ERROR"}, {"40004", "ACQ.REFUND_CHARGE_ERROR"},
		{"40004", "AQC.SYSTEM_ERROR"}, {"40004", "aop.ACQ.SYSTEM_ERROR"}, {"40004", ""},
		{"40004", "isp.unknow-error"}, {"20000", "isp.unknow-error"}, {"20000", "aop.unknow-error"},
		{"40001", "isv.missing-signature"},
		{"40002", "isv.invalid-signature"}, {"40006", "isv.insufficient-isv-permissions"},
		{"40005", "isv.call-limited"}, {"", ""}} {
		cases = append(cases, refundCase{name: r[0] + " " + r[1], change: map[string]any{"code": r[0],
			"sub_code": r[1]}, want: fault})
	}
	runRefunds(t, alipay.MethodRefund, success, cases, func(c *alipay.Client) (seckill.RefundAnswer, error) {
		return c.Refund(context.Background(), refund())
	})
}

func TestRefundStatusReadsEveryAnswer(t *testing.T) {
	success := map[string]any{"code": "10000", "msg": "Success", "out_trade_no": orderID, "trade_no": tradeNo,
		"out_request_no": refund().ID, "total_amount": "88.80", "refund_amount": "88.80",
		"refund_status": "REFUND_SUCCESS"}
	ok := map[string]any{"code": "10000", "msg": "Success"}
	runRefunds(t, alipay.MethodRefundQuery, success, []refundCase{
		{name: "made", want: seckill.RefundMade},
		{name: "made, amount a number", change: map[string]any{"refund_amount": 88.8}, want: seckill.RefundMade},
		{name: "not known", unknown: true, change: ok, want: seckill.RefundMissing},
		{name: "not known, trade repeated", unknown: true, change: map[string]any{"code": "10000", "trade_no": tradeNo,
			"out_trade_no": orderID}, want: seckill.RefundMissing},
		{name: "no word on the outcome", change: map[string]any{"refund_status": ""}, want: seckill.RefundPending},
		{name: "no word on the outcome or amount", change: map[string]any{"refund_status": "", "refund_amount": ""},
			want: seckill.RefundPending},
		{name: "trade not known", unknown: true, change: map[string]any{"code": "40004",
			"sub_code": "ACQ.TRADE_NOT_EXIST"}, want: seckill.RefundMissing},
		{name: "trade not known, as older pages have it", unknown: true, change: map[string]any{"code": "40004",
			"sub_code": "TRADE_NOT_EXIST"}, want: seckill.RefundMissing},
		{name: "another outcome", change: map[string]any{"refund_status": "REFUND_FAIL"}},
		{name: "another amount", change: map[string]any{"refund_amount": "8.88"}, want: seckill.RefundOther,
			other: 888},
		{name: "no money", change: map[string]any{"refund_amount": "0.00"}},
		{name: "no amount", change: map[string]any{"refund_amount": ""}},
		{name: "exponent", change: map[string]any{"refund_amount": json.Number("8.88e1")}},
		{name: "three decimals", change: map[string]any{"refund_amount": "88.800"}},
		{name: "blank", change: map[string]any{"refund_amount": "88.80 "}},
		{name: "another refund", change: map[string]any{"out_request_no": seckill.RefundID(otherID, tradeNo)}},
		{name: "no refund's number", change: map[string]any{"out_request_no": ""}},
		{name: "pending, another refund", change: map[string]any{"out_request_no": "r1", "refund_status": ""}},
		{name: "another order", change: map[string]any{"out_trade_no": otherID}},
		{name: "another trade", change: map[string]any{"trade_no": tradeNo + "2"}},
		{name: "no trade", change: map[string]any{"trade_no": ""}},
		{name: "system error", unknown: true, change: map[string]any{"code": "40004", "sub_code": "ACQ.SYSTEM_ERROR"}},
		{name: "invalid parameter", unknown: true, change: map[string]any{"code": "40004",
			"sub_code": "ACQ.INVALID_PARAMETER"}},
		{name: "gateway busy", unknown: true, change: map[string]any{"code": "20000", "sub_code": "isp.unknow-error"}},
		{name: "not known, says the gateway", unknown: true, change: map[string]any{"code": "20000",
			"sub_code": "ACQ.TRADE_NOT_EXIST"}},
		{name: "no code", change: map[string]any{"code": ""}},
	}, func(c *alipay.Client) (seckill.RefundAnswer, error) {
		return c.RefundStatus(context.Background(), refund())
	})
}

// TestRefundAsksWhatAlipayWants checks the fields of the two calls, and that the number stays the same.
func TestRefundAsksWhatAlipayWants(t *testing.T) {
	var asked []map[string]string
	c := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, err := url.ParseQuery(string(body))
		content := map[string]string{}
		if err != nil || json.Unmarshal([]byte(form.Get("biz_content")), &content) != nil {
			t.Errorf("unreadable call %s: %v", body, err)
		}
		content["method"] = form.Get("method")
		asked = append(asked, content)
		_, _ = io.WriteString(w, envelopeOf(t, form.Get("method"), `{"code":"20000"}`))
	}), &clock{start})
	if _, err := c.Refund(context.Background(), refund()); err == nil {
		t.Error("refund: no error")
	}
	if _, err := c.RefundStatus(context.Background(), refund()); err == nil {
		t.Error("refund query: no error")
	}
	want := []map[string]string{
		{"method": "alipay.trade.refund", "trade_no": tradeNo, "refund_amount": "88.80", "out_request_no": refund().ID,
			"refund_reason": refund().Reason},
		{"method": "alipay.trade.fastpay.refund.query", "trade_no": tradeNo, "out_request_no": refund().ID},
	}
	for i, w := range want {
		got, _ := json.Marshal(asked[i])
		wanted, _ := json.Marshal(w)
		if string(got) != string(wanted) {
			t.Errorf("asked %s, want %s", got, wanted)
		}
	}
}

// TestNothingIsAskedForAWrongRefund checks that an invalid refund makes no call.
func TestNothingIsAskedForAWrongRefund(t *testing.T) {
	c := client(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a call was made")
	}), &clock{start})
	for name, change := range map[string]func(*seckill.Refund){
		"no id":              func(r *seckill.Refund) { r.ID = "" },
		"another trade's id": func(r *seckill.Refund) { r.ID = seckill.RefundID(orderID, tradeNo+"2") },
		"no order":           func(r *seckill.Refund) { r.Order = "" },
		"no trade":           func(r *seckill.Refund) { r.TradeNo = "" },
		"odd trade":          func(r *seckill.Refund) { r.TradeNo = "2026/1" },
		"nothing":            func(r *seckill.Refund) { r.Amount = 0 },
		"negative":           func(r *seckill.Refund) { r.Amount = -1 },
		"too much":           func(r *seckill.Refund) { r.Amount = seckill.MaxFen + 1 },
	} {
		r := refund()
		change(&r)
		if got, err := c.Refund(context.Background(), r); err == nil {
			t.Errorf("%s: refund gives %+v", name, got)
		}
		if got, err := c.RefundStatus(context.Background(), r); err == nil {
			t.Errorf("%s: refund query gives %+v", name, got)
		}
	}
}

// TestRefundTakesNothingForgedForAnAnswer checks that the refund calls use the check that call_test.go tests with a
// query.
func TestRefundTakesNothingForgedForAnAnswer(t *testing.T) {
	made := `{"code":"10000","out_trade_no":"` + orderID + `","trade_no":"` + tradeNo +
		`","fund_change":"Y","refund_fee":"88.80","out_request_no":"` +
		refund().ID + `","refund_amount":"88.80","refund_status":"REFUND_SUCCESS"}`
	for _, method := range []string{alipay.MethodRefund, alipay.MethodRefundQuery} {
		call := func(body string) (seckill.RefundAnswer, error) {
			c := client(t, answering([]byte(body)), &clock{start})
			if method == alipay.MethodRefund {
				return c.Refund(context.Background(), refund())
			}
			return c.RefundStatus(context.Background(), refund())
		}
		name := strings.ReplaceAll(method, ".", "_") + "_response"
		if got, err := call(envelopeOf(t, method, made)); err != nil || got.State != seckill.RefundMade {
			t.Fatalf("%s: %+v, %v", method, got, err)
		}
		for what, body := range map[string]string{
			"stranger's key": `{"` + name + `":` + made + `,"sign":"` + signWith(t, strangerKeys(), made) + `"}`,
			"our own key":    `{"` + name + `":` + made + `,"sign":"` + signWith(t, shopKeys(), made) + `"}`,
			"unsigned":       `{"` + name + `":` + made + `}`,
			"changed": strings.ReplaceAll(envelopeOf(t, method, strings.ReplaceAll(made, "88.80", "8.88")),
				"8.88", "88.80"),
			"another call's": envelopeOf(t, alipay.MethodQuery, made),
		} {
			if got, err := call(body); err == nil {
				t.Errorf("%s: %s: got %+v, want an error", method, what, got)
			}
		}
	}
}

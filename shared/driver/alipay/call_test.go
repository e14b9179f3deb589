package alipay_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

const paidNode = `{"code":"10000","msg":"Success","out_trade_no":"` + orderID +
	`","total_amount":"88.80","trade_no":"2026010122001000000000000001","trade_status":"TRADE_SUCCESS"}`

var paidTrade = seckill.Trade{State: seckill.TradePaid, TradeNo: "2026010122001000000000000001", Amount: 88_80}

func signWith(t testing.TB, keys fakegateway.KeyPair, content string) string {
	t.Helper()
	key := must.Get(alipay.ParsePrivateKey(keys.Private))
	return must.Get(alipay.Sign(key, content))
}

// envelope returns an answer to a query: the node unchanged, with the gateway's signature over it.
func envelope(t testing.TB, node string) string {
	return `{"alipay_trade_query_response":` + node + `,"sign":"` + signWith(t, gatewayKeys(), node) + `"}`
}

func TestQueryAndCloseAgainstTheGateway(t *testing.T) {
	now := &clock{start}
	g := gateway(t, now)
	c := client(t, g, now)
	ctx := context.Background()
	check := func(when string, want seckill.TradeState) {
		t.Helper()
		if got, err := c.Query(ctx, orderID); err != nil || got.State != want ||
			(want != seckill.TradeUnknown) != (got.Amount == 88_80) {
			t.Errorf("%s: query gives %+v, %v, want %s", when, got, err, want)
		}
	}
	closes := func(when string, want seckill.CloseResult) {
		t.Helper()
		must.Equal(t, want, must.Get(c.Close(ctx, orderID)), when, "close gives")
	}
	prepared := must.Get(c.Prepare(order()))
	check("prepared only", seckill.TradeUnknown)
	closes("prepared only", seckill.CloseMissing)
	must.Get(g.Open(prepared))
	check("opened", seckill.TradeWaiting)
	must.OK(t, g.Pay(orderID))
	check("paid", seckill.TradePaid)
	closes("paid", seckill.CloseRefused)
	check("paid, close refused", seckill.TradePaid)

	now = &clock{start}
	g = gateway(t, now)
	c = client(t, g, now)
	must.Get(g.Open(prepared))
	closes("opened", seckill.CloseDone)
	check("closed", seckill.TradeClosed)
	closes("closed", seckill.CloseRefused)

	g = gateway(t, now)
	c = client(t, g, now)
	must.Get(g.Open(prepared))
	now.now = start.Add(15 * time.Minute)
	check("expired", seckill.TradeClosed)
}

func TestQueryReadsEveryState(t *testing.T) {
	for name, tc := range map[string]struct {
		node string
		want seckill.Trade
	}{
		"success":  {paidNode, paidTrade},
		"finished": {strings.Replace(paidNode, "TRADE_SUCCESS", "TRADE_FINISHED", 1), paidTrade},
		"waiting": {strings.Replace(paidNode, "TRADE_SUCCESS", "WAIT_BUYER_PAY", 1),
			seckill.Trade{State: seckill.TradeWaiting, TradeNo: paidTrade.TradeNo, Amount: 88_80}},
		"closed, perhaps refunded": {strings.Replace(paidNode, "TRADE_SUCCESS", "TRADE_CLOSED", 1),
			seckill.Trade{State: seckill.TradeClosed, TradeNo: paidTrade.TradeNo, Amount: 88_80}},
		"amount as a number": {strings.Replace(paidNode, `"88.80"`, `88.8`, 1), paidTrade},
		"missing": {
			`{"code":"40004","msg":"Business Failed","sub_code":"ACQ.TRADE_NOT_EXIST","sub_msg":"交易不存在","out_trade_no":"` + orderID + `"}`,
			seckill.Trade{State: seckill.TradeUnknown}},
		"missing, number not repeated": {`{"code":"40004","sub_code":"ACQ.TRADE_NOT_EXIST"}`,
			seckill.Trade{State: seckill.TradeUnknown}},
	} {
		got, err := client(t, answering([]byte(envelope(t, tc.node))), &clock{start}).Query(context.Background(),
			orderID)
		if err != nil || got != tc.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, tc.want)
		}
	}
}

// TestTradeByItsNumber checks that Trade returns the trade only if it belongs to the order, and refuses an answer
// about another trade.
func TestTradeByItsNumber(t *testing.T) {
	for name, tc := range map[string]struct {
		node, order, no string
		want            seckill.Trade
		err             bool
	}{
		"paid":            {paidNode, orderID, paidTrade.TradeNo, paidTrade, false},
		"another order's": {paidNode, otherID, paidTrade.TradeNo, seckill.Trade{State: seckill.TradeUnknown}, false},
		"missing": {`{"code":"40004","sub_code":"ACQ.TRADE_NOT_EXIST"}`, orderID, paidTrade.TradeNo,
			seckill.Trade{State: seckill.TradeUnknown}, false},
		"no number":     {paidNode, orderID, "2026 1", seckill.Trade{State: seckill.TradeUnknown}, false},
		"another trade": {paidNode, orderID, "2026010122001000000000000002", seckill.Trade{}, true},
		"a fault": {`{"code":"20000","sub_code":"ACQ.SYSTEM_ERROR"}`, orderID, paidTrade.TradeNo,
			seckill.Trade{}, true},
	} {
		got, err := client(t, answering([]byte(envelope(t, tc.node))), &clock{start}).Trade(context.Background(),
			tc.order, tc.no)
		if (err != nil) != tc.err || got != tc.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, tc.want)
		}
	}
	now := &clock{start}
	g := gateway(t, now)
	c := client(t, g, now)
	prepared := must.Get(c.Prepare(order()))
	no := must.Get(g.Open(prepared))
	must.OK(t, g.Pay(orderID))
	must.Equal(t, seckill.Trade{State: seckill.TradePaid, TradeNo: no, Amount: 88_80},
		must.Get(c.Trade(t.Context(), orderID, no)), "the gateway")
}

// TestAnswerIsCheckedAsReceived uses answers that a JSON library would encode with other bytes.
func TestAnswerIsCheckedAsReceived(t *testing.T) {
	odd :=
		"{ \"msg\" :\t\"Success\",\r\n  \"store_name\":\"\\u4e2d\\u6587 \\\"}\\\" \\/ <&>\" , " +
			"\"code\":\"10000\",\n\"sign\":\"inner\", \"out_trade_no\":\"" +
			orderID +
			"\",\"total_amount\":\"88.80\",\"trade_no\":\"2026010122001000000000000001\"," +
			"\"trade_status\":\"TRADE_SUCCESS\", \"list\": [ {} , 1.50 ] }"
	sign := signWith(t, gatewayKeys(), odd)
	unescaped := strings.ReplaceAll(odd, `\/`, `/`)
	for name, body := range map[string]string{
		"as Alipay sends it": `{"alipay_trade_query_response":` + odd + `,"sign":"` + sign + `"}`,
		"signature first":    `{"sign":"` + sign + `","alipay_trade_query_response":` + odd + `}`,
		"white space around": " \n{ \"alipay_trade_query_response\" :  \n" + odd + "\t,\n \"sign\" : \"" + sign +
			"\"\n}\r\n ",
		"more beside": `{"alipay_cert_sn":"x","alipay_trade_query_response":` + odd + `,"sign":"` + sign +
			`"}`,
		"escaped signature": `{"alipay_trade_query_response":` + odd + `,"sign":"` + strings.ReplaceAll(sign, "/",
			`\/`) + `"}`,
		"signed, then escaped": `{"alipay_trade_query_response":` + odd + `,"sign":"` + signWith(t, gatewayKeys(),
			unescaped) + `"}`,
	} {
		got := must.Get(client(t, answering([]byte(body)), &clock{start}).Query(context.Background(), orderID))
		must.Equal(t, paidTrade, got, name)
	}
}

// TestAnswersThatAreNotUTF8 covers answers with texts in other charsets: Alipay has answered in GBK to calls in UTF-8,
// with a right signature over those bytes.
func TestAnswersThatAreNotUTF8(t *testing.T) {
	texts := map[string]string{"GBK": "\xbd\xbb\xd2\xd7\xb2\xbb\xb4\xe6\xd4\xda"} // 交易不存在
	texts["GBK with backslashes"] = "\xd5\x5c \xd5\x5cn\xd5\x5c\xd5\x5c"          // 誠, of which the second byte is one
	texts["GBK with quotes"] = `\"` + "\xd5\x5c" + `\",\"code\":\"10000\",` + "\xd5\x5c" + `\"`
	texts["GB18030 of four bytes"] = "\x81\x30\x81\x30\x81\x38\x8d\x30"
	texts["GBK, cut"] = "\xbd\xbb\xd2"
	texts["UTF-8, cut"] = "交易\xe4\xb8"
	texts["UTF-8 and a byte"] = `中\"中\"\\` + "\xff"
	texts["Big5"] = "\xb3\x5c\xa5\x5c"
	texts["Latin 1"] = "caf\xe9"
	envelope := func(method, node string) string {
		return `{"` + strings.ReplaceAll(method, ".", "_") + `_response":` + node + `,"sign":"` +
			signWith(t, gatewayKeys(), node) + `"}`
	}
	refusal := func(sub, text string) string {
		return `{"code":"40004","msg":"` + text + `","sub_code":"` + sub + `","sub_msg":"` + text + `"}`
	}
	c := func(method, node string) *alipay.Client {
		return client(t, answering([]byte(envelope(method, node))), &clock{start})
	}
	for name, text := range texts {
		paid := strings.Replace(paidNode, "{", `{"buyer_user_name":"`+text+`",`, 1)
		missing := refusal("ACQ.TRADE_NOT_EXIST", text)
		must.Equal(t, paidTrade, must.Get(c(alipay.MethodQuery, paid).Query(t.Context(), orderID)), name)
		must.Equal(t, seckill.Trade{State: seckill.TradeUnknown},
			must.Get(c(alipay.MethodQuery, missing).Query(t.Context(), orderID)), name)
		must.Equal(t, seckill.CloseMissing,
			must.Get(c(alipay.MethodClose, missing).Close(t.Context(), orderID)), name)
		low := refusal("ACQ.SELLER_BALANCE_NOT_ENOUGH", text)
		must.Equal(t, seckill.RefundAnswer{State: seckill.RefundRefused, Code: "ACQ.SELLER_BALANCE_NOT_ENOUGH"},
			must.Get(c(alipay.MethodRefund, low).Refund(t.Context(), refund())), name)
		must.Equal(t, seckill.RefundAnswer{State: seckill.RefundMissing},
			must.Get(c(alipay.MethodRefundQuery, missing).RefundStatus(t.Context(), refund())), name)
		none := refusal("isp.bill_not_exist", text)
		if _, err := c(alipay.MethodBill, none).Bill(t.Context(), billDay); !errors.Is(err, seckill.ErrNoBill) {
			t.Errorf("%s: no bill: %v", name, err)
		}
		body := envelope(alipay.MethodQuery, paid)
		for what, other := range map[string]string{"text": strings.Replace(body, text, text+"x", 1),
			"in UTF-8": strings.Replace(body, text, "交易不存在", 1), "amount": strings.Replace(body, "88.80", "88.81", 1),
			"amount not ASCII": envelope(alipay.MethodQuery, strings.Replace(paid, "88.80", "88\xa3\xae80", 1)),
			"order not ASCII":  envelope(alipay.MethodQuery, strings.Replace(paid, orderID, orderID+"\xba\xec", 1))} {
			got, err := client(t, answering([]byte(other)), &clock{start}).Query(t.Context(), orderID)
			if err == nil {
				t.Errorf("%s, %s changed: got %+v", name, what, got)
			}
		}
	}
}

// TestWhatACallDoesNotNeedCannotFailIt covers values of other types than the documented ones, all signed.
func TestWhatACallDoesNotNeedCannotFailIt(t *testing.T) {
	for _, odd := range []string{`""`, `"1,005.00"`, `null`, `{}`, `[1]`, `true`, `1e400`} {
		node := `{"code":40004,"sub_code":"ACQ.TRADE_NOT_EXIST","total_amount":` + odd + `,"trade_status":` + odd +
			`,"trade_no":` + odd + `,"msg":` + odd + `}`
		body := strings.Replace(envelope(t, node), "{", `{"msg":`+odd+`,"alipay_cert_sn":`+odd+`,"msg":1,`, 1)
		got := must.Get(client(t, answering([]byte(body)), &clock{start}).Query(t.Context(), orderID))
		must.Equal(t, seckill.Trade{State: seckill.TradeUnknown}, got, odd)
	}
}

func TestQueryTakesNothingElseForAnAnswer(t *testing.T) {
	good := envelope(t, paidNode)
	refusal := func(code, sub string) string {
		return envelope(t, `{"code":"`+code+`","msg":"x","sub_code":"`+sub+`"}`)
	}
	missing := `{"code":"40004","sub_code":"ACQ.TRADE_NOT_EXIST"}`
	sign := signWith(t, gatewayKeys(), paidNode)
	for name, body := range map[string]string{
		"empty":   "",
		"no JSON": "<html>busy</html>",
		"a list":  "[" + good + "]",
		"null":    "null",
		"cut off": good[:len(good)-1],
		"goes on": good + "{}",
		"wrong key": `{"alipay_trade_query_response":` + paidNode + `,"sign":"` + signWith(t, strangerKeys(),
			paidNode) + `"}`,
		"our own key": `{"alipay_trade_query_response":` + paidNode + `,"sign":"` + signWith(t, shopKeys(),
			paidNode) + `"}`,
		"tampered amount":      strings.Replace(good, "88.80", "88.81", 1),
		"tampered state":       strings.Replace(good, "TRADE_SUCCESS", "TRADE_FINISHED", 1),
		"white space changed":  strings.Replace(good, `"code":"10000"`, `"code": "10000"`, 1),
		"no signature":         `{"alipay_trade_query_response":` + paidNode + `}`,
		"empty signature":      `{"alipay_trade_query_response":` + paidNode + `,"sign":""}`,
		"signature a number":   `{"alipay_trade_query_response":` + paidNode + `,"sign":1}`,
		"sign in another case": strings.Replace(good, `"sign":`, `"Sign":`, 1),
		"missing, unsigned":    `{"alipay_trade_query_response":` + missing + `}`,
		"missing, forged":      `{"alipay_trade_query_response":` + missing + `,"sign":"` + sign + `"}`,
		"node twice": `{"alipay_trade_query_response":` + missing + `,"alipay_trade_query_response":` +
			paidNode + `,"sign":"` + sign + `"}`,
		"signature twice":    `{"sign":"x","alipay_trade_query_response":` + paidNode + `,"sign":"` + sign + `"}`,
		"another method":     strings.Replace(good, "query", "close", 1),
		"node in other case": strings.Replace(good, "alipay_trade", "Alipay_trade", 1),
		"error node":         `{"error_response":{"code":"20000","sub_code":"isp.unknow-error"}}`,
		"another order":      envelope(t, strings.Replace(paidNode, orderID, otherID, 1)),
		"no order":           envelope(t, strings.Replace(paidNode, orderID, "", 1)),
		"missing, other order": envelope(t, `{"code":"40004","sub_code":"ACQ.TRADE_NOT_EXIST","out_trade_no":"`+otherID+
			`"}`),
		"unknown state":        envelope(t, strings.Replace(paidNode, "TRADE_SUCCESS", "TRADE_PENDING", 1)),
		"no state":             envelope(t, strings.Replace(paidNode, "TRADE_SUCCESS", "", 1)),
		"amount with exponent": envelope(t, strings.Replace(paidNode, "88.80", "1e2", 1)),
		"amount of 3 decimals": envelope(t, strings.Replace(paidNode, "88.80", "88.880", 1)),
		"negative amount":      envelope(t, strings.Replace(paidNode, "88.80", "-1", 1)),
		"amount with blank":    envelope(t, strings.Replace(paidNode, "88.80", " 88.88", 1)),
		"full-width amount":    envelope(t, strings.Replace(paidNode, "88.80", "８８.８８", 1)),
		"no trade number":      envelope(t, strings.Replace(paidNode, "2026010122001000000000000001", "", 1)),
		"signed, not a node":   envelope(t, `"text"`),
		"signed null":          envelope(t, `null`),
		"busy":                 refusal("20000", "isp.unknow-error"),
		"system error":         refusal("40004", "ACQ.SYSTEM_ERROR"),
		"gateway error":        refusal("20000", "aop.ACQ.SYSTEM_ERROR"),
		"bad signature of us":  refusal("40002", "isv.invalid-signature"),
		"other refusal":        refusal("40004", "ACQ.INVALID_PARAMETER"),
		"missing, wrong code":  refusal("20000", "ACQ.TRADE_NOT_EXIST"),
		"too long":             strings.Repeat(" ", alipay.MaxResponse) + good,
	} {
		got, err := client(t, answering([]byte(body)), &clock{start}).Query(context.Background(), orderID)
		var domain *seckill.Error
		if err == nil || errors.As(err, &domain) || got != (seckill.Trade{}) {
			t.Errorf("%s: got %+v, %v, want a plain error", name, got, err)
		}
	}
}

func TestCloseReadsSubCodes(t *testing.T) {
	const fault = seckill.CloseResult("")
	for _, tc := range []struct {
		code, sub, order string
		want             seckill.CloseResult
	}{
		{"10000", "", orderID, seckill.CloseDone},
		{"10000", "", otherID, fault},
		{"10000", "", "", fault},
		{"40004", "ACQ.TRADE_NOT_EXIST", "", seckill.CloseMissing},
		{"40004", "ACQ.TRADE_NOT_EXIST", otherID, fault},
		{"40004", "ACQ.TRADE_STATUS_ERROR", orderID, seckill.CloseRefused},
		{"40004", "ACQ.REASON_TRADE_STATUS_INVALID", "", seckill.CloseRefused},
		{"40004", "ACQ.REASON_ILLEGAL_STATUS", "", seckill.CloseRefused},
		{"40004", "ACQ.TRADE_HAS_SUCCESS", "", seckill.CloseRefused},
		{"40004", "ACQ.SYSTEM_ERROR", "", fault},
		{"40004", "AQC.SYSTEM_ERROR", "", fault},
		{"40004", "isp.unknow-error", "", fault},
		{"40004", "", "", fault},
		{"20000", "isp.unknow-error", "", fault},
		{"20000", "ACQ.TRADE_NOT_EXIST", "", fault},
		{"40002", "isv.invalid-signature", "", fault},
		{"40006", "isv.insufficient-isv-permissions", "", fault},
		{"", "", "", fault},
	} {
		node := `{"code":"` + tc.code + `","sub_code":"` + tc.sub + `","out_trade_no":"` + tc.order + `"}`
		body := strings.Replace(envelope(t, node), "query", "close", 1)
		got, err := client(t, answering([]byte(body)), &clock{start}).Close(context.Background(), orderID)
		if got != tc.want || (err == nil) != (tc.want != fault) {
			t.Errorf("%s: got %q, %v, want %q", node, got, err, tc.want)
		}
	}
}

func TestTroubleOnTheWayIsAnError(t *testing.T) {
	good := envelope(t, paidNode)
	stop := make(chan struct{})
	for name, h := range map[string]http.HandlerFunc{
		"500": func(w http.ResponseWriter, r *http.Request) { http.Error(w, good, http.StatusInternalServerError) },
		"503": func(w http.ResponseWriter, r *http.Request) { http.Error(w, good, http.StatusServiceUnavailable) },
		"404": func(w http.ResponseWriter, r *http.Request) { http.Error(w, good, http.StatusNotFound) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				_, _ = w.Write([]byte(good))
				return
			}
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"slow": func(w http.ResponseWriter, r *http.Request) { <-stop },
		"slow in the middle": func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(good[:20]))
			w.(http.Flusher).Flush()
			<-stop
		},
		"connection cut": func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) },
	} {
		srv := httptest.NewServer(h)
		t.Cleanup(srv.Close)
		c := config(nil, &clock{start})
		c.Gateway, c.HTTP = srv.URL, nil
		cl := must.Get(alipay.New(c))
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		if got, err := cl.Query(ctx, orderID); err == nil || strings.Contains(err.Error(), "sign=") ||
			strings.Contains(err.Error(), appID) {
			t.Errorf("%s: query gives %+v, %v, want an error that has nothing of what was sent", name, got, err)
		}
		if got, err := cl.Close(ctx, orderID); err == nil || got != "" {
			t.Errorf("%s: close gives %q, %v, want an error", name, got, err)
		}
		cancel()
	}
	close(stop) // ends the handlers before the servers close
}

// TestCallsHaveADeadline also covers calls through an HTTP client without a timeout.
func TestCallsHaveADeadline(t *testing.T) {
	var left time.Duration
	c := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if deadline, ok := r.Context().Deadline(); ok {
			left = time.Until(deadline)
		}
		_, _ = w.Write([]byte(envelope(t, paidNode)))
	}), &clock{start})
	if _, err := c.Query(context.Background(), orderID); err != nil || left <= 0 || left > alipay.CallTimeout {
		t.Errorf("query: %v with %s left, want at most %s", err, left, alipay.CallTimeout)
	}
}

package fakegateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// wire sends a client's calls to a gateway; if the gateway cuts a connection, the client gets an error, as on a real
// network.
type wire struct{ g *fakegateway.Gateway }

func (w wire) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	a := httptest.NewRecorder()
	in := httptest.NewRequest(r.Method, r.URL.String(), nil).WithContext(r.Context())
	in.Header = r.Header
	if r.Body != nil {
		in.Body = r.Body
	}
	defer func() {
		switch cut := recover(); cut {
		case nil:
		case http.ErrAbortHandler:
			resp, err = nil, io.ErrUnexpectedEOF
		default:
			panic(cut)
		}
	}()
	w.g.ServeHTTP(a, in)
	return a.Result(), nil
}

// call makes a call signed by the shop and returns the answer's node and the HTTP status, or 0 if the connection was
// cut.
func call(t *testing.T, g *fakegateway.Gateway, method string, biz map[string]any) (map[string]string, int) {
	t.Helper()
	content := must.Get(json.Marshal(biz))
	client := http.Client{Transport: wire{g}}
	resp, err := client.Post("http://gateway.example/gateway.do", "application/x-www-form-urlencoded",
		strings.NewReader(signed(t, callOf(method, string(content)))))
	if err != nil {
		return nil, 0
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode
	}
	var answer map[string]json.RawMessage
	var node map[string]string
	must.OK(t, json.NewDecoder(resp.Body).Decode(&answer))
	if err := json.Unmarshal(answer[strings.ReplaceAll(method, ".", "_")+"_response"], &node); err != nil {
		t.Fatalf("%s: %v in %s", method, err, answer)
	}
	return node, resp.StatusCode
}

// callOf returns the parameters of a call.
func callOf(method, content string) url.Values {
	return url.Values{"app_id": {appID}, "method": {method}, "charset": {"utf-8"}, "sign_type": {"RSA2"},
		"timestamp": {"2026-01-01 20:00:00"}, "version": {"1.0"}, "biz_content": {content}}
}

// refund asks for a refund of order(0), and checks the answer's sub code, or fund_change of a success.
func refund(t *testing.T, g *fakegateway.Gateway, amount, requestNo, want string) {
	t.Helper()
	if got, _ := call(t, g, alipay.MethodRefund, back(amount, requestNo)); code(got) != want {
		t.Errorf("refund of %s: %v, want %s", amount, got, want)
	}
}

func back(amount, requestNo string) map[string]any {
	return map[string]any{"out_trade_no": orderID, "refund_amount": amount, "out_request_no": requestNo}
}

// code returns the sub code of an answer, or fund_change of a success.
func code(node map[string]string) string {
	if node["code"] == "10000" {
		return node["fund_change"]
	}
	return node["sub_code"]
}

func TestRefundAnswers(t *testing.T) {
	g, _, _ := paid(t, nil)
	no := g.Trades()[0].TradeNo
	for _, step := range []struct {
		name string
		biz  map[string]any
		want string
	}{
		{"no amount", map[string]any{"out_trade_no": orderID, "out_request_no": "r1"}, "ACQ.INVALID_PARAMETER"},
		{"amount 0", back("0.00", "r1"), "ACQ.INVALID_PARAMETER"},
		{"amount below 0", back("-1", "r1"), "ACQ.INVALID_PARAMETER"},
		{"amount of 3 decimals", back("1.001", "r1"), "ACQ.INVALID_PARAMETER"},
		{"amount as 1e1", map[string]any{"out_trade_no": orderID, "refund_amount": json.Number("1e1"),
			"out_request_no": "r1"}, "ACQ.INVALID_PARAMETER"},
		{"request number with a blank", back("1.00", "r 1"), "ACQ.INVALID_PARAMETER"},
		{"no trade named", map[string]any{"refund_amount": "1.00", "out_request_no": "r1"}, "ACQ.INVALID_PARAMETER"},
		{"unknown order", map[string]any{"out_trade_no": "none", "refund_amount": "1.00", "out_request_no": "r1"},
			"ACQ.TRADE_NOT_EXIST"},
		{"unknown trade of a known order", map[string]any{"trade_no": "1", "out_trade_no": orderID,
			"refund_amount": "1.00", "out_request_no": "r1"}, "ACQ.TRADE_NOT_EXIST"},
		{"more than was paid", back("88.81", "r1"), "ACQ.REASON_TRADE_REFUND_FEE_ERR"},
		{"a part without a number", map[string]any{"out_trade_no": orderID, "refund_amount": "8.80"},
			"ACQ.REFUND_AMT_NOT_EQUAL_TOTAL"},
		{"request number that is too long", back("1.00", strings.Repeat("-", 65)), "ACQ.INVALID_PARAMETER"},
		{"a part", back("8.80", "r1"), "Y"},
		{"the same again", back("8.80", "r1"), "N"},
		{"request number with hyphens", back("0.10", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"), "Y"},
		{"an order's number with hyphens", map[string]any{"out_trade_no": "6ba7b810-9dad", "refund_amount": "1.00",
			"out_request_no": "r1"}, "ACQ.INVALID_PARAMETER"},
		{"the same number, another amount", back("8.81", "r1"), "ACQ.DISCORDANT_REPEAT_REQUEST"},
		{"more than is left", back("80.01", "r2"), "ACQ.REFUND_AMT_NOT_EQUAL_TOTAL"},
		{"the rest, by trade number, amount a number", map[string]any{"trade_no": no,
			"refund_amount": json.Number("79.9"), "out_request_no": "r2"}, "Y"},
		{"the rest again", back("79.90", "r2"), "N"},
		{"of a trade without money", back("0.01", "r3"), "ACQ.TRADE_STATUS_ERROR"},
	} {
		if got, _ := call(t, g, alipay.MethodRefund, step.biz); code(got) != step.want {
			t.Errorf("%s: %v, want %s", step.name, got, step.want)
		}
	}
	want := []fakegateway.Refund{{RequestNo: "r1", Amount: 8_80, At: start},
		{RequestNo: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", Amount: 10, At: start},
		{RequestNo: "r2", Amount: 79_90, At: start}}
	if tr := g.Trades()[0]; tr.Status != fakegateway.StatusClosed || !cmp.Equal(want, tr.Refunds) || tr.Kept() != 0 {
		t.Errorf("%+v, want TRADE_CLOSED with refunds %+v", tr, want)
	}
}

func TestRefundOfATradeThatIsNotPaid(t *testing.T) {
	g, s, _ := system(t, nil)
	open(t, g, s, order(0))
	for _, state := range []fakegateway.Status{fakegateway.StatusWait, fakegateway.StatusClosed} {
		refund(t, g, "88.80", "r1", "ACQ.TRADE_STATUS_ERROR")
		if state == fakegateway.StatusWait {
			closeTrade(t, g, s, orderID)
		}
	}
}

func TestRefundWithoutANumberIsTheWholeTrades(t *testing.T) {
	g, _, _ := paid(t, nil)
	for _, want := range []string{"Y", "N"} {
		if got, _ := call(t, g, alipay.MethodRefund, map[string]any{"out_trade_no": orderID,
			"refund_amount": "88.80"}); code(got) != want || got["refund_fee"] != "88.80" {
			t.Errorf("%v, want fund_change %s", got, want)
		}
	}
	if got, _ := call(t, g, alipay.MethodRefundQuery, map[string]any{"out_trade_no": orderID,
		"out_request_no": orderID}); got["refund_status"] != "REFUND_SUCCESS" {
		t.Errorf("asked for by the order's number: %v", got)
	}
}

func TestATradeIsFinished(t *testing.T) {
	const year = 365 * 24 * time.Hour
	g, _, c := paid(t, func(o *fakegateway.Options) { o.FinishAfter = year })
	c.set(start.Add(year - 1))
	refund(t, g, "1.00", "r1", "Y")
	c.set(start.Add(year))
	refund(t, g, "1.00", "r2", "ACQ.TRADE_HAS_FINISHED")
	refund(t, g, "1.00", "r1", "N")
	if got, _ := call(t, g, alipay.MethodQuery,
		map[string]any{"out_trade_no": orderID}); got["trade_status"] != "TRADE_FINISHED" {
		t.Errorf("query: %v, want TRADE_FINISHED", got)
	}
	if tr := g.Trades()[0]; tr.Status != fakegateway.StatusFinished || tr.Kept() != 87_80 {
		t.Errorf("%+v, want it finished with 87.80 kept", tr)
	}
	must.Is(t, fakegateway.ErrPaid, g.Pay(orderID), "paid again")
}

func TestRefundsNeedABalance(t *testing.T) {
	none := seckill.Fen(0)
	g, _, _ := paid(t, func(o *fakegateway.Options) { o.Balance = &none })
	refund(t, g, "8.80", "r1", "Y")
	g.SetBalance(9_99)
	refund(t, g, "10.00", "r2", "ACQ.SELLER_BALANCE_NOT_ENOUGH")
	refund(t, g, "9.99", "r3", "Y")
	g.SetBalance(100_00)
	refund(t, g, "10.00", "r2", "Y")
}

// TestRefundsAtOnce checks that of many concurrent refunds as many succeed as there is money for, each once.
func TestRefundsAtOnce(t *testing.T) {
	const shops = 6
	for name, tc := range map[string]struct {
		balance seckill.Fen
		want    int
	}{"all that was paid": {88_80, 4}, "the seller has less": {50_00, 2}} {
		g, _, _ := paid(t, nil)
		g.SetBalance(tc.balance)
		var answers [shops][2]string
		var wg sync.WaitGroup
		for i := range shops {
			wg.Go(func() {
				for j := range answers[i] {
					got, _ := call(t, g, alipay.MethodRefund, back("20.00", fmt.Sprintf("r%d", i)))
					answers[i][j] = code(got)
				}
			})
		}
		wg.Wait()
		made := 0
		for _, a := range answers {
			refused := func(s string) bool {
				return s == "ACQ.REFUND_AMT_NOT_EQUAL_TOTAL" || s == "ACQ.SELLER_BALANCE_NOT_ENOUGH"
			}
			switch {
			case a == [2]string{"Y", "N"}:
				made++
			case !refused(a[0]), !refused(a[1]):
				t.Errorf("%s: answers %v", name, a)
			}
		}
		if tr := g.Trades()[0]; made != tc.want || len(tr.Refunds) != tc.want ||
			tr.Refunded() != seckill.Fen(tc.want)*20_00 {
			t.Errorf("%s: %d made, %+v; want %d", name, made, tr, tc.want)
		}
		refund(t, g, "8.80", "rest", "Y") // a refused refund must leave the balance unchanged
	}
}

func TestRefundQuery(t *testing.T) {
	g, _, c := paid(t, nil)
	c.set(start.Add(time.Minute))
	if got, _ := call(t, g, alipay.MethodRefund, back("8.80", "r1")); code(got) != "Y" || got["refund_fee"] != "8.80" ||
		got["gmt_refund_pay"] != "2026-01-01 20:01:00" {
		t.Errorf("refund: %v", got)
	}
	for name, tc := range map[string]struct {
		biz  map[string]any
		want map[string]string
	}{
		"made": {map[string]any{"out_trade_no": orderID, "out_request_no": "r1"}, map[string]string{"code": "10000",
			"msg": "Success", "buyer_user_id": "2088000000000002",
			"out_trade_no": orderID, "trade_no": g.Trades()[0].TradeNo, "out_request_no": "r1",
			"refund_status": "REFUND_SUCCESS", "refund_amount": "8.80",
			"total_amount": "88.80", "gmt_refund_pay": "2026-01-01 20:01:00"}},
		"not made": {map[string]any{"out_trade_no": orderID, "out_request_no": "r2"}, map[string]string{"code": "10000",
			"msg": "Success"}},
		"of no trade": {map[string]any{"out_trade_no": "none", "out_request_no": "r1"},
			map[string]string{"code": "40004", "msg": "Business Failed",
				"sub_code": "ACQ.TRADE_NOT_EXIST", "sub_msg": "no such trade", "out_trade_no": "none"}},
		"no number": {map[string]any{"out_trade_no": orderID}, map[string]string{"code": "40004",
			"msg":      "Business Failed",
			"sub_code": "ACQ.INVALID_PARAMETER", "sub_msg": "biz_content is wrong", "out_trade_no": orderID}},
	} {
		got, _ := call(t, g, alipay.MethodRefundQuery, tc.biz)
		must.Equal(t, tc.want, got, name)
	}
}

// TestRefundNotifications checks that the shop is notified of the payment, of a partial refund, and of the rest.
func TestRefundNotifications(t *testing.T) {
	g, s, c := paid(t, nil)
	for i, amount := range []string{"8.80", "80.00"} {
		c.set(start.Add(time.Duration(i+1)*time.Minute + 7*time.Millisecond))
		refund(t, g, amount, fmt.Sprintf("r%d", i+1), "Y")
	}
	steps(t, g, 3, 0)
	type told struct{ Status, Fee, At, No, Closed string }
	var got []told
	ids := map[string]bool{}
	for _, f := range s.got {
		notification, err := s.client.Verify(f)
		if err != nil || notification.Amount != 88_80 ||
			notification.Paid != (f.Get("trade_status") == "TRADE_SUCCESS") {
			t.Errorf("%+v, %v of %v", notification, err, f)
		}
		ids[notification.ID] = true
		got = append(got, told{f.Get("trade_status"), f.Get("refund_fee"), f.Get("gmt_refund"), f.Get("out_biz_no"),
			f.Get("gmt_close")})
	}
	want := []told{
		{"TRADE_SUCCESS", "", "", "", ""},
		{"TRADE_SUCCESS", "8.80", "2026-01-01 20:01:00.007", "r1", ""},
		{"TRADE_CLOSED", "88.80", "2026-01-01 20:02:00.007", "r2", "2026-01-01 20:02:00"},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(ids) != 3 {
		t.Errorf("%d ids of notifications (-want +got):\n%s", len(ids), diff)
	}
}

// TestTheShopsClient checks that the project's own adapter sees its refund made, once.
func TestTheShopsClient(t *testing.T) {
	g, s, c := paid(t, nil)
	client := s.clientOf(t, g, c)
	r := seckill.Refund{Order: orderID, TradeNo: g.Trades()[0].TradeNo, ID: seckill.RefundID(orderID,
		g.Trades()[0].TradeNo), Amount: 88_80, Reason: "订单已关闭"}
	for i, want := range []struct{ before, answer seckill.RefundState }{{seckill.RefundMissing, seckill.RefundMade},
		{seckill.RefundMade, seckill.RefundPending}} {
		must.Equal(t, want.before, must.Get(client.RefundStatus(t.Context(), r)).State, i, "status before")
		must.Equal(t, want.answer, must.Get(client.Refund(t.Context(), r)).State, i, "refund")
	}
	must.Equal(t, seckill.TradeClosed, must.Get(client.Query(t.Context(), orderID)).State, "query")
}

// clientOf returns the shop's client, connected by a wire.
func (s *shop) clientOf(t *testing.T, g *fakegateway.Gateway, c *clock) *alipay.Client {
	t.Helper()
	client, err := alipay.New(alipay.Config{AppID: appID, SellerID: sellerID, PrivateKey: shopKeys().Private,
		AlipayPublicKey: g.PublicKey(),
		Gateway:         "http://gateway.example/gateway.do", NotifyURL: "https://shop.example/seckill/alipay/notify", Clock: c,
		HTTP: &http.Client{Transport: wire{g}}})
	must.OK(t, err)
	return client
}

func TestTheCashierOfARefundedTrade(t *testing.T) {
	g, s, c := paid(t, nil)
	refund(t, g, "88.80", "r1", "Y")
	c.set(start.Add(time.Hour))
	if w := get(g, prepare(t, s, order(0)), "en"); w.Code != http.StatusOK ||
		!strings.Contains(w.Body.String(), "Refunded in full") {
		t.Errorf("status %d, page\n%s", w.Code, w.Body)
	}
}

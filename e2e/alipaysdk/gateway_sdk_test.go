//go:build real

package alipaysdk_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/seckill"
)

// money is the compared part of what the SDK makes of an answer about money.
type money struct {
	Code         string `json:"code"`
	SubCode      string `json:"sub_code"`
	OutTradeNo   string `json:"out_trade_no"`
	TradeNo      string `json:"trade_no"`
	FundChange   string `json:"fund_change"`
	RefundFee    string `json:"refund_fee"`
	OutRequestNo string `json:"out_request_no"`
	RefundStatus string `json:"refund_status"`
	RefundAmount string `json:"refund_amount"`
	BillURL      string `json:"bill_download_url"`
}

func (w *gateway) execContent(method string, content map[string]any) (m money) {
	w.t.Helper()
	w.call("exec_content", map[string]any{"method": method, "content": content}, &m)
	return m
}

// TestTheSDKMovesMoneyAtTheGateway covers refunds and their queries, by either number, and the day's bill.
func TestTheSDKMovesMoneyAtTheGateway(t *testing.T) {
	w := newGateway(t)
	const n = 999 // an order of ten yuan
	tradeNo := w.opened(n)
	if err := w.gateway.Pay(orderID(n)); err != nil {
		t.Fatal(err)
	}
	refund := func(no, amount string) map[string]any {
		return map[string]any{"trade_no": tradeNo, "refund_amount": amount, "out_request_no": no,
			"refund_reason": "订单已关闭"}
	}
	made := func(change, fee string) money {
		return money{Code: "10000", OutTradeNo: orderID(n), TradeNo: tradeNo, FundChange: change, RefundFee: fee}
	}
	for _, step := range []struct {
		behaviour, method string
		content           map[string]any
		want              money
	}{
		{"a refund that was not asked for", alipay.MethodRefundQuery, map[string]any{"trade_no": tradeNo,
			"out_request_no": "r1"}, money{Code: "10000"}},
		{"a part", alipay.MethodRefund, refund("r1", "4.00"), made("Y", "4.00")},
		{"the same again", alipay.MethodRefund, refund("r1", "4.00"), made("N", "4.00")},
		{"another amount", alipay.MethodRefund, refund("r1", "4.01"),
			money{Code: "40004", SubCode: "ACQ.DISCORDANT_REPEAT_REQUEST"}},
		{"more than is left", alipay.MethodRefund, refund("r2", "6.01"),
			money{Code: "40004", SubCode: "ACQ.REFUND_AMT_NOT_EQUAL_TOTAL"}},
		{"the rest, by the order's number", alipay.MethodRefund, map[string]any{"out_trade_no": orderID(n),
			"refund_amount": 6, "out_request_no": "r2"}, made("Y", "10.00")},
		{"a refund that was made", alipay.MethodRefundQuery, map[string]any{"out_trade_no": orderID(n),
			"out_request_no": "r2"},
			money{Code: "10000", OutTradeNo: orderID(n), TradeNo: tradeNo, OutRequestNo: "r2",
				RefundStatus: "REFUND_SUCCESS", RefundAmount: "6.00"}},
		{"a bill of today", alipay.MethodBill, map[string]any{"bill_type": "trade", "bill_date": "2026-01-01"},
			money{Code: "40004", SubCode: "isp.bill_not_exist"}},
	} {
		if diff := cmp.Diff(step.want, w.execContent(step.method, step.content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.behaviour, diff)
		}
	}
	w.clock.now = start.Add(24 * time.Hour)
	bill := w.execContent(alipay.MethodBill, map[string]any{"bill_type": "trade", "bill_date": "2026-01-01"})
	resp, err := http.Get(bill.BillURL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/zip" {
		t.Errorf("download: status %d, %s", resp.StatusCode, resp.Header)
	}
	got, err := w.client.Bill(t.Context(), "2026-01-01")
	at := func(refund bool, id string, amount seckill.Fen) seckill.BillLine {
		return seckill.BillLine{Refund: refund, Order: orderID(n), TradeNo: tradeNo, RefundID: id, Amount: amount,
			At: start}
	}
	want := []seckill.BillLine{at(false, "", 10_00), at(true, "r1", 4_00), at(true, "r2", 6_00)}
	if diff := cmp.Diff(seckill.Bill{Lines: want}, got); err != nil || diff != "" {
		t.Errorf("the bill: %v (-want +got):\n%s", err, diff)
	}
}

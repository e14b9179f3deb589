package httpapi

import (
	"testing"
	"time"

	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// TestMoneyInWords checks the sentences for every state of an order's money, in both languages, with amount, day and
// number.
func TestMoneyInWords(t *testing.T) {
	at := time.Date(2026, 11, 11, 16, 30, 0, 0, time.UTC) // the next day in China
	pay := func(trade string, state seckill.PaymentState) seckill.Payment {
		p := seckill.Payment{Order: "o1", TradeNo: trade, Amount: 8888, State: state}
		if state == seckill.RefundDone {
			p.Back = at
		}
		return p
	}
	late, kept := []seckill.Change{{State: seckill.PendingPayment}, {State: seckill.Closing}, {State: seckill.Expired},
		{State: seckill.RefundOwed}}, []seckill.Change{{State: seckill.Paid}}
	r1, r2 := seckill.RefundID("o1", "t1"), seckill.RefundID("o1", "t2")
	for _, tt := range []struct {
		name     string
		state    seckill.State
		history  []seckill.Change
		payments []seckill.Payment
		zh, en   string
	}{
		{"nobody paid", seckill.Expired, late[:3], nil, "没有扣款。", "You have not been charged."},
		{"to be paid", seckill.PendingPayment, late[:1], nil, "还没有收到您的付款。如果您已经付款，请稍候，不要再付。",
			"No payment of yours has arrived yet. If you have paid, wait a little, and do not pay again."},
		{"asked about", seckill.Closing, late[:2], nil, "正在向支付平台核实您是否已付款：如已付款，订单照常生效，或款项原路退回。",
			"We are asking the payment provider whether you have paid: if so, your order counts, or the money goes " +
				"back to you."},
		{"paid", seckill.Paid, kept, []seckill.Payment{pay("t1", seckill.Captured)}, "已付款 88.88 元。",
			"Paid: 88.88 yuan."},
		{"too late", seckill.RefundOwed, late, []seckill.Payment{pay("t1", seckill.RefundDue)},
			"您的付款 88.88 元在订单关闭之后才到，将原路退回，退款编号 " + r1 + "。",
			"Your payment of 88.88 yuan arrived after the order closed; it goes back to you, refund number " + r1 +
				"."},
		{"returned", seckill.Refunded, late, []seckill.Payment{pay("t1", seckill.RefundDone)},
			"88.88 元已于 2026-11-12 原路退回，退款编号 " + r1 + "。",
			"88.88 yuan were returned on 2026-11-12, refund number " + r1 + "."},
		{"paid twice", seckill.Paid, kept, []seckill.Payment{pay("t1", seckill.Captured), pay("t2", seckill.RefundDue)},
			"已付款 88.88 元。88.88 元将原路退回给您，退款编号 " + r2 + "。",
			"Paid: 88.88 yuan. 88.88 yuan go back to you, refund number " + r2 + "."},
	} {
		for l, want := range [languages]string{chinese: tt.zh, english: tt.en} {
			if got := money(&seckill.Order{ID: "o1", State: tt.state, History: tt.history}, tt.payments,
				language(l)); got != want {
				t.Errorf("%s: %q, want %q", tt.name, got, want)
			}
		}
	}
}

// TestNotesAreNoSteps checks that a shopper sees each state once, however many history entries it has.
func TestNotesAreNoSteps(t *testing.T) {
	o := seckill.Order{History: []seckill.Change{{State: seckill.PendingPayment}, {State: seckill.Paid},
		{State: seckill.Paid, Cause: "1.00 yuan of trade t2 went back"}, {State: seckill.RefundOwed}}}
	got := newOrder(&shop.OrderView{Order: o}, time.Time{}).History
	if len(got) != 3 || got[1].State != seckill.Paid || got[2].State != seckill.RefundOwed {
		t.Errorf("history %+v", got)
	}
}

package httpapi

import (
	"fmt"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// moneyWords are the sentences that tell a shopper about an order's money. Amounts are yuan; "late" is for money that
// arrived after the order had closed.
var moneyWords = map[string][languages]string{
	"none": {"没有扣款。", "You have not been charged."},
	"open": {"还没有收到您的付款。如果您已经付款，请稍候，不要再付。",
		"No payment of yours has arrived yet. If you have paid, wait a little, and do not pay again."},
	"asking": {"正在向支付平台核实您是否已付款：如已付款，订单照常生效，或款项原路退回。",
		"We are asking the payment provider whether you have paid: if so, your order counts, or the money goes back " +
			"to you."},
	"captured": {"已付款 %s 元。", "Paid: %s yuan."},
	"late": {"您的付款 %s 元在订单关闭之后才到，将原路退回，退款编号 %s。",
		"Your payment of %s yuan arrived after the order closed; it goes back to you, refund number %s."},
	"due":      {"%s 元将原路退回给您，退款编号 %s。", "%s yuan go back to you, refund number %s."},
	"refunded": {"%s 元已于 %s 原路退回，退款编号 %s。", "%s yuan were returned on %s, refund number %s."},
}

// money returns one sentence per payment that says where its money is.
func money(o *seckill.Order, payments []seckill.Payment, l language) string {
	switch {
	case len(payments) > 0:
	case o.State == seckill.PendingPayment:
		return moneyWords["open"][l]
	case o.State == seckill.Closing:
		return moneyWords["asking"][l]
	default:
		return moneyWords["none"][l]
	}
	late := false
	for _, c := range o.History {
		late = late || c.State == seckill.Expired || c.State == seckill.Cancelled
	}
	sentences := make([]string, len(payments))
	for i, p := range payments {
		id := p.Refund().ID
		switch {
		case p.State == seckill.Captured:
			sentences[i] = fmt.Sprintf(moneyWords["captured"][l], p.Amount.Yuan())
		case p.State == seckill.RefundDone:
			sentences[i] = fmt.Sprintf(moneyWords["refunded"][l], p.Amount.Yuan(), seckill.Day(p.Back), id)
		case late:
			sentences[i] = fmt.Sprintf(moneyWords["late"][l], p.Amount.Yuan(), id)
		default:
			sentences[i] = fmt.Sprintf(moneyWords["due"][l], p.Amount.Yuan(), id)
		}
	}
	return strings.Join(sentences, [languages]string{chinese: "", english: " "}[l])
}

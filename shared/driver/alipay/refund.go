package alipay

import (
	"context"
	"fmt"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

var _ seckill.Refunds = (*Client)(nil)

// maxRefundID is the longest out_request_no of a call, in characters.
const maxRefundID = 64

// Values in the answers to refund calls.
const (
	fundMoved     = "Y"              // fund_change: this call moved the money
	refundSuccess = "REFUND_SUCCESS" // refund_status
	// Older documentation of alipay.trade.fastpay.refund.query has the sub code for an unknown trade without its
	// prefix.
	subNotExistBare = "TRADE_NOT_EXIST"
)

// refundContent is the biz_content of alipay.trade.refund and, without amount and reason, of the refund query.
type refundContent struct {
	TradeNo      string `json:"trade_no"`
	RefundAmount string `json:"refund_amount,omitempty"`
	OutRequestNo string `json:"out_request_no"`
	RefundReason string `json:"refund_reason,omitempty"`
}

// refundAnswer is the part of both calls' answers that the client reads. Only a refund has fund_change and refund_fee
// (the sum of the trade's refunds); only a query has out_request_no, refund_amount and refund_status.
type refundAnswer struct {
	result
	OutTradeNo   text `json:"out_trade_no"`
	TradeNo      text `json:"trade_no"`
	FundChange   text `json:"fund_change"`
	RefundFee    text `json:"refund_fee"`
	OutRequestNo text `json:"out_request_no"`
	RefundAmount text `json:"refund_amount"`
	RefundStatus text `json:"refund_status"`
}

// Refund implements seckill.Refunds with alipay.trade.refund. By the call's documentation only fund_change=Y proves
// that the money moved; after N, or none, a refund query must tell, because this refund may have been requested
// before. Every sub code about the trade itself is a refusal: the balance, the closed window, another amount under
// the same number. An answer with less than the whole amount is unreadable.
func (c *Client) Refund(ctx context.Context, r seckill.Refund) (seckill.RefundAnswer, error) {
	if err := checkRefund(r); err != nil {
		return seckill.RefundAnswer{}, fmt.Errorf("alipay: %s: %w", MethodRefund, err)
	}
	about := r.Order + " " + r.TradeNo
	var a refundAnswer
	err := c.call(ctx, MethodRefund, about, refundContent{TradeNo: r.TradeNo, RefundAmount: r.Amount.Yuan(),
		OutRequestNo: r.ID,
		RefundReason: r.Reason}, &a)
	if err != nil {
		return seckill.RefundAnswer{}, err
	}
	if err := a.same(sameness{"out_trade_no", a.OutTradeNo, r.Order}, sameness{"trade_no", a.TradeNo,
		r.TradeNo}); err != nil {
		return seckill.RefundAnswer{}, fmt.Errorf("alipay: %s %s: %w", MethodRefund, about, err)
	}
	switch {
	case a.final():
		return seckill.RefundAnswer{State: seckill.RefundRefused, Code: string(a.SubCode)}, nil
	case a.Code != codeSuccess:
		return seckill.RefundAnswer{}, a.fault(MethodRefund, about)
	case a.FundChange != fundMoved:
		return seckill.RefundAnswer{State: seckill.RefundPending}, nil
	}
	if returned, err := seckill.ParseYuan(string(a.RefundFee)); err != nil || returned < r.Amount {
		return seckill.RefundAnswer{}, fmt.Errorf("alipay: %s %s: fund_change with refund_fee %.40q: want %s",
			MethodRefund, about, a.RefundFee,
			r.Amount.Yuan())
	}
	return seckill.RefundAnswer{State: seckill.RefundMade}, nil
}

// RefundStatus implements seckill.Refunds with alipay.trade.fastpay.refund.query. For an unknown refund Alipay answers
// success without any number. An unknown trade is not a fault either: it means that there is no such refund, and the
// caller receives a refusal that an operator sees. A fault would be repeated forever.
func (c *Client) RefundStatus(ctx context.Context, r seckill.Refund) (seckill.RefundAnswer, error) {
	if err := checkRefund(r); err != nil {
		return seckill.RefundAnswer{}, fmt.Errorf("alipay: %s: %w", MethodRefundQuery, err)
	}
	about := r.Order + " " + r.TradeNo
	var a refundAnswer
	if err := c.call(ctx, MethodRefundQuery, about, refundContent{TradeNo: r.TradeNo, OutRequestNo: r.ID},
		&a); err != nil {
		return seckill.RefundAnswer{}, err
	}
	if a.Code == codeBusiness && (a.SubCode == subNotExist || a.SubCode == subNotExistBare) {
		return seckill.RefundAnswer{State: seckill.RefundMissing}, nil
	}
	if a.Code != codeSuccess {
		return seckill.RefundAnswer{}, a.fault(MethodRefundQuery, about)
	}
	if a.OutRequestNo == "" && a.RefundAmount == "" && a.RefundStatus == "" {
		return seckill.RefundAnswer{State: seckill.RefundMissing}, nil
	}
	err := a.same(sameness{"out_trade_no", a.OutTradeNo, r.Order}, sameness{"trade_no", a.TradeNo, r.TradeNo},
		sameness{"out_request_no", a.OutRequestNo, r.ID})
	if err != nil {
		return seckill.RefundAnswer{}, fmt.Errorf("alipay: %s %s: %w", MethodRefundQuery, about, err)
	}
	if a.RefundStatus == "" {
		return seckill.RefundAnswer{State: seckill.RefundPending}, nil
	}
	amount, err := seckill.ParseYuan(string(a.RefundAmount))
	if a.RefundStatus != refundSuccess || err != nil || amount < 1 {
		return seckill.RefundAnswer{},
			fmt.Errorf("alipay: %s %s: unreadable answer: refund_status %.40q, refund_amount %.40q, want %s",
				MethodRefundQuery, about, a.RefundStatus, a.RefundAmount, r.Amount.Yuan())
	}
	if amount != r.Amount {
		return seckill.RefundAnswer{State: seckill.RefundOther, Amount: amount}, nil
	}
	return seckill.RefundAnswer{State: seckill.RefundMade}, nil
}

// checkRefund returns an error for a refund that Alipay would not accept.
func checkRefund(r seckill.Refund) error {
	switch {
	case !seckill.ValidOrderID(r.Order):
		return fmt.Errorf("not an order id: %.40q", r.Order)
	case !validTradeNo(r.TradeNo):
		return fmt.Errorf("order %s: not a trade number: %.70q", r.Order, r.TradeNo)
	case !strings.HasPrefix(r.ID, seckill.RefundID(r.Order, r.TradeNo)) || len(r.ID) > maxRefundID:
		return fmt.Errorf("order %s: %.40q is not the id of the refund of %s", r.Order, r.ID, r.TradeNo)
	case r.Amount < 1 || r.Amount > seckill.MaxFen:
		return fmt.Errorf("order %s: amount %s yuan: want 0.01 to %s", r.Order, r.Amount.Yuan(), seckill.MaxFen.Yuan())
	}
	return nil
}

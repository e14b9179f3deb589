package fakegateway

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// refund refunds money of a trade. A request number works once: repeating it with the same amount moves nothing and
// is not an error. ErrOtherRefund, ErrNotPaid, ErrFinished, ErrRefundAmount, ErrRefundTotal, ErrUnavailable.
func (g *Gateway) refund(ctx context.Context, k Key, requestNo string, amount seckill.Fen) (r Record, moved bool,
	err error) {
	s := g.drawStart()
	r, err = g.change(ctx, k, func(r *Record, now time.Time) error {
		if i := refundOf(&r.Trade, requestNo); i >= 0 {
			if r.Refunds[i].Amount != amount {
				return ErrOtherRefund
			}
			return errNothing
		}
		switch {
		case r.Status == StatusFinished:
			return ErrFinished
		case r.Status != StatusSuccess:
			return ErrNotPaid
		case amount > r.Amount:
			return ErrRefundAmount
		case amount > r.Kept():
			return ErrRefundTotal
		}
		r.Refunds = append(r.Refunds, Refund{requestNo, amount, now})
		r.Notifications = append(r.Notifications, s.notification(now))
		if r.Kept() == 0 {
			r.Status = StatusClosed
		}
		return nil
	})
	switch {
	case err == nil:
		g.moved(s)
		return r, true, nil
	case errors.Is(err, errNothing):
		return r, false, nil
	}
	return r, false, err
}

func refundOf(t *Trade, requestNo string) int {
	return slices.IndexFunc(t.Refunds, func(r Refund) bool { return r.RequestNo == requestNo })
}

// callRefund implements alipay.trade.refund.
func (g *Gateway) callRefund(ctx context.Context, c *content) (node, error) {
	amount, err := seckill.ParseYuan(c.RefundAmount.String())
	if err != nil || amount < 1 {
		return node{}, ErrContent
	}
	r, err := g.find(ctx, c.TradeNo, c.OutTradeNo)
	if err != nil {
		return node{}, err
	}
	if c.OutRequestNo == "" { // without a number the refund covers the whole trade and takes the trade's number
		if amount != r.Amount {
			return node{}, ErrRefundTotal
		}
		c.OutRequestNo = r.OutTradeNo
	}
	if refundOf(&r.Trade, c.OutRequestNo) < 0 && r.Status == StatusSuccess && g.faults.draw(BalanceShort) {
		g.faults.count(BalanceShort)
		return node{}, ErrBalance
	}
	r, moved, err := g.refund(ctx, r.Key(), c.OutRequestNo, amount)
	if err != nil {
		return node{}, err
	}
	n := g.about(&r)
	n.FundChange, n.RefundFee = "N", r.Refunded().Yuan()
	if moved {
		n.FundChange = "Y"
	}
	n.GmtRefundPay = stamp(r.Refunds[refundOf(&r.Trade, c.OutRequestNo)].At)
	return n, nil
}

// callRefundQuery implements alipay.trade.fastpay.refund.query. For an unknown refund it answers success without
// data: only data prove that money was refunded.
func (g *Gateway) callRefundQuery(ctx context.Context, c *content) (node, error) {
	if c.OutRequestNo == "" {
		return node{}, ErrContent
	}
	r, err := g.find(ctx, c.TradeNo, c.OutTradeNo)
	if err != nil {
		return node{}, err
	}
	i := refundOf(&r.Trade, c.OutRequestNo)
	if i < 0 {
		return success(), nil
	}
	n := g.about(&r)
	n.OutRequestNo, n.RefundStatus = c.OutRequestNo, "REFUND_SUCCESS"
	n.RefundAmount, n.TotalAmount = r.Refunds[i].Amount.Yuan(), r.Amount.Yuan()
	n.GmtRefundPay = stamp(r.Refunds[i].At)
	return n, nil
}

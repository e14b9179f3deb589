package payment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// OutsideLedger is the part of the ledger that WentBack calls.
type OutsideLedger interface {
	seckill.OrderReader
	seckill.PaymentReader
	seckill.OutsideRecorder
}

// Outside records money that went back outside the shop.
type Outside struct {
	Ledger OutsideLedger
	Clock  seckill.Clock
	Meter  seckill.Meter
}

// WentBack records what the provider says: by now, total of a trade's money went back. The shop's own refund gives all
// back that is left, so less than all is never its own. If all went back of a payment that is refund_due, it may be its
// own, whose answer was lost: the next sweep asks. The result says whether it is new. Repeating it changes nothing,
// also after a person lowered the sum, nor does an older notification, which has a smaller total. An unknown payment is
// left alone.
func (r *Outside) WentBack(ctx context.Context, order, tradeNo string, total seckill.Fen, cause string) (bool, error) {
	for range maxTries {
		// Read the order before its payments: a later change of it then makes the write fail.
		o, err := r.Ledger.Order(ctx, order)
		if err != nil {
			return false, err
		}
		all, err := r.Ledger.Payments(ctx, order)
		i := slices.IndexFunc(all, func(p seckill.Payment) bool { return p.TradeNo == tradeNo })
		if err != nil || i < 0 {
			return false, err
		}
		p := all[i]
		was, now := p.Outside, min(total, p.Amount)
		switch again := p.State == seckill.RefundDue && now == p.Amount && was < now; {
		case again && p.Refused != "":
			now = was
		case p.State == seckill.RefundDone || now <= was || again:
			return false, nil
		}
		p.Outside = now
		said := fmt.Sprintf("%s of %s yuan of trade %s went back: %s", min(total, p.Amount).Yuan(), p.Amount.Yuan(),
			tradeNo, cause)
		if slices.ContainsFunc(o.History, func(c seckill.Change) bool { return c.Cause == said }) {
			return false, nil // recorded, and a person has lowered the sum since
		}
		err = r.Ledger.WentBack(ctx, o, p, was, r.Clock.Now(), said)
		if err == nil {
			r.Meter.Count(seckill.EventOutside, 1)
		}
		if !errors.Is(err, seckill.ErrStateChanged) {
			return err == nil, err
		}
	}
	return false, fmt.Errorf("payment: order %s changed state %d times", order, maxTries)
}

// Package payment records authentic payments in the ledger. The step notify gets them from notifications, the step
// expire from queries; both record them here.
package payment

import (
	"context"
	"errors"
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

// maxTries bounds how often the order's state may change during one recording; the state table has no cycle.
const maxTries = 6

// Ledger is the part of the ledger that the recorder calls.
type Ledger interface {
	seckill.OrderReader
	seckill.PaymentRecorder
}

// Recorder writes payments into the ledger.
type Recorder struct {
	Ledger Ledger
	Clock  seckill.Clock
	Meter  seckill.Meter
}

// Ours returns the order that a trade over this amount pays. It returns CodeNotOurs for an unknown order or another
// amount.
func (r *Recorder) Ours(ctx context.Context, order string, amount seckill.Fen) (seckill.Order, error) {
	o, err := r.Ledger.Order(ctx, order)
	if errors.Is(err, seckill.ErrNoOrder) {
		return seckill.Order{}, &seckill.Error{Code: seckill.CodeNotOurs, Order: order, Err: err}
	}
	if err == nil && amount != o.Amount {
		err = &seckill.Error{Code: seckill.CodeNotOurs, Order: order, Err: fmt.Errorf("amount %s, the order's is %s",
			amount.Yuan(), o.Amount.Yuan())}
	}
	return o, err
}

// Record records one trade's money: an open order becomes paid; for any other order the money becomes refund_due. A
// nil error means that it is durable. Repeating it changes nothing. It returns CodeNotOurs for an unknown order or
// another amount.
func (r *Recorder) Record(ctx context.Context, order, tradeNo string, amount seckill.Fen, cause string) error {
	for range maxTries {
		o, err := r.Ours(ctx, order, amount)
		if err != nil {
			return err
		}
		to, state := o.State.OnMoney()
		err = r.Ledger.RecordPayment(ctx, seckill.Payment{Order: order, TradeNo: tradeNo, Amount: amount, State: state,
			At: r.Clock.Now(), Cause: cause}, o.State, to)
		switch {
		case err == nil && state == seckill.Captured:
			r.Meter.Count(seckill.EventPaid, 1)
			return nil
		case err == nil:
			r.Meter.Count(seckill.EventRefundDue, 1)
			return nil
		case errors.Is(err, seckill.ErrPaymentExists):
			return nil
		case !errors.Is(err, seckill.ErrStateChanged):
			return err
		}
	}
	return fmt.Errorf("payment: order %s changed state %d times", order, maxTries)
}

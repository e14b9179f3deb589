// Package refund returns money: late payments, second trades, and refunds that an operator makes. In: a schedule
// (each minute), or an operator. Out: payments that are refunded, or refused and waiting for an operator. It asks the
// payment provider and writes the ledger; it never touches the stock: a return row and a message tell consume.
package refund

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/payment"
	"github.com/your-org/seckill/shared/flow/internal/sweep"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits.
const (
	pageRows   = 100 // payments per read of a sweep
	maxTries   = 6   // attempts to record if the order changes meanwhile
	patience   = 3   // attempts without an outcome, one a minute, before the refund is counted as overdue
	firstRetry = time.Minute
	lastRetry  = time.Hour
	maxWhy     = 200 // characters of the operator's reason
)

// Ledger is the part of the ledger that the step refund calls.
type Ledger interface {
	payment.Ledger
	seckill.RefundRecorder
	seckill.Proposer
	seckill.DueLister
	seckill.PaymentReader
}

// Deps are the step's dependencies.
type Deps struct {
	Ledger  Ledger
	Refunds seckill.Refunds
	Trades  seckill.Trades
	Orders  seckill.Queue
	Clock   seckill.Clock
	Meter   seckill.Meter
	Alone   seckill.AloneLimit // what one person may refund
}

// Flow is one instance of the step. It remembers only where a sweep that ran out of time stopped. Only one sweep at a
// time.
type Flow struct {
	Deps
	due sweep.Sweep[seckill.Payment]
}

// New returns an instance.
func New(d Deps) *Flow {
	f := &Flow{Deps: d}
	f.due = sweep.Sweep[seckill.Payment]{Meter: d.Meter}
	return f
}

// Sweep requests every due refund.
func (f *Flow) Sweep(ctx context.Context) error {
	return f.due.Run(ctx, f.Clock.Now(), f.page, f.each)
}

func (f *Flow) page(ctx context.Context, shard int, now time.Time, after string) (seckill.Page[seckill.Payment],
	error) {
	return f.Ledger.RefundsDue(ctx, shard, now, after, pageRows)
}

func (f *Flow) each(ctx context.Context, p seckill.Payment) error {
	if err := f.giveBack(ctx, p); err != nil {
		return fmt.Errorf("refund of order %s, trade %s: %w", p.Order, p.TradeNo, err)
	}
	return nil
}

// giveBack advances the refund of one payment. p comes from an index and may be refunded already: then the provider
// makes no second refund, and the ledger records nothing.
func (f *Flow) giveBack(ctx context.Context, p seckill.Payment) error {
	r := p.Refund()
	a, err := f.Refunds.Refund(ctx, r)
	if err == nil && a.State != seckill.RefundMade {
		// The provider may refuse because it has made the refund: its answer was lost, and the trade has ended since.
		var s seckill.RefundAnswer
		if s, err = f.Refunds.RefundStatus(ctx, r); err == nil && s.State == seckill.RefundMade {
			a = s
		}
	}
	switch {
	case err != nil:
		f.Meter.Count(seckill.EventUnknown, 1)
		return errors.Join(err, f.later(ctx, p, ""))
	case a.State == seckill.RefundMade:
		if err = f.made(ctx, p); err != nil {
			return errors.Join(err, f.later(ctx, p, ""))
		}
		return nil
	}
	if a.State == seckill.RefundPending && p.Tries >= patience {
		f.Meter.Count(seckill.EventUnknown, 1)
	}
	return f.later(ctx, p, a.Code)
}

// later schedules the next attempt for a payment. A refused payment gets no next attempt: it waits for an operator.
func (f *Flow) later(ctx context.Context, p seckill.Payment, refused string) error {
	wait := min(firstRetry<<min(p.Tries, 6), lastRetry)
	err := f.Ledger.DeferRefund(ctx, p, f.Clock.Now().Add(wait), refused)
	if errors.Is(err, seckill.ErrStateChanged) {
		return nil // refunded meanwhile
	}
	if err == nil && refused != "" {
		f.Meter.Count(seckill.EventRefundRefused, 1)
	}
	return err
}

// made records a refunded payment. With its last payment the order becomes refunded.
func (f *Flow) made(ctx context.Context, p seckill.Payment) error {
	for range maxTries {
		// Read the order before its payments: a later change to another payment then makes the write fail.
		o, err := f.Ledger.Order(ctx, p.Order)
		if err != nil {
			return err
		}
		all, err := f.Ledger.Payments(ctx, p.Order)
		if err != nil {
			return err
		}
		besides, to := "", o.State
		for i := range all {
			switch q := &all[i]; {
			case q.TradeNo == p.TradeNo && q.State != seckill.RefundDue:
				return nil
			case q.TradeNo != p.TradeNo && q.State == seckill.RefundDue && o.State == seckill.RefundOwed:
				besides = q.TradeNo
			}
		}
		if o.State == seckill.RefundOwed && besides == "" {
			to = seckill.Refunded
		}
		cause := fmt.Sprintf("%s yuan of trade %s went back, refund %s", p.Amount.Yuan(), p.TradeNo, p.Refund().ID)
		err = f.Ledger.Refunded(ctx, p, besides, o.State, to, f.Clock.Now(), cause)
		if err == nil {
			f.Meter.Count(seckill.EventRefunded, 1)
		}
		if !errors.Is(err, seckill.ErrStateChanged) {
			return err
		}
	}
	return fmt.Errorf("order %s changed %d times", p.Order, maxTries)
}

// Again makes all owed refunds of an order due at once, including refused ones, on an operator's request: who, and
// why. It returns their number, 0 if the order owes nothing. CodeInvalid.
func (f *Flow) Again(ctx context.Context, id, who, why string) (int, error) {
	if err := seckill.CheckWords(who, why, maxWhy); err != nil {
		return 0, err
	}
	all, err := f.Ledger.Payments(ctx, id)
	if err != nil {
		return 0, seckill.AsError(err)
	}
	n := 0
	for _, p := range all {
		if p.State != seckill.RefundDue {
			continue
		}
		switch err := f.again(ctx, p, "refund of trade "+p.TradeNo+" wanted again by "+who+": "+why); {
		case err == nil:
			n++
		case !errors.Is(err, seckill.ErrStateChanged):
			return n, seckill.AsError(err)
		}
	}
	return n, nil
}

func (f *Flow) again(ctx context.Context, p seckill.Payment, cause string) error {
	o, err := f.Ledger.Order(ctx, p.Order)
	if err != nil {
		return err
	}
	return f.Ledger.RetryRefund(ctx, p, o.State, f.Clock.Now(), cause)
}

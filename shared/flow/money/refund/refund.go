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
	seckill.OutsideRecorder
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
// makes no second refund, and the ledger records nothing. A captured payment is here because all of it went back
// outside: a query has to confirm that, or a person.
func (f *Flow) giveBack(ctx context.Context, p seckill.Payment) error {
	r := p.Refund()
	a := seckill.RefundAnswer{State: seckill.RefundMissing}
	var err error
	if p.State == seckill.RefundDue && r.Amount > 0 {
		a, err = f.Refunds.Refund(ctx, r)
	}
	// The provider may refuse because it has made the refund, and its answer was lost; or somebody else made it.
	if err == nil && a.State != seckill.RefundMade {
		s := seckill.RefundAnswer{State: seckill.RefundMissing}
		if r.Amount > 0 {
			s, err = f.Refunds.RefundStatus(ctx, r)
		}
		switch {
		case err != nil:
		case s.State == seckill.RefundMade:
			a = s
		case s.State == seckill.RefundOther && s.Amount > p.Outside:
			return f.other(ctx, p, s.Amount)
		case s.State != seckill.RefundPending || a.State == seckill.RefundRefused:
			a, err = f.elsewhere(ctx, &p, a, s)
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
	if a.State != seckill.RefundRefused && p.Tries >= patience {
		event := seckill.EventUnknown
		if p.State == seckill.Captured { // it was not refunded: a person has to say what went back
			event = seckill.EventOutside
		}
		f.Meter.Count(event, 1)
	}
	return f.later(ctx, p, a.Code)
}

// elsewhere asks whether all of a payment went back although the provider has not made this refund: then the trade,
// which was paid, is closed. The rest went back outside the shop, unless the provider is still making this refund.
// answer is to the refund, status what became of it; without a closed trade the answer stands.
func (f *Flow) elsewhere(ctx context.Context, p *seckill.Payment, answer, status seckill.RefundAnswer) (
	seckill.RefundAnswer, error) {
	t, err := f.Trades.Trade(ctx, p.Order, p.TradeNo)
	switch {
	case err != nil || t.State != seckill.TradeClosed:
		return answer, err
	case status.State == seckill.RefundPending:
		return status, nil
	}
	if rest := p.Refund(); rest.Amount > 0 { // another run of this step may have made it since
		status, err = f.Refunds.RefundStatus(ctx, rest)
		if err != nil || status.State == seckill.RefundMade || status.State == seckill.RefundPending {
			return status, err
		}
	}
	p.Outside = p.Amount
	return seckill.RefundAnswer{State: seckill.RefundMade}, nil
}

// other records that another amount went back than was asked for, and has a person look: the next sweep asks for the
// rest.
func (f *Flow) other(ctx context.Context, p seckill.Payment, total seckill.Fen) error {
	outside := payment.Outside{Ledger: f.Ledger, Clock: f.Clock, Meter: f.Meter}
	f.Meter.Count(seckill.EventRefundRefused, 1)
	_, err := outside.WentBack(ctx, p.Order, p.TradeNo, total, "query of refund "+p.Refund().ID)
	return err
}

// later schedules the next attempt for a payment. A refused payment gets no next attempt: it waits for an operator.
func (f *Flow) later(ctx context.Context, p seckill.Payment, refused string) error {
	wait := min(firstRetry<<min(p.Tries, 6), lastRetry)
	err := f.Ledger.DeferRefund(ctx, p, f.Clock.Now().Add(wait), refused)
	if errors.Is(err, seckill.ErrStateChanged) {
		return nil // refunded meanwhile, or more went back outside: it is due again
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
		besides, to, was := "", o.State, p.Outside
		for i := range all {
			switch q := &all[i]; {
			case q.TradeNo == p.TradeNo && q.State == seckill.RefundDone:
				return nil
			case q.TradeNo == p.TradeNo:
				p.State, was = q.State, q.Outside
			case q.State == seckill.RefundDue && o.State == seckill.RefundOwed:
				besides = q.TradeNo
			}
		}
		if o.State == seckill.RefundOwed && besides == "" || p.State == seckill.Captured {
			to = seckill.Refunded
		}
		err = f.Ledger.Refunded(ctx, p, was, besides, o.State, to, f.Clock.Now(), wentBack(&p))
		if err == nil && p.Outside > was {
			f.Meter.Count(seckill.EventOutside, 1)
		}
		if err == nil {
			f.Meter.Count(seckill.EventRefunded, 1)
		}
		if !errors.Is(err, seckill.ErrStateChanged) {
			return err
		}
	}
	return fmt.Errorf("order %s changed %d times", p.Order, maxTries)
}

// wentBack says in an order's history how a payment went back.
func wentBack(p *seckill.Payment) string {
	if p.Rest() == 0 {
		return fmt.Sprintf("%s yuan of trade %s went back outside the shop", p.Amount.Yuan(), p.TradeNo)
	}
	return fmt.Sprintf("%s yuan of trade %s went back, refund %s", p.Rest().Yuan(), p.TradeNo, p.Refund().ID)
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

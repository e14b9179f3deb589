// Package notify settles the payment provider's callback. In: the form as received. Out: nil when its effect is durable, and
// only then. It touches the ledger alone.
package notify

import (
	"context"
	"errors"
	"net/url"

	"seckill/shared/flow/capture"
	"seckill/shared/seckill"
)

// Deps is what the step works with.
type Deps struct {
	Verifier seckill.Verifier
	Ledger   seckill.Ledger
	Clock    seckill.Clock
	Meter    seckill.Meter
}

// Flow is one instance of the step. It remembers nothing.
type Flow struct {
	Deps
	capture capture.Recorder
}

// New makes an instance.
func New(d Deps) *Flow {
	return &Flow{d, capture.Recorder{Ledger: d.Ledger, Clock: d.Clock, Meter: d.Meter}}
}

// Notify verifies a notice and records its money. The error is an *seckill.Error: CodeForged, CodeNotOurs; CodeUnavailable when it
// should be sent again.
func (f *Flow) Notify(ctx context.Context, form url.Values) error {
	n, err := f.Verifier.Verify(form)
	if err == nil && n.Paid {
		err = f.capture.Record(ctx, n.Order, n.TradeNo, n.Amount, "notify")
	}
	if err == nil {
		return nil
	}
	var refusal *seckill.Error
	if errors.As(err, &refusal) {
		f.Meter.Count(seckill.EventForged, 1)
	}
	return seckill.AsError(err)
}

// Package notify handles the payment provider's notifications. In: the form as received. Out: nil when its effect is
// durable, and only then. It touches the ledger alone.
package notify

import (
	"context"
	"errors"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/payment"
	"github.com/your-org/seckill/shared/seckill"
)

// Ledger is what notify calls of the ledger.
type Ledger interface {
	payment.Ledger
	seckill.NotificationKeeper
}

// Deps are the step's dependencies.
type Deps struct {
	Verifier seckill.Verifier
	Ledger   Ledger
	Clock    seckill.Clock
	Meter    seckill.Meter
	Keep     time.Duration // how long a notification is kept; 0: forever
}

// Flow is one instance of the step. It remembers nothing.
type Flow struct {
	Deps
	recorder payment.Recorder
}

// New makes an instance.
func New(d Deps) *Flow {
	return &Flow{d, payment.Recorder{Ledger: d.Ledger, Clock: d.Clock, Meter: d.Meter}}
}

// Notify verifies a notification, records its money, and keeps it as it came. The error is an *seckill.Error:
// CodeForged, CodeNotOurs; CodeUnavailable when it should be sent again.
func (f *Flow) Notify(ctx context.Context, parameters map[string][]string) error {
	n, err := f.Verifier.Verify(parameters)
	if err == nil {
		err = f.record(ctx, &n)
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

// Unreadable counts a notification that is no form, as one that is refused.
func (f *Flow) Unreadable() { f.Meter.Count(seckill.EventForged, 1) }

// record does what an authentic notification says, of money or of none, if it is about an order and its amount. It is
// kept after its effect: a fault of keeping it has it sent again, when its money is safe already.
func (f *Flow) record(ctx context.Context, n *seckill.Notification) error {
	outcome := seckill.NotificationNothing
	var err error
	if n.Paid {
		outcome = seckill.NotificationRecorded
		err = f.recorder.Record(ctx, n.Order, n.TradeNo, n.Amount, "notify")
	} else {
		_, err = f.recorder.Ours(ctx, n.Order, n.Amount)
	}
	var refusal *seckill.Error
	if errors.As(err, &refusal) {
		outcome = string(refusal.Code)
	} else if err != nil {
		return err
	}
	kept := seckill.KeptNotification{Order: n.Order, ID: n.ID, TradeNo: n.TradeNo, Amount: n.Amount, At: f.Clock.Now(),
		Outcome: outcome, Raw: n.Raw}
	if f.Keep > 0 {
		kept.Expires = kept.At.Add(f.Keep).Truncate(time.Second)
	}
	err = f.Ledger.KeepNotification(ctx, kept)
	if err == nil && refusal != nil {
		return refusal
	}
	return err
}

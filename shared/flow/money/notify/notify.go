// Package notify handles the payment provider's notifications. In: the form as received. Out: nil only after its
// effect is durable. It touches only the ledger.
package notify

import (
	"context"
	"errors"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/payment"
	"github.com/your-org/seckill/shared/seckill"
)

// Ledger is the part of the ledger that the step notify calls.
type Ledger interface {
	payment.Ledger
	payment.OutsideLedger
	seckill.NotificationKeeper
}

// Deps are the step's dependencies.
type Deps struct {
	Verifier seckill.Verifier
	Ledger   Ledger
	Clock    seckill.Clock
	Meter    seckill.Meter
	Keep     time.Duration // how long to keep a notification; 0 means forever
}

// Flow is one instance of the step. It has no memory.
type Flow struct {
	Deps
	recorder payment.Recorder
	outside  payment.Outside
}

// New returns an instance.
func New(d Deps) *Flow {
	return &Flow{d, payment.Recorder{Ledger: d.Ledger, Clock: d.Clock, Meter: d.Meter},
		payment.Outside{Ledger: d.Ledger, Clock: d.Clock, Meter: d.Meter}}
}

// Notify verifies a notification, records its money and keeps it unchanged. The error is an *seckill.Error:
// CodeForged or CodeNotOurs; CodeUnavailable if the provider should send it again.
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

// Unreadable counts a request whose body is not a form as a forged notification.
func (f *Flow) Unreadable() { f.Meter.Count(seckill.EventForged, 1) }

// record applies an authentic notification, with or without money, if its order and amount are right. Money that went
// back came before, even if its own notification did not. If the notification does not say how much went back of money
// that the ledger has, it counts as all, until a query or a person says what it was. It keeps the notification
// last: if that fails, the provider sends it again, and its money is already recorded.
func (f *Flow) record(ctx context.Context, n *seckill.Notification) error {
	outcome := seckill.NotificationNothing
	var err error
	if n.Paid || n.Back > 0 {
		outcome = seckill.NotificationRecorded
		err = f.recorder.Record(ctx, n.Order, n.TradeNo, n.Amount, "notify")
	} else {
		_, err = f.recorder.Ours(ctx, n.Order, n.Amount)
	}
	back := n.Back
	if n.Unsaid {
		back = n.Amount
	}
	if err == nil && back > 0 {
		var is bool
		is, err = f.outside.WentBack(ctx, n.Order, n.TradeNo, back, "notification "+n.ID)
		if outcome = seckill.NotificationNothing; is {
			outcome = seckill.NotificationOutside
		}
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

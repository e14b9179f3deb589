package payment_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/internal/payment"
	"github.com/your-org/seckill/shared/seckill"
)

const order = "o1"

var (
	now      = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	errFault = errors.New("no answer")
)

// ledger has one order of 100 fen. Successive reads return it in successive states; the last one stays. Recording a
// payment returns the errors in refusals, one per call, and then succeeds.
type ledger struct {
	states   []seckill.State
	refusals []error
	payment  seckill.Payment
	from, to seckill.State
}

func (l *ledger) Order(_ context.Context, id string) (seckill.Order, error) {
	if id != order {
		return seckill.Order{}, seckill.ErrNoOrder
	}
	state := l.states[0]
	if len(l.states) > 1 {
		l.states = l.states[1:]
	}
	return seckill.Order{ID: order, State: state, Amount: 100}, nil
}

func (l *ledger) RecordPayment(_ context.Context, p seckill.Payment, from, to seckill.State) error {
	if len(l.refusals) > 0 {
		err := l.refusals[0]
		l.refusals = l.refusals[1:]
		return err
	}
	l.payment, l.from, l.to = p, from, to
	return nil
}

// TestRecord is the specification of the recorder: what a trade's money does to an order, and which events are
// counted.
func TestRecord(t *testing.T) {
	t.Parallel()
	changed := seckill.ErrStateChanged
	for _, c := range []struct {
		name     string
		states   []seckill.State // the order's state at each read
		refusals []error         // the ledger's errors, one per call
		order    string
		amount   seckill.Fen
		code     seckill.Code // code of the returned error; unavailable for a fault; "" for none
		payment  seckill.PaymentState
		to       seckill.State
		event    seckill.Event
	}{
		{"paid in time", []seckill.State{seckill.PendingPayment}, nil, order, 100,
			"", seckill.Captured, seckill.Paid, seckill.EventPaid},
		{"paid while it is being closed", []seckill.State{seckill.Closing}, nil, order, 100,
			"", seckill.Captured, seckill.Paid, seckill.EventPaid},
		{"paid after it expired", []seckill.State{seckill.Expired}, nil, order, 100,
			"", seckill.RefundDue, seckill.RefundOwed, seckill.EventRefundDue},
		{"paid after it was cancelled", []seckill.State{seckill.Cancelled}, nil, order, 100,
			"", seckill.RefundDue, seckill.RefundOwed, seckill.EventRefundDue},
		{"a second trade of a paid order", []seckill.State{seckill.Paid}, nil, order, 100,
			"", seckill.RefundDue, seckill.Paid, seckill.EventRefundDue},
		{"a trade that is recorded", []seckill.State{seckill.Paid}, []error{seckill.ErrPaymentExists}, order, 100,
			"", "", "", ""},
		{"an order that begins to close meanwhile", []seckill.State{seckill.PendingPayment, seckill.Closing},
			[]error{changed}, order, 100, "", seckill.Captured, seckill.Paid, seckill.EventPaid},
		{"an order that expires meanwhile", []seckill.State{seckill.Closing, seckill.Expired}, []error{changed}, order,
			100, "", seckill.RefundDue, seckill.RefundOwed, seckill.EventRefundDue},
		{"an order that never stays as it was read", []seckill.State{seckill.PendingPayment},
			[]error{changed, changed, changed, changed, changed, changed}, order, 100, seckill.CodeUnavailable, "", "",
			""},
		{"a ledger that does not answer", []seckill.State{seckill.PendingPayment}, []error{errFault}, order, 100,
			seckill.CodeUnavailable, "", "", ""},
		{"an unknown order", nil, nil, "o2", 100, seckill.CodeNotOurs, "", "", ""},
		{"a fen too much", []seckill.State{seckill.PendingPayment}, nil, order, 101, seckill.CodeNotOurs, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, m := &ledger{states: c.states, refusals: c.refusals}, memory.Meter{}
			r := payment.Recorder{Ledger: l, Clock: memory.NewClock(now), Meter: m}
			err := r.Record(t.Context(), c.order, "t1", c.amount, "notify")
			if err == nil && c.code != "" || err != nil && seckill.CodeOf(err) != c.code {
				t.Fatalf("got %v, want code %q", err, c.code)
			}
			want := seckill.Payment{Order: order, TradeNo: "t1", Amount: 100, State: c.payment, At: now,
				Cause: "notify"}
			if c.payment == "" {
				want = seckill.Payment{}
			}
			if l.payment != want || l.to != c.to {
				t.Errorf("recorded %+v to %q, want %+v to %q", l.payment, l.to, want, c.to)
			}
			if c.event == "" && len(m) > 0 || c.event != "" && (len(m) != 1 || m[c.event] != 1) {
				t.Errorf("counted %v, want %q once", m, c.event)
			}
		})
	}
}

// kept is a ledger of one order with one payment of 100 fen, of which went back what its history says.
type kept struct {
	payment.OutsideLedger
	order   seckill.Order
	outside seckill.Fen
}

func (k *kept) Order(context.Context, string) (seckill.Order, error) { return k.order, nil }

func (k *kept) Payments(context.Context, string) ([]seckill.Payment, error) {
	return []seckill.Payment{{Order: order, TradeNo: "t1", Amount: 100, State: seckill.Captured,
		Outside: k.outside}}, nil
}

func (k *kept) WentBack(_ context.Context, _ seckill.Order, p seckill.Payment, _ seckill.Fen, at time.Time,
	cause string) error {
	k.outside = p.Outside
	k.order.History = append(k.order.History, seckill.Change{At: at, Cause: cause})
	return nil
}

type uncounted struct{}

func (uncounted) Count(seckill.Event, int) {}

// TestWentBackAgain: what was recorded once is not recorded again, also after a person has lowered the sum, nor is what
// an older notification says; what else went back is.
func TestWentBackAgain(t *testing.T) {
	k := &kept{order: seckill.Order{ID: order, Amount: 100}}
	r := payment.Outside{Ledger: k, Clock: memory.NewClock(now), Meter: uncounted{}}
	for _, c := range []struct {
		total seckill.Fen
		cause string
		isNew bool
	}{{80, "bill of a day", true}, {80, "bill of a day", false}, {80, "bill of the next day", true},
		{40, "an older notification", false}, {90, "bill of a day", true}} {
		got, err := r.WentBack(t.Context(), order, "t1", c.total, c.cause)
		if got != c.isNew || err != nil {
			t.Errorf("%d by %s: %t, %v", c.total, c.cause, got, err)
		}
		k.outside = 50 // a person lowers it
	}
}

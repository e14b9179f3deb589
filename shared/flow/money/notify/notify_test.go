package notify_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/notify"
	"github.com/your-org/seckill/shared/seckill"
)

type verified seckill.Notification

func (v verified) Verify(map[string][]string) (seckill.Notification, error) {
	return seckill.Notification(v), nil
}

var (
	placed = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	order  = drivertest.Order("1", "9", placed, 7).ID
)

// shop returns a ledger with one order of 100 fen in the given state.
func shop(t *testing.T, state seckill.State) *ledger.Ledger {
	t.Helper()
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(placed)}))
	must.OK(t, drivertest.Place(t.Context(), l, drivertest.Order("1", "9", placed, 7), state))
	return l
}

// failing is a ledger whose writes fail.
type failing struct{ seckill.Ledger }

func (failing) RecordPayment(context.Context, seckill.Payment, seckill.State, seckill.State) error {
	return errors.New("no answer")
}

// refusing is a verifier that takes every notification for forged.
type refusing struct{}

func (refusing) Verify(map[string][]string) (seckill.Notification, error) {
	return seckill.Notification{}, seckill.Refuse(seckill.CodeForged)
}

// TestNotify is the specification of the step: what a notification does to order and money, what the provider is
// answered, and what is kept. Late money is in the rows with refund_due.
func TestNotify(t *testing.T) {
	notification := seckill.Notification{ID: "n1", Order: order, TradeNo: "t1", Amount: 100, Paid: true}
	as := func(change func(*seckill.Notification)) seckill.Verifier {
		n := notification
		change(&n)
		return verified(n)
	}
	genuine := as(func(*seckill.Notification) {})
	for _, c := range []struct {
		name    string
		order   seckill.State
		says    seckill.Verifier
		code    seckill.Code // code of the answer; "" for success, after which the provider stops sending
		then    seckill.State
		payment seckill.PaymentState // state of trade t1; "" for none
		kept    string               // the outcome in the kept notification; "" if none is kept
	}{
		{"paid in time", seckill.PendingPayment, genuine, "", seckill.Paid, seckill.Captured,
			seckill.NotificationRecorded},
		{"paid while it is being closed", seckill.Closing, genuine,
			"", seckill.Paid, seckill.Captured, seckill.NotificationRecorded},
		{"paid too late", seckill.Expired, genuine, "", seckill.RefundOwed, seckill.RefundDue,
			seckill.NotificationRecorded},
		{"paid twice, by two trades", seckill.Paid, genuine,
			"", seckill.Paid, seckill.RefundDue, seckill.NotificationRecorded},
		{"closed unpaid at the provider", seckill.PendingPayment, as(func(n *seckill.Notification) { n.Paid = false }),
			"", seckill.PendingPayment, "", seckill.NotificationNothing},
		{"another amount", seckill.PendingPayment, as(func(n *seckill.Notification) { n.Amount = 99 }),
			seckill.CodeNotOurs, seckill.PendingPayment, "", string(seckill.CodeNotOurs)},
		{"no signature of the provider's", seckill.PendingPayment, refusing{},
			seckill.CodeForged, seckill.PendingPayment, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, l := t.Context(), shop(t, c.order)
			f := notify.New(notify.Deps{Verifier: c.says, Ledger: l, Clock: memory.NewClock(placed),
				Meter: memory.Meter(nil)})
			for range 2 { // a repetition gets the same answer and changes nothing
				var got seckill.Code
				if err := f.Notify(ctx, nil); err != nil {
					got = seckill.CodeOf(err)
				}
				if got != c.code {
					t.Errorf("answered %q, want %q", got, c.code)
				}
			}
			o := must.Get(l.Order(ctx, order))
			must.Equal(t, c.then, o.State, "the order")
			all, err := l.Payments(ctx, order)
			var state seckill.PaymentState
			for _, p := range all {
				if p.TradeNo == "t1" {
					state += p.State
				}
			}
			if err != nil || state != c.payment {
				t.Errorf("the money is %q (%v), want %q", state, err, c.payment)
			}
			notifications, err := l.Notifications(ctx, order)
			kept := ""
			for _, n := range notifications {
				kept += n.Outcome
			}
			if err != nil || kept != c.kept {
				t.Errorf("kept as %q (%v), want %q", kept, err, c.kept)
			}
		})
	}
}

// TestNotifyWithoutTheSum checks that money that went back, and of which the provider does not say how much, counts as
// all of a payment that the shop keeps, and that a trade which was closed unpaid is no such money.
func TestNotifyWithoutTheSum(t *testing.T) {
	for name, c := range map[string]struct {
		trade string
		paid  bool
		kept  string
		back  seckill.Fen
	}{
		"closed":                {"t", false, seckill.NotificationOutside, 100},
		"refunded, still paid":  {"t", true, seckill.NotificationOutside, 100},
		"another trade, unpaid": {"t2", false, seckill.NotificationNothing, 0},
	} {
		ctx, l, meter := t.Context(), shop(t, seckill.Paid), memory.Meter{}
		f := notify.New(notify.Deps{Verifier: verified{ID: "n1", Order: order, TradeNo: c.trade, Amount: 100,
			Paid: c.paid, Unsaid: true}, Ledger: l, Clock: memory.NewClock(placed), Meter: meter})
		must.OK(t, f.Notify(ctx, nil), f.Notify(ctx, nil))
		o, all := must.Get(l.Order(ctx, order)), must.Get(l.Payments(ctx, order))
		kept := must.Get(l.Notifications(ctx, order))
		must.Equal(t, []any{seckill.Paid, c.back, c.back > 0, c.back, c.kept, meter[seckill.EventOutside] > 0},
			[]any{o.State, o.Outside, o.Undecided, all[0].Outside, kept[0].Outcome, c.back > 0}, name)
	}
}

// TestNotifyWithoutLedger checks that money which cannot be recorded is not acknowledged, so that the provider sends
// it again.
func TestNotifyWithoutLedger(t *testing.T) {
	l := shop(t, seckill.PendingPayment)
	f := notify.New(notify.Deps{Verifier: verified{ID: "n1", Order: order, TradeNo: "t1", Amount: 100, Paid: true},
		Ledger: failing{l}, Clock: memory.NewClock(placed), Meter: memory.Meter(nil)})
	must.Equal(t, seckill.CodeUnavailable, seckill.CodeOf(f.Notify(t.Context(), nil)), "answered")
	if kept, err := l.Notifications(t.Context(), order); err != nil || len(kept) > 0 {
		t.Errorf("kept %v (%v), want nothing before its money is recorded", kept, err)
	}
}

// TestRetention checks the expiry of a kept notification, in whole seconds; without a retention it has none.
func TestRetention(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 7e6, time.UTC)
	for name, c := range map[string]struct {
		keep time.Duration
		want time.Time
	}{
		"for ever": {0, time.Time{}},
		"a day":    {24 * time.Hour, time.Date(2026, 7, 2, 12, 0, 0, 0, time.UTC)},
	} {
		orders := ledger.New(memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(now)}))
		flow := notify.New(notify.Deps{Verifier: verified{Order: "o1", ID: "n1", TradeNo: "t1", Amount: 1, Paid: true},
			Ledger: orders, Clock: memory.NewClock(now), Meter: memory.Meter(nil), Keep: c.keep})
		_ = flow.Notify(t.Context(), nil) // about an unknown order: refused, and kept
		kept, err := orders.Notifications(context.Background(), "o1")
		if err != nil || len(kept) != 1 || !kept[0].Expires.Equal(c.want) {
			t.Errorf("%s: got %+v, error %v; want one that expires at %s", name, kept, err, c.want)
		}
	}
}

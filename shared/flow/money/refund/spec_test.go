package refund_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/refund"
	"github.com/your-org/seckill/shared/seckill"
)

// scripted is a provider that gives its answers in turn: a refund's state, "refused" with a reason, a trade's, or
// "fault".
type scripted struct{ answers, asked []string }

func (s *scripted) answer(call string) (seckill.RefundAnswer, error) {
	s.asked = append(s.asked, call)
	if len(s.answers) == 0 {
		return seckill.RefundAnswer{}, errors.New(call + ": the table has no answer")
	}
	a := seckill.RefundAnswer{State: seckill.RefundState(s.answers[0])}
	s.answers = s.answers[1:]
	switch a.State {
	case "fault":
		return seckill.RefundAnswer{}, context.DeadlineExceeded
	case seckill.RefundRefused:
		a.Code = "ACQ.NO"
	case seckill.RefundOther:
		a.Amount = 1
	}
	return a, nil
}

func (s *scripted) Refund(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	return s.answer("refund")
}

func (s *scripted) RefundStatus(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	return s.answer("status")
}

func (s *scripted) Trade(context.Context, string, string) (seckill.Trade, error) {
	a, err := s.answer("trade")
	return seckill.Trade{State: seckill.TradeState(a.State)}, err
}

// TestRefund is the specification of the sweep: what it asks the provider about a paid order that an operator refunds,
// and what happens to payment and order.
func TestRefund(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		second  bool   // the order also has a second, late trade, which is due first
		answers string // the provider's, to refund, status, …
		asked   string
		payment seckill.PaymentState
		tries   int
		refused string
		order   seckill.State
		fails   bool // the sweep returns an error
	}{
		{"made", false, "made", "refund", seckill.RefundDone, 0, "", seckill.Refunded, false},
		{"accepted, and made by now", false, "pending made", "refund status", seckill.RefundDone, 0, "",
			seckill.Refunded, false},
		{"accepted, not made yet", false, "pending pending", "refund status", seckill.RefundDue, 1, "",
			seckill.RefundOwed, false},
		{"accepted, unknown", false, "pending missing paid", "refund status trade", seckill.RefundDue, 1, "",
			seckill.RefundOwed, false},
		{"refused", false, "refused missing paid", "refund status trade", seckill.RefundDue, 1, "ACQ.NO",
			seckill.RefundOwed, false},
		{"refused, because all went back outside", false, "refused missing closed missing",
			"refund status trade status", seckill.RefundDone, 0, "", seckill.Refunded, false},
		{"refused, because another run makes it meanwhile", false, "refused missing closed made",
			"refund status trade status", seckill.RefundDone, 0, "", seckill.Refunded, false},
		{"refused, and no answer about the trade", false, "refused missing fault", "refund status trade",
			seckill.RefundDue, 1, "", seckill.RefundOwed, true},
		{"refused, and another amount went back", false, "refused other", "refund status", seckill.RefundDue, 0, "",
			seckill.RefundOwed, false},
		{"refused, because it was made before", false, "refused made", "refund status", seckill.RefundDone, 0, "",
			seckill.Refunded, false},
		{"no answer", false, "fault", "refund", seckill.RefundDue, 1, "", seckill.RefundOwed, true},
		{"accepted, then no answer", false, "pending fault", "refund status", seckill.RefundDue, 1, "",
			seckill.RefundOwed, true},
		{"two trades, both made", true, "made made", "refund refund", seckill.RefundDone, 0, "", seckill.Refunded,
			false},
		{"two trades, one made", true, "made fault", "refund refund", seckill.RefundDue, 1, "", seckill.RefundOwed,
			true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
			clock, provider := memory.NewClock(now), &scripted{answers: strings.Fields(c.answers)}
			l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
			f := refund.New(refund.Deps{Ledger: l, Refunds: provider, Trades: provider, Clock: clock,
				Meter: memory.Meter{}})
			o := drivertest.Order("1", "7", now, 1)
			must.OK(t, drivertest.Place(t.Context(), l, o, seckill.Paid))
			if c.second {
				late := drivertest.Payment(o, "1")
				late.State, late.Due = seckill.RefundDue, now
				must.OK(t, l.RecordPayment(t.Context(), late, seckill.Paid, seckill.Paid))
			}
			clock.Advance(time.Second)
			must.Get(f.Order(t.Context(), o.ID, "ann", "broken", false))
			if err := f.Sweep(t.Context()); (err != nil) != c.fails {
				t.Errorf("sweep: %v, want an error: %t", err, c.fails)
			}
			got, err := l.Order(t.Context(), o.ID)
			if err != nil || got.State != c.order || strings.Join(provider.asked, " ") != c.asked {
				t.Errorf("order %s, %v, after %v; want %s after %s", got.State, err, provider.asked, c.order, c.asked)
			}
			all := must.Get(l.Payments(t.Context(), o.ID))
			p := all[len(all)-1]
			if p.State != c.payment || p.Tries != c.tries || p.Refused != c.refused {
				t.Errorf("payment %s after %d tries, refused %q; want %s, %d, %q", p.State, p.Tries, p.Refused,
					c.payment, c.tries, c.refused)
			}
		})
	}
}

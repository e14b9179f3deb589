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

// TestAnOperatorsWords checks that name and reason must be short and on one line, because an order's history stores
// them, and that nothing is refunded without them, for an unknown order or for an unpaid one.
func TestAnOperatorsWords(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	clock := memory.NewClock(now)
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	f := refund.New(refund.Deps{Ledger: l, Clock: clock, Meter: memory.Meter{}})
	o := drivertest.Order("1", "7", now, 1)
	must.OK(t, l.Place(ctx, o, 1))
	for _, w := range []struct {
		who, why, field string
	}{
		{"", "broken", "who"}, {" ", "broken", "who"}, {strings.Repeat("名", 65), "broken", "who"},
		{"a\nb", "broken", "who"}, {"a\xff", "broken", "who"},
		{"ann", "", "why"}, {"ann", strings.Repeat("因", 201), "why"}, {"ann", "a\x00b", "why"},
		{"ann", "broken", "order"},
	} {
		var refused *seckill.Error
		if _, err := f.Order(ctx, o.ID, w.who, w.why, true); !errors.As(err, &refused) ||
			refused.Code != seckill.CodeInvalid || refused.Field != w.field {
			t.Errorf("%q, %q: %v, want %s refused", w.who, w.why, err, w.field)
		}
		if w.field == "order" {
			continue
		}
		if _, err := f.Again(ctx, o.ID, w.who, w.why); !errors.As(err, &refused) || refused.Field != w.field {
			t.Errorf("again, %q, %q: %v, want %s refused", w.who, w.why, err, w.field)
		}
	}
	if _, err := f.Order(ctx, seckill.KeyedOrderID("1", "7", "other"), "ann", "broken",
		true); seckill.CodeOf(err) != seckill.CodeOrderUnknown {
		t.Errorf("no order: %v", err)
	}
	must.Equal(t, 0, must.Get(f.Again(ctx, o.ID, strings.Repeat("名", 64), strings.Repeat("因", 200))),
		"again, of an order that owes nothing")
	if got, err := l.Order(ctx, o.ID); err != nil || got.State != seckill.PendingPayment || len(got.History) != 1 {
		t.Errorf("the order: %+v, %v, want it as it was", got, err)
	}
}

// nowhere is a provider that accepts a refund and never makes it.
type nowhere struct{ asked int }

func (n *nowhere) Refund(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	n.asked++
	return seckill.RefundAnswer{State: seckill.RefundPending}, nil
}

func (n *nowhere) RefundStatus(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	return seckill.RefundAnswer{State: seckill.RefundMissing}, nil
}

func (n *nowhere) Trade(context.Context, string, string) (seckill.Trade, error) {
	return seckill.Trade{State: seckill.TradePaid}, nil
}

// TestARefundWithoutAnOutcome checks that a refund which stays pending too long is counted, which triggers an alarm,
// although each call succeeds; a refund that is only slow is not counted.
func TestARefundWithoutAnOutcome(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	clock, m, provider := memory.NewClock(now), memory.Meter{}, &nowhere{}
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	f := refund.New(refund.Deps{Ledger: l, Refunds: provider, Trades: provider, Clock: clock, Meter: m})
	o := drivertest.Order("1", "7", now, 1)
	must.OK(t, drivertest.Place(ctx, l, o, seckill.Paid))
	must.Get(f.Order(ctx, o.ID, "ann", "broken", false))
	for range 60 {
		clock.Advance(time.Minute)
		must.OK(t, f.Sweep(ctx))
		if quiet := provider.asked <= 3; quiet != (m[seckill.EventUnknown] == 0) {
			t.Fatalf("asked %d times, %d counted", provider.asked, m[seckill.EventUnknown])
		}
	}
	if provider.asked < 6 || m[seckill.EventUnknown] != provider.asked-3 {
		t.Errorf("asked %d times in an hour, %d counted", provider.asked, m[seckill.EventUnknown])
	}
}

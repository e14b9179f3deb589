package expire_test

import (
	"context"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/flow/sale/expire"
	"github.com/your-org/seckill/shared/seckill"
)

// lagging is a ledger whose index names the order as due, whatever its row says.
type lagging struct{ seckill.Ledger }

func (lagging) FulfilDue(_ context.Context, shard int, _ time.Time, _ string, _ int) (seckill.Page[string], error) {
	if shard != 0 {
		return seckill.Page[string]{}, nil
	}
	return seckill.Page[string]{Rows: []string{order}}, nil
}

// TestMovesOnByTheRow checks that the row's own times decide when a shipped order counts as received and a received one
// as completed, also when the index that names it lags.
func TestMovesOnByTheRow(t *testing.T) {
	s := newShop(t, seckill.Paid, placed)
	for _, to := range []seckill.State{seckill.Confirmed, seckill.Shipped} {
		o := must.Get(s.ledger.Order(ctx, order))
		var next time.Time
		if to == seckill.Shipped {
			o.Carrier, o.Number, next = "SF", "123", placed.Add(seckill.ReceivedAfter)
		}
		must.OK(t, s.ledger.Fulfil(ctx, o, to, next, placed, "by hand"))
	}
	f := expire.New(expire.Deps{Ledger: lagging{s.ledger}, Payments: s, Clock: s.clock, Meter: s})
	for _, step := range []struct {
		after time.Duration
		want  seckill.State
	}{
		{0, seckill.Shipped},
		{seckill.ReceivedAfter - time.Millisecond, seckill.Shipped},
		{time.Millisecond, seckill.Received},
		{0, seckill.Received},
		{seckill.CompletedAfter - time.Millisecond, seckill.Received},
		{time.Millisecond, seckill.Completed},
		{time.Hour, seckill.Completed},
	} {
		s.clock.Advance(step.after)
		must.OK(t, f.Sweep(ctx))
		must.Equal(t, step.want, must.Get(s.ledger.Order(ctx, order)).State, s.clock.Now().Sub(placed), "after placing")
	}
}

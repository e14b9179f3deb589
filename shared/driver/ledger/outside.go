package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// WentBack implements seckill.Ledger in two writes. Less than before, more than the amount, or a payment whose refund
// is done, is a programming error.
func (l *Ledger) WentBack(ctx context.Context, o seckill.Order, p seckill.Payment, was seckill.Fen, at time.Time,
	cause string) error {
	kept := p.State == seckill.Captured
	if p.Order != o.ID || p.Outside < was || kept && p.Outside == was || p.Rest() < 0 ||
		!kept && p.State != seckill.RefundDue {
		return fmt.Errorf("ledger: %s of %s yuan of order %s went back outside, %s before; it is %s", p.Outside.Yuan(),
			p.Amount.Yuan(), p.Order, was.Yuan(), p.State)
	}
	payment := Write{Key: paymentKey(p.Order, p.TradeNo), Op: OpUpdate, Set: Row{},
		If: []Cond{Eq("state", string(p.State)), stays("outside", was)}}
	if p.Outside > 0 {
		payment.Set["outside"] = int64(p.Outside)
	}
	if !kept || p.Rest() == 0 {
		payment.Set["refund_shard"], payment.Set["refund_at"] = shardKey(orderShard(p.Order)), timeKey(at)
		payment.Remove = []string{"refused"}
	}
	order := noted(&o, at, cause)
	if more := p.Outside - was; more > 0 && (kept || o.State == seckill.RefundOwed) {
		order.Add = map[string]int64{"outside": int64(more)}
	}
	if kept && !o.State.Left() {
		order.Set = Row{"undecided": int64(1)}
		if p.Rest() > 0 {
			payment.Set["refund_shard"], payment.Set["refund_at"] = outsideShard, timeKey(at)
		}
	}
	return l.change(ctx, "went back outside "+p.Order, seckill.ErrStateChanged, payment, order)
}

// Accept implements seckill.Ledger in two writes, or three if less went back than is recorded.
func (l *Ledger) Accept(ctx context.Context, o seckill.Order, p seckill.Payment, back seckill.Fen, at time.Time,
	cause string) error {
	if p.Order != o.ID || back < 0 || back > p.Outside || back >= p.Amount || !o.Undecided && p.Rest() > 0 {
		return fmt.Errorf("ledger: accept that %s of %s yuan of order %s went back; %s are recorded", back.Yuan(),
			p.Amount.Yuan(), o.ID, p.Outside.Yuan())
	}
	order := noted(&o, at, cause)
	order.Set, order.Remove = Row{"outside": int64(back)}, []string{"undecided"}
	order.If = append(order.If, stays("outside", o.Outside))
	if o.Undecided {
		order.If = append(order.If, Eq("undecided", int64(1)))
	}
	writes := []Write{order, {Key: paymentKey(p.Order, p.TradeNo), Op: OpUpdate, Set: Row{"outside": int64(back)},
		Remove: []string{"refund_shard", "refund_at", "tries"},
		If:     []Cond{Eq("state", string(seckill.Captured)), stays("outside", p.Outside)}}}
	if back < p.Outside { // a proposal was about less money
		writes = append(writes, Write{Key: proposalKey(p.Order), Op: OpDelete})
	}
	return l.change(ctx, "accept "+o.ID, seckill.ErrStateChanged, writes...)
}

// stays requires that an amount is as it was read; 0 is a missing one, too.
func stays(attr string, n seckill.Fen) Cond {
	if n == 0 {
		return AtMost(attr, 0)
	}
	return Eq(attr, int64(n))
}

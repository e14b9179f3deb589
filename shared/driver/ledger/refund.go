package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// StartRefund implements seckill.Ledger in two writes, with restock in Count+4 and one more for a limit that spans a
// family; and one more for a decision that is counted or approves a proposal. ErrStateChanged if the order's row is not
// in its state or has other units, if the payment is not captured, or if the proposal is not as it was read. A unit row
// or quota entry that is not this order's violates an invariant (I3): an unnamed error, and nothing is written.
func (l *Ledger) StartRefund(ctx context.Context, o seckill.Order, p seckill.Payment, restock bool,
	by seckill.Decision, at time.Time, cause string) error {
	if o.State == seckill.RefundOwed || restock && o.State.Left() ||
		!o.State.Info().Holds || !o.State.CanBecome(seckill.RefundOwed) ||
		p.Order != o.ID || o.Buckets < 1 || len(o.Units) < 1 || len(o.Units) > seckill.MaxCount {
		return fmt.Errorf("ledger: owe a refund of %s: in %s, %d units, %d buckets, payment of %s", o.ID, o.State,
			len(o.Units), o.Buckets, p.Order)
	}
	order := Write{Key: orderKey(o.ID), Op: OpUpdate,
		Set:    Row{"state": string(seckill.RefundOwed)},
		Append: appendChange(seckill.RefundOwed, at, cause),
		Remove: []string{"due_shard", "due_at"}, // the schedule no longer moves it on
		If:     []Cond{Eq("state", string(o.State)), Eq("units", encodeUnits(o.Units))}}
	payment := Write{Key: paymentKey(p.Order, p.TradeNo), Op: OpUpdate,
		Set: Row{"state": string(seckill.RefundDue), "refund_shard": shardKey(orderShard(p.Order)),
			"refund_at": timeKey(at)},
		If: []Cond{Eq("state", string(seckill.Captured))}}
	writes := []Write{order, payment}
	decision, counted := decided(&by, at)
	if counted {
		writes = append(writes, decision)
	}
	others := len(writes)
	if restock {
		writes[0].Remove = append(writes[0].Remove, "units")
		writes = append(writes, release(&o)...)
	}
	c, err := l.transact(ctx, "owe a refund of "+o.ID, writes)
	switch {
	case c == nil:
		return err
	case c.failed(0) || c.failed(1) || by.Proposal != nil && c.failed(2):
		return seckill.ErrStateChanged
	case counted && c.failed(2):
		return seckill.ErrTooMany
	default:
		return released(&o, "owe a refund of", c, others)
	}
}

// Refunded implements seckill.Ledger in two or three writes. to is from, or refunded if from is refund_due; anything
// else is a programming error.
func (l *Ledger) Refunded(ctx context.Context, p seckill.Payment, besides string, from, to seckill.State, at time.Time,
	cause string) error {
	if to != from && (from != seckill.RefundOwed || to != seckill.Refunded) || to != from && besides != "" ||
		besides == p.TradeNo {
		return fmt.Errorf("ledger: refunded %s: from %s to %s besides %q", p.Order, from, to, besides)
	}
	due := []Cond{Eq("state", string(seckill.RefundDue))}
	order := Write{Key: orderKey(p.Order), Op: OpUpdate, Append: appendChange(to, at, cause),
		If: []Cond{Eq("state", string(from))}}
	if to != from {
		order.Set = Row{"state": string(to)}
	}
	writes := []Write{{Key: paymentKey(p.Order, p.TradeNo), Op: OpUpdate,
		Set:    Row{"state": string(seckill.RefundDone), "back": at.UnixMilli(), "back_day": dayKey(at, p.Order)},
		Remove: []string{"refund_shard", "refund_at", "refused"},
		If:     due}, order}
	if besides != "" {
		// If two refunds of one order end at the same time, the second finds this condition violated, and the order
		// in its final state.
		writes = append(writes, Write{Key: paymentKey(p.Order, besides), Op: OpCheck, If: due})
	}
	return l.change(ctx, "refunded "+p.Order, seckill.ErrStateChanged, writes...)
}

// RetryRefund implements seckill.Ledger in two writes.
func (l *Ledger) RetryRefund(ctx context.Context, p seckill.Payment, state seckill.State, at time.Time,
	cause string) error {
	return l.change(ctx, "retry the refund of "+p.Order, seckill.ErrStateChanged,
		Write{Key: paymentKey(p.Order, p.TradeNo), Op: OpUpdate,
			Set:    Row{"refund_shard": shardKey(orderShard(p.Order)), "refund_at": timeKey(at)},
			Remove: []string{"refused"},
			If:     []Cond{Eq("state", string(seckill.RefundDue))}},
		Write{Key: orderKey(p.Order), Op: OpUpdate, Append: appendChange(state, at, cause),
			If: []Cond{Eq("state", string(state))}})
}

// DeferRefund implements seckill.Ledger in one write. ErrStateChanged also for an unknown payment.
func (l *Ledger) DeferRefund(ctx context.Context, p seckill.Payment, due time.Time, refused string) error {
	w := Write{Key: paymentKey(p.Order, p.TradeNo), Op: OpUpdate,
		Set: Row{"refund_shard": shardKey(orderShard(p.Order)), "refund_at": timeKey(due)},
		Add: map[string]int64{"tries": 1},
		If:  []Cond{Eq("state", string(seckill.RefundDue))}}
	if refused == "" {
		w.Remove = []string{"refused"}
	} else {
		w.Set["refund_shard"], w.Set["refused"] = refusedShard, refused
	}
	return l.change(ctx, "defer the refund of "+p.Order, seckill.ErrStateChanged, w)
}

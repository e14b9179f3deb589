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
	to := seckill.RefundOwed
	payment := Write{Key: paymentKey(p.Order, p.TradeNo), Op: OpUpdate,
		Set: Row{"state": string(seckill.RefundDue), "refund_shard": shardKey(orderShard(p.Order)),
			"refund_at": timeKey(at)},
		If: []Cond{Eq("state", string(seckill.Captured)), stays("outside", p.Outside)}}
	if p.Outside > 0 && p.Rest() == 0 {
		to, payment.Remove = seckill.Refunded, []string{"refund_shard", "refund_at"}
		payment.Set = done(&p, at)
	}
	if restock && o.HasLeft() || !o.State.Keeps() || !o.State.CanBecome(to) ||
		p.Order != o.ID || o.Buckets < 1 || len(o.Units) < 1 || len(o.Units) > seckill.MaxCount {
		return fmt.Errorf("ledger: owe a refund of %s: in %s, %d units, %d buckets, payment of %s", o.ID, o.State,
			len(o.Units), o.Buckets, p.Order)
	}
	order := Write{Key: orderKey(o.ID), Op: OpUpdate,
		Set:    Row{"state": string(to)},
		Append: appendChange(to, at, cause),
		Remove: []string{"due_shard", "due_at", "undecided"}, // the schedule no longer moves it on
		If:     []Cond{Eq("state", string(o.State)), Eq("units", encodeUnits(o.Units))}}
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

// Refunded implements seckill.Ledger in two or three writes. to is refunded if p is captured, and all of it went back
// outside; else it is from, or refunded if from is refund_due. Anything else is a programming error.
func (l *Ledger) Refunded(ctx context.Context, p seckill.Payment, was seckill.Fen, besides string,
	from, to seckill.State, at time.Time, cause string) error {
	is := dueState(&p)
	kept := is == seckill.Captured
	if kept && (!from.Keeps() || to != seckill.Refunded) ||
		!kept && to != from && (from != seckill.RefundOwed || to != seckill.Refunded) || to != from && besides != "" ||
		besides == p.TradeNo || was < 0 || p.Rest() < 0 {
		return fmt.Errorf("ledger: refunded %s: from %s to %s besides %q, %s of %s outside", p.Order, from, to, besides,
			p.Outside.Yuan(), p.Amount.Yuan())
	}
	if p.Outside < was {
		return seckill.ErrStateChanged
	}
	order := Write{Key: orderKey(p.Order), Op: OpUpdate, Append: appendChange(to, at, cause),
		If: []Cond{Eq("state", string(from))}}
	if p.Outside > was && (kept || from == seckill.RefundOwed) {
		order.Add = map[string]int64{"outside": int64(p.Outside - was)}
	}
	if to != from {
		order.Set = Row{"state": string(to)}
	}
	if kept {
		order.Remove = []string{"due_shard", "due_at", "undecided"}
	}
	payment := Write{Key: paymentKey(p.Order, p.TradeNo), Op: OpUpdate,
		Set:    done(&p, at),
		Remove: []string{"refund_shard", "refund_at", "refused"},
		If:     []Cond{Eq("state", string(is)), stays("outside", was)}}
	if p.Outside > 0 {
		payment.Set["outside"] = int64(p.Outside)
	}
	writes := []Write{payment, order}
	if kept { // nobody has to approve a refund of it any more
		writes = append(writes, Write{Key: proposalKey(p.Order), Op: OpDelete})
	}
	if besides != "" {
		// If two refunds of one order end at the same time, the second finds this condition violated, and the order
		// in its final state.
		writes = append(writes, Write{Key: paymentKey(p.Order, besides), Op: OpCheck,
			If: []Cond{Eq("state", string(seckill.RefundDue))}})
	}
	return l.change(ctx, "refunded "+p.Order, seckill.ErrStateChanged, writes...)
}

// done is what a payment becomes that went back.
func done(p *seckill.Payment, at time.Time) Row {
	return Row{"state": string(seckill.RefundDone), "back": at.UnixMilli(), "back_day": dayKey(at, p.Order)}
}

// Restock implements seckill.Ledger in Count+3 writes, and one more for a limit that spans a family. Errors as
// StartRefund.
func (l *Ledger) Restock(ctx context.Context, o seckill.Order, at time.Time, cause string) error {
	if o.State != seckill.Refunded || o.HasLeft() || o.Buckets < 1 || len(o.Units) < 1 ||
		len(o.Units) > seckill.MaxCount {
		return fmt.Errorf("ledger: restock %s: in %s, %d units, %d buckets", o.ID, o.State, len(o.Units), o.Buckets)
	}
	order := noted(&o, at, cause)
	order.Remove = []string{"units"}
	order.If = append(order.If, Eq("units", encodeUnits(o.Units)))
	c, err := l.transact(ctx, "restock "+o.ID, append([]Write{order}, release(&o)...))
	switch {
	case c == nil:
		return err
	case c.failed(0):
		return seckill.ErrStateChanged
	}
	return released(&o, "restock", c, 1)
}

// dueState returns the state of a payment that a sweep works on: captured only if all of it went back outside.
func dueState(p *seckill.Payment) seckill.PaymentState {
	if p.State == seckill.Captured && p.Rest() == 0 {
		return seckill.Captured
	}
	return seckill.RefundDue
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

// DeferRefund implements seckill.Ledger in one write. ErrStateChanged also for an unknown payment, or if more of it
// went back outside meanwhile.
func (l *Ledger) DeferRefund(ctx context.Context, p seckill.Payment, due time.Time, refused string) error {
	is := dueState(&p)
	w := Write{Key: paymentKey(p.Order, p.TradeNo), Op: OpUpdate,
		Set: Row{"refund_shard": shardKey(orderShard(p.Order)), "refund_at": timeKey(due)},
		Add: map[string]int64{"tries": 1},
		If:  []Cond{Eq("state", string(is)), AtMost("outside", int64(p.Outside))}}
	if is == seckill.Captured { // a person may have said meanwhile that less went back
		w.If[1] = stays("outside", p.Outside)
	}
	if refused == "" {
		w.Remove = []string{"refused"}
	} else {
		w.Set["refund_shard"], w.Set["refused"] = refusedShard, refused
	}
	return l.change(ctx, "defer the refund of "+p.Order, seckill.ErrStateChanged, w)
}

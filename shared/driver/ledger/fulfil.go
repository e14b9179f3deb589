package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// FulfilShard begins the partitions of orders_due whose orders are on their way or received: nobody has to close them.
const FulfilShard = "f"

// Fulfil implements seckill.Ledger in one write. A change that the table of states does not have, or of an order
// without its units, is a programming error, as is shipping without a carrier and a number.
func (l *Ledger) Fulfil(ctx context.Context, o seckill.Order, to seckill.State, next, at time.Time,
	cause string) error {
	ships := to == seckill.Shipped
	if !o.State.CanBecome(to) || !to.Left() && to != seckill.Confirmed || ships && (o.Carrier == "" || o.Number == "") {
		return fmt.Errorf("ledger: fulfil %s: from %s to %s by %q", o.ID, o.State, to, o.Carrier)
	}
	w := Write{Key: orderKey(o.ID), Op: OpUpdate, Set: Row{"state": string(to)}, Append: appendChange(to, at, cause),
		If: []Cond{Eq("state", string(o.State)), Eq("units", encodeUnits(o.Units))}}
	if ships {
		w.Set["carrier"], w.Set["number"] = o.Carrier, o.Number
	}
	if ships || to == seckill.Confirmed {
		w.If = append(w.If, AtMost("undecided", 0))
	}
	if next.IsZero() {
		w.Remove = []string{"due_shard", "due_at"}
	} else {
		w.Set["due_shard"], w.Set["due_at"] = FulfilShard+shardKey(orderShard(o.ID)), timeKey(next)
	}
	return l.change(ctx, "fulfil "+o.ID, seckill.ErrStateChanged, w)
}

// Correct implements seckill.Ledger in one write. A correction without carrier and number is a programming error.
func (l *Ledger) Correct(ctx context.Context, o seckill.Order, carrier, number string, at time.Time,
	cause string) error {
	if o.Carrier == "" || carrier == "" || number == "" {
		return fmt.Errorf("ledger: correct %s: from %q to %q", o.ID, o.Carrier, carrier)
	}
	w := noted(&o, at, cause)
	w.Set = Row{"carrier": carrier, "number": number}
	w.If = append(w.If, Eq("carrier", o.Carrier), Eq("number", o.Number))
	return l.change(ctx, "correct "+o.ID, seckill.ErrStateChanged, w)
}

// Note implements seckill.Ledger in one write.
func (l *Ledger) Note(ctx context.Context, o seckill.Order, at time.Time, cause string) error {
	return l.change(ctx, "note on "+o.ID, seckill.ErrStateChanged, noted(&o, at, cause))
}

// Hide implements seckill.Ledger in one write.
func (l *Ledger) Hide(ctx context.Context, o seckill.Order, hidden bool, at time.Time, cause string) error {
	w := noted(&o, at, cause)
	if hidden {
		w.Set = Row{"hidden": int64(1)}
	} else {
		w.Remove = []string{"hidden"}
	}
	return l.change(ctx, "hide "+o.ID, seckill.ErrStateChanged, w)
}

// AskRefund implements seckill.Ledger in one write.
func (l *Ledger) AskRefund(ctx context.Context, o seckill.Order, why string, at time.Time, cause string) error {
	w := noted(&o, at, cause)
	w.Set = Row{"refund_why": why}
	return l.change(ctx, "ask for a refund of "+o.ID, seckill.ErrStateChanged, w)
}

// noted is a write of an entry of the history that leaves the state as it is.
func noted(o *seckill.Order, at time.Time, cause string) Write {
	return Write{Key: orderKey(o.ID), Op: OpUpdate, Append: appendChange(o.State, at, cause),
		If: []Cond{Eq("state", string(o.State))}}
}

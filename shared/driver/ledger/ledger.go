package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Ledger is seckill.Ledger on Rows. It caches nothing.
type Ledger struct{ rows Rows }

var _ seckill.Ledger = (*Ledger)(nil)

// New returns a ledger on rows.
func New(rows Rows) *Ledger { return &Ledger{rows: rows} }

// transact executes writes. canceled is not nil if a condition did not hold; else err is nil, or a fault.
func (l *Ledger) transact(ctx context.Context, doing string, writes []Write) (canceled *Canceled, err error) {
	err = l.rows.Transact(ctx, writes)
	switch {
	case errors.As(err, &canceled):
		return canceled, nil
	case err != nil:
		return nil, fmt.Errorf("ledger: %s: %w", doing, err)
	}
	return nil, nil //nolint:nilnil // all conditions held
}

// change executes writes. missed is the error if a condition does not hold, or nil if that is no error.
func (l *Ledger) change(ctx context.Context, doing string, missed error, writes ...Write) error {
	c, err := l.transact(ctx, doing, writes)
	if c != nil {
		return missed
	}
	return err
}

// begin adds the history's first entry if the caller gave no history.
func begin(o *seckill.Order, cause string) {
	if len(o.History) == 0 {
		o.History = []seckill.Change{{State: o.State, At: o.Placed, Cause: cause}}
	}
}

// Place implements seckill.Ledger in Count+4 writes, and one more each for a limit that spans a family and a session.
// It sets the state to pending_payment and adds a first entry to an empty o.History. An order whose number of units is
// not Count, or that lacks a price, buckets or times, is a programming error and returns an error that callers treat as
// a fault. It gives up after seckill.PlaceTimeout.
func (l *Ledger) Place(ctx context.Context, o seckill.Order, limit int) error {
	o.State, o.CloseTo, o.Reason = seckill.PendingPayment, "", ""
	begin(&o, "placed")
	if err := checkPlace(&o); err != nil {
		return fmt.Errorf("ledger: place %s: %w", o.ID, err)
	}
	writes := make([]Write, 0, o.Count+6)
	writes = append(writes,
		Write{Key: orderKey(o.ID), Op: OpPut, Row: encodeOrder(&o), If: []Cond{Absent()}},
		charge(quotaKey(o.User, o.Item), &o, Row{"v": Version, "newest": o.ID}, limit))
	writes = append(writes, notBlocked(o.User, o.Item, o.Placed)...)
	if o.Span != "" {
		writes = append(writes, charge(spanKey(o.User, o.Span), &o, Row{"v": Version}, limit))
	}
	if o.Session != "" {
		writes = append(writes, Write{Key: loginKey(o.User, o.Session), Op: OpCheck, If: []Cond{Eq("v", Version)}})
	}
	first := len(writes) // of the units
	for _, n := range o.Units {
		writes = append(writes, Write{Key: unitKey(&o, n), Op: OpPut,
			Row: unitCodec.encode(&seckill.UnitRow{Order: o.ID, User: o.User}, 0), If: []Cond{Absent()}})
	}
	ctx, cancel := context.WithTimeout(ctx, seckill.PlaceTimeout)
	defer cancel()
	c, err := l.transact(ctx, "place "+o.ID, writes)
	switch {
	case c == nil:
		return err
	case c.failed(0):
		return seckill.ErrOrderExists
	case c.failed(2), c.failed(3):
		return seckill.ErrBlocked
	case c.failed(1), o.Span != "" && c.failed(4):
		return seckill.ErrQuota
	case o.Session != "" && c.failed(first-1):
		return seckill.ErrNoSession
	}
	for i, n := range o.Units {
		if !c.failed(first + i) {
			continue
		}
		owner, err := unitCodec.decode(c.Reasons[first+i].Old)
		if err != nil {
			return fmt.Errorf("ledger: place %s: %w", o.ID, err)
		}
		return &seckill.Collision{Unit: n, Owner: owner.Order, User: owner.User}
	}
	return fmt.Errorf("ledger: place %s: %w", o.ID, c)
}

// charge raises a quota by an order's units, up to the limit.
func charge(k Key, o *seckill.Order, set Row, limit int) Write {
	return Write{Key: k, Op: OpUpdate, Set: set,
		Add:    map[string]int64{"units": int64(o.Count)},
		AddSet: map[string]Set{"orders": {quotaEntry(o.ID, o.Count)}},
		// A count over the limit makes the bound negative, so the write fails; ErrOrderExists is reported first.
		If: []Cond{AtMost("units", int64(limit-o.Count))}}
}

// discharge lowers a quota by what charge added for an order that holds units.
func discharge(k Key, o *seckill.Order) Write {
	entry := quotaEntry(o.ID, len(o.Units))
	return Write{Key: k, Op: OpUpdate,
		Add:    map[string]int64{"units": -int64(len(o.Units))},
		DelSet: map[string]Set{"orders": {entry}},
		If:     []Cond{Has("orders", entry)}}
}

// checkPlace returns why an order must not be placed.
func checkPlace(o *seckill.Order) error {
	sorted := slices.Clone(o.Units)
	slices.Sort(sorted)
	switch {
	case o.Count < 1 || o.Count > seckill.MaxCount:
		return fmt.Errorf("count %d", o.Count)
	case len(o.Units) != o.Count:
		return fmt.Errorf("%d units for a count of %d", len(o.Units), o.Count)
	case sorted[0] < 1 || sorted[len(sorted)-1] > seckill.MaxStock || len(slices.Compact(sorted)) != o.Count:
		return fmt.Errorf("units %v", o.Units)
	case o.Buckets < 1:
		return fmt.Errorf("buckets %d", o.Buckets)
	case o.PayBy.UnixMilli() <= 0:
		return fmt.Errorf("pay_by %s", o.PayBy)
	}
	return checkOrder(o)
}

// checkOrder returns an error if a required field is missing: a row without its times would be out of order in every
// index.
func checkOrder(o *seckill.Order) error {
	if o.Created.UnixMilli() <= 0 || o.Placed.UnixMilli() <= 0 {
		return fmt.Errorf("created %s, placed %s", o.Created, o.Placed)
	}
	return nil
}

// Reject implements seckill.Ledger in two writes: the row, and the newest order in the quota, by which the shopper
// finds it. o.Units and o.PayBy are ignored.
func (l *Ledger) Reject(ctx context.Context, o seckill.Order) error {
	o.State = seckill.Rejected
	begin(&o, string(o.Reason))
	if err := checkOrder(&o); err != nil {
		return fmt.Errorf("ledger: reject %s: %w", o.ID, err)
	}
	return l.change(ctx, "reject "+o.ID, seckill.ErrOrderExists,
		Write{Key: orderKey(o.ID), Op: OpPut, Row: encodeOrder(&o), If: []Cond{Absent()}},
		Write{Key: quotaKey(o.User, o.Item), Op: OpUpdate, Set: Row{"v": Version, "newest": o.ID}})
}

// closes reports whether a closing order may end in this state with its units given back.
func closes(to seckill.State) bool { return seckill.Closing.CanBecome(to) && !to.Info().Holds }

// BeginClosing implements seckill.Ledger in one write; a cancel takes two: the order, and the count of cancels in the
// quota. ErrStateChanged also for an unknown order. to is expired or cancelled; another state is a programming error.
func (l *Ledger) BeginClosing(ctx context.Context, o seckill.Order, to seckill.State, at time.Time,
	cause string) error {
	if !closes(to) {
		return fmt.Errorf("ledger: begin closing %s: towards %s", o.ID, to)
	}
	writes := []Write{{Key: orderKey(o.ID), Op: OpUpdate,
		Set:    Row{"state": string(seckill.Closing), "close_to": string(to), "due_at": timeKey(at)},
		Append: appendChange(seckill.Closing, at, cause),
		If:     []Cond{Eq("state", string(seckill.PendingPayment))},
	}}
	if to == seckill.Cancelled {
		writes = append(writes, Write{Key: quotaKey(o.User, o.Item), Op: OpUpdate, Set: Row{"v": Version},
			Add: map[string]int64{"cancels": 1}, If: []Cond{AtMost("cancels", seckill.MaxCancels-1)}})
	}
	c, err := l.transact(ctx, "begin closing "+o.ID, writes)
	switch {
	case c == nil:
		return err
	case c.failed(0):
		return seckill.ErrStateChanged
	default:
		return seckill.ErrCancels
	}
}

// Reschedule implements seckill.Ledger in one write. ErrStateChanged also for an unknown order.
func (l *Ledger) Reschedule(ctx context.Context, id string, due time.Time) error {
	return l.change(ctx, "reschedule "+id, seckill.ErrStateChanged, Write{Key: orderKey(id), Op: OpUpdate,
		Set: Row{"due_at": timeKey(due)},
		If:  []Cond{Eq("state", string(seckill.Closing))},
	})
}

// RescheduleNow implements seckill.Ledger in one write. ErrStateChanged also for an unknown order.
func (l *Ledger) RescheduleNow(ctx context.Context, id string, at time.Time, cause string) error {
	return l.change(ctx, "reschedule now "+id, seckill.ErrStateChanged, Write{Key: orderKey(id), Op: OpUpdate,
		Set:    Row{"due_at": timeKey(at)},
		Append: appendChange(seckill.Closing, at, cause),
		If:     []Cond{Eq("state", string(seckill.Closing))},
	})
}

// EraseAddress implements seckill.Ledger in one write. ErrStateChanged also for an unknown order.
func (l *Ledger) EraseAddress(ctx context.Context, id string, state seckill.State, at time.Time) error {
	return l.change(ctx, "erase the address of "+id, seckill.ErrStateChanged, Write{Key: orderKey(id), Op: OpUpdate,
		Set:    Row{"erased": at.UnixMilli()},
		Remove: Personal(),
		If:     []Cond{Eq("state", string(state))},
	})
}

// EraseNetwork implements seckill.Ledger in one write. ErrStateChanged also for an unknown order.
func (l *Ledger) EraseNetwork(ctx context.Context, id string, state seckill.State) error {
	return l.change(ctx, "erase the network address of "+id, seckill.ErrStateChanged, Write{Key: orderKey(id),
		Op: OpUpdate, Remove: []string{"network_address"}, If: []Cond{Eq("state", string(state))}})
}

func appendChange(to seckill.State, at time.Time, cause string) map[string][]string {
	return map[string][]string{"history": {encodeChange(seckill.Change{State: to, At: at, Cause: cause})}}
}

// GiveBack implements seckill.Ledger in Count+3 writes, and one more for a limit that spans a family. o is the order as
// read: ErrStateChanged if its row is not in closing, or has another close_to or other units. A unit row or quota entry
// that is not this order's violates an invariant (I3): an unnamed error, and nothing is written.
func (l *Ledger) GiveBack(ctx context.Context, o seckill.Order, at time.Time, cause string) error {
	if !closes(o.CloseTo) || o.Buckets < 1 || len(o.Units) < 1 || len(o.Units) > seckill.MaxCount {
		return fmt.Errorf("ledger: give back %s: towards %q, %d units, %d buckets", o.ID, o.CloseTo, len(o.Units),
			o.Buckets)
	}
	writes := append([]Write{{Key: orderKey(o.ID), Op: OpUpdate,
		Set:    Row{"state": string(o.CloseTo)},
		Append: appendChange(o.CloseTo, at, cause),
		Remove: []string{"units", "close_to", "due_shard", "due_at"},
		If: []Cond{Eq("state", string(seckill.Closing)), Eq("close_to", string(o.CloseTo)),
			Eq("units", encodeUnits(o.Units))}}},
		release(&o)...)
	c, err := l.transact(ctx, "give back "+o.ID, writes)
	switch {
	case c == nil:
		return err
	case c.failed(0):
		return seckill.ErrStateChanged
	default:
		return released(&o, "give back", c, 1)
	}
}

// release returns the writes that give an order's units back: first the item's quota, and the quota of its span, then
// the return row and the unit rows.
func release(o *seckill.Order) []Write {
	writes := make([]Write, 0, len(o.Units)+3)
	writes = append(writes, discharge(quotaKey(o.User, o.Item), o))
	if o.Span != "" {
		writes = append(writes, discharge(spanKey(o.User, o.Span), o))
	}
	// An order gives back once, so no return row exists; a condition could only block the return.
	back := seckill.ReturnRow{Item: o.Item, User: o.User, Units: o.Units}
	writes = append(writes, Write{Key: returnKey(o.ID), Op: OpPut, Row: returnCodec.encode(&back, 0)})
	for _, n := range o.Units {
		writes = append(writes, Write{Key: unitKey(o, n), Op: OpDelete, If: []Cond{Eq("order", o.ID)}})
	}
	return writes
}

// released translates the failed conditions of release; first is the index of its first write.
func released(o *seckill.Order, doing string, c *Canceled, first int) error {
	if c.failed(first) || o.Span != "" && c.failed(first+1) {
		return fmt.Errorf("ledger: %s %s: the quota of user %s does not list it: %w", doing, o.ID, o.User, c)
	}
	return fmt.Errorf("ledger: %s %s: a unit of %v is not its own: %w", doing, o.ID, o.Units, c)
}

// RecordPayment implements seckill.Ledger in two writes. to is from, or the state that State.OnMoney returns for it;
// anything else is a programming error. It returns ErrNoOrder if the order has no row.
func (l *Ledger) RecordPayment(ctx context.Context, p seckill.Payment, from, to seckill.State) error {
	if after, _ := from.OnMoney(); to != from && to != after {
		return fmt.Errorf("ledger: record payment %s: money does not move an order from %s to %s", p.Order, from, to)
	}
	note := p.Cause
	if to == from {
		note = fmt.Sprintf("%s yuan by trade %s: %s", p.Amount.Yuan(), p.TradeNo, p.Cause)
	}
	order := Write{Key: orderKey(p.Order), Op: OpUpdate, Append: appendChange(to, p.At, note),
		If: []Cond{Eq("state", string(from))}}
	if to != from {
		order.Set = Row{"state": string(to)}
		order.Remove = []string{"close_to", "due_shard", "due_at"}
	}
	c, err := l.transact(ctx, "record payment "+p.Order, []Write{
		{Key: paymentKey(p.Order, p.TradeNo), Op: OpPut, Row: encodePayment(&p), If: []Cond{Absent()}},
		order,
	})
	switch {
	case c == nil:
		return err
	case c.failed(0):
		return seckill.ErrPaymentExists
	case c.Reasons[1].Old == nil:
		return seckill.ErrNoOrder
	default:
		return seckill.ErrStateChanged
	}
}

// DeleteReturn implements seckill.Ledger in one write. A row with other units stays without an error: the next sweep
// handles it.
func (l *Ledger) DeleteReturn(ctx context.Context, r seckill.ReturnRow) error {
	return l.change(ctx, "delete return "+r.Order, nil, Write{Key: returnKey(r.Order), Op: OpDelete,
		If: []Cond{Eq("units", encodeUnits(r.Units))}})
}

package buy

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// fixedLead is how long before the start checks and limit of an item are final: from StageLead on nothing but a stop
// and more stock changes an item. The minute is for clocks that differ, and for a change that is under way.
const fixedLead = seckill.StageLead - time.Minute

var errNoTicket = seckill.Refuse(seckill.CodeTicket)

// admitted refuses a purchase of an item with checks that has no good ticket. A good ticket needs no read. CodeTicket;
// CodeItemUnknown; CodeUnavailable if it is not known whether the item has checks.
func (f *Flow) admitted(ctx context.Context, p Purchase, now time.Time) error {
	if f.Tickets == nil {
		return nil
	}
	refusal := error(errNoTicket)
	if p.Ticket != "" {
		if refusal = f.Tickets.Check(p.Ticket, p.User, p.Item); refusal == nil {
			return nil
		}
	}
	it, err := f.row(ctx, p.Item, now)
	if err != nil {
		return seckill.AsError(err)
	}
	if it.checked {
		return refusal
	}
	return nil
}

// within refuses a purchase over a limit that spans a family, as far as the ledger knows. Orders that wait for their
// placement are missing; consume rejects what is too much with them. If the ledger does not answer, nobody is refused,
// and an instance asks for the item's row again only after lookEvery: one that hangs must not hold up each purchase.
func (f *Flow) within(ctx context.Context, p Purchase, order string, now time.Time) error {
	if f.Spans == nil {
		return nil
	}
	f.mu.RLock()
	_, known := f.rows[p.Item]
	age := now.Sub(f.unread[p.Item])
	f.mu.RUnlock()
	if !known && age >= 0 && age < lookEvery {
		return nil
	}
	it, err := f.row(ctx, p.Item, now)
	if err != nil && ctx.Err() == nil && seckill.CodeOf(err) != seckill.CodeItemUnknown {
		f.mu.Lock()
		if len(f.unread) >= seckill.MaxItems {
			clear(f.unread) // without the table, an id that is no item's looks like an item's
		}
		f.unread[p.Item] = now
		f.mu.Unlock()
	}
	if err != nil || it.span == "" {
		return nil //nolint:nilerr // consume knows the limit
	}
	q, err := f.Spans.SpanQuota(ctx, p.User, it.span)
	if _, known := q.Orders[order]; err != nil || known || q.Units+p.Count <= it.limit {
		return nil //nolint:nilerr // likewise
	}
	here := "" // the first of the item's orders, the same one each time; "" if all are of other items
	for o := range q.Orders {
		if seckill.OrderTag(o) == seckill.OrderTag(order) && (here == "" || o < here) {
			here = o
		}
	}
	f.Meter.Count(seckill.EventRefused, 1)
	return f.refuse(seckill.ReserveResult{Code: seckill.ReserveLimit, Limit: it.limit, Order: here}, p, now)
}

// fixed is what an item's row says for good from fixedLead before its start.
type fixed struct {
	checked bool   // it has checks
	span    string // the family over which its limit counts; "" if it counts the item alone
	limit   int    // units
}

// row reads an item. Once nothing of it can change, the instance does not read it again: all instances share it, and
// a purchase does not need the ledger's database.
func (f *Flow) row(ctx context.Context, item string, now time.Time) (fixed, error) {
	f.mu.RLock()
	has, known := f.rows[item]
	f.mu.RUnlock()
	if known {
		return has, nil
	}
	it, _, err := f.items.Get(ctx, item)
	if err != nil {
		return fixed{}, err
	}
	has = fixed{it.Checks != seckill.ChecksOff, it.Variant.Span(), it.Limit}
	if !now.Before(it.Start.Add(-fixedLead)) {
		f.mu.Lock()
		f.rows[item] = has // bounded by the number of items
		f.mu.Unlock()
	}
	return has, nil
}

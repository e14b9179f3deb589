package buy

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// fixedLead is when what the item's row says about checks is for good, before the start: from StageLead on nothing but
// a stop and more stock changes an item. The minute is for clocks that differ, and for a change that is under way.
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
	checked, err := f.checked(ctx, p.Item, now)
	if err != nil {
		return seckill.AsError(err)
	}
	if checked {
		return refusal
	}
	return nil
}

// checked reports whether an item has checks. Once that is fixed, the instance reads no row for it any more: all
// instances share the row, and a purchase does not need the ledger's database.
func (f *Flow) checked(ctx context.Context, item string, now time.Time) (bool, error) {
	f.mu.RLock()
	has, known := f.checks[item]
	f.mu.RUnlock()
	if known {
		return has, nil
	}
	it, _, err := f.items.Get(ctx, item)
	if err != nil {
		return false, err
	}
	has = it.Checks != seckill.ChecksOff
	if !now.Before(it.Start.Add(-fixedLead)) {
		f.mu.Lock()
		f.checks[item] = has // bounded by the number of items
		f.mu.Unlock()
	}
	return has, nil
}

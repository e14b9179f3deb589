package buy

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// checksFresh is how long an instance remembers whether an item has checks: they are fixed TicketLead before the start.
const checksFresh = 10 * time.Second

// checks is what an instance remembers of an item.
type checks struct {
	any bool
	at  time.Time
}

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

// checked reports whether an item has checks. While the item cannot be read, what was known before counts.
func (f *Flow) checked(ctx context.Context, item string, now time.Time) (bool, error) {
	f.mu.RLock()
	c, known := f.checks[item]
	f.mu.RUnlock()
	if age := now.Sub(c.at); known && age >= 0 && age < checksFresh {
		return c.any, nil
	}
	it, _, err := f.items.Get(ctx, item)
	if err != nil {
		if known && seckill.CodeOf(err) != seckill.CodeItemUnknown {
			return c.any, nil
		}
		return false, err
	}
	f.mu.Lock()
	f.checks[item] = checks{it.Checks != seckill.ChecksOff, now} // bounded by the number of items
	f.mu.Unlock()
	return it.Checks != seckill.ChecksOff, nil
}

package erase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of one run of Ended.
const (
	maxErased = 1000      // addresses that it erases: about 10 s
	maxPages  = 100       // pages of pageOrders orders that it reads: about 5 s
	roundWait = time.Hour // from the end of one round through the items to the next
)

// round is where a round through the items that ended is. An instance that is new begins one anew: it reads more, and
// erases nothing twice.
type round struct {
	next  time.Time    // of the next round
	last  seckill.Item // the last one that it is done with
	in    string       // the item whose orders it reads, if any
	after string       // the cursor in them
	left  int          // of them so far, those that keep their address
}

// Ended erases addresses whose time is over: Keep after the end of a sale, from all its orders but the open ones. By
// then the goods were sent, and no message is left that could place an order (a queue and its dead letters keep
// messages for 18 days). It goes on with the round through the items until its limits, or begins one that is due, and
// notes in an item that no order has an address any more, so that its orders are never read again. One item's trouble
// does not keep it from the others; the errors come joined. One run at a time.
func (f *Flow) Ended(ctx context.Context) error {
	now := f.Clock.Now()
	if f.Keep == 0 || now.Before(f.round.next) {
		return nil
	}
	items, err := f.Items.ListEnded(ctx, now.Add(-f.Keep))
	if err != nil && !errors.Is(err, seckill.ErrUnreadable) {
		return err
	}
	errs := []error{err}
	erased, pages := 0, 0
	for i := range items {
		it := &items[i]
		if cmp.Or(it.End.Compare(f.round.last.End), cmp.Compare(it.ID, f.round.last.ID)) <= 0 {
			continue
		}
		if f.round.in != it.ID {
			f.round = round{last: f.round.last, in: it.ID}
		}
		for done := false; !done; pages++ {
			if erased >= maxErased || pages == maxPages || ctx.Err() != nil {
				return errors.Join(errs...)
			}
			var n int
			n, done, err = f.endedPage(ctx, it)
			erased += n
			f.Meter.Count(seckill.EventErased, n)
			if err != nil && ctx.Err() != nil {
				return errors.Join(errs...) // its time is up; the next run goes on with this page
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("addresses of item %s: %w", it.ID, err))
				break
			}
		}
		f.round.last = *it
	}
	f.round = round{next: now.Add(roundWait)}
	return errors.Join(errs...)
}

// endedPage erases the addresses of the item's next orders. done: there are no more, and the item says so unless some
// were left.
func (f *Flow) endedPage(ctx context.Context, it *seckill.Item) (erased int, done bool, err error) {
	page, err := f.Ledger.OrdersByItem(ctx, it.ID, f.round.after, pageOrders)
	if err != nil {
		return 0, false, err
	}
	left := f.round.left
	for _, o := range page.Orders {
		if o.Address == "" {
			continue
		}
		kept, err := eraseOrder(ctx, f.Ledger, f.Clock, o, open)
		switch {
		case err != nil:
			return erased, false, err
		case kept != nil:
			left++
		default:
			erased++
		}
	}
	f.round.after, f.round.left = page.Next, left
	if page.Next != "" || left > 0 {
		return erased, page.Next == "", nil
	}
	return erased, true, f.Items.MarkErased(ctx, it.ID, f.Clock.Now())
}

// open reports whether the order may still be paid.
func open(o *seckill.Order) bool {
	return slices.Contains([]seckill.State{seckill.PendingPayment, seckill.Closing}, o.State)
}

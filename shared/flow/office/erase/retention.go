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
	maxErased = 1000      // addresses that one run erases: about 10 s
	maxPages  = 100       // pages of pageOrders orders that one run reads: about 5 s
	roundWait = time.Hour // pause between two rounds through the items
)

// round is the progress of a round through the ended items. A new instance begins a new round: it then reads items
// again, but erases nothing twice.
type round struct {
	next  time.Time    // when the next round begins
	last  seckill.Item // the last finished item
	in    string       // the item whose orders are being read, if any
	after string       // the cursor within its orders
	left  int          // its orders so far that keep their address
}

// Ended erases expired addresses: from Keep after the end of a sale, of all its orders except open ones. By then the
// goods were shipped, and no message that could place an order remains (a queue and its dead-letter queue together
// keep messages for 18 days). It erases network addresses from KeepNetworks after the end, of open orders, too. Each
// call continues the current round through the items up to the limits, or begins a new round if one is due. It marks
// an item without addresses, so that its orders are never read again. A failing item does not stop the others; the
// errors are joined. Only one run at a time.
func (f *Flow) Ended(ctx context.Context) error {
	return errors.Join(f.ended(ctx, seckill.KeptNetworks, f.KeepNetworks), f.ended(ctx, seckill.KeptAddresses, f.Keep))
}

func (f *Flow) ended(ctx context.Context, what seckill.Kept, keep time.Duration) error {
	now, r := f.Clock.Now(), &f.rounds[what]
	if keep == 0 || now.Before(r.next) {
		return nil
	}
	items, err := f.Items.ListEnded(ctx, what, now.Add(-keep))
	if err != nil && !errors.Is(err, seckill.ErrUnreadable) {
		return err
	}
	errs := []error{err}
	erased, pages := 0, 0
	for i := range items {
		it := &items[i]
		if cmp.Or(it.End.Compare(r.last.End), cmp.Compare(it.ID, r.last.ID)) <= 0 {
			continue
		}
		if r.in != it.ID {
			*r = round{last: r.last, in: it.ID}
		}
		for done := false; !done; pages++ {
			if erased >= maxErased || pages == maxPages || ctx.Err() != nil {
				return errors.Join(errs...)
			}
			var n int
			n, done, err = f.endedPage(ctx, what, it)
			erased += n
			if what == seckill.KeptAddresses {
				f.Meter.Count(seckill.EventErased, n)
			}
			if err != nil && ctx.Err() != nil {
				return errors.Join(errs...) // the time is up; the next run continues with this page
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("addresses of item %s: %w", it.ID, err))
				break
			}
		}
		r.last = *it
	}
	*r = round{next: now.Add(roundWait)}
	return errors.Join(errs...)
}

// endedPage erases one page of addresses of the item. It returns done after the last page; then it has marked the item
// unless some addresses remain.
func (f *Flow) endedPage(ctx context.Context, what seckill.Kept, it *seckill.Item) (erased int, done bool, err error) {
	r := &f.rounds[what]
	page, err := f.Ledger.OrdersByItem(ctx, it.ID, r.after, pageOrders)
	if err != nil {
		return 0, false, err
	}
	left, keeps := r.left, open
	if what == seckill.KeptNetworks {
		keeps = never
	}
	for _, o := range page.Orders {
		if !has(&o, what) {
			continue
		}
		kept, err := f.eraseOrder(ctx, what, o, keeps)
		switch {
		case err != nil:
			return erased, false, err
		case kept != nil:
			left++
		default:
			erased++
		}
	}
	r.after, r.left = page.Next, left
	if page.Next != "" || left > 0 {
		return erased, page.Next == "", nil
	}
	return erased, true, f.Items.MarkErased(ctx, it.ID, what, f.Clock.Now())
}

// open reports whether the order may still be paid.
func open(o *seckill.Order) bool {
	return slices.Contains([]seckill.State{seckill.PendingPayment, seckill.Closing}, o.State)
}

// never reports that no order needs its network address, because nothing is shipped to a network address.
func never(*seckill.Order) bool { return false }

// has reports whether the order has an address to erase.
func has(o *seckill.Order, what seckill.Kept) bool {
	if what == seckill.KeptNetworks {
		return o.Network.IsValid()
	}
	return o.Address != ""
}

package shop

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/itemcache"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits and waits.
const (
	pollSoonest = 500 * time.Millisecond // how soon to ask again while an order is queued, at first
	pollLatest  = 10 * time.Second       // and after a while
	pollClosing = time.Second
	maxLevels   = 2 * seckill.MaxItems // levels remembered
	maxPrepared = 10_000               // pay strings remembered
)

// Ledger is what shop calls of the ledger.
type Ledger interface {
	seckill.OrderReader
	seckill.OrderLister
	seckill.OrderCloser
	seckill.PaymentReader
	seckill.UnitReader
}

// Deps are the step's dependencies.
type Deps struct {
	Stock    seckill.StockReader
	Ledger   Ledger
	Items    seckill.Items
	Closings seckill.Queue
	Payments seckill.Signer
	Clock    seckill.Clock
	Meter    seckill.Meter
}

// Flow is one instance of the step. Safe for concurrent use.
type Flow struct {
	Deps
	items *itemcache.Cache
	list  *list

	mu     sync.Mutex
	levels map[string]level
	// prepared has pay strings by order: signing one costs a millisecond, a page asks twice a second, and an order's
	// never changes.
	prepared map[string]string

	described     map[string]description // by item
	describedSize int                    // bytes
}

type level struct {
	left  int
	asOf  time.Time
	asked time.Time // of the last read; asOf is older when that read failed
}

// New makes an instance.
func New(d Deps) *Flow {
	return &Flow{Deps: d, items: itemcache.New(d.Items, d.Clock), list: newList(d.Items, d.Clock),
		levels: map[string]level{}, prepared: map[string]string{},
		described: map[string]description{}}
}

// Now is the server's time.
func (f *Flow) Now() time.Time { return f.Clock.Now() }

// Live lists items on sale, newest start first, a page of size items; page counts from 1. A sold-out item stays.
// CodeNotReady: no list was published yet; faults when none is known that is less than a minute old.
func (f *Flow) Live(ctx context.Context, page, size int) (Page, error) {
	return f.page(ctx, page, size, seckill.ItemOnline, func(a, b *seckill.Item) int { return b.Start.Compare(a.Start) })
}

// Upcoming lists items not started yet, soonest first. Errors as Live.
func (f *Flow) Upcoming(ctx context.Context, page, size int) (Page, error) {
	return f.page(ctx, page, size, seckill.ItemWaiting, func(a, b *seckill.Item) int {
		return a.Start.Compare(b.Start)
	})
}

func (f *Flow) page(ctx context.Context, page, size int, state seckill.ItemState,
	order func(a, b *seckill.Item) int) (Page, error) {
	list, asOf, err := f.list.current(ctx)
	if err != nil {
		return Page{}, seckill.AsError(err)
	}
	now := f.Clock.Now()
	var chosen []*seckill.Item
	for i := range list.items {
		if list.items[i].StateAt(now) == state {
			chosen = append(chosen, &list.items[i])
		}
	}
	slices.SortFunc(chosen, func(a, b *seckill.Item) int { return cmp.Or(order(a, b), strings.Compare(a.ID, b.ID)) })
	from := min((page-1)*size, len(chosen))
	chosen = chosen[from:min(from+size, len(chosen))]
	out := Page{Items: make([]View, len(chosen)), AsOf: asOf}
	for i := range chosen {
		out.Items[i] = f.look(ctx, chosen[i], asOf, now)
		out.AsOf = older(out.AsOf, out.Items[i].AsOf)
	}
	return out, nil
}

// older returns the earlier of two moments; a zero one counts as now.
func older(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// item returns an item by the list, or by its row when it is in no list: long over, or not published yet. asOf as in
// View. CodeItemUnknown.
func (f *Flow) item(ctx context.Context, id string) (it *seckill.Item, asOf time.Time, err error) {
	if list, asOf, err := f.list.current(ctx); err == nil && list.byID[id] != nil {
		return list.byID[id], asOf, nil
	}
	it, _, err = f.items.Get(ctx, id)
	return it, time.Time{}, err
}

// left is how many units can be bought, and as of when if that is not now. The ledger answers when the stock cannot,
// unless the item is large.
func (f *Flow) left(ctx context.Context, it *seckill.Item, now time.Time) (int, time.Time) {
	f.mu.Lock()
	l, ok := f.levels[it.ID]
	f.mu.Unlock()
	if !ok || !itemcache.Fresh(l.asked, now) {
		// When neither can be read, the last known figure stays, or else the whole stock: a list promises nothing.
		if left, err := f.count(ctx, it, now); err == nil {
			l.left, l.asOf = left, now
		} else if !ok {
			l.left, l.asOf = it.Stock, it.Start
		}
		l.asked = now // a failure is remembered as long, or a crowd would ask again at each look
		f.mu.Lock()
		if len(f.levels) >= maxLevels {
			clear(f.levels)
		}
		f.levels[it.ID] = l
		f.mu.Unlock()
	}
	if l.asOf.Equal(l.asked) {
		return l.left, time.Time{}
	}
	return l.left, l.asOf
}

// countBuckets is up to how many partitions of an item a look may read when the stock cannot answer.
const countBuckets = 16

func (f *Flow) count(ctx context.Context, it *seckill.Item, now time.Time) (int, error) {
	if now.Before(it.Start.Add(-seckill.SkewBound)) {
		return it.Stock, nil
	}
	l, err := f.Stock.Level(ctx, it.ID)
	if err == nil {
		return l.Left, nil
	}
	if it.Buckets > countBuckets {
		return 0, err
	}
	left := it.Stock
	for b := range it.Buckets {
		rows, err := f.Ledger.Units(ctx, it.ID, b)
		if err != nil {
			return 0, err
		}
		left -= len(rows)
	}
	return left, nil
}

// Detail returns one item. CodeItemUnknown.
func (f *Flow) Detail(ctx context.Context, id string) (View, error) {
	if !seckill.ValidItemID(id) {
		return View{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	it, asOf, err := f.item(ctx, id)
	if err != nil {
		return View{}, seckill.AsError(err)
	}
	return f.look(ctx, it, asOf, f.Clock.Now()), nil
}

// look returns an item as shoppers see it.
func (f *Flow) look(ctx context.Context, it *seckill.Item, asOf, now time.Time) View {
	v := View{Item: *it, Description: f.describe(ctx, it)}
	v.Left, v.AsOf = f.left(ctx, it, now)
	v.AsOf = older(v.AsOf, asOf)
	return v
}

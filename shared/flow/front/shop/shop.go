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
	pollSoonest = 500 * time.Millisecond // first interval of polling while an order is queued
	pollLatest  = 10 * time.Second       // longest interval of polling
	pollClosing = time.Second
	maxLevels   = 2 * seckill.MaxItems // levels in memory
	maxPrepared = 10_000               // pay strings in memory
)

// Ledger is the part of the ledger that the step shop calls.
type Ledger interface {
	seckill.OrderReader
	seckill.OrderLister
	seckill.OrderCloser
	seckill.Fulfiller
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

// Flow is one instance of the step. It is safe for concurrent use.
type Flow struct {
	Deps
	items *itemcache.Cache
	list  *list

	mu     sync.Mutex
	levels map[string]level
	// prepared holds pay strings by order: signing takes a millisecond, a page polls twice a second, and an order's
	// pay string never changes.
	prepared map[string]string

	described     map[string]description // by item
	describedSize int                    // total, in bytes
}

type level struct {
	left  int
	asOf  time.Time
	asked time.Time // time of the last read; asOf is older if that read failed
}

// New returns an instance.
func New(d Deps) *Flow {
	return &Flow{Deps: d, items: itemcache.New(d.Items, d.Clock), list: newList(d.Items, d.Clock),
		levels: map[string]level{}, prepared: map[string]string{},
		described: map[string]description{}}
}

// Now returns the server's time.
func (f *Flow) Now() time.Time { return f.Clock.Now() }

// Live lists items on sale, latest start first, size per page; page counts from 1. Sold-out items stay in the list.
// It returns CodeNotReady if no list was published yet; a fault if no list younger than a minute is known.
func (f *Flow) Live(ctx context.Context, page, size int) (Page, error) {
	return f.page(ctx, page, size, seckill.ItemOnline, func(a, b *seckill.Item) int { return b.Start.Compare(a.Start) })
}

// Upcoming lists items that have not started, earliest first. Errors as Live.
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

// older returns the earlier of two moments; the zero time counts as now.
func older(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// item returns an item from the list, or from its row if no list has it: it ended long ago or is not published yet.
// asOf as in View. CodeItemUnknown.
func (f *Flow) item(ctx context.Context, id string) (it *seckill.Item, asOf time.Time, err error) {
	if list, asOf, err := f.list.current(ctx); err == nil && list.byID[id] != nil {
		return list.byID[id], asOf, nil
	}
	it, _, err = f.items.Get(ctx, id)
	return it, time.Time{}, err
}

// left returns how many units can be bought and, unless it is current, as of when. If the stock cannot answer, the
// ledger does, unless the item is large.
func (f *Flow) left(ctx context.Context, it *seckill.Item, now time.Time) (int, time.Time) {
	f.mu.Lock()
	l, ok := f.levels[it.ID]
	f.mu.Unlock()
	if !ok || !itemcache.Fresh(l.asked, now) {
		// If neither can be read, show the last known figure or else the whole stock: a list guarantees nothing.
		if left, err := f.count(ctx, it, now); err == nil {
			l.left, l.asOf = left, now
		} else if !ok {
			l.left, l.asOf = it.Stock, it.Start
		}
		l.asked = now // remember a failure, too; otherwise every request would read again
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

// countBuckets is the largest number of an item's partitions that one request may read if the stock cannot answer.
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

// Left returns what is left of one item, without its description. CodeItemUnknown.
func (f *Flow) Left(ctx context.Context, id string) (View, error) {
	if !seckill.ValidItemID(id) {
		return View{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	it, asOf, err := f.item(ctx, id)
	if err != nil {
		return View{}, seckill.AsError(err)
	}
	v := View{Item: *it}
	v.Left, v.AsOf = f.left(ctx, it, f.Clock.Now())
	v.AsOf = older(v.AsOf, asOf)
	return v, nil
}

// look returns an item as shoppers see it.
func (f *Flow) look(ctx context.Context, it *seckill.Item, asOf, now time.Time) View {
	v := View{Item: *it, Description: f.describe(ctx, it), Activity: f.list.activityOf(it.ID)}
	v.Left, v.AsOf = f.left(ctx, it, now)
	v.AsOf = older(v.AsOf, asOf)
	return v
}

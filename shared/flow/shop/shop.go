package shop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"seckill/shared/flow/itemcache"
	"seckill/shared/seckill"
)

// Limits and waits.
const (
	pollSoonest = 500 * time.Millisecond // how soon to ask again while an order is queued, at first
	pollLatest  = 10 * time.Second       // and after a while
	pollClosing = time.Second
	maxLevels   = 2 * seckill.MaxItems // levels remembered
	maxPrepared = 10_000               // pay strings remembered
)

// Deps is what the step works with.
type Deps struct {
	Stock    seckill.Stock
	Ledger   seckill.Ledger
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

	mu     sync.Mutex
	list   *list
	levels map[string]level
	// prepared has pay strings by order: signing one costs a millisecond, a page asks twice a second, and an order's never changes.
	prepared map[string]string

	described     map[string]description // by item
	describedSize int                    // bytes
}

// list is the items as they were read; nothing in it is to be changed.
type list struct {
	items []seckill.Item
	at    time.Time
	byTag func() map[string][]int // places of items by what an order id says of them, counted when first asked for
}

func newList(items []seckill.Item, at time.Time) *list {
	return &list{items, at, sync.OnceValue(func() map[string][]int {
		out := make(map[string][]int, len(items))
		for i := range items {
			tag := seckill.ItemTag(items[i].ID)
			out[tag] = append(out[tag], i)
		}
		return out
	})}
}

type level struct {
	left int
	at   time.Time
}

// New makes an instance.
func New(d Deps) *Flow {
	return &Flow{Deps: d, items: itemcache.New(d.Items, d.Clock), levels: map[string]level{}, prepared: map[string]string{},
		described: map[string]description{}}
}

// Now is the server's time.
func (f *Flow) Now() time.Time { return f.Clock.Now() }

// Live lists items on sale, newest start first, a page of size items; page counts from 1. A sold-out item stays.
func (f *Flow) Live(ctx context.Context, page, size int) ([]View, error) {
	return f.page(ctx, page, size, seckill.ItemOnline, func(a, b seckill.Item) int { return b.Start.Compare(a.Start) })
}

// Upcoming lists items not started yet, soonest first.
func (f *Flow) Upcoming(ctx context.Context, page, size int) ([]View, error) {
	return f.page(ctx, page, size, seckill.ItemWaiting, func(a, b seckill.Item) int { return a.Start.Compare(b.Start) })
}

func (f *Flow) page(ctx context.Context, page, size int, state seckill.ItemState, order func(a, b seckill.Item) int) ([]View, error) {
	now := f.Clock.Now()
	all, err := f.current(ctx, now)
	if err != nil {
		return nil, seckill.AsError(err)
	}
	var chosen []seckill.Item
	for _, it := range all.items {
		if it.StateAt(now) == state {
			chosen = append(chosen, it)
		}
	}
	slices.SortFunc(chosen, func(a, b seckill.Item) int {
		if c := order(a, b); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	from := min((page-1)*size, len(chosen))
	chosen = chosen[from:min(from+size, len(chosen))]
	out := make([]View, len(chosen))
	for i := range chosen {
		out[i] = f.look(ctx, &chosen[i], now)
	}
	return out, nil
}

// current gives the items that have not ended, or whose last reservations may still wait to be placed, read at most a second ago.
func (f *Flow) current(ctx context.Context, now time.Time) (*list, error) {
	f.mu.Lock()
	known := f.list
	f.mu.Unlock()
	if known != nil && itemcache.Fresh(known.at, now) {
		return known, nil
	}
	items, err := f.Items.List(ctx, now.Add(-seckill.MaxUnplaced))
	if err != nil && !errors.Is(err, seckill.ErrUnreadable) { // which stage tells, each minute
		return nil, err
	}
	read := newList(items, now)
	f.mu.Lock()
	f.list = read
	f.mu.Unlock()
	return read, nil
}

// left is how many units can be bought, at most a second old. The ledger answers when the stock cannot, unless the item is large.
func (f *Flow) left(ctx context.Context, it *seckill.Item, now time.Time) int {
	f.mu.Lock()
	l, ok := f.levels[it.ID]
	f.mu.Unlock()
	if ok && itemcache.Fresh(l.at, now) {
		return l.left
	}
	// When nobody can say, what was known last stays, or all of it: a list is no promise.
	if left, err := f.count(ctx, it, now); err == nil {
		l.left = left
	} else if !ok {
		l.left = it.Stock
	}
	l.at = now // a failure is remembered as long, or a crowd would ask again at each look
	f.mu.Lock()
	if len(f.levels) >= maxLevels {
		clear(f.levels)
	}
	f.levels[it.ID] = l
	f.mu.Unlock()
	return l.left
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

// Detail gives one item. CodeItemUnknown.
func (f *Flow) Detail(ctx context.Context, id string) (View, error) {
	if !seckill.ValidItemID(id) {
		return View{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	it, _, err := f.items.Get(ctx, id)
	if err != nil {
		return View{}, seckill.AsError(err)
	}
	return f.look(ctx, it, f.Clock.Now()), nil
}

// look gives an item as shoppers see it.
func (f *Flow) look(ctx context.Context, it *seckill.Item, now time.Time) View {
	return View{Item: *it, Description: f.describe(ctx, it), Left: f.left(ctx, it, now)}
}

package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Items holds the table of items, their descriptions and the published list. It is safe for concurrent use.
type Items struct {
	mu   sync.RWMutex
	rows map[string]seckill.Listing
	list seckill.List
}

// NewItems returns an empty table.
func NewItems() *Items { return &Items{rows: map[string]seckill.Listing{}} }

// Get reads one item. CodeItemUnknown; a cancelled context.
func (t *Items) Get(ctx context.Context, id string) (seckill.Item, error) {
	if err := ctx.Err(); err != nil {
		return seckill.Item{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	l, ok := t.rows[id]
	if !ok {
		return seckill.Item{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	return cloneItem(l.Item), nil
}

// List returns the items that end after the given time, earliest end first; beyond MaxItems it omits the latest. The
// order is fixed so that a simulation can be replayed. Only a cancelled context is an error.
func (t *Items) List(ctx context.Context, endsAfter time.Time) ([]seckill.Item, error) {
	return t.selected(ctx, func(it *seckill.Item) bool { return it.End.After(endsAfter) })
}

// ListEnded returns the items that ended by the given time and are not marked as erased of this, in the order of List.
func (t *Items) ListEnded(ctx context.Context, what seckill.Kept, endedBy time.Time) ([]seckill.Item, error) {
	return t.selected(ctx, func(it *seckill.Item) bool { return !it.End.After(endedBy) && it.Erased(what).IsZero() })
}

func (t *Items) selected(ctx context.Context, in func(*seckill.Item) bool) ([]seckill.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	var out []seckill.Item
	for _, l := range t.rows {
		if in(&l.Item) {
			out = append(out, cloneItem(l.Item))
		}
	}
	slices.SortFunc(out, func(a, b seckill.Item) int {
		return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(len(out), seckill.MaxItems)], nil
}

// Description returns the item's newest description. ErrUnreadable: it is older than asked for; a cancelled context.
func (t *Items) Description(ctx context.Context, id string, described int64) (seckill.Description, error) {
	if err := ctx.Err(); err != nil {
		return seckill.Description{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	l := t.rows[id]
	if l.Described < described {
		return seckill.Description{}, &seckill.Unreadable{Table: "catalog", PK: id,
			Why: fmt.Sprintf(" is of version %d, want %d", l.Described, described)}
	}
	return cloneDescription(l.Description), nil
}

// Put creates an item with version 1, or replaces the item with version it.Version-1. Times are stored in UTC with
// milliseconds. It returns CodeInvalid if Check returns an error; ErrStateChanged if another version is stored, or one
// with another Described; a cancelled context. An error means that nothing was written.
func (t *Items) Put(ctx context.Context, it seckill.Item, d *seckill.Description) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := it.Check(); err != nil {
		return seckill.Invalid("item", err.Error())
	}
	if d != nil {
		if err := d.Check(); err != nil {
			return seckill.Invalid("item", err.Error())
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.rows[it.ID] // version 0 if there is no such item
	if it.Version != old.Version+1 || it.Described != old.Described {
		return seckill.ErrStateChanged
	}
	for _, at := range []*time.Time{&it.Start, &it.End, &it.CreateTime, &it.Commodity.CreateTime, &it.AddressesErased,
		&it.NetworksErased, &it.StockErased} {
		*at = at.UTC().Truncate(time.Millisecond)
	}
	it = cloneItem(it)
	for i := range it.Stops {
		for _, at := range []*time.Time{&it.Stops[i].From, &it.Stops[i].To} {
			*at = at.UTC().Truncate(time.Millisecond)
		}
	}
	l := seckill.Listing{Item: it, Description: old.Description}
	if d != nil {
		l.Described, l.Cover, l.Description = it.Version, d.FirstCover(), cloneDescription(*d)
	}
	t.rows[it.ID] = l
	return nil
}

// MarkErased marks an item as erased of this. CodeItemUnknown; a cancelled context.
func (t *Items) MarkErased(ctx context.Context, id string, what seckill.Kept, at time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l, ok := t.rows[id]
	if !ok {
		return seckill.Refuse(seckill.CodeItemUnknown)
	}
	*l.Erased(what) = at.UTC().Truncate(time.Millisecond)
	t.rows[id] = l
	return nil
}

func cloneItem(it seckill.Item) seckill.Item {
	it.Stops, it.Variant.Options = slices.Clone(it.Stops), slices.Clone(it.Variant.Options)
	return it
}

func cloneDescription(d seckill.Description) seckill.Description {
	d.Covers = slices.Clone(d.Covers)
	return d
}

var _ seckill.Items = (*Items)(nil)

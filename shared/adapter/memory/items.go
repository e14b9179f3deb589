package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"seckill/shared/seckill"
)

// Items is the table of items. It is safe for use by several goroutines.
type Items struct {
	mu   sync.RWMutex
	rows map[string]seckill.Item
}

// NewItems makes an empty table.
func NewItems() *Items { return &Items{rows: map[string]seckill.Item{}} }

// Get reads one item. CodeItemUnknown; a cancelled context.
func (t *Items) Get(ctx context.Context, id string) (seckill.Item, error) {
	if err := ctx.Err(); err != nil {
		return seckill.Item{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	it, ok := t.rows[id]
	if !ok {
		return seckill.Item{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	return cloneItem(it), nil
}

// List gives the items that end after the given time, the soonest to end first: of more than MaxItems the later ones are
// left out. The order is fixed so that a simulation can be replayed. Only a cancelled context is an error.
func (t *Items) List(ctx context.Context, endsAfter time.Time) ([]seckill.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	var out []seckill.Item
	for _, it := range t.rows {
		if it.End.After(endsAfter) {
			out = append(out, it)
		}
	}
	slices.SortFunc(out, func(a, b seckill.Item) int {
		return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.ID, b.ID))
	})
	out = out[:min(len(out), seckill.MaxItems)]
	for i := range out {
		out[i] = cloneItem(out[i])
	}
	return out, nil
}

// Put makes an item with version 1, or replaces the one with version it.Version-1. Times are kept in UTC to the
// millisecond. CodeInvalid when Validate finds fault; ErrStateChanged when there is another version; a cancelled
// context. Nothing is written on an error.
func (t *Items) Put(ctx context.Context, it seckill.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := it.Validate(); err != nil {
		return seckill.Invalid("item", err.Error())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if it.Version != t.rows[it.ID].Version+1 { // 0 when there is none
		return seckill.ErrStateChanged
	}
	it = cloneItem(it)
	for _, at := range []*time.Time{&it.Start, &it.End, &it.CreateTime, &it.Commodity.CreateTime} {
		*at = at.UTC().Truncate(time.Millisecond)
	}
	for i := range it.Stops {
		for _, at := range []*time.Time{&it.Stops[i].From, &it.Stops[i].To} {
			*at = at.UTC().Truncate(time.Millisecond)
		}
	}
	t.rows[it.ID] = it
	return nil
}

func cloneItem(it seckill.Item) seckill.Item {
	it.Commodity.Covers, it.Stops = slices.Clone(it.Commodity.Covers), slices.Clone(it.Stops)
	return it
}

var _ seckill.Items = (*Items)(nil)

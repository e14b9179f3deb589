package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Imported lists what an import did, by item id in the order of the file.
type Imported struct {
	Made      []string `json:"made"`
	Changed   []string `json:"changed"`
	Unchanged []string `json:"unchanged"`
}

// ImportFault says why one item cannot be imported.
type ImportFault struct{ Item, What string }

// ImportError names the items that cannot be imported. Nothing was written.
type ImportError struct{ Faults []ImportFault }

func (e *ImportError) Error() string {
	parts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		parts[i] = "item " + f.Item + ": " + f.What
	}
	return strings.Join(parts, "; ")
}

// Import creates the items or changes existing ones. An item can be changed until stage loads it (StageLead before
// its start), its checks and questions until TicketLead before; its stock never shrinks; its stop switch and its
// buckets stay. All items are checked before the first is written: an *ImportError means that nothing was written.
// After a fault some items may be written; repeating the import is harmless.
func (f *Flow) Import(ctx context.Context, items []seckill.Listing) (Imported, error) {
	var refused ImportError
	for i := range items {
		if _, _, err := f.merge(ctx, &items[i]); err != nil {
			var fault *ImportFault
			if !errors.As(err, &fault) {
				return Imported{}, err
			}
			refused.Faults = append(refused.Faults, *fault)
		}
	}
	if len(refused.Faults) > 0 {
		return Imported{}, &refused
	}
	out := Imported{Made: []string{}, Changed: []string{}, Unchanged: []string{}}
	for i := range items {
		if err := f.put(ctx, &items[i], &out); err != nil {
			return out, fmt.Errorf("item %s: %w", items[i].ID, err)
		}
	}
	_ = f.publish(ctx) // if this fails, the next run publishes
	return out, nil
}

func (f *ImportFault) Error() string { return f.What }

// put writes one item unless it is there already.
func (f *Flow) put(ctx context.Context, it *seckill.Listing, out *Imported) error {
	for range maxTries {
		merged, same, err := f.merge(ctx, it)
		if err != nil {
			return err
		}
		list := &out.Unchanged
		if !same {
			// Before the item: no item is without the questions of its file.
			if err := f.ask(ctx, it); err != nil {
				return err
			}
			err := f.Items.Put(ctx, merged, &it.Description)
			if errors.Is(err, seckill.ErrStateChanged) {
				continue
			}
			if err != nil {
				return err
			}
			if list = &out.Changed; merged.Version == 1 {
				list = &out.Made
			}
		}
		*list = append(*list, it.ID)
		return nil
	}
	return seckill.ErrStateChanged
}

// merge returns the row to write for an imported item, without its description: a new row, or the existing row with
// the file's values. same: nothing differs, the description included. It returns an *ImportFault if the change is not
// allowed; any other error is a fault.
func (f *Flow) merge(ctx context.Context, l *seckill.Listing) (merged seckill.Item, same bool, err error) {
	it := l.Item
	refuse := func(format string, args ...any) (seckill.Item, bool, error) {
		return it, false, &ImportFault{it.ID, fmt.Sprintf(format, args...)}
	}
	old, err := f.Items.Get(ctx, it.ID)
	switch {
	case errors.Is(err, seckill.Refuse(seckill.CodeItemUnknown)):
		it.Version, it.Described = 1, 0
		if err := l.Validate(); err != nil {
			return refuse("%v", err)
		}
		return it, false, nil
	case err != nil:
		return it, false, err
	}
	it.Version, it.Described, it.CreateTime, it.Buckets = old.Version+1, old.Described, old.CreateTime, old.Buckets
	it.Stopped, it.Stops, it.Cover = old.Stopped, old.Stops, old.Cover
	it.Commodity.CreateTime = old.Commodity.CreateTime
	sameAsked, err := f.sameQuestions(ctx, l)
	if err != nil {
		return it, false, err
	}
	if sameItem(&it, &old) {
		shown, err := f.Items.Description(ctx, it.ID, old.Described)
		// an unreadable description is replaced by the new one
		if err != nil && !errors.Is(err, seckill.ErrUnreadable) {
			return it, false, err
		}
		if err == nil && shown.Equal(&l.Description) && sameAsked {
			return old, true, nil
		}
	}
	if err := l.Validate(); err != nil {
		return refuse("%v", err)
	}
	tickets := old.Start.Add(-seckill.TicketLead)
	loads := old.Start.Add(-seckill.StageLead)
	switch {
	case !f.Clock.Now().Before(loads):
		return refuse(
			"it is another than the one that has been loaded for sale since %s: now it can only be stopped, resumed "+
				"and given more stock",
			loads.Format(time.RFC3339))
	case it.Checks != old.Checks && !f.Clock.Now().Before(tickets):
		return refuse("checks %q: they are fixed since %s, when shoppers began to pass them", it.Checks,
			tickets.Format(time.RFC3339))
	case !sameAsked && !f.Clock.Now().Before(tickets):
		return refuse("questions: they are fixed since %s, when shoppers began to be asked",
			tickets.Format(time.RFC3339))
	case it.Stock < old.Stock:
		return refuse("stock %d: it has %d, and stock only grows", it.Stock, old.Stock)
	}
	return it, false, nil
}

// sameQuestions reports whether the item has the file's questions, in the file's order; a file without any keeps those
// of the item.
func (f *Flow) sameQuestions(ctx context.Context, l *seckill.Listing) (bool, error) {
	if l.Questions == nil {
		return true, nil
	}
	old, err := f.Questions.Questions(ctx, l.ID)
	return slices.EqualFunc(old, l.Questions, func(a, b seckill.Question) bool { return a.Equal(&b) }), err
}

// ask gives an item the file's questions, with ids in the file's order, and drops all others.
func (f *Flow) ask(ctx context.Context, l *seckill.Listing) error {
	if l.Questions == nil {
		return nil
	}
	old, err := f.Questions.Questions(ctx, l.ID)
	if err != nil {
		return err
	}
	for i, q := range l.Questions {
		q.ID = seckill.QuestionID(i + 1)
		at := slices.IndexFunc(old, func(o seckill.Question) bool { return o.ID == q.ID })
		if at < 0 || !old[at].Equal(&q) {
			if err := f.Questions.PutQuestion(ctx, l.ID, q); err != nil {
				return err
			}
		}
		if at >= 0 {
			old = slices.Delete(old, at, at+1)
		}
	}
	for i := range old {
		if err := f.Questions.DropQuestion(ctx, l.ID, old[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// sameItem compares what an operator sets, without the description.
func sameItem(a, b *seckill.Item) bool {
	return a.Price == b.Price && a.Start.Equal(b.Start) && a.End.Equal(b.End) && a.Stock == b.Stock &&
		a.Limit == b.Limit && a.Checks == b.Checks &&
		a.Commodity.ID == b.Commodity.ID && a.Commodity.Title == b.Commodity.Title &&
		a.Commodity.Price == b.Commodity.Price
}

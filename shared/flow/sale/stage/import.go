package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/upkeep"
	"github.com/your-org/seckill/shared/seckill"
)

// Imported lists what an import did, by item id in the order of the file.
type Imported struct {
	Made      []string `json:"made"`
	Changed   []string `json:"changed"`
	Unchanged []string `json:"unchanged"`
	// Removed is what sanitizing took out of descriptions, by item.
	Removed map[string][]string `json:"removed,omitempty"`
}

// Plan is what an import would do.
type Plan struct {
	Imported
	Changes []Change // of the items in Made and Changed
}

// Change is an item before and after, and the fields in which both differ. If the questions stay, neither has
// questions. Before is zero if the item is new.
type Change struct {
	Before, After seckill.Listing
	Fields        []string
}

// ImportFault says why one item cannot be imported.
type ImportFault struct {
	Item     string
	What     string
	Conflict *Conflict // if nil, it is another fault
	Fields   []Fault   // those that may not be changed so
}

// Fault says why a field may not be changed.
type Fault struct{ Field, What string }

// Conflict is a save from a version that is no longer the stored one.
type Conflict struct {
	From   int64           // the version that the save was made from
	Fields []string        // the fields in which both versions differ
	Now    seckill.Listing // the item as it is
}

// ImportError names the items that cannot be imported. Nothing was written.
type ImportError struct{ Faults []ImportFault }

func (e *ImportError) Error() string {
	parts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		parts[i] = "item " + f.Item + ": " + f.What
	}
	return strings.Join(parts, "; ")
}

// Conflicts returns the conflicts, if there is no other fault.
func (e *ImportError) Conflicts() []Conflict {
	var all []Conflict
	for _, f := range e.Faults {
		if f.Conflict == nil {
			return nil
		}
		all = append(all, *f.Conflict)
	}
	return all
}

// Import creates the items or changes existing items, as far as their Rules allow; their stop switch and buckets stay.
// A listing that says from which version it was made changes no other version. All items are checked before the first
// is written: an *ImportError means that nothing was written. After a fault some items may be written; repeating the
// import is harmless.
func (f *Flow) Import(ctx context.Context, items []seckill.Listing) (Imported, error) {
	if _, err := f.Check(ctx, items); err != nil {
		return Imported{}, err
	}
	return f.Write(ctx, items)
}

// Check judges items as Import does, and says what that would do. It writes nothing.
func (f *Flow) Check(ctx context.Context, items []seckill.Listing) (Plan, error) {
	var refused ImportError
	plan := Plan{Imported: nothing()}
	for i := range items {
		merged, change, err := f.merge(ctx, &items[i])
		if err != nil {
			var fault *ImportFault
			if !errors.As(err, &fault) {
				return Plan{}, err
			}
			refused.Faults = append(refused.Faults, *fault)
			continue
		}
		plan.add(&items[i], &merged, change)
		if change != nil {
			plan.Changes = append(plan.Changes, *change)
		}
	}
	outside, err := f.outside(ctx, items)
	if err != nil {
		return Plan{}, err
	}
	misfits, err := f.misfits(ctx, items)
	if err != nil {
		return Plan{}, err
	}
	if refused.Faults = slices.Concat(refused.Faults, outside, misfits); len(refused.Faults) > 0 {
		return Plan{}, &refused
	}
	return plan, nil
}

func nothing() Imported {
	return Imported{Made: []string{}, Changed: []string{}, Unchanged: []string{}}
}

// add adds an item; without a change it stays.
func (d *Imported) add(l *seckill.Listing, merged *seckill.Item, change *Change) {
	list := &d.Changed
	if change == nil {
		list = &d.Unchanged
	} else if merged.Version == 1 {
		list = &d.Made
	}
	*list = append(*list, l.ID)
	if len(l.Removed) > 0 {
		if d.Removed == nil {
			d.Removed = map[string][]string{}
		}
		d.Removed[l.ID] = l.Removed
	}
}

// Write is Import after Check: it writes items that were checked.
func (f *Flow) Write(ctx context.Context, items []seckill.Listing) (Imported, error) {
	out := nothing()
	var open []seckill.Item
	for i := range items {
		err := f.put(ctx, &items[i], &out, &open)
		var fault *ImportFault
		if errors.As(err, &fault) && len(out.Made)+len(out.Changed) == 0 { // somebody was faster since the check
			return Imported{}, &ImportError{[]ImportFault{*fault}}
		}
		if err != nil {
			return out, fmt.Errorf("item %s: %w", items[i].ID, err)
		}
	}
	f.installAll(ctx, open)
	_ = f.publish(ctx) // if this fails, the next run publishes
	return out, nil
}

// installAll installs items without orders, with the copies of users' blocks, as far as stock and ledger answer; repair
// does the rest within a minute.
func (f *Flow) installAll(ctx context.Context, items []seckill.Item) {
	blocks := upkeep.Copier{Stock: f.Stock, Ledger: f.Blocks, Clock: f.Clock}
	for i := range items {
		if err := f.install(ctx, items[i]); err != nil {
			return
		}
		_ = blocks.Copy(ctx, &items[i])
	}
}

// outside names the items whose window does not lie in that of their activity.
func (f *Flow) outside(ctx context.Context, items []seckill.Listing) (faults []ImportFault, err error) {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	in, err := f.Activities.ActivitiesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	known := map[string]seckill.Activity{}
	for i := range items {
		id := in[items[i].ID]
		a, ok := known[id]
		if id == "" {
			continue
		}
		if !ok {
			if a, err = f.Activities.Activity(ctx, id); err != nil {
				return nil, err
			}
			known[id] = a
		}
		if !a.Covers(&items[i].Item) {
			what := fmt.Sprintf("outside of its activity %s, which is from %s to %s", a.ID,
				a.Start.Format(time.RFC3339), a.End.Format(time.RFC3339))
			fault := ImportFault{Item: items[i].ID, What: "start_time, end_time: " + what}
			if items[i].Start.Before(a.Start) {
				fault.Fields = append(fault.Fields, Fault{"start_time", what})
			}
			if items[i].End.After(a.End) {
				fault.Fields = append(fault.Fields, Fault{"end_time", what})
			}
			faults = append(faults, fault)
		}
	}
	return faults, nil
}

func (f *ImportFault) Error() string { return f.What }

// put writes one item unless it is there already. It adds the row to open if nobody could buy the item before this
// change, and now it belongs in the stock.
func (f *Flow) put(ctx context.Context, it *seckill.Listing, out *Imported, open *[]seckill.Item) error {
	for range maxTries {
		merged, change, err := f.merge(ctx, it)
		if err != nil {
			return err
		}
		if change != nil {
			made := merged.Version == 1
			if made { // before the item: no item is without the questions of its file
				if err := f.ask(ctx, it); err != nil {
					return err
				}
			}
			err := f.Items.Put(ctx, merged, &it.Description)
			if errors.Is(err, seckill.ErrStateChanged) {
				continue
			}
			if err != nil {
				return err
			}
			// Only after the item is written, so that a save that loses to another one changes no questions.
			if !made {
				if err := f.ask(ctx, it); err != nil {
					return err
				}
			}
			now := f.Clock.Now()
			if merged.Loadable(now) && (made || now.Before(change.Before.Start.Add(-seckill.StageLead))) {
				*open = append(*open, merged)
			}
		}
		out.add(it, &merged, change)
		return nil
	}
	return seckill.ErrStateChanged
}

// merge returns the row to write for an imported item, without its description: a new row, or the existing row with
// the file's values. change is nil if nothing differs, the description included. It returns an *ImportFault if the
// change is not allowed; any other error is a fault.
func (f *Flow) merge(ctx context.Context, l *seckill.Listing) (merged seckill.Item, change *Change, err error) {
	it := l.Item
	refuse := func(format string, args ...any) (seckill.Item, *Change, error) {
		return it, nil, &ImportFault{Item: it.ID, What: fmt.Sprintf(format, args...)}
	}
	old, err := f.Items.Get(ctx, it.ID)
	switch {
	case errors.Is(err, seckill.Refuse(seckill.CodeItemUnknown)):
		it.Version, it.Described = 1, 0
		if err := l.Check(); err != nil {
			return refuse("%v", err)
		}
		return it, &Change{After: *l, Fields: l.Differs(&seckill.Listing{})}, nil
	case err != nil:
		return it, nil, err
	}
	stored, readable, err := f.stored(ctx, &old, l.Questions != nil || l.Base != 0)
	if err != nil {
		return it, nil, err
	}
	if !readable && (l.KeepsCovers || l.KeepsDetail) {
		return refuse("covers: those that it has, or its detail, cannot be read: the file needs both columns")
	}
	l.Keep(&stored)
	it = l.Item
	differs := l.Differs(&stored)
	if len(differs) == 0 && readable {
		return old, nil, nil
	}
	if err := l.Check(); err != nil {
		return refuse("%v", err)
	}
	if l.Base != 0 && l.Base != old.Version {
		return it, nil, &ImportFault{it.ID, fmt.Sprintf("it has changed since version %d, which this was made from: "+
			"it is at version %d now, and this save differs from it in %s", l.Base, old.Version,
			strings.Join(differs, ", ")),
			&Conflict{l.Base, differs, stored}, nil}
	}
	var forbidden []string
	var fields []Fault
	for _, r := range old.Rules(f.Clock.Now()) {
		if why := refusal(&r, l, &old); slices.Contains(differs, r.Field) && why != "" {
			forbidden, fields = append(forbidden, r.Field+": "+why), append(fields, Fault{r.Field, why})
		}
	}
	if len(forbidden) > 0 {
		return it, nil, &ImportFault{Item: it.ID, What: strings.Join(forbidden, ", "), Fields: fields}
	}
	it.Version, it.Described, it.CreateTime, it.Buckets = old.Version+1, old.Described, old.CreateTime, old.Buckets
	it.Stopped, it.Stops, it.Cover = old.Stopped, old.Stops, old.Cover
	it.Commodity.CreateTime = old.Commodity.CreateTime
	return it, &Change{stored, *l, differs}, nil
}

// refusal says why a rule forbids the change of its field; "" if it does not.
func refusal(r *seckill.Rule, l *seckill.Listing, old *seckill.Item) string {
	since := r.Since.Format(time.RFC3339)
	switch {
	case r.May == seckill.MayChange:
	case r.May == seckill.MayGrow && l.Stock < old.Stock:
		return fmt.Sprintf("%d is less than the %d that it has, and stock only grows", l.Stock, old.Stock)
	case r.May == seckill.MayGrow:
	case r.Why == seckill.WhyEnded:
		return "fixed since " + since + ", when its sale ended"
	case r.Why == seckill.WhyTickets:
		return "fixed since " + since + ", when shoppers began to pass its checks"
	default:
		return "fixed since " + since + ", when it was loaded for sale"
	}
	return ""
}

// stored returns an existing item as a listing, with its questions if asked, and whether its description is readable.
func (f *Flow) stored(ctx context.Context, it *seckill.Item, asked bool) (l seckill.Listing, readable bool, err error) {
	l.Item = *it
	l.Description, err = f.Items.Description(ctx, it.ID, it.Described)
	readable = err == nil
	if err != nil && !errors.Is(err, seckill.ErrUnreadable) { // an unreadable description is replaced
		return l, false, err
	}
	if asked {
		l.Questions, err = f.Questions.Questions(ctx, it.ID)
		return l, readable, err
	}
	return l, readable, nil
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

// Listing returns an item as it is stored. CodeItemUnknown; any other error is a fault. An unreadable description is
// empty.
func (f *Flow) Listing(ctx context.Context, id string) (seckill.Listing, error) {
	it, err := f.Items.Get(ctx, id)
	if err != nil {
		return seckill.Listing{}, err
	}
	l, _, err := f.stored(ctx, &it, true)
	return l, err
}

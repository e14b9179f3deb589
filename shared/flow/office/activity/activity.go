// Package activity changes activities, by a command of staff: groups of items under one title. In: a save, and what to
// do with an activity. Out: the activity as it is then. It writes activities, copies items, and stops or resumes items
// through package stage; it touches no order and no stock.
package activity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

const maxTries = 5 // attempts of a conditional write

// Deps are the step's dependencies.
type Deps struct {
	Activities seckill.Activities
	Items      seckill.Items
	Questions  seckill.QuestionKeeper
	Stage      *stage.Flow
	Clock      seckill.Clock
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Form is a save: what an editor wrote, and from which version they did.
type Form struct {
	ID         string
	Title      string
	Start, End time.Time
	Items      []string
	Base       int64  // 0 makes a new activity
	By         string // who saves
	From       string // with what: the command line tool or the page
}

// Fault says what is wrong with a field of a save; Field is "" if it is about the activity.
type Fault struct{ Field, What string }

// Refused is the error of a command that is not carried out; nothing was written.
type Refused struct{ Faults []Fault }

func (e *Refused) Error() string {
	parts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		parts[i] = strings.TrimPrefix(f.Field+": "+f.What, ": ")
	}
	return strings.Join(parts, "; ")
}

func refuse(field, format string, args ...any) *Refused {
	return &Refused{[]Fault{{field, fmt.Sprintf(format, args...)}}}
}

// Conflict is the error of a save from a version that is no longer the stored one; nothing was written.
type Conflict struct {
	From   int64    // the version that the save was made from
	Fields []string // the fields in which both versions differ
	Now    seckill.Activity
}

func (e *Conflict) Error() string {
	if e.From == 0 {
		return fmt.Sprintf("there is an activity %s already, at version %d, with another %s", e.Now.ID, e.Now.Version,
			strings.Join(e.Fields, ", "))
	}
	return fmt.Sprintf("somebody has changed activity %s since version %d, which this was made from: it is at version "+
		"%d, with another %s", e.Now.ID, e.From, e.Now.Version, strings.Join(e.Fields, ", "))
}

// Done is an activity after a command. Before is the zero Activity if there was none.
type Done struct {
	Before, After seckill.Activity
	Changed       bool
	Items         int // whose sales the command stopped or resumed, or that it copied
	// Stays are the items that going online leaves stopped, because this activity did not stop them.
	Stays []string
}

// Save makes an activity, or changes one as far as its Rules allow. A repetition finds nothing to do. *Refused,
// *Conflict, CodeInvalid; any other error is a fault.
func (f *Flow) Save(ctx context.Context, form *Form) (Done, error) {
	return f.write(ctx, form.ID, func(old *seckill.Activity) (seckill.Activity, error) {
		now := f.Clock.Now().UTC().Truncate(time.Millisecond)
		next := seckill.Activity{ID: form.ID, Version: 1, MadeBy: form.By, MadeFrom: form.From, Made: now}
		if old != nil {
			next = *old
		}
		next.Title, next.Items = seckill.Tidy(form.Title), form.Items
		if err := seckill.CheckLine("title", next.Title, seckill.MaxTitle); err != nil {
			return next, err
		}
		next.Start, next.End = whole(form.Start), whole(form.End)
		if err := next.Check(); err != nil {
			return next, err
		}
		var held []string
		if old != nil {
			differs := next.Differs(old)
			switch {
			case len(differs) == 0:
				return next, nil
			case form.Base != old.Version:
				return next, &Conflict{form.Base, differs, *old}
			case !old.Deleted.IsZero():
				return next, refuse("", "activity %s is deleted: undelete it first", old.ID)
			}
			for _, r := range old.Rules(now) {
				if r.May == seckill.MayNot && slices.Contains(differs, r.Field) {
					return next, refuse(r.Field, "fixed since %s, when the activity ended",
						r.Since.Format(time.RFC3339))
				}
			}
			held = old.Members()
		}
		return next, f.check(ctx, &next, held, now)
	})
}

func whole(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// check refuses an activity whose items are unknown or outside of its window. It also refuses to take out an item that
// is on sale and, while the activity is offline, to take in an item that is not stopped.
func (f *Flow) check(ctx context.Context, next *seckill.Activity, held []string, now time.Time) error {
	var refused Refused
	fault := func(format string, args ...any) {
		refused.Faults = append(refused.Faults, Fault{"items", fmt.Sprintf(format, args...)})
	}
	for _, id := range next.Members() {
		it, err := f.Items.Get(ctx, id)
		switch {
		case errors.Is(err, seckill.Refuse(seckill.CodeItemUnknown)):
			fault("there is no item %s", id)
		case err != nil:
			return err
		case !next.Covers(&it):
			fault("item %s sells from %s to %s, outside of the activity's window", id,
				it.Start.Format(time.RFC3339), it.End.Format(time.RFC3339))
		case next.Offline && !it.Stopped && !slices.Contains(held, id):
			fault("the activity is offline, and item %s is not stopped: stop it first", id)
		}
	}
	gone := slices.DeleteFunc(slices.Clone(held), func(id string) bool { return slices.Contains(next.Members(), id) })
	selling, err := f.selling(ctx, gone, now)
	if err != nil {
		return err
	}
	if len(selling) > 0 {
		fault("%s", onSale(selling))
	}
	if len(refused.Faults) > 0 {
		return &refused
	}
	return nil
}

func onSale(ids []string) string {
	return "on sale now: " + strings.Join(ids, ", ") + ": stop them first, or wait until they end"
}

// selling returns those of these items that are on sale.
func (f *Flow) selling(ctx context.Context, ids []string, now time.Time) (on []string, err error) {
	for _, id := range ids {
		it, err := f.Items.Get(ctx, id)
		if err != nil && !errors.Is(err, seckill.Refuse(seckill.CodeItemUnknown)) {
			return nil, err
		}
		if err == nil && it.StateAt(now) == seckill.ItemOnline {
			on = append(on, id)
		}
	}
	return on, nil
}

// Delete deletes an activity, or undoes that. Its items stay, in no activity; an activity that is brought back takes
// its items back if none has gone to another activity. Errors as Save, and seckill.ErrNoActivity.
func (f *Flow) Delete(ctx context.Context, id string, undo bool) (Done, error) {
	return f.write(ctx, id, func(old *seckill.Activity) (seckill.Activity, error) {
		if old == nil {
			return seckill.Activity{}, seckill.ErrNoActivity
		}
		next, now := *old, f.Clock.Now()
		switch {
		case undo == old.Deleted.IsZero():
			return next, nil
		case undo:
			next.Deleted = time.Time{}
			return next, f.check(ctx, &next, nil, now)
		}
		selling, err := f.selling(ctx, old.Items, now)
		if err != nil {
			return next, err
		}
		if len(selling) > 0 {
			return next, refuse("", "%s", onSale(selling))
		}
		next.Deleted = whole(now)
		return next, nil
	})
}

// SetOffline takes an activity offline and stops its items that have not ended, or puts it online and resumes the items
// that going offline stopped: all, or as many as it can. An item that was stopped before stays stopped, and Stays names
// it. An item that a person resumes and stops again meanwhile is resumed, because items do not say who stopped them. A
// repetition finishes what is left. Errors as Delete, and seckill.ErrStateChanged; a fault of items names them.
//
// If an offline overtakes an online, the items end up stopped: the online reads the activity before it resumes the
// items and again afterwards, and then stops them again. Between the two reads, for a write of each item, an item may
// be on sale though the offline has succeeded. If this instance dies then, or its stops fail, the item stays on sale
// until offline is given again.
func (f *Flow) SetOffline(ctx context.Context, id string, offline bool) (Done, error) {
	now := f.Clock.Now()
	done, err := f.write(ctx, id, func(old *seckill.Activity) (seckill.Activity, error) {
		switch {
		case old == nil:
			return seckill.Activity{}, seckill.ErrNoActivity
		case !old.Deleted.IsZero():
			return *old, refuse("", "activity %s is deleted: undelete it first", id)
		case old.StateAt(now) == seckill.ActivityEnded:
			return *old, refuse("", "activity %s ended at %s", id, old.End.Format(time.RFC3339))
		}
		next := *old
		switch noted := !old.Offline || old.Resumes != nil; {
		case noted && offline:
			next.Resumes = f.stops(ctx, old, now)
		case !noted && !offline: // an older release took it offline
			next.Resumes = slices.Clone(old.Items)
		}
		next.Offline = offline
		return next, nil
	})
	if err != nil {
		return done, err
	}
	var ids []string
	ids, done.Stays = f.switched(ctx, &done.After, now)
	if !offline {
		return f.resume(ctx, done, ids)
	}
	done.Items, err = f.Stage.SetAllStopped(ctx, ids, true)
	done.Changed = done.Changed || done.Items > 0
	return done, err
}

// switched returns the items that an activity stops if it is offline, and resumes if it is online; stays are the other
// items that stay stopped. An item that cannot be read is among those to stop or resume.
func (f *Flow) switched(ctx context.Context, a *seckill.Activity, now time.Time) (ids, stays []string) {
	for _, item := range a.Items {
		it, err := f.Items.Get(ctx, item)
		switch ended := err == nil && it.StateAt(now) == seckill.ItemEnded; {
		case ended:
		case a.Offline, slices.Contains(a.Resumes, item):
			ids = append(ids, item)
		case err == nil && it.Stopped:
			stays = append(stays, item)
		}
	}
	return ids, stays
}

// resume resumes items of an activity that is online, unless it is taken offline meanwhile, and then records that no
// item is left to resume.
func (f *Flow) resume(ctx context.Context, done Done, ids []string) (Done, error) {
	id := done.After.ID
	if a, err := f.Activities.Activity(ctx, id); err != nil || a.Offline {
		return done, cmp.Or(err, seckill.ErrStateChanged)
	}
	var err error
	done.Items, err = f.Stage.SetAllStopped(ctx, ids, false)
	done.Changed = done.Changed || done.Items > 0
	if done.After.Resumes == nil {
		return done, err
	}
	last, lost := f.write(ctx, id, func(old *seckill.Activity) (seckill.Activity, error) {
		if old == nil || old.Offline {
			return seckill.Activity{}, errOvertaken
		}
		next := *old
		if err == nil { // all are resumed: going online does not resume items that people stop from now on
			next.Resumes = nil
		}
		return next, nil
	})
	switch {
	case errors.Is(lost, errOvertaken):
		_, again := f.Stage.SetAllStopped(ctx, ids, true)
		return done, errors.Join(lost, again)
	case lost == nil:
		done.After = last.After
	}
	return done, cmp.Or(err, lost)
}

// errOvertaken: somebody has taken the activity offline while it was put online.
var errOvertaken = fmt.Errorf("taken offline meanwhile: %w", seckill.ErrStateChanged)

// stops returns the items that taking the activity offline stops now, and those that it stopped before and has not
// resumed. An item that cannot be read counts as running, so that it is not left stopped.
func (f *Flow) stops(ctx context.Context, a *seckill.Activity, now time.Time) []string {
	ids := []string{}
	for _, id := range a.Items {
		it, err := f.Items.Get(ctx, id)
		if err != nil || slices.Contains(a.Resumes, id) || !it.Stopped && it.StateAt(now) != seckill.ItemEnded {
			ids = append(ids, id)
		}
	}
	return ids
}

// write changes an activity with edit, which gets nil if the activity does not exist, and publishes the change.
func (f *Flow) write(ctx context.Context, id string,
	edit func(*seckill.Activity) (seckill.Activity, error)) (Done, error) {
	for range maxTries {
		var was *seckill.Activity
		stored, err := f.Activities.Activity(ctx, id)
		switch {
		case err == nil:
			was = &stored
		case !errors.Is(err, seckill.ErrNoActivity):
			return Done{}, err
		}
		next, err := edit(was)
		if err != nil {
			return Done{}, err
		}
		if was != nil && same(&next, was) {
			return Done{Before: stored, After: stored}, nil
		}
		if was != nil {
			next.Version = was.Version + 1
		}
		err = f.Activities.SaveActivity(ctx, next, was)
		var taken *seckill.ItemTaken
		switch {
		case errors.Is(err, seckill.ErrStateChanged):
			continue
		case errors.As(err, &taken):
			return Done{}, refuse("items", "item %s is in activity %s already: take it out there first", taken.Item,
				taken.Activity)
		case err != nil:
			return Done{}, err
		}
		_ = f.Stage.Publish(ctx) // if this fails, the next run publishes
		return Done{Before: stored, After: next, Changed: true}, nil
	}
	return Done{}, seckill.ErrStateChanged
}

func same(a, b *seckill.Activity) bool {
	return len(a.Differs(b)) == 0 && a.Offline == b.Offline && a.Deleted.Equal(b.Deleted) &&
		slices.Equal(a.Resumes, b.Resumes) && (a.Resumes == nil) == (b.Resumes == nil)
}

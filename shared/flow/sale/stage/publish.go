package stage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// maxListed is how many activities, latest end first, a publication looks at.
const maxListed = 500

// Publish makes a change of activities visible on pages. The index of activities may lag: the next run publishes what
// this one does not see.
func (f *Flow) Publish(ctx context.Context) error { return f.publish(ctx) }

// publish writes the list that pages show from the current items. Two concurrent calls do not undo each other: each
// reads the published list's version before it reads the items, and reads the items again if the list was replaced
// meanwhile. It returns the errors of List and Lists; an item that cannot be read is left out. If the activities cannot
// be read, the list keeps their titles as they were.
func (f *Flow) publish(ctx context.Context) error {
	for range maxTries {
		l, err := f.Items.Published(ctx)
		lost := errors.Is(err, seckill.ErrUnreadable) // the new list replaces it
		if err != nil && !lost {
			return err
		}
		since := f.Clock.Now().Add(-seckill.MaxUnplaced)
		items, bad := f.Items.List(ctx, since)
		if bad != nil && !errors.Is(bad, seckill.ErrUnreadable) {
			return bad
		}
		if l.Version > 0 && !lost {
			items = f.buyable(ctx, l.Items, items)
		}
		activities, err := f.titles(ctx, items, since)
		if err != nil {
			bad, activities = errors.Join(bad, err), l.Activities
		}
		if l.Version > 0 && !lost && slices.EqualFunc(l.Items, items, sameVersion) &&
			slices.EqualFunc(l.Activities, activities, sameTitle) {
			return bad
		}
		err = f.Items.Publish(ctx, seckill.List{Version: l.Version + 1, Items: items, Activities: activities})
		if !errors.Is(err, seckill.ErrStateChanged) {
			return errors.Join(err, bad)
		}
	}
	return seckill.ErrStateChanged
}

// buyable returns the items, of which those that an import has put into an open window stay as they were listed, or
// unlisted, while the stock lacks them: nobody can buy them before repair, or the import itself, has installed them.
// What was listed in its window stays, whatever the stock has lost.
func (f *Flow) buyable(ctx context.Context, listed, items []seckill.Item) (out []seckill.Item) {
	now := f.Clock.Now()
	before := make(map[string]*seckill.Item, len(listed))
	for i := range listed {
		before[listed[i].ID] = &listed[i]
	}
	var failed error // then the other new ones wait for the next run, too: one that hangs takes a second
	for i := range items {
		was := before[items[i].ID]
		if items[i].StateAt(now) != seckill.ItemOnline || was != nil && !now.Before(was.Start) {
			out = append(out, items[i])
			continue
		}
		missing := failed
		if failed == nil {
			_, missing = f.Stock.Level(ctx, items[i].ID)
		}
		switch {
		case missing == nil:
			out = append(out, items[i])
		case was != nil:
			out = append(out, *was)
		}
		if !errors.Is(missing, seckill.ErrNotInstalled) {
			failed = missing
		}
	}
	return out
}

// titles returns the activities that these items are in. It leaves out activities that cannot be read.
func (f *Flow) titles(ctx context.Context, items []seckill.Item, since time.Time) ([]seckill.ListedActivity, error) {
	listed := make(map[string]bool, len(items))
	for i := range items {
		listed[items[i].ID] = true
	}
	var out []seckill.ListedActivity
	for after, read := "", 0; read < maxListed && len(items) > 0; {
		p, err := f.Activities.ListActivities(ctx, after, seckill.MaxActivityPage)
		if err != nil {
			return nil, err
		}
		for _, a := range p.Rows {
			if !a.End.After(since) { // so did its items, and all that follow
				return out, nil
			}
			shown := slices.DeleteFunc(slices.Clone(a.Members()), func(id string) bool { return !listed[id] })
			if len(shown) > 0 {
				out = append(out, seckill.ListedActivity{ID: a.ID, Title: a.Title, Items: shown})
			}
		}
		if after = p.Next; after == "" {
			break
		}
		read += seckill.MaxActivityPage
	}
	return out, nil
}

func sameVersion(a, b seckill.Item) bool { return a.ID == b.ID && a.Version == b.Version }

func sameTitle(a, b seckill.ListedActivity) bool {
	return a.ID == b.ID && a.Title == b.Title && slices.Equal(a.Items, b.Items)
}

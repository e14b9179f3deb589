package seckill

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Limits of activities.
const (
	MaxActivityItems  = 99  // a transaction holds 100 rows: the activity's, and one for each item
	MaxActivityAuthor = 256 // characters
	MaxActivityPage   = 100 // activities in a page of the list
)

// ActivityState is the phase of an activity. The window and the switch determine it.
type ActivityState string

// The states of an activity.
const (
	ActivityWaiting ActivityState = "waiting"
	ActivityOnline  ActivityState = "online"
	ActivityOffline ActivityState = "offline"
	ActivityEnded   ActivityState = "ended"
)

// Where an activity was made.
const (
	MadeAtCLI  = "cli"
	MadeAtPage = "page"
)

// Activity is a group of items that shoppers see under one title. An item is in at most one, and its window lies in
// the activity's. Activities decide nothing: each item has its own window and stop switch.
type Activity struct {
	ID      string    `row:"id,key"` // as an item's id
	Title   string    `row:"title"`  // plain text, one line
	Start   time.Time `row:"start"`
	End     time.Time `row:"end"`
	Items   []string  `row:"items,opt"`   // ids, in the order in which they are shown
	Offline bool      `row:"offline,opt"` // staff took it offline, and stopped its items
	// Resumes are items that this stopped, and that going online resumes: see SetOffline; nil once it has
	Resumes []string `row:"resumes,later"`
	Version int64    `row:"version"` // each save raises it

	MadeBy   string    `row:"by"`        // a member of staff, as verified
	MadeFrom string    `row:"made_from"` // what their client says: MadeAtCLI or MadeAtPage
	Made     time.Time `row:"made"`
	Deleted  time.Time `row:"deleted,opt"` // zero: it is not. A deleted activity has no items: they may go to others
}

// StateAt returns the activity's state at a time.
func (a *Activity) StateAt(now time.Time) ActivityState {
	switch {
	case !now.Before(a.End):
		return ActivityEnded
	case a.Offline:
		return ActivityOffline
	case now.Before(a.Start):
		return ActivityWaiting
	default:
		return ActivityOnline
	}
}

// Members returns the items that are in the activity. A deleted activity has none.
func (a *Activity) Members() []string {
	if !a.Deleted.IsZero() {
		return nil
	}
	return a.Items
}

// Covers reports whether an item's window lies in the activity's.
func (a *Activity) Covers(it *Item) bool { return !it.Start.Before(a.Start) && !it.End.After(a.End) }

// activityFields are the fields of an activity, by their names in a file.
var activityFields = []string{"title", "start_time", "end_time", "items"}

// Why a field of an activity may be changed only within bounds.
const (
	WhyItemsInside = "items_inside"  // the window of each item lies in the activity's
	WhyOnSaleStays = "on_sale_stays" // an item that is on sale is not taken out
)

// Rules says how far a save may change each field of the activity at a time.
func (a *Activity) Rules(now time.Time) []Rule {
	rules := make([]Rule, len(activityFields))
	for i, field := range activityFields {
		rules[i] = Rule{Field: field, May: MayWithin, Why: WhyItemsInside, Until: a.End}
		r := &rules[i]
		switch {
		case a.StateAt(now) == ActivityEnded:
			r.May, r.Why, r.Since, r.Until = MayNot, WhyEnded, a.End, time.Time{}
		case field == "title":
			r.May, r.Why = MayChange, ""
		case field == "items":
			r.Why = WhyOnSaleStays
		}
	}
	return rules
}

// Differs returns the fields of a save that differ from the stored activity, in the order of Rules.
func (a *Activity) Differs(old *Activity) (fields []string) {
	same := map[string]bool{"title": a.Title == old.Title, "start_time": a.Start.Equal(old.Start),
		"end_time": a.End.Equal(old.End), "items": slices.Equal(a.Items, old.Items)}
	for _, field := range activityFields {
		if !same[field] {
			fields = append(fields, field)
		}
	}
	return fields
}

// Check returns CodeInvalid with the name of the first wrong field, or nil.
func (a *Activity) Check() error {
	seen := map[string]bool{}
	for _, id := range a.Items {
		if !ValidItemID(id) || seen[id] {
			return Invalid("items", "ids of items, none twice")
		}
		seen[id] = true
	}
	switch { // what texts say is checked when they enter: an activity of an earlier release can still be changed
	case a.Title == "" || utf8.RuneCountInString(a.Title) > MaxTitle:
		return Invalid("title", fmt.Sprintf("1..%d", MaxTitle))
	case a.MadeBy == "" || utf8.RuneCountInString(a.MadeBy) > MaxActivityAuthor:
		return Invalid("made_by", fmt.Sprintf("1..%d", MaxActivityAuthor))
	case !ValidItemID(a.ID):
		return Invalid("id", "1 to 19 digits without a leading zero")
	case len(a.Items) > MaxActivityItems:
		return Invalid("items", fmt.Sprintf("0..%d", MaxActivityItems))
	case a.Start.UnixMilli() <= 0 || !a.Start.Before(a.End) || a.End.Year() > 9999:
		return Invalid("end_time", "after start_time")
	case a.MadeFrom != MadeAtCLI && a.MadeFrom != MadeAtPage:
		return Invalid("via", MadeAtCLI+", "+MadeAtPage)
	case a.Made.IsZero():
		return Invalid("made", "")
	}
	return nil
}

// ItemTaken is the error of a save whose item is in another activity; nothing was written.
type ItemTaken struct{ Item, Activity string }

func (e *ItemTaken) Error() string {
	return fmt.Sprintf("seckill: item %s is in activity %s", e.Item, e.Activity)
}

// Activities is the table of activities.
type Activities interface {
	// Activity reads an activity consistently. ErrNoActivity; any other error is a fault.
	Activity(ctx context.Context, id string) (Activity, error)
	Grouping
	// ListActivities pages through the activities, also deleted ones, latest end first. Index read.
	ListActivities(ctx context.Context, after string, limit int) (Page[Activity], error)
	// SaveActivity makes an activity of version 1, or replaces was, its version before, and moves items in and out: all
	// or nothing. ErrStateChanged: another version is stored; *ItemTaken; CodeInvalid, also for more than 99 items that
	// move; any other error is a fault.
	SaveActivity(ctx context.Context, a Activity, was *Activity) error
}

// Grouping says in which activities items are.
type Grouping interface {
	// ActivitiesOf returns the activity of each of at most MaxItems items. It leaves out items that are in no activity.
	ActivitiesOf(ctx context.Context, items []string) (map[string]string, error)
}

package operator

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/office/activity"
	"github.com/your-org/seckill/shared/seckill"
)

// ActivityHandler executes commands about activities. It is safe for concurrent use.
type ActivityHandler struct {
	flow  *activity.Flow
	items *ItemHandler
}

// NewActivityHandler returns a handler that uses the flow, and shows items as the other handler does.
func NewActivityHandler(flow *activity.Flow, items *ItemHandler) *ActivityHandler {
	return &ActivityHandler{flow, items}
}

// Activity is an activity as staff read it.
type Activity struct {
	ActivityFile
	State    seckill.ActivityState `json:"state"`
	Offline  bool                  `json:"offline,omitempty"`
	Resumes  []string              `json:"resumes,omitzero"` // items that going online resumes; nil while Offline: all
	MadeBy   string                `json:"made_by"`
	MadeFrom string                `json:"made_from"`
	Made     time.Time             `json:"made"`
	Deleted  time.Time             `json:"deleted,omitzero"`
}

// ActivityView is an activity with its items, and how far a save may change each field now.
type ActivityView struct {
	Activity
	Rules   []seckill.Rule `json:"rules"`
	Members []ItemState    `json:"members"` // in the order of items, without items that cannot be read
}

// ActivityChange is an activity after a command. Items is how many items it stopped, resumed or copied.
type ActivityChange struct {
	Activity
	Changed bool `json:"changed"`
	Affects int  `json:"affects,omitempty"`
	// Stays are items that going online left stopped, because the activity did not stop them.
	Stays []string `json:"stays,omitempty"`
}

// ActivityPage is a page of the list of activities, latest end first.
type ActivityPage struct {
	Activities []Activity `json:"activities"`
	Unreadable []string   `json:"unreadable,omitempty"`
	Next       string     `json:"next,omitempty"`
}

func (h *ActivityHandler) run(c Command) func(context.Context) (Done, error) {
	return handler(func(ctx context.Context, c does[*ActivityHandler]) (Done, error) { return c.Do(ctx, h) }).run(c)
}

// ListActivities lists activities, the one that ends last first.
type ListActivities struct {
	Given
	All    bool   `json:"all,omitempty" log:"-"` // also deleted ones
	Cursor string `json:"cursor,omitempty" is:"cursor" log:"-"`
	Limit  int    `json:"limit" is:"page" log:"-"`
}

func (*ListActivities) Spec() Spec {
	return Spec{Name: "activities", Path: "activities list", Roles: everybody, In: "stage",
		Short: "List activities, the one that ends last first"}
}

func (c *ListActivities) Do(ctx context.Context, h *ActivityHandler) (Done, error) {
	out := ActivityPage{Activities: []Activity{}}
	p, err := h.flow.Activities.ListActivities(ctx, c.Cursor, min(c.Limit, seckill.MaxActivityPage))
	if err != nil {
		return Done{}, err
	}
	out.Next = p.Next
	for i := range p.Rows {
		if c.All || p.Rows[i].Deleted.IsZero() {
			out.Activities = append(out.Activities, h.read(&p.Rows[i]))
		}
	}
	for _, err := range p.Unreadable {
		out.Unreadable = append(out.Unreadable, err.Error())
	}
	return readDone(out, nil)
}

// ReadActivity reads an activity with its items.
type ReadActivity struct {
	Given
	Activity string `json:"activity" is:"item" arg:"ID"`
}

func (*ReadActivity) Spec() Spec {
	return Spec{Name: "activity", Path: "activities show", Roles: everybody, In: "stage",
		Short: "Show an activity, its items, and which of its fields may change now"}
}

func (c *ReadActivity) Do(ctx context.Context, h *ActivityHandler) (Done, error) {
	a, err := h.flow.Activities.Activity(ctx, c.Activity)
	if err != nil {
		return Done{}, err
	}
	out := ActivityView{h.read(&a), a.Rules(h.flow.Clock.Now()), []ItemState{}}
	for _, item := range a.Items {
		if it, err := h.flow.Items.Get(ctx, item); err == nil {
			out.Members = append(out.Members, h.items.State(ctx, &it))
		}
	}
	return readDone(out, nil)
}

// SaveActivity makes an activity, or changes the version from which the save was made.
type SaveActivity struct {
	Given
	Save *ActivityFile `json:"save" sample:"{\"id\":\"70\"}"`  // the flow checks it
	Via  string        `json:"via,omitempty" is:"via" log:"-"` // page, or cli, the default
}

func (*SaveActivity) Spec() Spec {
	return Spec{Name: "save-activity", Path: "activities save", Roles: editors, In: "stage",
		Short: "Make an activity, or change one"}
}

func (c *SaveActivity) Do(ctx context.Context, h *ActivityHandler) (Done, error) {
	return h.changed(h.flow.Save(ctx, &activity.Form{ID: c.Save.ID, Title: c.Save.Title, Start: c.Save.Start,
		End: c.Save.End, Items: c.Save.Items, Base: c.Save.Version, By: signature(c.Who),
		From: cmp.Or(c.Via, seckill.MadeAtCLI)}))
}

// DeleteActivity deletes an activity or, with undo, brings it back.
type DeleteActivity struct {
	Given
	Activity string `json:"activity" is:"item" arg:"ID" sample:"70"`
	Undo     bool   `json:"undo,omitempty"`
}

func (*DeleteActivity) Spec() Spec {
	return Spec{Name: "delete-activity", Path: "activities delete", Roles: editors, In: "stage",
		Short: "Delete an activity; its items stay"}
}

func (c *DeleteActivity) Do(ctx context.Context, h *ActivityHandler) (Done, error) {
	return h.changed(h.flow.Delete(ctx, c.Activity, c.Undo))
}

// CopyActivity copies an activity and its items to a later time.
type CopyActivity struct {
	Given
	Activity string    `json:"activity" is:"item" arg:"ID" sample:"70"`
	Start    time.Time `json:"start" sample:"\"2030-11-18T12:00:00Z\""` // when the copy begins
	Via      string    `json:"via,omitempty" is:"via" log:"-"`          // page, or cli, the default
}

func (*CopyActivity) Spec() Spec {
	return Spec{Name: "copy-activity", Path: "activities copy", Roles: editors, In: "stage",
		Short: "Copy an activity and its items to a later time"}
}

func (c *CopyActivity) Do(ctx context.Context, h *ActivityHandler) (Done, error) {
	return h.changed(h.flow.Copy(ctx, c.Activity, c.Start, signature(c.Who), cmp.Or(c.Via, seckill.MadeAtCLI)))
}

// Offline takes an activity offline, and stops its items.
type Offline struct {
	Given
	Activity string `json:"activity" is:"item" arg:"ID" sample:"70"`
}

func (*Offline) Spec() Spec {
	return Spec{Name: "offline", Path: "activities offline", Roles: operators, In: "stage",
		Short: "Take an activity offline, and stop its items",
		Long: `Take an activity offline, and stop the sale of each of its items that has not ended. Once the command
reports success, it holds for every item as after "seckill items stop". If it fails, it has stopped as
many as it could, names the others, and which of those Redis gets within a minute or two without you. Give
it again until it succeeds.`}
}

func (c *Offline) Do(ctx context.Context, h *ActivityHandler) (Done, error) {
	return h.changed(h.flow.SetOffline(ctx, c.Activity, true))
}

// Online puts an activity online, and resumes its items.
type Online struct {
	Given
	Activity string `json:"activity" is:"item" arg:"ID" sample:"70"`
}

func (*Online) Spec() Spec {
	return Spec{Name: "online", Path: "activities online", Roles: operators, In: "stage",
		Short: "Put an activity online, and resume its items",
		Long: `Put an activity online again, and resume the sale of each item that "offline" stopped and that has not
ended. An item that was stopped by itself before stays stopped, and is named: "seckill items resume". One
that was resumed and stopped again by itself since then is resumed, too. If the command fails, give it again
until it succeeds.`}
}

func (c *Online) Do(ctx context.Context, h *ActivityHandler) (Done, error) {
	return h.changed(h.flow.SetOffline(ctx, c.Activity, false))
}

// changed returns the result of a command that may have changed an activity, and what the audit log has of it.
func (h *ActivityHandler) changed(d activity.Done, err error) (Done, error) {
	out := Done{Result: ActivityChange{h.read(&d.After), d.Changed, d.Items, d.Stays}, Outcome: changedIf(d.Changed)}
	if d.Changed {
		out.Before, out.After = recorded(&d.Before), recorded(&d.After)
	}
	if d.Items > 0 {
		out.More = []slog.Attr{slog.Int("items", d.Items)}
	}
	return out, err
}

// recorded returns the activity's fields for the audit log, or nil if there was no activity.
func recorded(a *seckill.Activity) []slog.Attr {
	if a.ID == "" {
		return nil
	}
	utc := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	attrs := []slog.Attr{slog.Int64("version", a.Version), slog.Bool("offline", a.Offline),
		slog.Bool("deleted", !a.Deleted.IsZero()), slog.String("start", utc(a.Start)), slog.String("end", utc(a.End)),
		slog.String("members", strings.Join(a.Items, ",")), slog.String("title", a.Title)}
	return attrs
}

func (h *ActivityHandler) read(a *seckill.Activity) Activity {
	return Activity{fileOf(a), a.StateAt(h.flow.Clock.Now()), a.Offline, a.Resumes, a.MadeBy, a.MadeFrom, a.Made,
		a.Deleted}
}

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
	Members []ItemState    `json:"members"` // in the order of items; those that cannot be read are left out
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

func (h *ActivityHandler) commands() []command { return activityCommands }

// do executes a command.
func (h *ActivityHandler) do(ctx context.Context, r *request) (done, error) {
	via := cmp.Or(r.Via, seckill.MadeAtCLI)
	switch r.Command {
	case cmdActivities:
		page, err := h.list(ctx, r)
		return done{result: page, outcome: read}, err
	case cmdActivity:
		view, err := h.view(ctx, r.Activity)
		return done{result: view, outcome: read}, err
	case cmdSaveActivity:
		return h.changed(h.flow.Save(ctx, &activity.Form{ID: r.Save.ID, Title: r.Save.Title, Start: r.Save.Start,
			End: r.Save.End, Items: r.Save.Items, Base: r.Save.Version, By: signature(r.Who), From: via}))
	case cmdDeleteActivity:
		return h.changed(h.flow.Delete(ctx, r.Activity, r.Undo))
	case cmdCopyActivity:
		return h.changed(h.flow.Copy(ctx, r.Activity, r.Start, signature(r.Who), via))
	default: // the only other commands that check allows
		return h.changed(h.flow.SetOffline(ctx, r.Activity, r.Command == cmdOffline))
	}
}

// changed returns the result of a command that may have changed an activity, and what the audit log has of it.
func (h *ActivityHandler) changed(d activity.Done, err error) (done, error) {
	out := done{result: ActivityChange{h.read(&d.After), d.Changed, d.Items, d.Stays}, outcome: changedIf(d.Changed)}
	if d.Changed {
		out.before, out.after = recorded(&d.Before), recorded(&d.After)
	}
	if d.Items > 0 {
		out.more = []slog.Attr{slog.Int("items", d.Items)}
	}
	return out, err
}

// recorded returns what the audit log has of an activity, or nil if there was none.
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

func (h *ActivityHandler) list(ctx context.Context, r *request) (ActivityPage, error) {
	out := ActivityPage{Activities: []Activity{}}
	p, err := h.flow.Activities.ListActivities(ctx, r.Cursor, min(r.Limit, seckill.MaxActivityPage))
	if err != nil {
		return out, err
	}
	out.Next = p.Next
	for i := range p.Rows {
		if r.All || p.Rows[i].Deleted.IsZero() {
			out.Activities = append(out.Activities, h.read(&p.Rows[i]))
		}
	}
	for _, err := range p.Unreadable {
		out.Unreadable = append(out.Unreadable, err.Error())
	}
	return out, nil
}

func (h *ActivityHandler) view(ctx context.Context, id string) (ActivityView, error) {
	a, err := h.flow.Activities.Activity(ctx, id)
	if err != nil {
		return ActivityView{}, err
	}
	out := ActivityView{h.read(&a), a.Rules(h.flow.Clock.Now()), []ItemState{}}
	for _, item := range a.Items {
		if it, err := h.flow.Items.Get(ctx, item); err == nil {
			out.Members = append(out.Members, h.items.State(ctx, &it))
		}
	}
	return out, nil
}

// Activities lists activities, all also deleted ones; cursor is "" or the Next of an earlier page.
func (c *Client) Activities(ctx context.Context, all bool, cursor string, limit int) (out ActivityPage, err error) {
	err = c.give(ctx, &request{Command: cmdActivities, All: all, Cursor: cursor, Limit: limit}, &out)
	return out, err
}

// Activity returns an activity with its items.
func (c *Client) Activity(ctx context.Context, id string) (out ActivityView, err error) {
	err = c.give(ctx, &request{Command: cmdActivity, Activity: id}, &out)
	return out, err
}

// SaveActivity makes an activity, or changes the version from which the save was made.
func (c *Client) SaveActivity(ctx context.Context, file ActivityFile) (out ActivityChange, err error) {
	err = c.give(ctx, &request{Command: cmdSaveActivity, Save: &file}, &out)
	return out, err
}

// DeleteActivity deletes an activity, or undoes that.
func (c *Client) DeleteActivity(ctx context.Context, id string, undo bool) (out ActivityChange, err error) {
	err = c.give(ctx, &request{Command: cmdDeleteActivity, Activity: id, Undo: undo}, &out)
	return out, err
}

// CopyActivity copies an activity and its items to a later time.
func (c *Client) CopyActivity(ctx context.Context, id string, start time.Time) (out ActivityChange, err error) {
	err = c.give(ctx, &request{Command: cmdCopyActivity, Activity: id, Start: start}, &out)
	return out, err
}

// SetOffline takes an activity offline, or puts it online.
func (c *Client) SetOffline(ctx context.Context, id string, offline bool) (out ActivityChange, err error) {
	r := request{Command: cmdOnline, Activity: id}
	if offline {
		r.Command = cmdOffline
	}
	err = c.give(ctx, &r, &out)
	return out, err
}

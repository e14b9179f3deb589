package operator

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/seckill"
)

// ActHandler executes commands about suspicious acts. It is safe for concurrent use.
type ActHandler struct{ acts *acts.Flow }

// NewActHandler returns a handler that uses the flow.
func NewActHandler(flow *acts.Flow) *ActHandler { return &ActHandler{flow} }

// Act is a seckill.Act as operators read it.
type Act struct {
	ID          string         `json:"id"`
	At          time.Time      `json:"at"`
	Item        string         `json:"item"`
	Action      seckill.Action `json:"action"`
	Result      seckill.Reason `json:"result"`
	Status      string         `json:"status"`
	Rules       string         `json:"rules"`
	User        string         `json:"user"`
	UserHash    string         `json:"user_hash"`
	NetworkHash string         `json:"network_hash"`
	Agent       string         `json:"agent"`
	Referrer    string         `json:"referrer"`
	TookMs      int64          `json:"took_ms,omitempty"`
	Handled     time.Time      `json:"handled,omitzero"`
	By          string         `json:"by,omitempty"`
	Note        string         `json:"note,omitempty"`
}

// NewAct returns an act as operators read it.
func NewAct(a *seckill.Act) Act {
	return Act{a.ID, a.At, a.Item, a.Action, a.Result, a.Status(), a.Rules.String(), a.User, a.UserKey, a.Network,
		a.Agent,
		a.Referrer, a.Took.Milliseconds(), a.Handled, a.By, a.Note}
}

// ActPage is a page of a day's suspicious acts.
type ActPage struct {
	Acts []Act  `json:"acts"`
	Next string `json:"next,omitempty"`
}

func (h *ActHandler) commands() []command { return actCommands }

// do executes a command.
func (h *ActHandler) do(ctx context.Context, r *request) (done, error) {
	switch r.Command {
	case cmdHandle:
		err := h.acts.Handle(ctx, r.Act, signature(r.Who), r.Why)
		return done{result: true, outcome: changed}, err
	case cmdAct:
		a, err := h.acts.Act(ctx, r.Act)
		return done{result: NewAct(&a), outcome: read}, err
	default: // the only other command that check allows
		list, next, err := h.acts.List(ctx, acts.Filter{Day: r.Day, Item: r.Item, All: r.All, After: r.Cursor,
			Limit: r.Limit})
		out := ActPage{Acts: make([]Act, len(list)), Next: next}
		for i := range list {
			out.Acts[i] = NewAct(&list[i])
		}
		return done{result: out, outcome: read}, err
	}
}

// ActsWanted says which acts Acts lists.
type ActsWanted struct {
	Day, Item string // "": today, of every item
	All       bool   // also those that are handled
	Cursor    string // "" or the Next of an earlier page
	Limit     int
}

// Acts lists suspicious acts of a day, by time.
func (c *Client) Acts(ctx context.Context, w ActsWanted) (out ActPage, err error) {
	err = c.give(ctx, &request{Command: cmdActs, Day: w.Day, Item: w.Item, All: w.All, Cursor: w.Cursor,
		Limit: w.Limit},
		&out)
	return out, err
}

// Act reads one.
func (c *Client) Act(ctx context.Context, id string) (out Act, err error) {
	err = c.give(ctx, &request{Command: cmdAct, Act: id}, &out)
	return out, err
}

// HandleAct records that the caller handled an act, and why.
func (c *Client) HandleAct(ctx context.Context, id, why string) error {
	var ok bool
	return c.give(ctx, &request{Command: cmdHandle, Act: id, Why: why}, &ok)
}

func validAct(id string) bool {
	_, ok := seckill.ActTime(id)
	return ok
}

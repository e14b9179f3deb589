package operator

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/seckill"
)

// NewActHandler returns a handler of the commands about suspicious acts.
func NewActHandler(flow *acts.Flow) Handler {
	return handler(func(ctx context.Context, c does[*acts.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

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

// ListActs lists a day's suspicious acts.
type ListActs struct {
	Given
	Item   string `json:"item,omitempty" is:"item" help:"id of an item (default every item)"`
	Day    string `json:"day,omitempty" is:"day" help:"the day, such as 2026-11-11 (default today)"`
	All    bool   `json:"all,omitempty" log:"-" help:"also those that are handled"`
	Cursor string `json:"cursor,omitempty" is:"cursor" log:"-"`
	Limit  int    `json:"limit" is:"page" log:"-"`
}

func (*ListActs) Spec() Spec {
	return Spec{Name: "acts", Path: "acts list", Roles: seeShoppers, In: "acts",
		Short: "List the suspicious acts of a day, by time"}
}

func (c *ListActs) Do(ctx context.Context, flow *acts.Flow) (Done, error) {
	list, next, err := flow.List(ctx, acts.Filter{Day: c.Day, Item: c.Item, All: c.All, After: c.Cursor,
		Limit: c.Limit})
	out := ActPage{Acts: make([]Act, len(list)), Next: next}
	for i := range list {
		out.Acts[i] = NewAct(&list[i])
	}
	return readDone(out, err)
}

// ReadAct reads a suspicious act.
type ReadAct struct {
	Given
	Act string `json:"act" is:"act" arg:"ACT"`
}

func (*ReadAct) Spec() Spec {
	return Spec{Name: "act", Roles: seeShoppers, In: "acts", Short: "Show a suspicious act"}
}

func (c *ReadAct) Do(ctx context.Context, flow *acts.Flow) (Done, error) {
	a, err := flow.Act(ctx, c.Act)
	return readDone(NewAct(&a), err)
}

// HandleAct records that a suspicious act is handled.
type HandleAct struct {
	Given
	Act string `json:"act" is:"act" arg:"ACT"`
	Why string `json:"why" log:"-" help:"your reason, up to 200 characters"`
}

func (*HandleAct) Spec() Spec {
	return Spec{Name: "handle", Path: "acts handle", Roles: operators, In: "acts",
		Short: "Record that a suspicious act is handled"}
}

func (c *HandleAct) Do(ctx context.Context, flow *acts.Flow) (Done, error) {
	err := flow.Handle(ctx, c.Act, signature(c.Who), c.Why)
	return Done{Result: true, Outcome: changed}, err
}

package operator

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/your-org/seckill/shared/flow/office/count"
	"github.com/your-org/seckill/shared/seckill"
)

// NewCountHandler returns a handler of the commands about counts.
func NewCountHandler(flow *count.Flow) Handler {
	return handler(func(ctx context.Context, c does[*count.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

// Counts are an item's units by what happened to them.
type Counts struct {
	Item       string                `json:"item"`
	Since      *time.Time            `json:"since"`      // null if nothing was counted yet
	Recounting bool                  `json:"recounting"` // orders may be missing
	Total      seckill.Count         `json:"total"`
	Minutes    []seckill.MinuteCount `json:"minutes"`
}

// Recounted is the result of a step of a recount.
type Recounted struct {
	Orders int    `json:"orders"` // read
	Next   string `json:"next,omitempty"`
	Wait   int    `json:"wait_seconds,omitempty"` // before the next step
}

// ReadCounts shows how many units of an item were placed, paid and given back.
type ReadCounts struct {
	Given
	Item string `json:"item" is:"item" arg:"ITEM"`
}

func (*ReadCounts) Spec() Spec {
	return Spec{Name: "counts", Path: "counts", Roles: everybody, In: "tell",
		Short: "Print how many units of an item were placed, paid and given back, by minute"}
}

func (c *ReadCounts) Do(ctx context.Context, flow *count.Flow) (Done, error) {
	n, err := flow.Of(ctx, c.Item)
	out := Counts{n.Item, nil, n.Recounting, n.Total, append([]seckill.MinuteCount{}, n.Minutes...)}
	if !n.Since.IsZero() {
		out.Since = &n.Since
	}
	return readDone(out, err)
}

// Recount counts the next orders of an item anew.
type Recount struct {
	Given
	Item   string `json:"item" is:"item" arg:"ITEM"`
	Cursor string `json:"cursor,omitempty" is:"cursor" log:"-"`
}

func (*Recount) Spec() Spec {
	return Spec{Name: "recount", Path: "counts recount", Roles: operators, In: "tell",
		Short: "Make the counts of an item anew from the ledger"}
}

func (c *Recount) Do(ctx context.Context, flow *count.Flow) (Done, error) {
	step, err := flow.Recount(ctx, c.Item, c.Cursor)
	out := Recounted{step.Orders, step.Next, int(math.Ceil(step.Wait.Seconds()))}
	return Done{Result: out, Outcome: changed, More: []slog.Attr{slog.Int("orders", step.Orders)}}, err
}

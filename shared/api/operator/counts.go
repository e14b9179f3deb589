package operator

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/your-org/seckill/shared/flow/office/count"
	"github.com/your-org/seckill/shared/seckill"
)

// CountHandler executes commands about counts. It is safe for concurrent use.
type CountHandler struct{ count *count.Flow }

// NewCountHandler returns a handler that uses the flow.
func NewCountHandler(flow *count.Flow) *CountHandler { return &CountHandler{flow} }

// Counts are an item's units by what happened to them.
type Counts struct {
	Item       string                `json:"item"`
	Since      *time.Time            `json:"since"`      // null: nothing was counted yet
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

func (h *CountHandler) commands() []command { return countCommands }

// do executes a command.
func (h *CountHandler) do(ctx context.Context, r *request) (done, error) {
	if r.Command == cmdRecount {
		step, err := h.count.Recount(ctx, r.Item, r.Cursor)
		out := Recounted{step.Orders, step.Next, int(math.Ceil(step.Wait.Seconds()))}
		return done{result: out, outcome: changed, more: []slog.Attr{slog.Int("orders", step.Orders)}}, err
	}
	c, err := h.count.Of(ctx, r.Item)
	out := Counts{c.Item, nil, c.Recounting, c.Total, append([]seckill.MinuteCount{}, c.Minutes...)}
	if !c.Since.IsZero() {
		out.Since = &c.Since
	}
	return done{result: out, outcome: read}, err
}

// Counts returns an item's counts.
func (c *Client) Counts(ctx context.Context, item string) (out Counts, err error) {
	err = c.give(ctx, &request{Command: cmdCounts, Item: item}, &out)
	return out, err
}

// Recount counts the next orders of an item anew; cursor is "" to begin, which empties the counts, or the previous
// step's Next.
func (c *Client) Recount(ctx context.Context, item, cursor string) (out Recounted, err error) {
	err = c.give(ctx, &request{Command: cmdRecount, Item: item, Cursor: cursor}, &out)
	return out, err
}

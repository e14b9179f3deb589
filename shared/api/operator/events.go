package operator

import (
	"context"
	"log/slog"
	"net/netip"

	"github.com/your-org/seckill/shared/flow/front/tell"
	"github.com/your-org/seckill/shared/seckill"
)

// EventHandler executes commands about the events of orders. It is safe for concurrent use.
type EventHandler struct{ tell *tell.Flow }

// NewEventHandler returns a handler that uses the flow.
func NewEventHandler(flow *tell.Flow) *EventHandler { return &EventHandler{flow} }

// Told is the result of telling changes once more.
type Told struct {
	Orders  int    `json:"orders"`  // read
	Changes int    `json:"changes"` // told
	Next    string `json:"next,omitempty"`
}

// Delivery is where to ship an order. No event has it.
type Delivery struct {
	Order   string        `json:"order"`
	State   seckill.State `json:"state"`
	Item    string        `json:"item"`
	Title   string        `json:"title"`
	Count   int           `json:"count"`
	User    string        `json:"user"`
	Name    string        `json:"shopper_name,omitempty"` // "": the sign-in told none, or as of the address
	Address string        `json:"address"`                // "" once it is erased
	// where the purchase came from; "": the shop keeps none, or it is erased
	Network netip.Addr `json:"network_address,omitzero"`
}

func (h *EventHandler) commands() []command { return eventCommands }

// do executes a command.
func (h *EventHandler) do(ctx context.Context, r *request) (done, error) {
	switch r.Command {
	case cmdTell:
		n, err := h.tell.Again(ctx, r.Order)
		return done{result: Told{Orders: 1, Changes: n}, outcome: read, more: []slog.Attr{slog.Int("changes", n)}}, err
	case cmdReplay:
		step, err := h.tell.Replay(ctx, r.Item, r.Day, r.Cursor)
		return done{result: Told(step), outcome: read, more: []slog.Attr{slog.Int("changes", step.Changes)}}, err
	}
	o, err := h.tell.Delivery(ctx, r.Order)
	return done{result: Delivery{o.ID, o.State, o.Item, o.Title, o.Count, o.User, o.Name,
		o.Address, o.Network}, outcome: read}, err
}

// Tell tells every change of an order once more.
func (c *Client) Tell(ctx context.Context, order string) (out Told, err error) {
	err = c.give(ctx, &request{Command: cmdTell, Order: order}, &out)
	return out, err
}

// Replay tells the changes of an item's next orders on a day once more; cursor is "" or the previous step's Next.
func (c *Client) Replay(ctx context.Context, item, day, cursor string) (out Told, err error) {
	err = c.give(ctx, &request{Command: cmdReplay, Item: item, Day: day, Cursor: cursor}, &out)
	return out, err
}

// Delivery returns where to ship an order.
func (c *Client) Delivery(ctx context.Context, order string) (out Delivery, err error) {
	err = c.give(ctx, &request{Command: cmdDelivery, Order: order}, &out)
	return out, err
}

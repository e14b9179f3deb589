package operator

import (
	"context"
	"log/slog"
	"net/netip"

	"github.com/your-org/seckill/shared/flow/front/tell"
	"github.com/your-org/seckill/shared/seckill"
)

// NewEventHandler returns a handler of the commands about the events of orders.
func NewEventHandler(flow *tell.Flow) Handler {
	return handler(func(ctx context.Context, c does[*tell.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

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
	Name    string        `json:"shopper_name,omitempty"` // "" if the sign-in told none, or it is erased
	Address string        `json:"address"`                // "" once it is erased
	// where the purchase came from; "" if the shop keeps no network addresses, or this one is erased
	Network netip.Addr `json:"network_address,omitzero"`
}

// Tell tells every change of an order once more.
type Tell struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
}

func (*Tell) Spec() Spec {
	return Spec{Name: "tell", Path: "events tell", Roles: operators, In: "tell",
		Short: "Tell every change of an order once more"}
}

func (c *Tell) Do(ctx context.Context, flow *tell.Flow) (Done, error) {
	n, err := flow.Again(ctx, c.Order)
	return Done{Result: Told{Orders: 1, Changes: n}, Outcome: read, More: []slog.Attr{slog.Int("changes", n)}}, err
}

// Replay tells the changes of an item's next orders on a day once more.
type Replay struct {
	Given
	Item   string `json:"item" is:"item"`
	Day    string `json:"day" is:"day"`
	Cursor string `json:"cursor,omitempty" is:"cursor" log:"-"`
}

func (*Replay) Spec() Spec {
	return Spec{Name: "replay", Path: "events replay", Roles: operators, In: "tell",
		Short: "Tell the changes of a day once more"}
}

func (c *Replay) Do(ctx context.Context, flow *tell.Flow) (Done, error) {
	step, err := flow.Replay(ctx, c.Item, c.Day, c.Cursor)
	return Done{Result: Told(step), Outcome: read, More: []slog.Attr{slog.Int("changes", step.Changes)}}, err
}

// ReadDelivery reads where to ship an order.
type ReadDelivery struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
}

func (*ReadDelivery) Spec() Spec {
	return Spec{Name: "delivery", Path: "events delivery", Roles: seeShoppers, In: "tell",
		Short: "Print where to ship an order",
		Long: `Print where to ship an order: events have no address. An address that was erased, or that a
rejected order never had, is empty. The shop logs who asked. A shop that keeps the network addresses
of purchases shows that, too.`}
}

func (c *ReadDelivery) Do(ctx context.Context, flow *tell.Flow) (Done, error) {
	o, err := flow.Delivery(ctx, c.Order)
	return readDone(Delivery{o.ID, o.State, o.Item, o.Title, o.Count, o.User, o.Name, o.Address, o.Network}, err)
}

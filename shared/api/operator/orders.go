package operator

import (
	"context"
	"log/slog"
	"time"

	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// NewOrderHandler returns a handler of the commands about orders after they are paid. No answer contains an address.
func NewOrderHandler(flow *fulfil.Flow) Handler {
	return handler(func(ctx context.Context, c does[*fulfil.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

// Order is an order as staff see it.
type Order struct {
	ID        string        `json:"order_id"`
	Item      string        `json:"item"`
	Activity  string        `json:"activity,omitempty"` // that the item was in when the order was placed
	Title     string        `json:"title"`
	User      string        `json:"user"`
	Name      string        `json:"shopper_name,omitempty"` // "": the sign-in told none, or it is erased with the address
	Count     int           `json:"count"`
	Held      int           `json:"held"` // units that are not for sale
	Price     seckill.Fen   `json:"price"`
	List      seckill.Fen   `json:"list_price,omitempty"` // ordinary price per unit when sold; so are Title and Cover
	Cover     string        `json:"cover,omitempty"`
	Options   string        `json:"options,omitempty"`      // of the variant, as sold: 颜色=黑 | 容量=256 GB
	Version   int64         `json:"item_version,omitempty"` // 0 in an order of an older release, without List and Cover
	Amount    seckill.Fen   `json:"amount"`
	State     seckill.State `json:"state"`
	Created   time.Time     `json:"create_time"`
	PayBy     time.Time     `json:"pay_by,omitzero"`
	Changed   time.Time     `json:"changed"` // the newest entry of its history
	Reason    seckill.Code  `json:"reason,omitempty"`
	Carrier   string        `json:"carrier,omitempty"`
	Number    string        `json:"number,omitempty"`
	Refund    string        `json:"refund_reason,omitempty"` // why its shopper asks for a refund
	Hidden    bool          `json:"hidden,omitempty"`
	Outside   seckill.Fen   `json:"outside,omitempty"`   // of Amount, what went back outside the shop
	Undecided bool          `json:"undecided,omitempty"` // because of Outside it stays until somebody decides

	History []seckill.Change `json:"history,omitempty"` // of a single order
}

// Older returns the number that older systems give the order, seckill.NoOlder if they have no number.
func (o *Order) Older() int {
	if o.Hidden {
		return seckill.OlderHidden
	}
	return o.State.Info().Older
}

// OrderList is a page of a list of orders.
type OrderList struct {
	Orders     []Order   `json:"orders"`
	Next       string    `json:"next,omitempty"`
	Looked     int       `json:"looked"`        // orders that the shop looked at for this page
	Back       time.Time `json:"back,omitzero"` // when the last of them was made
	Unreadable int       `json:"unreadable,omitempty"`
}

// OrderChange is the answer to a change of an order.
type OrderChange struct {
	Order   Order `json:"order"`
	Changed bool  `json:"changed"`
}

func shown(o *seckill.Order) Order {
	out := Order{ID: o.ID, Item: o.Item, Activity: o.Activity, Title: o.Title, User: o.User, Name: o.Name,
		Count: o.Count, Held: len(o.Units), Price: o.Price, List: o.ListPrice, Cover: o.Cover,
		Options: o.Options.String(), Version: o.ItemVersion, Amount: o.Amount, State: o.State, Created: o.Created,
		PayBy: o.PayBy, Reason: o.Reason, Carrier: o.Carrier, Number: o.Number, Refund: o.RefundWhy, Hidden: o.Hidden,
		Outside: o.Outside, Undecided: o.Undecided}
	if n := len(o.History); n > 0 {
		out.Changed = o.History[n-1].At
	}
	return out
}

// ListOrders lists orders, the newest first.
type ListOrders struct {
	Given
	Item      string        `json:"item,omitempty" is:"item" help:"id of the item"`
	User      string        `json:"user,omitempty" is:"user" help:"id of the user"`
	Activity  string        `json:"activity,omitempty" is:"item" log:"-" help:"only orders bought in this activity"`
	State     seckill.State `json:"state,omitempty" is:"state" log:"-" help:"only orders in this state, such as paid"`
	From      time.Time     `json:"from,omitzero" log:"-" help:"only orders made since, such as 2026-11-11T02:00:00Z"`
	To        time.Time     `json:"to,omitzero" log:"-" help:"only orders made before, such as 2026-11-12T02:00:00Z"`
	Asked     bool          `json:"asked,omitempty" flag:"refund-asked" log:"-" help:"only orders whose shopper asks for a refund"`
	Undecided bool          `json:"undecided,omitempty" log:"-" help:"only orders that wait for a decision about their money"`
	All       bool          `json:"all,omitempty" flag:"hidden" log:"-" help:"also hidden orders"`
	Cursor    string        `json:"cursor,omitempty" is:"cursor" log:"-" help:"where the page begins"`
	Limit     int           `json:"limit" is:"page" log:"-" help:"orders in a page"`
}

func (*ListOrders) Spec() Spec {
	return Spec{Name: "orders", Path: "orders list", Roles: seeShoppers, In: "repair",
		Short: "List orders, the newest first"}
}

func (c *ListOrders) Do(ctx context.Context, flow *fulfil.Flow) (Done, error) {
	page, err := flow.List(ctx, fulfil.Query{Item: c.Item, User: c.User, Activity: c.Activity, State: c.State,
		Hidden: c.All, Asked: c.Asked, Undecided: c.Undecided, From: c.From, To: c.To}, c.Cursor, c.Limit)
	out := OrderList{Orders: make([]Order, len(page.Orders)), Next: page.Next, Looked: page.Looked, Back: page.Back,
		Unreadable: page.Unreadable}
	for i := range page.Orders {
		out.Orders[i] = shown(&page.Orders[i])
	}
	return readDone(out, err)
}

// ReadOrder reads an order with its history.
type ReadOrder struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
}

func (*ReadOrder) Spec() Spec {
	return Spec{Name: "order", Path: "orders show", Roles: seeShoppers, In: "repair",
		Short: "Show an order and its history: who changed it, and when",
		Long: `Show an order and its history: who changed it, and when. "seckill payments ORDER" shows its money,
"seckill events delivery ORDER" where to ship it.`}
}

func (c *ReadOrder) Do(ctx context.Context, flow *fulfil.Flow) (Done, error) {
	return readDone(orderOf(ctx, flow, c.Order))
}

// Confirm takes up a paid order.
type Confirm struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
}

func (*Confirm) Spec() Spec {
	return Spec{Name: "confirm", Path: "orders confirm", Roles: operators, In: "repair",
		Short: "Confirm a paid order: the shop takes it up",
		Long: `Confirm a paid order: the shop takes it up, and will ship it. Its history has your name.
"seckill orders ship --confirm" confirms and ships at once.`}
}

func (c *Confirm) Do(ctx context.Context, flow *fulfil.Flow) (Done, error) {
	is, err := flow.Confirm(ctx, c.Order, signature(c.Who))
	return orderAfter(ctx, flow, c.Order, is, err)
}

// Ship ships confirmed orders, with confirm also paid orders; with dry it only checks them.
type Ship struct {
	Given
	Parcels Parcels `json:"parcels" sample:"[{\"order\":\"obbbbbbbbbbbbbbbbbbbbbbbbbb\",\"carrier\":\"sf\",\"number\":\"1\"}]"`
	Confirm bool    `json:"confirm,omitempty" log:"-"`
	Dry     bool    `json:"dry,omitempty"`
}

// Parcels are the parcels of orders; the flow checks them.
type Parcels []fulfil.Parcel

func (p Parcels) attrs() []slog.Attr {
	if len(p) == 1 {
		return []slog.Attr{slog.String("order", short(p[0].Order))}
	}
	return []slog.Attr{slog.Int("parcels", len(p))}
}

func (*Ship) Spec() Spec {
	return Spec{Name: "ship", Path: "orders ship", Roles: operators, In: "repair", File: true, Short: "Ship orders"}
}

func (c *Ship) Do(ctx context.Context, flow *fulfil.Flow) (Done, error) {
	parcels := make([]fulfil.Parcel, len(c.Parcels))
	for i, p := range c.Parcels {
		parcels[i] = p.Tidied()
	}
	out, err := flow.Ship(ctx, signature(c.Who), parcels, c.Confirm, c.Dry)
	return Done{Result: out, Outcome: changedIf(out.Shipped > 0), More: []slog.Attr{
		slog.Int("shipped", out.Shipped), slog.Int("faults", len(out.Faults))}}, err
}

// CorrectParcel replaces a wrong carrier and number of an order that has left.
type CorrectParcel struct {
	Given
	Order   string `json:"order" is:"order" arg:"ORDER"`
	Carrier string `json:"carrier" log:"-" sample:"SF" help:"who brings it, such as SF"`
	Number  string `json:"number" log:"-" sample:"SF1000001" help:"the carrier's number of the parcel"`
	Why     string `json:"why" log:"-" help:"your reason, up to 500 characters"`
}

func (*CorrectParcel) Spec() Spec {
	return Spec{Name: "correct", Path: "orders correct", Roles: operators, In: "repair",
		Short: "Correct the carrier and the number of a shipped order",
		Long: `Correct the carrier and the number of an order that is shipped, received or completed, up to 10
times. Its shopper sees the new ones at once; its history has the old ones, your name and your reason,
and who listens to events hears order.noted.`}
}

func (c *CorrectParcel) Do(ctx context.Context, flow *fulfil.Flow) (Done, error) {
	is, err := flow.Correct(ctx, signature(c.Who), fulfil.Parcel{Order: c.Order, Carrier: c.Carrier,
		Number: c.Number}.Tidied(), c.Why)
	return orderAfter(ctx, flow, c.Order, is, err)
}

// Note adds a note to an order's history.
type Note struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
	Why   string `json:"why" log:"-" help:"the note, up to 500 characters"`
}

func (*Note) Spec() Spec {
	return Spec{Name: "note", Path: "orders note", Roles: operators, In: "repair",
		Short: "Add a note to an order's history",
		Long: `Add a note to an order's history, for staff. It is one line of up to 500 characters. An order takes
up to 200 entries. Write no address or phone number: notes are kept as long as the order.`}
}

func (c *Note) Do(ctx context.Context, flow *fulfil.Flow) (Done, error) {
	is, err := flow.Note(ctx, c.Order, signature(c.Who), c.Why)
	return orderAfter(ctx, flow, c.Order, is, err)
}

// Hide takes an order off the lists or, with undo, puts it back.
type Hide struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
	Why   string `json:"why" log:"-" help:"your reason, up to 500 characters"`
	Undo  bool   `json:"undo,omitempty" help:"put the order back on the lists"`
}

func (*Hide) Spec() Spec {
	return Spec{Name: "hide", Path: "orders hide", Roles: operators, In: "repair",
		Short: "Take an order for which nothing is left to do off the lists, or put it back",
		Long: `Take an order for which nothing is left to do off the lists of staff: one that is completed, expired,
cancelled, rejected or refunded. "seckill orders list --hidden" lists it, and --undo puts it back.
Nothing else changes for it: its shopper sees it, and money that comes late goes back.`}
}

func (c *Hide) Do(ctx context.Context, flow *fulfil.Flow) (Done, error) {
	is, err := flow.Hide(ctx, c.Order, signature(c.Who), c.Why, !c.Undo)
	return orderAfter(ctx, flow, c.Order, is, err)
}

// orderAfter returns the order after a change.
func orderAfter(ctx context.Context, flow *fulfil.Flow, id string, is bool, err error) (Done, error) {
	if err != nil {
		return Done{}, err
	}
	o, err := orderOf(ctx, flow, id)
	return Done{Result: OrderChange{o, is}, Outcome: changedIf(is)}, err
}

func orderOf(ctx context.Context, flow *fulfil.Flow, id string) (Order, error) {
	o, err := flow.Order(ctx, id)
	if err != nil {
		return Order{}, err
	}
	out := shown(&o)
	out.History = o.History
	return out, nil
}

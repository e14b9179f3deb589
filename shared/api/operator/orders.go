package operator

import (
	"context"
	"log/slog"
	"time"

	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// OrderHandler executes commands about orders after they are paid. It is safe for concurrent use. No answer contains an
// address.
type OrderHandler struct{ fulfil *fulfil.Flow }

// NewOrderHandler returns a handler that uses the flow.
func NewOrderHandler(flow *fulfil.Flow) *OrderHandler { return &OrderHandler{flow} }

// Order is an order as staff see it.
type Order struct {
	ID      string        `json:"order_id"`
	Item    string        `json:"item"`
	Title   string        `json:"title"`
	User    string        `json:"user"`
	Name    string        `json:"shopper_name,omitempty"` // "": the sign-in told none, or it is erased with the address
	Count   int           `json:"count"`
	Held    int           `json:"held"` // units that are not for sale
	Price   seckill.Fen   `json:"price"`
	List    seckill.Fen   `json:"list_price,omitempty"` // ordinary price per unit, as sold, as are Title and Cover
	Cover   string        `json:"cover,omitempty"`
	Options string        `json:"options,omitempty"`      // of the variant, as sold: 颜色=黑 | 容量=256 GB
	Version int64         `json:"item_version,omitempty"` // 0: an order of an older release, without List and Cover
	Amount  seckill.Fen   `json:"amount"`
	State   seckill.State `json:"state"`
	Created time.Time     `json:"create_time"`
	PayBy   time.Time     `json:"pay_by,omitzero"`
	Changed time.Time     `json:"changed"` // the newest entry of its history
	Reason  seckill.Code  `json:"reason,omitempty"`
	Carrier string        `json:"carrier,omitempty"`
	Number  string        `json:"number,omitempty"`
	Refund  string        `json:"refund_reason,omitempty"` // why its shopper asks for one
	Hidden  bool          `json:"hidden,omitempty"`

	History []seckill.Change `json:"history,omitempty"` // of a single order
}

// Older returns the number that older systems give the order, seckill.NoOlder if they have none.
func (o *Order) Older() int {
	if o.Hidden {
		return seckill.OlderHidden
	}
	return o.State.Info().Older
}

// OrderList is a page of a list of orders.
type OrderList struct {
	Orders []Order `json:"orders"`
	Next   string  `json:"next,omitempty"`
}

// OrderChange is the answer to a change of an order.
type OrderChange struct {
	Order   Order `json:"order"`
	Changed bool  `json:"changed"`
}

func shown(o *seckill.Order) Order {
	out := Order{ID: o.ID, Item: o.Item, Title: o.Title, User: o.User, Name: o.Name, Count: o.Count,
		Held: len(o.Units), Price: o.Price, List: o.ListPrice, Cover: o.Cover, Options: o.Options.String(),
		Version: o.ItemVersion, Amount: o.Amount, State: o.State, Created: o.Created, PayBy: o.PayBy,
		Reason: o.Reason, Carrier: o.Carrier, Number: o.Number, Refund: o.RefundWhy, Hidden: o.Hidden}
	if n := len(o.History); n > 0 {
		out.Changed = o.History[n-1].At
	}
	return out
}

func (h *OrderHandler) commands() []command { return orderCommands }

// do executes a command.
func (h *OrderHandler) do(ctx context.Context, r *request) (done, error) {
	switch who := signature(r.Who); r.Command {
	case cmdOrders:
		page, err := h.list(ctx, r)
		return done{result: page, outcome: read}, err
	case cmdOrder:
		o, err := h.order(ctx, r.Order)
		return done{result: o, outcome: read}, err
	case cmdShip:
		out, err := h.fulfil.Ship(ctx, who, r.Parcels, r.Confirm, r.Dry)
		return done{result: out, outcome: changedIf(out.Shipped > 0), more: []slog.Attr{
			slog.Int("shipped", out.Shipped), slog.Int("faults", len(out.Faults))}}, err
	case cmdConfirm:
		is, err := h.fulfil.Confirm(ctx, r.Order, who)
		return h.after(ctx, r.Order, is, err)
	case cmdNote:
		is, err := h.fulfil.Note(ctx, r.Order, who, r.Why)
		return h.after(ctx, r.Order, is, err)
	default: // the only other command that check allows
		is, err := h.fulfil.Hide(ctx, r.Order, who, r.Why, !r.Undo)
		return h.after(ctx, r.Order, is, err)
	}
}

// after returns the order after a change.
func (h *OrderHandler) after(ctx context.Context, id string, is bool, err error) (done, error) {
	if err != nil {
		return done{}, err
	}
	o, err := h.order(ctx, id)
	return done{result: OrderChange{o, is}, outcome: changedIf(is)}, err
}

func (h *OrderHandler) order(ctx context.Context, id string) (Order, error) {
	o, err := h.fulfil.Order(ctx, id)
	if err != nil {
		return Order{}, err
	}
	out := shown(&o)
	out.History = o.History
	return out, nil
}

func (h *OrderHandler) list(ctx context.Context, r *request) (OrderList, error) {
	page, err := h.fulfil.List(ctx, fulfil.Query{Item: r.Item, User: r.User, State: r.State, Hidden: r.All,
		Asked: r.Asked, From: r.From, To: r.To}, r.Cursor, r.Limit)
	out := OrderList{Orders: make([]Order, len(page.Orders)), Next: page.Next}
	for i := range page.Orders {
		out.Orders[i] = shown(&page.Orders[i])
	}
	return out, err
}

// Orders lists orders; cursor is "" or the Next of an earlier page. A page may have fewer than limit.
func (c *Client) Orders(ctx context.Context, q fulfil.Query, cursor string, limit int) (out OrderList, err error) {
	err = c.give(ctx, &request{Command: cmdOrders, Item: q.Item, User: q.User, State: q.State, All: q.Hidden,
		Asked: q.Asked, From: q.From, To: q.To, Cursor: cursor, Limit: limit}, &out)
	return out, err
}

// Order reads an order with its history.
func (c *Client) Order(ctx context.Context, id string) (out Order, err error) {
	err = c.give(ctx, &request{Command: cmdOrder, Order: id}, &out)
	return out, err
}

// Confirm takes up a paid order.
func (c *Client) Confirm(ctx context.Context, id string) (out OrderChange, err error) {
	err = c.give(ctx, &request{Command: cmdConfirm, Order: id}, &out)
	return out, err
}

// Ship ships orders, up to fulfil.MaxParcels, with confirm also paid ones; with dry it only checks them.
func (c *Client) Ship(ctx context.Context, parcels []fulfil.Parcel, confirm, dry bool) (out fulfil.Shipped, err error) {
	err = c.give(ctx, &request{Command: cmdShip, Parcels: parcels, Confirm: confirm, Dry: dry}, &out)
	return out, err
}

// Note adds a note to an order's history.
func (c *Client) Note(ctx context.Context, id, text string) (out OrderChange, err error) {
	err = c.give(ctx, &request{Command: cmdNote, Order: id, Why: text}, &out)
	return out, err
}

// Hide takes an order off the lists; undo: it puts it back.
func (c *Client) Hide(ctx context.Context, id, why string, undo bool) (out OrderChange, err error) {
	err = c.give(ctx, &request{Command: cmdHide, Order: id, Why: why, Undo: undo}, &out)
	return out, err
}

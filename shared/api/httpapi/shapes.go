package httpapi

import (
	"time"

	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// The JSON of answers. Ids are strings, money is a number in yuan, times are RFC 3339 in UTC, and a list is never
// null.

// itemJSON is the contract's schema Seckill.
type itemJSON struct {
	ID         string            `json:"id"`
	Price      seckill.Fen       `json:"sk_price"`
	StartTime  string            `json:"start_time"`
	EndTime    string            `json:"end_time"`
	CreateTime string            `json:"create_time"`
	Stock      int               `json:"max_sk_count"`
	Limit      int               `json:"sk_per_max_count"`
	Left       int               `json:"stock"`
	State      seckill.ItemState `json:"state"`
	Commodity  commodityJSON     `json:"commodity"`
	Checks     seckill.Checks    `json:"checks,omitempty"`
	Activity   *activityJSON     `json:"activity,omitempty"`
	Variant    *variantJSON      `json:"variant,omitempty"`
	AsOf       string            `json:"as_of,omitempty"` // the time of this state, unless that is a moment ago
}

// activityJSON names the activity that an item is in.
type activityJSON struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// variantJSON says which variant of its family an item is, or an order was of.
type variantJSON struct {
	Family     string          `json:"family"`
	Options    seckill.Options `json:"options"`
	LimitSpans bool            `json:"limit_spans,omitempty"`
}

type commodityJSON struct {
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Price      seckill.Fen `json:"price"`
	Covers     []string    `json:"covers"`
	Detail     string      `json:"detail"`
	CreateTime string      `json:"create_time"`
}

func newItem(v *shop.View, now time.Time) itemJSON {
	it := &v.Item
	covers := v.Description.Covers
	if covers == nil {
		covers = []string{}
	}
	var activity *activityJSON
	if a := v.Activity; a != nil {
		activity = &activityJSON{a.ID, a.Title}
	}
	var variant *variantJSON
	if v := &it.Variant; len(v.Options) > 0 {
		variant = &variantJSON{v.Family, v.Options, v.LimitSpans}
	}
	return itemJSON{
		ID: it.ID, Price: it.Price, StartTime: rfc3339(it.Start), EndTime: rfc3339(it.End),
		CreateTime: rfc3339(it.CreateTime),
		Stock:      it.Stock, Limit: it.Limit, Left: v.Left, State: it.StateAt(now),
		Commodity: commodityJSON{
			ID: it.Commodity.ID, Title: it.Commodity.Title, Price: it.Commodity.Price, Covers: covers,
			Detail: v.Description.Detail, CreateTime: rfc3339(it.Commodity.CreateTime),
		},
		Checks: it.Checks, Activity: activity, Variant: variant, AsOf: optional(v.AsOf),
	}
}

// orderJSON is the contract's schema Order.
type orderJSON struct {
	ID         string        `json:"id"`
	CreateTime string        `json:"create_time"`
	Status     int           `json:"status"`
	State      seckill.State `json:"state"`
	Count      int           `json:"count"`
	Amount     seckill.Fen   `json:"amount"`
	Address    string        `json:"address"`
	ItemID     string        `json:"seckill_id"`
	Item       itemJSON      `json:"seckill"`
	AsSold     bool          `json:"as_sold,omitempty"` // Item has title, prices and picture as when it was bought
	PayString  string        `json:"alipay_order"`
	PayBy      string        `json:"pay_by,omitempty"`
	Reason     seckill.Code  `json:"reason,omitempty"`
	Help       string        `json:"help,omitempty"`    // of a single order: what to do about the reason, in words
	Carrier    string        `json:"carrier,omitempty"` // of the parcel, once shipped
	Number     string        `json:"number,omitempty"`
	RefundWhy  string        `json:"refund_reason,omitempty"` // why the shopper asks for a refund
	History    []changeJSON  `json:"history"`
	Payments   []paymentJSON `json:"payments,omitzero"` // absent if they were not asked for; empty if there are none
	Money      string        `json:"money,omitempty"`   // where the shopper's money is, in words; with Payments
	Report     *reportJSON   `json:"report,omitempty"`  // of a single order, once its sale is over
}

// reportJSON is what a shopper needs to find their order in the report of its sale, besides the order's proof.
type reportJSON struct {
	Salt     string `json:"salt"`
	Verifier string `json:"verifier"`
}

type changeJSON struct {
	State seckill.State `json:"state"`
	At    string        `json:"at"`
}

type paymentJSON struct {
	TradeNo string               `json:"trade_no"`
	Amount  seckill.Fen          `json:"amount"`
	State   seckill.PaymentState `json:"state"`

	RefundID   string      `json:"refund_id,omitempty"` // of money that has to go back, or went
	RefundedAt string      `json:"refunded_at,omitempty"`
	Outside    seckill.Fen `json:"outside,omitempty"` // of Amount, what went back outside the shop
}

func newOrder(v *shop.OrderView, now time.Time) orderJSON {
	o := &v.Order
	created := o.Placed
	if created.IsZero() { // still queued
		created = o.Created
	}
	history := make([]changeJSON, 0, len(o.History))
	for i, c := range o.History {
		if i > 0 && c.State == o.History[i-1].State {
			continue // a history note, for operators only
		}
		history = append(history, changeJSON{c.State, rfc3339(c.At)})
	}
	return orderJSON{
		ID: o.ID, CreateTime: rfc3339(created), Status: o.State.Status(), State: o.State, Count: o.Count,
		Amount:  o.Amount,
		Address: o.Address, ItemID: o.Item, Item: newItem(&v.Item, now), AsSold: v.AsSold, PayString: v.PayString,
		PayBy:  optional(o.PayBy),
		Reason: o.Reason, Carrier: o.Carrier, Number: o.Number, RefundWhy: o.RefundWhy, History: history,
	}
}

func newPayments(payments []seckill.Payment) []paymentJSON {
	out := make([]paymentJSON, len(payments))
	for i, p := range payments {
		out[i] = paymentJSON{TradeNo: p.TradeNo, Amount: p.Amount, State: p.State, RefundedAt: optional(p.Back),
			Outside: p.Outside, RefundID: p.RefundID()}
	}
	return out
}

// statusJSON is the state of an order: an item's newest order, or an order that was just cancelled.
type statusJSON struct {
	PayString    string        `json:"alipay_order"`
	State        seckill.State `json:"state"`
	Order        string        `json:"order_id,omitempty"`
	PayBy        string        `json:"pay_by,omitempty"`
	Reason       seckill.Code  `json:"reason,omitempty"`
	Help         string        `json:"help,omitempty"`
	RetryAfterMS int64         `json:"retry_after_ms,omitempty"`
}

// stateNone means "no order" in answers; it is not a state of an order.
const stateNone seckill.State = "none"

func newStatus(s *shop.Status) statusJSON {
	out := statusJSON{
		PayString: s.PayString, State: s.State, Order: s.Order, PayBy: optional(s.PayBy), Reason: s.Reason,
		RetryAfterMS: whole(s.RetryAfter, time.Millisecond),
	}
	if out.State == "" {
		out.State = stateNone
	}
	return out
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// optional formats a time, the zero time as "".
func optional(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return rfc3339(t)
}

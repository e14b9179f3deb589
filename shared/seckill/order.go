package seckill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of an order's life.
const (
	MinHold      = 2 * time.Minute  // shortest hold that a real payment provider allows
	MaxHold      = 24 * time.Hour   // longest
	DefaultHold  = 15 * time.Minute // how long an unpaid order keeps its units
	Grace        = 60 * time.Second // from pay_by to the release: a payment that began in time may arrive during it
	MaxUnplaced  = time.Hour        // a reservation not placed within this time is rejected
	PlaceTimeout = time.Second      // deadline of one Place
	// SpanTimeout is the deadline of one SpanQuota: a purchase waits for it, and goes on without it.
	SpanTimeout = 200 * time.Millisecond
	ItemFresh   = time.Second // largest age of the item data that a placement was checked against
	MaxQuotas   = 100         // users in one Quotas call (a BatchGetItem's limit)
	// cancels per user and item: enough to change one's mind, too few to hold units in turns all day
	MaxCancels = 5
	// how long after shipping an order counts as received, and after that as completed
	ReceivedAfter  = 15 * 24 * time.Hour
	CompletedAfter = 7 * 24 * time.Hour
	ReturnShards   = 16 // partitions of the return rows
	DueShards      = 16 // partitions of the due indexes

	// MinAddressKeep is the shortest time after a sale's end for which addresses are kept: the goods must be shipped,
	// and no message that could still place an order may remain.
	MinAddressKeep = 30 * 24 * time.Hour
)

// Change is one entry of an order's history.
type Change struct {
	State State     `json:"state"`
	At    time.Time `json:"at"`
	Cause string    `json:"cause,omitempty"`
}

// Order is the ledger's record of a placed or rejected purchase.
type Order struct {
	ID      string    `row:"id,key"`
	Item    string    `row:"item"`
	User    string    `row:"user"`
	Count   int       `row:"count"`
	Units   []int     `row:"units,placed"` // the units it holds; empty after they are given back
	Price   Fen       `row:"price"`        // per unit, fixed at placement
	Amount  Fen       `row:"amount"`       // Price × Count
	Given             // empty after it is erased, and if rejected
	Erased  time.Time `row:"erased,later"` // when what the shopper gave was erased; zero: it was not
	State   State     `row:"state"`
	Created time.Time `row:"created"`         // when buy received the request
	Placed  time.Time `row:"placed"`          // when the row was written
	PayBy   time.Time `row:"pay_by,placed"`   // end of the hold; whole seconds; zero when rejected
	CloseTo State     `row:"close_to,later"`  // in state closing: expired or cancelled; the first cause decides
	Reason  Code      `row:"reason,rejected"` // rejected: the reason
	Title   string    `row:"title"`           // the commodity's title when sold
	// ItemVersion is the version of the item that was sold; 0: rejected, or a row of an older release, which has no
	// ListPrice and no Cover either.
	ItemVersion int64   `row:"item_version,opt"`
	ListPrice   Fen     `row:"list_price,with=item_version"` // the ordinary price per unit when sold
	Cover       string  `row:"cover,opt"`                    // address of the first picture when sold; "": there was none
	Options     Options `row:"options,opt"`                  // those of the variant when sold; nil: the item had no variants
	// Span is the family over which the limit counts the order: Variant.Span when sold. "": the limit counts the item's
	// orders alone.
	Span string `row:"span,opt"`
	// Activity is the one that the item was in when the order was placed or rejected. "": it was in none, consume could
	// not read which, or an older release wrote the row.
	Activity  string   `row:"activity,opt"`
	Buckets   int      `row:"buckets"`                   // the item's Buckets, which locate its unit rows
	Carrier   string   `row:"carrier,later"`             // who carries the goods; "" until they are shipped
	Number    string   `row:"number,later"`              // the carrier's number of the parcel
	Hidden    bool     `row:"hidden,later"`              // staff took it off the lists
	RefundWhy string   `row:"refund_why,later,personal"` // why its shopper asks for a refund; "": they do not, or erased
	Outside   Fen      `row:"outside,later"`             // what of its money went back outside the shop
	Undecided bool     `row:"undecided,later"`           // a person has to decide about Outside; until then it does not move on
	History   []Change `row:"history"`
}

// Due returns when expire must check the order: PayBy plus Grace.
func (o *Order) Due() time.Time { return o.PayBy.Add(Grace) }

// HasLeft reports whether the goods left the shop, whatever became of the order since.
func (o *Order) HasLeft() bool {
	return o.State.Left() || slices.ContainsFunc(o.History, func(c Change) bool { return c.State.Left() })
}

// Position returns the order's place among all orders, the oldest first: its time in 15 digits, #, and its id.
func (o *Order) Position() string {
	return fmt.Sprintf("%015d#%s", o.Created.UnixMilli(), o.ID)
}

// ValidPosition reports whether a text is an order's Position.
func ValidPosition(s string) bool {
	at, id, _ := strings.Cut(s, "#")
	return len(at) == 15 && strings.Trim(at, "0123456789") == "" && ValidOrderID(id)
}

// Payable reports whether the order may be paid at time now.
func (o *Order) Payable(now time.Time) bool {
	return o.State == PendingPayment && now.Before(o.PayBy)
}

// Quota is what one user has of one item in the ledger.
type Quota struct {
	Units   int            `row:"units,later"`   // units held by all orders together
	Orders  map[string]int `row:"orders,later"`  // units held by each order
	Newest  string         `row:"newest"`        // the newest order, in any state
	Cancels int            `row:"cancels,later"` // cancels that the user has begun, at most MaxCancels
}

// ReturnRow records that an order's units must go back into the stock.
type ReturnRow struct {
	Order string `row:"order,key"`
	Item  string `row:"item"`
	User  string `row:"user"`
	Units []int  `row:"units"`
}

// PaymentState is the state of one trade's money.
type PaymentState string

// The states of a payment row.
const (
	Captured   PaymentState = "captured"   // received and kept for an order
	RefundDue  PaymentState = "refund_due" // must be refunded
	RefundDone PaymentState = "refunded"
)

// Payment is one trade's money. Two trades may pay one order.
type Payment struct {
	Order   string       `row:"order,key"`
	TradeNo string       `row:"trade_no,key"` // the provider's trade number
	Amount  Fen          `row:"amount"`
	State   PaymentState `row:"state"`
	At      time.Time    `row:"at"`    // when the ledger recorded it
	Cause   string       `row:"cause"` // "notify", "query", or the operator and the reason

	Tries int       `row:"tries,later"`            // refund_due: failed attempts to refund it
	Due   time.Time `row:"refund_at,later,sorted"` // refund_due: when to try next
	// refund_due: the provider's reason for a final refusal, which an operator must resolve;
	// otherwise ""
	Refused string    `row:"refused,later"`
	Back    time.Time `row:"back,later"` // refunded: when the ledger recorded the refund
	// Outside is the sum that went back outside the shop: a refund in the provider's console, a chargeback. It only
	// grows, to Amount at most, unless a person says that less went back.
	Outside Fen `row:"outside,later"`
}

// Rest returns what the shop's own refund of the payment gives, or gave, back.
func (p *Payment) Rest() Fen { return p.Amount - p.Outside }

// Refund returns the refund of the rest of the payment. Another rest is another refund: a provider refuses an id that
// comes with another amount. The provider gives no more back than was paid, however many refunds it makes.
func (p *Payment) Refund() Refund {
	id := RefundID(p.Order, p.TradeNo)
	if p.Outside > 0 {
		id += "_" + strconv.FormatInt(int64(p.Rest()), 10)
	}
	return Refund{ID: id, Order: p.Order, TradeNo: p.TradeNo, Amount: p.Rest(), Reason: refundReason}
}

// RefundID returns the id of the shop's own refund; "" if the money is kept, or all of it went back outside.
func (p *Payment) RefundID() string {
	if p.State == Captured || p.Rest() <= 0 {
		return ""
	}
	return p.Refund().ID
}

// refundReason is the text that the shopper sees on the refund. It never varies: a provider may treat a repeated
// request with another text as another refund.
const refundReason = "订单退款 / order refunded"

// Page is one page of a sweep or a listing. An unreadable row does not hide the others: Unreadable names it.
type Page[T any] struct {
	Rows []T
	// one ErrUnreadable per such row. It names the row and holds no value, which may be a delivery
	// address
	Unreadable []error
	Next       string // where the next page begins; "" on the last page
}

// OrderPage is a page of a listing; Next is "" on the last page.
type OrderPage struct {
	Orders []Order
	Next   string
}

// NewestOrders chooses a page of NewestLister.
type NewestOrders struct {
	Item  string    // "": orders of all items
	After string    // the Position of an order: only older ones; "": from the newest
	To    time.Time // only orders made before; zero: any
	Limit int
}

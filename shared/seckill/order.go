package seckill

import (
	"time"
)

// Limits of an order's life.
const (
	MinHold      = 2 * time.Minute  // shortest hold on a real payment provider
	MaxHold      = 24 * time.Hour   // longest
	DefaultHold  = 15 * time.Minute // how long an unpaid order keeps its units
	Grace        = 60 * time.Second // from pay_by to the release: payments begun in time may end in it
	MaxUnplaced  = time.Hour        // a reservation not placed by then is rejected
	PlaceTimeout = time.Second      // deadline of one Place
	ItemFresh    = time.Second      // how old the item that a placement was checked against may be
	MaxQuotas    = 100              // users in one Quotas call (a BatchGetItem's limit)
	// of one user and item: room for changed minds, none for holding units in turns all day
	MaxCancels   = 5
	ReturnShards = 16 // partitions of return rows
	DueShards    = 16 // partitions of the due indexes

	// MinAddressKeep is the shortest time after a sale's end that addresses are kept: goods have to be sent, and no
	// message may be left that could place an order.
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
	ID, Item, User string
	Count          int
	Units          []int     // the units it holds; empty once given back
	Price          Fen       // per unit, fixed at placement
	Amount         Fen       // Price × Count
	Address        string    // where to; "" once it was erased, and when rejected: nothing is sent
	Erased         time.Time // when the address was erased; zero: it was not
	State          State
	Created        time.Time // when buy received the request
	Placed         time.Time // when the row was written
	PayBy          time.Time // end of the hold; whole seconds; zero when rejected
	CloseTo        State     // closing: expired or cancelled, by the first cause
	Reason         Code      // rejected: why
	Title          string    // of the commodity, as sold
	Buckets        int       // the item's Buckets: where its unit rows lie
	History        []Change
}

// Due is when expire has to look at the order: pay_by and grace.
func (o *Order) Due() time.Time { return o.PayBy.Add(Grace) }

// Payable reports whether the order may be paid at this time.
func (o *Order) Payable(now time.Time) bool {
	return o.State == PendingPayment && now.Before(o.PayBy)
}

// Quota is what one user has of one item in the ledger.
type Quota struct {
	Units   int            // held in all
	Orders  map[string]int // by order
	Newest  string         // the newest order, in whatever state
	Cancels int            // orders that the user began to cancel, of MaxCancels
}

// ReturnRow says that an order's numbers have to go back into the stock.
type ReturnRow struct {
	Order, Item, User string
	Units             []int
}

// PaymentState is where the money of one trade is.
type PaymentState string

// The states of a payment row.
const (
	Captured   PaymentState = "captured"   // kept for an order
	RefundDue  PaymentState = "refund_due" // has to go back
	RefundDone PaymentState = "refunded"
)

// Payment is one trade's money. One order can be paid by two trades.
type Payment struct {
	Order   string
	TradeNo string // the provider's
	Amount  Fen
	State   PaymentState
	At      time.Time // when the ledger recorded it
	Cause   string    // "notify", "query"

	Tries   int       // refund_due: how often the provider was asked without success
	Due     time.Time // refund_due: when it is asked next
	Refused string    // refund_due: the provider's word for why it never will; a person has to act. Else ""
	Back    time.Time // refunded: when the ledger recorded it
}

// Refund is the refund of the payment's money.
func (p *Payment) Refund() Refund {
	return Refund{ID: RefundID(p.Order, p.TradeNo), Order: p.Order, TradeNo: p.TradeNo, Amount: p.Amount,
		Reason: refundReason}
}

// refundReason is what the shopper reads beside the money. The same for all: a provider may take a repeat with another
// text for another refund.
const refundReason = "订单退款 / order refunded"

// Page is a page of a sweep or listing. A row that cannot be read hides no other: it is in Unreadable.
type Page[T any] struct {
	Rows       []T
	Unreadable []error // ErrUnreadable, one for each such row, naming it; no value of it, which may be an address
	Next       string  // where the next page begins; "" at the end
}

// OrderPage is a page of a listing; Next is "" at the end.
type OrderPage struct {
	Orders []Order
	Next   string
}

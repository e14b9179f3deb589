package seckill

import (
	"context"
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

// Order is a placed (or rejected) purchase as the ledger has it.
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

// Payable says whether the order may be paid at this time.
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

	Tries   int       // refund_due: how often the provider was asked in vain
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

// Ledger keeps the truth: who owns which unit, what state an order is in, where the money is. Each method is one
// transaction or one read. Any error but those named is a fault: the effect is unknown. Reads are consistent but for
// those marked as index reads, which may lag and never decide anything.
type Ledger interface {
	// Place writes the order (pending_payment), one row per unit, and raises the user's quota, all or nothing.
	// ErrOrderExists before anything else; ErrQuota when it would exceed limit; *Collision for a unit that has a row. A
	// driver gives up after PlaceTimeout: a write that lands later would be placed after an acknowledged stop (I10).
	Place(ctx context.Context, o Order, limit int) error
	// Reject writes the order as rejected, without units. ErrOrderExists.
	Reject(ctx context.Context, o Order) error
	// Order reads an order. ErrNoOrder.
	Order(ctx context.Context, id string) (Order, error)
	// BeginClosing moves the order, as read, from pending_payment to closing and makes it due now. When it closes
	// because its user cancels (to is Cancelled), that is counted in the quota, all or nothing. ErrStateChanged before
	// anything else; ErrCancels after MaxCancels.
	BeginClosing(ctx context.Context, o Order, to State, at time.Time, cause string) error
	// GiveBack moves the order from closing to o.CloseTo, removes its unit rows (each must be this order's), lowers the
	// quota and puts a return row, all or nothing. ErrStateChanged.
	GiveBack(ctx context.Context, o Order, at time.Time, cause string) error
	// RecordPayment records a trade's money once and moves the order from one state to another, or, when it stays (the
	// same), notes the trade in its history, all or nothing. ErrPaymentExists before anything else; ErrStateChanged
	// when the order is not in from.
	RecordPayment(ctx context.Context, p Payment, from, to State) error
	// StartRefund marks a paid order and its captured payment, both as read, refund_due. With restock its units return
	// to sale as in GiveBack; otherwise they stay allocated to it. ErrStateChanged.
	StartRefund(ctx context.Context, o Order, p Payment, restock bool, at time.Time, cause string) error
	// Refunded records that a payment's money went back, and moves the order from one state to another (the same when
	// it stays). besides is another payment of the order that is still refund_due, for which the order waits; "" when
	// there is none. ErrStateChanged when any of the three is not as it is said to be.
	Refunded(ctx context.Context, p Payment, besides string, from, to State, at time.Time, cause string) error
	// DeferRefund counts a try in vain of a payment that is still refund_due, and has it tried again when it is due;
	// never, when it was refused and refused says why. ErrStateChanged.
	DeferRefund(ctx context.Context, p Payment, due time.Time, refused string) error
	// RetryRefund makes a payment that is still refund_due due at once, refused or not, and says in the history of its
	// order, which is in state, who wanted it. ErrStateChanged.
	RetryRefund(ctx context.Context, p Payment, state State, at time.Time, cause string) error
	// Reschedule makes an order that is still in closing due again at a later time. ErrStateChanged.
	Reschedule(ctx context.Context, id string, due time.Time) error
	// RescheduleNow makes an order that is still in closing due at once, and says in its history who wanted it.
	// ErrStateChanged.
	RescheduleNow(ctx context.Context, id string, at time.Time, cause string) error
	// EraseAddress forgets where to an order that is in this state was to be sent, and changes nothing else.
	// ErrStateChanged.
	EraseAddress(ctx context.Context, id string, state State, at time.Time) error
	// KeepNotification keeps a notification, of which another with its order and id is not kept yet.
	KeepNotification(ctx context.Context, n KeptNotification) error
	// KeepReconciliation keeps what came of a reconciliation beside those of the same day before it.
	KeepReconciliation(ctx context.Context, r Reconciliation) error
	// Quota reads what a user has of an item; zero when nothing.
	Quota(ctx context.Context, user, item string) (Quota, error)
	// Quotas reads the quotas of at most MaxQuotas users, each consistently, not together; users without one are
	// missing.
	Quotas(ctx context.Context, item string, users []string) (map[string]Quota, error)
	// Units reads all unit rows of one bucket of an item.
	Units(ctx context.Context, item string, bucket int) ([]UnitRow, error)
	// Payments reads an order's trades.
	Payments(ctx context.Context, order string) ([]Payment, error)
	// Notifications reads the notifications that were kept of an order, by their ids.
	Notifications(ctx context.Context, order string) ([]KeptNotification, error)
	// Reconciliations reads what came of a day's reconciliations, the oldest first.
	Reconciliations(ctx context.Context, day string) ([]Reconciliation, error)
	// Returns pages through the return rows of a shard, at most limit a page. after is "" or an earlier page's Next.
	Returns(ctx context.Context, shard int, after string, limit int) (Page[ReturnRow], error)
	// Return reads an order's return row. ErrNoReturn.
	Return(ctx context.Context, order string) (ReturnRow, error)
	// DeleteReturn removes the row if it still has these units; no row is no error.
	DeleteReturn(ctx context.Context, r ReturnRow) error

	// DueOrders pages through the ids of open orders due by now, oldest first, at most limit a page. Index read.
	DueOrders(ctx context.Context, shard int, now time.Time, after string, limit int) (Page[string], error)
	// RefundsDue pages through the payments whose money has to go back and that are due by now, oldest first. Index
	// read.
	RefundsDue(ctx context.Context, shard int, now time.Time, after string, limit int) (Page[Payment], error)
	// RefundsRefused pages through the payments that are refund_due and whose refund was refused, oldest first. Index
	// read.
	RefundsRefused(ctx context.Context, after string, limit int) (Page[Payment], error)
	// PaymentsOn pages through the payments that the ledger recorded on a Day. Index read.
	PaymentsOn(ctx context.Context, day, after string, limit int) (Page[Payment], error)
	// RefundsOn pages through the payments whose refund the ledger recorded on a Day. Index read.
	RefundsOn(ctx context.Context, day, after string, limit int) (Page[Payment], error)
	// OrdersByUser pages through a user's placed orders, newest first. Index read.
	OrdersByUser(ctx context.Context, user, after string, limit int) (OrderPage, error)
	// OrdersByItem pages through an item's orders, rejected ones included. Index read.
	OrdersByItem(ctx context.Context, item, after string, limit int) (OrderPage, error)
}

package seckill

import (
	"context"
	"errors"
	"time"
)

// Ledger is the system of record: who owns which unit, each order's state, and the money. Drivers implement all of
// it; a flow takes only the ports that it calls. Each method is one transaction or one read. Any error that a method
// does not name is a fault: the effect is unknown. Reads are consistent, except those marked as index reads, which
// may lag and never decide anything.
type Ledger interface {
	OrderReader
	OrderPlacer
	OrderCloser
	OrderExpirer
	OrderLister
	NewestLister
	DueLister
	ReturnKeeper
	UnitReader
	SpanReader
	PaymentRecorder
	PaymentReader
	NotificationKeeper
	RefundRecorder
	OutsideRecorder
	Proposer
	Fulfiller
	FulfilLister
	BillRecorder
	Counter
	Identities
	Sessions
	Blocks
	BlockKeeper
	Attempts
	QuestionKeeper
	Activities
	ActKeeper
	ActHandler
	BlockReader
	AuditLog
	WebhookKeeper
	LiveRows
}

// OrderReader reads an order.
type OrderReader interface {
	// Order reads an order. ErrNoOrder.
	Order(ctx context.Context, id string) (Order, error)
}

// ReadOrder reads an order. The error is an *Error: CodeOrderUnknown.
func ReadOrder(ctx context.Context, l OrderReader, id string) (Order, error) {
	if !ValidOrderID(id) {
		return Order{}, Refuse(CodeOrderUnknown)
	}
	o, err := l.Order(ctx, id)
	if errors.Is(err, ErrNoOrder) {
		return Order{}, Refuse(CodeOrderUnknown)
	}
	if err != nil {
		return Order{}, AsError(err)
	}
	return o, nil
}

// OrderPlacer places an order.
type OrderPlacer interface {
	// Place writes the order (pending_payment) and one row per unit, and raises the user's quota, and that of o.Span if
	// there is one, all or nothing. It checks in this order: ErrOrderExists; ErrBlocked if a block of the user holds at
	// o.Placed; ErrQuota if either quota would exceed limit; ErrNoSession if o.Session has ended; *Collision if a
	// unit has a row.
	// A driver gives up after PlaceTimeout: a later write would place the order after a stop was acknowledged (I10).
	Place(ctx context.Context, o Order, limit int) error
}

// OrderCloser ends an order that has no money: it rejects it or begins to close it.
type OrderCloser interface {
	// Reject writes a rejected order without units. ErrOrderExists.
	Reject(ctx context.Context, o Order) error
	// BeginClosing moves the order, as read, from pending_payment to closing and makes it due now. If its user
	// cancels it (to is Cancelled), the same transaction counts the cancel in the quota. ErrStateChanged is checked
	// first; then ErrCancels after MaxCancels.
	BeginClosing(ctx context.Context, o Order, to State, at time.Time, cause string) error
}

// OrderExpirer finishes closing an order or postpones it.
type OrderExpirer interface {
	// GiveBack moves the order from closing to o.CloseTo, removes its unit rows (each must belong to this order),
	// lowers the quota, and that of o.Span, and writes a return row, all or nothing. ErrStateChanged.
	GiveBack(ctx context.Context, o Order, at time.Time, cause string) error
	// Reschedule sets a later due time for an order that is still in closing. ErrStateChanged.
	Reschedule(ctx context.Context, id string, due time.Time) error
}

// OrderLister lists orders and erases their addresses.
type OrderLister interface {
	// OrdersByUser pages through a user's placed orders, newest first. Index read.
	OrdersByUser(ctx context.Context, user, after string, limit int) (OrderPage, error)
	// OrdersByItem pages through an item's orders, rejected ones included. Index read.
	OrdersByItem(ctx context.Context, item, after string, limit int) (OrderPage, error)
	// EraseAddress deletes the delivery address of an order in this state, its shopper's name and network address, and
	// what they wrote about a refund, and changes nothing else. ErrStateChanged.
	EraseAddress(ctx context.Context, id string, state State, at time.Time) error
	// EraseNetwork deletes the network address of an order in this state, and changes nothing else. ErrStateChanged.
	EraseNetwork(ctx context.Context, id string, state State) error
}

// NewestLister lists the orders of all items, or of one.
type NewestLister interface {
	// NewestOrders pages through the orders, newest first, rejected ones included. Next is the Position of the last
	// one. Orders that a release before this list wrote are on the lists of their items and users alone. Index read.
	NewestOrders(ctx context.Context, q NewestOrders) (Page[Order], error)
}

// DueLister lists the rows that a sweep handles.
type DueLister interface {
	// DueOrders pages through the ids of open orders that are due by now, oldest first, at most limit per page. Index
	// read.
	DueOrders(ctx context.Context, shard int, now time.Time, after string, limit int) (Page[string], error)
	// RefundsDue pages through the payments that must be refunded, or went back whole outside the shop, and are due by
	// now, oldest first. Index read.
	RefundsDue(ctx context.Context, shard int, now time.Time, after string, limit int) (Page[Payment], error)
	// RefundsOutside pages through the payments of which a part went back outside the shop, while their orders are
	// Undecided, oldest first. Index read.
	RefundsOutside(ctx context.Context, after string, limit int) (Page[Payment], error)
	// RefundsRefused pages through the payments in refund_due whose refund the provider refused, oldest first. Index
	// read.
	RefundsRefused(ctx context.Context, after string, limit int) (Page[Payment], error)
}

// ReturnKeeper keeps the return rows: units that must go back into the stock.
type ReturnKeeper interface {
	// Return reads an order's return row. ErrNoReturn.
	Return(ctx context.Context, order string) (ReturnRow, error)
	// Returns pages through the return rows of a shard, at most limit per page. after is "" or the Next of an earlier
	// page.
	Returns(ctx context.Context, shard int, after string, limit int) (Page[ReturnRow], error)
	// DeleteReturn removes the row if it still has these units. A missing row is not an error.
	DeleteReturn(ctx context.Context, r ReturnRow) error
}

// UnitReader reads who owns which units and how many.
type UnitReader interface {
	// Units reads all unit rows of one bucket of an item.
	Units(ctx context.Context, item string, bucket int) ([]UnitRow, error)
	// Quota reads a user's quota for an item; the zero Quota if there is none.
	Quota(ctx context.Context, user, item string) (Quota, error)
	// Quotas reads the quotas of at most MaxQuotas users. Each read is consistent; together they are not a snapshot.
	// Users without a quota are missing from the result.
	Quotas(ctx context.Context, item string, users []string) (map[string]Quota, error)
}

// SpanReader reads what a limit that spans a family counts.
type SpanReader interface {
	// SpanQuota reads the units that a user holds of a family, and their orders; the zero Quota if there are none. A
	// driver gives up after SpanTimeout.
	SpanQuota(ctx context.Context, user, family string) (Quota, error)
}

// PaymentRecorder records received money.
type PaymentRecorder interface {
	// RecordPayment records a trade's money once and moves the order from one state to another, all or nothing. If
	// from equals to, it only adds the trade to the order's history. ErrPaymentExists is checked first; then
	// ErrStateChanged if the order is not in from.
	RecordPayment(ctx context.Context, p Payment, from, to State) error
}

// PaymentReader reads an order's payments and the provider's notifications about them.
type PaymentReader interface {
	// Payments reads an order's trades.
	Payments(ctx context.Context, order string) ([]Payment, error)
	// Notifications reads the kept notifications about an order, sorted by id.
	Notifications(ctx context.Context, order string) ([]KeptNotification, error)
}

// NotificationKeeper stores the provider's notifications.
type NotificationKeeper interface {
	// KeepNotification stores a notification unless one with the same order and id exists.
	KeepNotification(ctx context.Context, n KeptNotification) error
}

// RefundRecorder records the progress of refunds.
type RefundRecorder interface {
	// StartRefund moves a paid order and its captured payment, both as read, to refund_due or, if all of it went back
	// outside the shop, to refunded. With restock its units return to sale as in GiveBack; otherwise the order keeps
	// them, as it must if it has left. The same step counts the decision, or deletes its proposal. ErrStateChanged;
	// ErrTooMany.
	StartRefund(ctx context.Context, o Order, p Payment, restock bool, by Decision, at time.Time, cause string) error
	// Refunded records that a payment, refund_due or captured, is refunded, and p.Outside, and moves the order from one
	// state to another (the same if it stays). besides is another payment of the order that is still refund_due, for
	// which the order waits; "" if there is none. was is the payment's Outside as read; what is more, the order gets,
	// too. A proposal about a captured payment ends. It returns ErrStateChanged if any of the three is not in the given
	// state, or Outside is not was.
	Refunded(ctx context.Context, p Payment, was Fen, besides string, from, to State, at time.Time, cause string) error
	// Restock puts the units of a refunded order, as read, whose goods never left, back on sale, once, with a return
	// row. ErrStateChanged.
	Restock(ctx context.Context, o Order, at time.Time, cause string) error
	// DeferRefund counts a failed attempt to refund a payment, as read. It is tried again at due; never if refused, the
	// provider's reason, is not "". ErrStateChanged.
	DeferRefund(ctx context.Context, p Payment, due time.Time, refused string) error
	// RetryRefund makes a payment that is still refund_due due at once, refused or not, and records in the history of
	// its order, which is in state, who asked for it. ErrStateChanged.
	RetryRefund(ctx context.Context, p Payment, state State, at time.Time, cause string) error
	// RescheduleNow makes an order that is still in closing due at once and records in its history who asked for it.
	// ErrStateChanged.
	RescheduleNow(ctx context.Context, id string, at time.Time, cause string) error
}

// OutsideRecorder records money that went back outside the shop, and what a person decides about it.
type OutsideRecorder interface {
	// WentBack records that by now p.Outside of a payment went back outside the shop. o and the state of p are as read;
	// was, the Outside as read, is less, unless p is refund_due and only has to be asked about again. The order that
	// keeps the payment gets the amount, too, and if it has not left the shop, it is Undecided, and RefundsOutside
	// lists the payment. RefundsDue lists it instead, if it is refund_due, or all of it went back. ErrStateChanged.
	WentBack(ctx context.Context, o Order, p Payment, was Fen, at time.Time, cause string) error
	// Accept ends that the order, as read, is Undecided, or that RefundsDue lists p, the payment that it keeps: back
	// really went back, at most p.Outside and less than all; if less, a proposal ends. ErrStateChanged, also if more
	// went back meanwhile.
	Accept(ctx context.Context, o Order, p Payment, back Fen, at time.Time, cause string) error
}

// Fulfiller records what becomes of a paid order. Each method changes the order only in the state in which it was read:
// ErrStateChanged.
type Fulfiller interface {
	// Fulfil moves the order on. next is when the schedule moves it on again, zero for never. A shipped order gets
	// o.Carrier and o.Number. ErrStateChanged also if it is to be confirmed or shipped, and is Undecided.
	Fulfil(ctx context.Context, o Order, to State, next, at time.Time, cause string) error
	// Correct changes the carrier and the number of an order that has them: from those of o to these.
	Correct(ctx context.Context, o Order, carrier, number string, at time.Time, cause string) error
	// Note adds an entry to the order's history.
	Note(ctx context.Context, o Order, at time.Time, cause string) error
	// Hide takes the order off the lists or, if hidden is false, puts it back.
	Hide(ctx context.Context, o Order, hidden bool, at time.Time, cause string) error
	// AskRefund records why the order's shopper asks for a refund.
	AskRefund(ctx context.Context, o Order, why string, at time.Time, cause string) error
}

// FulfilLister lists the orders that the schedule moves on.
type FulfilLister interface {
	// FulfilDue pages through the ids of shipped and received orders that are due by now, oldest first. Index read.
	FulfilDue(ctx context.Context, shard int, now time.Time, after string, limit int) (Page[string], error)
}

// BillRecorder reads what the ledger recorded on a day and keeps the results of comparing it with the bill.
type BillRecorder interface {
	// PaymentsOn pages through the payments that the ledger recorded on a Day. Index read.
	PaymentsOn(ctx context.Context, day, after string, limit int) (Page[Payment], error)
	// RefundsOn pages through the payments whose refund the ledger recorded on a Day. Index read.
	RefundsOn(ctx context.Context, day, after string, limit int) (Page[Payment], error)
	// KeepReconciliation stores the result of a reconciliation and keeps earlier ones of the same day.
	KeepReconciliation(ctx context.Context, r Reconciliation) error
	// Reconciliations reads the results of a day's reconciliations, oldest first.
	Reconciliations(ctx context.Context, day string) ([]Reconciliation, error)
}

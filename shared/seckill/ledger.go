package seckill

import (
	"context"
	"time"
)

// Ledger keeps the truth: who owns which unit, what state an order is in, where the money is. Drivers implement all of
// it; a flow takes only the ports that it calls. Each method is one transaction or one read. Any error but those named
// is a fault: the effect is unknown. Reads are consistent but for those marked as index reads, which may lag and never
// decide anything.
type Ledger interface {
	OrderReader
	OrderPlacer
	OrderCloser
	OrderExpirer
	OrderLister
	DueLister
	ReturnKeeper
	UnitReader
	PaymentRecorder
	PaymentReader
	NotificationKeeper
	RefundRecorder
	BillRecorder
}

// OrderReader reads an order.
type OrderReader interface {
	// Order reads an order. ErrNoOrder.
	Order(ctx context.Context, id string) (Order, error)
}

// OrderPlacer places an order.
type OrderPlacer interface {
	// Place writes the order (pending_payment), one row per unit, and raises the user's quota, all or nothing.
	// ErrOrderExists before anything else; ErrQuota when it would exceed limit; *Collision for a unit that has a row. A
	// driver returns up after PlaceTimeout: a write that lands later would be placed after an acknowledged stop (I10).
	Place(ctx context.Context, o Order, limit int) error
}

// OrderCloser ends an order that has no money: it is rejected, or begins to close.
type OrderCloser interface {
	// Reject writes the order as rejected, without units. ErrOrderExists.
	Reject(ctx context.Context, o Order) error
	// BeginClosing moves the order, as read, from pending_payment to closing and makes it due now. When it closes
	// because its user cancels (to is Cancelled), that is counted in the quota, all or nothing. ErrStateChanged before
	// anything else; ErrCancels after MaxCancels.
	BeginClosing(ctx context.Context, o Order, to State, at time.Time, cause string) error
}

// OrderExpirer ends the closing of an order, or puts it off.
type OrderExpirer interface {
	// GiveBack moves the order from closing to o.CloseTo, removes its unit rows (each must be this order's), lowers the
	// quota and puts a return row, all or nothing. ErrStateChanged.
	GiveBack(ctx context.Context, o Order, at time.Time, cause string) error
	// Reschedule makes an order that is still in closing due again at a later time. ErrStateChanged.
	Reschedule(ctx context.Context, id string, due time.Time) error
}

// OrderLister lists orders, and forgets their addresses.
type OrderLister interface {
	// OrdersByUser pages through a user's placed orders, newest first. Index read.
	OrdersByUser(ctx context.Context, user, after string, limit int) (OrderPage, error)
	// OrdersByItem pages through an item's orders, rejected ones included. Index read.
	OrdersByItem(ctx context.Context, item, after string, limit int) (OrderPage, error)
	// EraseAddress deletes the delivery address of an order in this state, and changes nothing else.
	// ErrStateChanged.
	EraseAddress(ctx context.Context, id string, state State, at time.Time) error
}

// DueLister lists the rows that a sweep handles.
type DueLister interface {
	// DueOrders pages through the ids of open orders due by now, oldest first, at most limit a page. Index read.
	DueOrders(ctx context.Context, shard int, now time.Time, after string, limit int) (Page[string], error)
	// RefundsDue pages through the payments whose money has to go back and that are due by now, oldest first. Index
	// read.
	RefundsDue(ctx context.Context, shard int, now time.Time, after string, limit int) (Page[Payment], error)
	// RefundsRefused pages through the payments that are refund_due and whose refund was refused, oldest first. Index
	// read.
	RefundsRefused(ctx context.Context, after string, limit int) (Page[Payment], error)
}

// ReturnKeeper keeps the rows of units that go back into the stock.
type ReturnKeeper interface {
	// Return reads an order's return row. ErrNoReturn.
	Return(ctx context.Context, order string) (ReturnRow, error)
	// Returns pages through the return rows of a shard, at most limit a page. after is "" or an earlier page's Next.
	Returns(ctx context.Context, shard int, after string, limit int) (Page[ReturnRow], error)
	// DeleteReturn removes the row if it still has these units; no row is no error.
	DeleteReturn(ctx context.Context, r ReturnRow) error
}

// UnitReader reads who owns which units, and how many.
type UnitReader interface {
	// Units reads all unit rows of one bucket of an item.
	Units(ctx context.Context, item string, bucket int) ([]UnitRow, error)
	// Quota reads what a user has of an item; zero when nothing.
	Quota(ctx context.Context, user, item string) (Quota, error)
	// Quotas reads the quotas of at most MaxQuotas users, each consistently, not together; users without one are
	// missing.
	Quotas(ctx context.Context, item string, users []string) (map[string]Quota, error)
}

// PaymentRecorder records money.
type PaymentRecorder interface {
	// RecordPayment records a trade's money once and moves the order from one state to another, or, when it stays (the
	// same), notes the trade in its history, all or nothing. ErrPaymentExists before anything else; ErrStateChanged
	// when the order is not in from.
	RecordPayment(ctx context.Context, p Payment, from, to State) error
}

// PaymentReader reads an order's payments and the provider's notifications about them.
type PaymentReader interface {
	// Payments reads an order's trades.
	Payments(ctx context.Context, order string) ([]Payment, error)
	// Notifications reads the notifications that were kept of an order, by their ids.
	Notifications(ctx context.Context, order string) ([]KeptNotification, error)
}

// NotificationKeeper keeps what the provider said.
type NotificationKeeper interface {
	// KeepNotification keeps a notification unless one with its order and id is kept.
	KeepNotification(ctx context.Context, n KeptNotification) error
}

// RefundRecorder records the way of money back.
type RefundRecorder interface {
	// StartRefund marks a paid order and its captured payment, both as read, refund_due. With restock its units return
	// to sale as in GiveBack; otherwise they stay allocated to it. ErrStateChanged.
	StartRefund(ctx context.Context, o Order, p Payment, restock bool, at time.Time, cause string) error
	// Refunded records that a payment's money went back, and moves the order from one state to another (the same when
	// it stays). besides is another payment of the order that is still refund_due, for which the order waits; "" when
	// there is none. ErrStateChanged when any of the three is not as it is said to be.
	Refunded(ctx context.Context, p Payment, besides string, from, to State, at time.Time, cause string) error
	// DeferRefund counts a try without success of a payment that is still refund_due, and has it tried again when it is
	// due; never, when it was refused and refused says why. ErrStateChanged.
	DeferRefund(ctx context.Context, p Payment, due time.Time, refused string) error
	// RetryRefund makes a payment that is still refund_due due at once, refused or not, and says in the history of its
	// order, which is in state, who wanted it. ErrStateChanged.
	RetryRefund(ctx context.Context, p Payment, state State, at time.Time, cause string) error
	// RescheduleNow makes an order that is still in closing due at once, and says in its history who wanted it.
	// ErrStateChanged.
	RescheduleNow(ctx context.Context, id string, at time.Time, cause string) error
}

// BillRecorder reads what the ledger recorded on a day, and keeps how that compares with a bill.
type BillRecorder interface {
	// PaymentsOn pages through the payments that the ledger recorded on a Day. Index read.
	PaymentsOn(ctx context.Context, day, after string, limit int) (Page[Payment], error)
	// RefundsOn pages through the payments whose refund the ledger recorded on a Day. Index read.
	RefundsOn(ctx context.Context, day, after string, limit int) (Page[Payment], error)
	// KeepReconciliation keeps what came of a reconciliation beside those of the same day before it.
	KeepReconciliation(ctx context.Context, r Reconciliation) error
	// Reconciliations reads what came of a day's reconciliations, the oldest first.
	Reconciliations(ctx context.Context, day string) ([]Reconciliation, error)
}

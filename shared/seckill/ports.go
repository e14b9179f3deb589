package seckill

import "time"

// Clock returns the time. Flows read no other clock.
type Clock interface {
	Now() time.Time // UTC
}

// MonotonicClock is a Clock that also offers a monotonic reading. Now may jump within SkewBound when the machine's
// clock is set; the monotonic reading never goes back. It may stop while Lambda has frozen the instance, which Now does
// not.
type MonotonicClock interface {
	Monotonic() time.Duration // since some moment before
}

// IDs mints what must be unique and unguessable. Flows use no other randomness.
type IDs interface {
	OrderID(item string) string // of the item; ValidOrderID holds
	Token() string              // 1 to 64 letters and digits
}

// Event is something worth counting; telemetry makes metrics of them.
type Event string

// The events.
const (
	EventReserved      Event = "reserved"
	EventRefused       Event = "refused"
	EventPlaced        Event = "placed"
	EventCollided      Event = "collided"
	EventRedrawn       Event = "redrawn"
	EventRejected      Event = "rejected"
	EventParked        Event = "parked"
	EventPaid          Event = "paid"
	EventRefundDue     Event = "refunds_due"
	EventRefunded      Event = "refunds_made"
	EventRefundRefused Event = "refunds_refused"
	EventForged        Event = "notifications_refused"
	EventDifferences   Event = "bill_differences"
	EventClosing       Event = "closing"
	EventExpired       Event = "expired"
	EventCancelled     Event = "cancelled"
	EventUnknown       Event = "unknown_payments"
	EventReturned      Event = "returned"
	EventResent        Event = "resent"
	EventDrift         Event = "drift"
	EventRebuilt       Event = "rebuilt"
	EventErased        Event = "addresses_erased"
	EventUnreadable    Event = "rows_unreadable"
)

// Meter counts events. It never fails and never waits.
type Meter interface {
	Count(e Event, n int)
}

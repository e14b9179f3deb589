package seckill

import "time"

// Clock returns the time. Flows read no other clock.
type Clock interface {
	Now() time.Time // UTC
}

// MonotonicClock is a Clock with a monotonic reading. Now may jump within SkewBound when the machine's clock is set;
// the monotonic reading never goes back. The monotonic reading may pause while Lambda has frozen the instance; Now
// does not.
type MonotonicClock interface {
	Monotonic() time.Duration // since an arbitrary moment in the past
}

// IDs makes ids that must be unique and unguessable. Flows use no other randomness.
type IDs interface {
	OrderID(item string) string // an id for which ValidOrderID is true, of this item
	Token() string              // 1 to 64 letters and digits
}

// Event is a countable event; telemetry turns it into a metric.
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
	EventCashier       Event = "cashiers_offered"
	EventPaid          Event = "paid"
	EventRefundDue     Event = "refunds_due"
	EventRefunded      Event = "refunds_made"
	EventRefundRefused Event = "refunds_refused"
	EventOutside       Event = "refunds_outside" // money went back outside the shop
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
	EventTold          Event = "changes_told"
	EventUntold        Event = "changes_untold"
	EventCounted       Event = "changes_counted"
	EventUncounted     Event = "changes_uncounted"
	EventSignedIn      Event = "signed_in"
	EventEnrolled      Event = "shoppers_enrolled"
	EventIssuerFault   Event = "issuer_faults"
	EventPosted        Event = "webhooks_acknowledged"
	EventPostFailed    Event = "webhooks_failed"
	EventGivenUp       Event = "webhooks_given_up"
	EventAdmitted      Event = "tickets_given"
	EventSuspicious    Event = "acts_suspicious"
	EventConnected     Event = "pages_connected"
	EventPassRefused   Event = "passes_refused"
	EventPushed        Event = "outcomes_pushed"
	EventPushFailed    Event = "pushes_failed"
	EventUnrecorded    Event = "acts_unrecorded"
	EventForbidden     Event = "commands_forbidden"
)

// Meter counts events. It never fails and never blocks.
type Meter interface {
	Count(e Event, n int)
}

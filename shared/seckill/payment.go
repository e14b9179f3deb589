package seckill

import (
	"context"
	"crypto/sha256"
	"time"
)

// TradeState is what the payment provider says of an order's trade.
type TradeState string

// The states of a trade.
const (
	TradeUnknown TradeState = "unknown" // no trade: the shopper never opened the cashier
	TradeWaiting TradeState = "waiting" // opened, not paid
	TradePaid    TradeState = "paid"
	TradeClosed  TradeState = "closed" // will never be paid (or was refunded in full)
)

// Trade is the provider's answer about an order. When any of the order's trades is paid, it is that one.
type Trade struct {
	State   TradeState
	TradeNo string
	Amount  Fen
}

// CloseResult is the provider's answer to closing an order's trade.
type CloseResult string

// Answers of Payments.Close. Only the first two decide anything.
const (
	CloseDone    CloseResult = "closed"
	CloseMissing CloseResult = "not_exist" // there is no trade
	CloseRefused CloseResult = "refused"   // any other answer: query again and obey the query
)

// Notification is what an authentic notification says.
type Notification struct {
	// the provider's id of this notification, the same each time it is sent; 1 to MaxNotificationID printable ASCII
	// characters
	ID      string
	Order   string
	TradeNo string
	Amount  Fen
	Paid    bool // the trade is paid (a partial refund leaves it so)
	// all its parameters, signature included, sorted by name, as application/x-www-form-urlencoded
	Raw string
}

// MaxNotificationID is how long the provider's id of a notification may be, in bytes.
const MaxNotificationID = 128

// KeptNotification is an authentic notification, kept unchanged as evidence of what the provider said and
// when.
type KeptNotification struct {
	Order   string
	ID      string // the provider's: a repetition is not kept again
	TradeNo string
	Amount  Fen
	At      time.Time // when it came first
	Outcome string    // NotificationRecorded, NotificationNothing, or the code by which it was refused
	Raw     string    // as Notification.Raw
	Expires time.Time // whole seconds; the row goes then, or up to a few days later; zero: never
}

// Outcomes of a notification that was not refused.
const (
	NotificationRecorded = "recorded" // its money is in the ledger
	NotificationNothing  = "nothing"  // it says nothing of new money
)

// Payments is the payment provider as the flows see it. Any error but those named is a fault: the effect is unknown.
type Payments interface {
	Signer
	// Query asks for the order's trade.
	Query(ctx context.Context, order string) (Trade, error)
	// Close asks that the order's trade can no longer be paid.
	Close(ctx context.Context, order string) (CloseResult, error)
	Verifier
}

// Signer is the part of Payments that needs a key of ours, and nothing of the provider's.
type Signer interface {
	// Prepare signs what the shopper's client hands to the provider to pay the order: the same bytes each time for
	// the same order. Its hold ends at o.PayBy. No network. ErrSignLater.
	Prepare(o Order) (string, error)
}

// Trades is the part of a payment provider that tells of a trade by its number.
type Trades interface {
	// Trade asks for one trade. TradeUnknown when there is none of this number, or it is another order's. Every error
	// is a fault.
	Trade(ctx context.Context, order, tradeNo string) (Trade, error)
}

// Verifier is the part of Payments that needs no key of ours.
type Verifier interface {
	// Verify checks the authenticity of a notification, given as its parameters, and reads it. CodeForged when the
	// signature or its form is wrong; CodeNotOurs for another app or seller. No network.
	Verify(parameters map[string][]string) (Notification, error)
}

// Refund is the money of one trade on its way back, all of it.
type Refund struct {
	ID      string // RefundID: the provider makes one refund of a trade by an id, however often it is asked
	Order   string
	TradeNo string
	Amount  Fen
	Reason  string // for the shopper's account statement; 1 to 80 characters
}

// RefundID is the id of a trade's refund, a function of order and trade: every caller computes the same refund. 27
// characters that Alipay takes as out_request_no.
func RefundID(order, tradeNo string) string {
	sum := sha256.Sum256([]byte(order + "\x00" + tradeNo))
	return "r" + idEncoding.EncodeToString(sum[:])[:26]
}

// RefundState is the payment provider's state of a refund.
type RefundState string

// The states of a refund.
const (
	RefundMade    RefundState = "made"    // the money went back
	RefundPending RefundState = "pending" // asked for; whether the money went back, only a later RefundStatus can tell
	RefundMissing RefundState = "missing" // RefundStatus: the provider knows of no such refund
	RefundRefused RefundState = "refused" // it will not be made as things are: a person has to act
)

// RefundAnswer is the provider's answer about a refund.
type RefundAnswer struct {
	State RefundState
	Code  string // refused: the provider's word for why. Else ""
}

// Refunds is the part of a payment provider that gives money back. Every error is a fault: the effect is unknown.
type Refunds interface {
	// Refund asks that a trade's money goes back. Repeated with the same ID it moves no money twice. Never
	// RefundMissing.
	Refund(ctx context.Context, r Refund) (RefundAnswer, error)
	// RefundStatus asks what became of a refund. Never RefundRefused.
	RefundStatus(ctx context.Context, r Refund) (RefundAnswer, error)
}

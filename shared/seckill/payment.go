package seckill

import (
	"context"
	"crypto/sha256"
	"time"
)

// TradeState is the payment provider's state of an order's trade.
type TradeState string

// The states of a trade.
const (
	TradeUnknown TradeState = "unknown" // no trade: the shopper never opened the cashier page
	TradeWaiting TradeState = "waiting" // opened, not paid
	TradePaid    TradeState = "paid"
	TradeClosed  TradeState = "closed" // will never be paid (or was refunded in full)
)

// Trade is the provider's answer about an order. If any of the order's trades is paid, the answer describes that one.
type Trade struct {
	State   TradeState
	TradeNo string
	Amount  Fen
}

// CloseResult is the provider's answer to closing an order's trade.
type CloseResult string

// Answers of Payments.Close. Only the first two are conclusive.
const (
	CloseDone    CloseResult = "closed"
	CloseMissing CloseResult = "not_exist" // the order has no trade
	CloseRefused CloseResult = "refused"   // any other answer: the caller queries again and acts on that answer
)

// Notification is the content of an authentic notification.
type Notification struct {
	// the provider's id of this notification, equal in every repetition; 1 to MaxNotificationID printable ASCII
	// characters
	ID      string
	Order   string
	TradeNo string
	Amount  Fen
	Paid    bool // the trade was paid; a refund does not change this
	Back    Fen  // the sum of all that went back of the trade, by whomever
	Unsaid  bool // money may have gone back, and Back does not say how much: a closed trade, or the time of a refund
	// all parameters with the signature, sorted by name, as application/x-www-form-urlencoded
	Raw string
}

// MaxNotificationID is the largest length of a notification's id, in bytes.
const MaxNotificationID = 128

// KeptNotification is an authentic notification, stored unchanged as evidence of what the provider sent and when.
type KeptNotification struct {
	Order   string    `row:"order,key"`
	ID      string    `row:"id,key"` // the provider's id; a repetition is not stored again
	TradeNo string    `row:"trade_no"`
	Amount  Fen       `row:"amount"`
	At      time.Time `row:"at"` // when the first copy arrived
	// "recorded", "outside", "nothing" (no new money), or the code of the refusal
	Outcome string `row:"outcome"`
	Raw     string `row:"raw"` // all parameters with the signature, form-encoded
	// when the row may be deleted, in whole seconds; the table may take a few more days; zero:
	// never
	Expires time.Time `row:"expires,opt,seconds"`
}

// Outcomes of a notification that was not refused.
const (
	NotificationRecorded = "recorded" // its money was recorded in the ledger
	NotificationOutside  = "outside"  // it reports a refund that the shop did not make, which was recorded
	NotificationNothing  = "nothing"  // it reports no new money
)

// Payments is the payment provider as the flows see it. Any error that a method does not name is a fault: the effect
// is unknown.
type Payments interface {
	Signer
	// Query returns the state of the order's trade.
	Query(ctx context.Context, order string) (Trade, error)
	// Close asks the provider to accept no more payment for the order.
	Close(ctx context.Context, order string) (CloseResult, error)
	Verifier
}

// Signer is the part of Payments that needs only our own key and no call to the provider.
type Signer interface {
	// Prepare signs the string that the shopper's app passes to the provider to pay the order. The result depends on
	// the order alone. The provider accepts it until o.PayBy. No network. ErrSignLater.
	Prepare(o Order) (string, error)
}

// PayKind is a way to the payment provider's cashier.
type PayKind string

// The ways. The first two are addresses for a browser.
const (
	PayPage PayKind = "page" // the cashier for computers
	PayWap  PayKind = "wap"  // the cashier for phones
	PayApp  PayKind = "app"  // the string that a shop's own app passes to the provider's app
)

// Pages is the part of a payment provider that gives ways to its cashier. Each way opens the same trade, and the
// provider accepts it until o.PayBy. A provider may need a call for it; then an error that is not named is a fault,
// and asking again does no harm. back is where the cashier sends the browser after the payment, quit where it sends
// one that gives up: a visit there proves nothing, only Query and notifications prove a payment.
type Pages interface {
	Signer
	// PagePay returns the address of the cashier for computers. ErrSignLater.
	PagePay(ctx context.Context, o Order, back string) (string, error)
	// WapPay returns the address of the cashier for phones. ErrSignLater.
	WapPay(ctx context.Context, o Order, quit, back string) (string, error)
}

// Trades is the part of a payment provider that looks up a trade by its number.
type Trades interface {
	// Trade returns one trade; TradeUnknown if there is none with this number, or if it belongs to another order.
	// Every error is a fault.
	Trade(ctx context.Context, order, tradeNo string) (Trade, error)
}

// Verifier is the part of Payments that does not need our own key.
type Verifier interface {
	// Verify checks that a notification, given as its parameters, is authentic, and reads it. CodeForged: the
	// signature or the form is wrong; CodeNotOurs: it is for another app or seller. No network.
	Verify(parameters map[string][]string) (Notification, error)
}

// Refund is the refund of one trade, or of its rest: see Payment.Refund.
type Refund struct {
	ID      string // the provider makes at most one refund per trade and id, however often it is asked
	Order   string
	TradeNo string
	Amount  Fen
	Reason  string // shown on the shopper's account statement; 1 to 80 characters
}

// RefundID returns the id of a trade's full refund. It depends on order and trade alone, so every caller gets the same.
// Its 27 characters are valid as Alipay's out_request_no.
func RefundID(order, tradeNo string) string {
	sum := sha256.Sum256([]byte(order + "\x00" + tradeNo))
	return "r" + idEncoding.EncodeToString(sum[:])[:26]
}

// RefundState is the payment provider's state of a refund.
type RefundState string

// The states of a refund.
const (
	RefundMade    RefundState = "made"    // the money was returned
	RefundOther   RefundState = "other"   // RefundStatus: under this id another amount was returned
	RefundPending RefundState = "pending" // requested; only a later RefundStatus tells whether the money was returned
	RefundMissing RefundState = "missing" // RefundStatus: the provider does not know this refund
	RefundRefused RefundState = "refused" // the provider will not make it as things are: an operator must act
)

// RefundAnswer is the provider's answer about a refund.
type RefundAnswer struct {
	State  RefundState
	Code   string // refused: the provider's reason; otherwise ""
	Amount Fen    // other: what was returned; otherwise 0
}

// Refunds is the part of a payment provider that makes refunds. Every error is a fault: the effect is unknown.
type Refunds interface {
	// Refund asks the provider to refund a trade. Repeating it with the same ID moves no money twice. It never
	// returns RefundMissing.
	Refund(ctx context.Context, r Refund) (RefundAnswer, error)
	// RefundStatus asks for the state of a refund. It never returns RefundRefused.
	RefundStatus(ctx context.Context, r Refund) (RefundAnswer, error)
}

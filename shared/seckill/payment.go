package seckill

import (
	"context"
	"net/url"
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

// Answers of Payments.Close. Only the first two settle anything.
const (
	CloseDone    CloseResult = "closed"
	CloseMissing CloseResult = "not_exist" // there is no trade
	CloseRefused CloseResult = "refused"   // any other answer: query again and obey the query
)

// Notice is what an authentic notify says.
type Notice struct {
	ID      string // the provider's id of this notify
	Order   string
	TradeNo string
	Amount  Fen
	Paid    bool // the trade is paid (a partial refund leaves it so)
}

// Payments is the payment provider as the flows see it. Any error but those named is a fault: the effect is unknown.
type Payments interface {
	// Prepare signs what the shopper's client hands to the provider to pay the order: the same bytes each time for
	// the same order. Its hold ends at o.PayBy. No network. ErrSignLater.
	Prepare(o Order) (string, error)
	// Query asks for the order's trade.
	Query(ctx context.Context, order string) (Trade, error)
	// Close asks that the order's trade can no longer be paid.
	Close(ctx context.Context, order string) (CloseResult, error)
	Verifier
}

// Verifier is the part of Payments that needs no key of ours.
type Verifier interface {
	// Verify checks a notify's authenticity and reads it. CodeForged when the signature or its form is wrong; CodeNotOurs for another
	// app or seller. No network.
	Verify(form url.Values) (Notice, error)
}

package seckill

import (
	"context"
	"time"
)

// Zone is in which the payment provider and its shoppers date things: UTC+8, fixed, so that no time zone database is
// needed.
var Zone = time.FixedZone("UTC+8", 8*60*60)

// Day is the date of a moment in Zone: 2006-01-02.
func Day(t time.Time) string { return t.In(Zone).Format(time.DateOnly) }

// ValidDay reports whether s is a date as Day writes it.
func ValidDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// BillLine is one movement of money that the provider booked.
type BillLine struct {
	Refund   bool // money that went back, else money that came
	Order    string
	TradeNo  string
	RefundID string    // of a refund
	Amount   Fen       // what moved, always positive
	At       time.Time // when it moved, UTC, whole seconds
}

// Bill is a day's movements of the shop's orders, in the provider's order, and how many lines another shop of the
// seller's has on it.
type Bill struct {
	Lines  []BillLine // each of a ValidOrderID
	Others int
}

// Bills is the part of a payment provider that lists what it booked.
type Bills interface {
	// Bill lists a day's movements. day is a Day. ErrNoBill, also when nothing moved that day; every other error is a
	// fault.
	Bill(ctx context.Context, day string) (Bill, error)
}

// DifferenceKind classifies a difference between a bill and the ledger.
type DifferenceKind string

// The kinds of differences.
const (
	PaymentNotHere  DifferenceKind = "payment_not_here"  // billed; the ledger has no such payment
	PaymentNotThere DifferenceKind = "payment_not_there" // in the ledger; not billed
	PaymentAmount   DifferenceKind = "payment_amount"    // both have it, with other amounts
	PaymentTwice    DifferenceKind = "payment_twice"     // one trade, billed twice
	RefundNotHere   DifferenceKind = "refund_not_here"   // billed; in the ledger its money has not gone back
	RefundNotThere  DifferenceKind = "refund_not_there"  // gone back by the ledger; not billed
	RefundAmount    DifferenceKind = "refund_amount"     // both have it, with other amounts
	// billed under an id that is not the ledger's: made in the provider's console
	RefundForeign DifferenceKind = "refund_foreign"
	RefundTwice   DifferenceKind = "refund_twice"   // one refund, billed twice
	RowUnreadable DifferenceKind = "row_unreadable" // the ledger's row cannot be read, so nothing is known of it
)

// Difference is one thing in which a bill and the ledger differ.
type Difference struct {
	Kind     DifferenceKind `json:"kind"`
	Order    string         `json:"order"`
	TradeNo  string         `json:"trade_no"`
	RefundID string         `json:"refund_id,omitempty"`
	Here     Fen            `json:"here"`  // by the ledger; 0 when it has none
	There    Fen            `json:"there"` // by the bill; 0 when it has none
}

// MaxDifferences is how many differences a reconciliation lists; it counts all of them.
const MaxDifferences = 1000

// Reconciliation is what came of matching a day's bill against the ledger.
type Reconciliation struct {
	Day         string       `json:"day"`     // a Day
	At          time.Time    `json:"at"`      // when it was done
	NoBill      bool         `json:"no_bill"` // the provider had none: nothing moved, or it is not made yet
	Payments    int          `json:"payments"`
	Captured    Fen          `json:"captured"` // the sum of those payments, by the bill
	Refunds     int          `json:"refunds"`
	Returned    Fen          `json:"returned"` // the sum of those refunds, by the bill
	Others      int          `json:"others"`   // lines of other shops of the seller, which are not looked at
	Count       int          `json:"count"`    // differences
	Differences []Difference `json:"differences"`
}

package seckill

import (
	"context"
	"fmt"
	"time"
)

// Zone is the time zone in which the payment provider dates its bills: UTC+8. It is fixed, so no time zone database
// is needed.
var Zone = time.FixedZone("UTC+8", 8*60*60)

// Local writes a time for people: in Zone, to the second, with the zone's name.
func Local(t time.Time) string { return t.In(Zone).Format(time.DateTime + " MST") }

// Day returns the date of t in Zone, as 2006-01-02.
func Day(t time.Time) string { return t.In(Zone).Format(time.DateOnly) }

// ValidDay reports whether s is a date in the format of Day.
func ValidDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// BillLine is one movement of money that the provider booked.
type BillLine struct {
	Refund   bool // true if the money was paid back; false if it was received
	Order    string
	TradeNo  string
	RefundID string    // the refund's id; "" for a payment
	Amount   Fen       // the amount moved, always positive
	At       time.Time // when the money moved, UTC, whole seconds
}

// Bill lists one day's movements of the shop's orders, in the provider's order. It also counts the lines that belong
// to another shop of the same seller.
type Bill struct {
	Lines  []BillLine // each has a ValidOrderID
	Others int
}

// MaxWhy is the most bytes that say why a line of a bill cannot be read: MaxDifferences of them fit into a row.
const MaxWhy = 48

// UnreadLine is a line of a bill that is about an order of the shop and cannot be read.
type UnreadLine struct {
	Line  int // its number in the file, from 1
	Order string
	Why   string // at most MaxWhy bytes
}

// UnreadLines is the error of a bill that could be read but for these lines.
type UnreadLines []UnreadLine

// Error implements error.
func (u UnreadLines) Error() string {
	if len(u) == 0 {
		return "no line"
	}
	text := fmt.Sprintf("line %d: order %s: %s", u[0].Line, u[0].Order, u[0].Why)
	if len(u) > 1 {
		text += fmt.Sprintf("; and %d more lines", len(u)-1)
	}
	return text
}

// Bills is the part of a payment provider that lists what it booked.
type Bills interface {
	// Bill returns a day's movements; day has the format of Day. It returns ErrNoBill if the provider has no bill,
	// which includes days without movements. If lines of the shop cannot be read, the error is UnreadLines, and the
	// bill has all others. Every other error is a fault.
	Bill(ctx context.Context, day string) (Bill, error)
}

// DifferenceKind classifies a difference between a bill and the ledger.
type DifferenceKind string

// The kinds of differences.
const (
	PaymentNotHere  DifferenceKind = "payment_not_here"  // billed; the ledger has no such payment
	PaymentNotThere DifferenceKind = "payment_not_there" // in the ledger; not on the bill
	PaymentAmount   DifferenceKind = "payment_amount"    // in both, with different amounts
	PaymentTwice    DifferenceKind = "payment_twice"     // one trade is on the bill twice
	RefundNotHere   DifferenceKind = "refund_not_here"   // on the bill; the ledger has not refunded it
	RefundNotThere  DifferenceKind = "refund_not_there"  // refunded in the ledger; not on the bill
	RefundAmount    DifferenceKind = "refund_amount"     // in both, with different amounts
	// on the bill with a refund id that the ledger never used: somebody refunded in the provider's console
	RefundForeign DifferenceKind = "refund_foreign"
	RefundTwice   DifferenceKind = "refund_twice"   // one refund is on the bill twice
	RowUnreadable DifferenceKind = "row_unreadable" // the ledger's row cannot be read, so it cannot be compared
	// the bill's line cannot be read, so it cannot be compared; the rest of the bill is
	LineUnreadable DifferenceKind = "line_unreadable"
)

// Difference is one entry in which a bill and the ledger disagree.
type Difference struct {
	Kind     DifferenceKind `json:"kind"`
	Order    string         `json:"order"`
	TradeNo  string         `json:"trade_no"`
	RefundID string         `json:"refund_id,omitempty"`
	Here     Fen            `json:"here"`           // by the ledger; 0 when it has none
	There    Fen            `json:"there"`          // by the bill; 0 when it has none
	Line     int            `json:"line,omitempty"` // of the bill's file, if it cannot be read
	Why      string         `json:"why,omitempty"`  // why it cannot be read, or of refund_foreign: what There may lack
}

// MaxDifferences is the largest number of differences that a reconciliation lists; its count includes all of them.
const MaxDifferences = 1000

// Reconciliation is the result of comparing a day's bill with the ledger.
type Reconciliation struct {
	Day string    `json:"day" row:"day,key"`      // the bill's
	At  time.Time `json:"at" row:"at,key,sorted"` // when it was done
	// NoBill: the provider had none. Nothing moved, or it is not made yet
	NoBill      bool         `json:"no_bill" row:"no_bill,opt"`
	Payments    int          `json:"payments" row:"payments"`
	Captured    Fen          `json:"captured" row:"captured"` // the sum of those payments, by the bill
	Refunds     int          `json:"refunds" row:"refunds"`
	Returned    Fen          `json:"returned" row:"returned"` // the sum of those refunds, by the bill
	Others      int          `json:"others" row:"others"`     // lines of the seller's other shops, which are not looked at
	Count       int          `json:"count" row:"count"`       // differences
	Differences []Difference `json:"differences" row:"differences,opt"`
}

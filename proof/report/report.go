// Package report makes and checks the report of a finished sale: one file that says what became of every order and
// of all money, signed, so that anyone can check it without an account and without the network.
//
// A report is a file of JSON lines. Each line ends with the hash that makes it a leaf of a Merkle tree (RFC 6962), and
// the last line is a note (golang.org/x/mod/sumdb/note) that signs the tree's root. No line names a shopper: an order's
// user id and trade numbers are hashed with a salt of that order alone, so that two orders of one shopper do not show
// as such.
//
// Making a report takes memory for one item's orders. Checking one takes a few MB, however long it is: up to MaxLine
// for a line, and one bit for each unit of an item.
package report

import (
	"errors"
	"time"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/shared/seckill"
)

// Version is the version of the format.
const Version = 3

// Limits of a report.
const (
	MaxLine     = 1 << 20 // bytes of one line
	MaxItems    = 1000    // items of one report
	MaxMinutes  = 50_000  // minutes of one item in which something happened: 34 days without a pause
	maxLines    = 1 << 32
	maxReasons  = 1000 // kinds of states and of reasons of one item
	maxFindings = 100  // findings that are kept; further ones are counted
)

// Kinds of lines, in the order of a report: one head; for each item the item, its orders by ascending id, payments
// without an order, minutes, guarantees, refused requests, and its statement.
const (
	kindHead      = "report"
	kindItem      = "item"
	kindOrder     = "order"
	kindPayment   = "payment"
	kindMinute    = "minute"
	kindGuarantee = "guarantee"
	kindRefused   = "refused"
	kindStatement = "statement"
)

// Line is what all lines begin with.
type Line struct {
	N    int64  `json:"n"` // the line's place, from 0
	Kind string `json:"kind"`
}

// Head is the first line.
type Head struct {
	Line
	Version  int       `json:"version"`
	Made     time.Time `json:"made"` // by the sale's clock
	Items    []string  `json:"items"`
	Verifier string    `json:"verifier"` // the public key of the signature, as the maker has it
}

// Item is an item's first line: what was offered. Prices are in fen.
type Item struct {
	Line
	Item       string    `json:"item"`
	Title      string    `json:"title"`
	Price      int64     `json:"price_fen"`
	Start      time.Time `json:"start"`
	End        time.Time `json:"end"`
	Stock      int       `json:"stock"`
	Limit      int       `json:"limit"`
	Read       time.Time `json:"read"` // when the item's data was read, by the sale's clock
	Orders     int       `json:"orders"`
	Unreadable int       `json:"unreadable"` // rows that could not be read, and are missing here
}

// Order is an order with its payments.
type Order struct {
	Line
	Order    string        `json:"order"`
	Buyer    string        `json:"buyer"` // Buyer of the order's salt and user id
	Count    int           `json:"count"`
	Units    []int         `json:"units,omitempty"` // the units that it holds
	Price    int64         `json:"price_fen"`
	Amount   int64         `json:"amount_fen"`
	State    seckill.State `json:"state"`
	Reason   seckill.Code  `json:"reason,omitempty"` // of a rejected one
	Created  time.Time     `json:"created"`          // when its purchase came
	History  []Entry       `json:"history"`
	Payments []Money       `json:"payments,omitempty"`
}

// Entry is an entry of an order's history. Its cause is left out, because it may name a person.
type Entry struct {
	State seckill.State `json:"state"`
	At    time.Time     `json:"at"`
}

// Money is a trade's money.
type Money struct {
	Trade  string               `json:"trade"` // Trade of the order's salt and the provider's number
	Amount int64                `json:"amount_fen"`
	State  seckill.PaymentState `json:"state"`
	At     time.Time            `json:"at"`
	Back   *time.Time           `json:"back,omitempty"` // when its refund was recorded
}

// Payment is money whose order the ledger does not have. An audit reports it, too.
type Payment struct {
	Line
	Order string `json:"order"`
	Money
}

// Minute has what happened in one minute.
type Minute struct {
	Line
	seckill.MinuteCount
}

// Guarantee is what an audit found of one guarantee. Its findings are left out, because they name shoppers and trades.
type Guarantee struct {
	Line
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Verdict audit.Verdict  `json:"verdict"`
	Looked  []audit.Looked `json:"looked_at"`
	Needs   int            `json:"needs,omitempty"`  // pieces of evidence that are missing
	Broken  int            `json:"broken,omitempty"` // findings
}

// Refused has the shop's refused requests while the item was on sale.
type Refused struct {
	Line
	Refusals
}

// Refusals are the requests that a whole shop refused in a time, by reason. They leave no row: nothing else in a report
// adds up to them, and a check finds only that they are as they were signed.
type Refusals struct {
	Source   RefusalSource          `json:"source"`
	From     time.Time              `json:"from,omitzero"`
	Until    time.Time              `json:"until,omitzero"`
	Requests map[seckill.Reason]int `json:"requests,omitempty"`
}

// RefusalSource is what counted refused requests.
type RefusalSource string

// The sources.
const (
	// RefusedUnknown: nobody counted them, or what did was not asked.
	RefusedUnknown RefusalSource = ""
	// RefusedMetrics: CloudWatch has what the functions buy and admit wrote, in whole minutes, or five, or hours. They
	// are the least: what an instance had not written when it died is missing, and so is what the API's own throttle
	// and WAF refused.
	RefusedMetrics RefusalSource = "cloudwatch"
	// RefusedRun: a `seckill run` counted every refusal since it was started, of all its routes.
	RefusedRun RefusalSource = "run"
)

// Statement is an item's last line.
type Statement struct {
	Line
	Sums
	// Provider is the payment provider's side, if the audit could read it; it cannot be recomputed from the report.
	Provider *Provider `json:"provider,omitempty"`
}

// Provider is the money of the provider's trades, in fen. Its fees are in no row of the ledger.
type Provider struct {
	Captured int64 `json:"captured_fen"`
	Refunded int64 `json:"refunded_fen"`
	Balanced bool  `json:"balanced"`
}

// ErrNoOrder means that a report has no such order.
var ErrNoOrder = errors.New("the report has no such order")

package seckill

import "time"

// Checks is what a shopper has to pass to buy an item.
type Checks string

// The checks.
const (
	ChecksOff      Checks = ""         // nothing: everybody buys without a ticket
	ChecksStandard Checks = "standard" // a proof of work
	ChecksStrict   Checks = "strict"   // besides, a question or a sum, and an account of MinAccountAge
)

// Valid reports whether there are such checks.
func (c Checks) Valid() bool { return c == ChecksOff || c == ChecksStandard || c == ChecksStrict }

// Work is how dear a proof of work is for whoever solves it: on average three quarters of Tries keys of Cost rounds.
type Work struct {
	Cost  int
	Tries int
}

// UsualWork costs a phone a second or two, and its maker a thousandth of that.
var UsualWork = Work{Cost: 1000, Tries: 4000}

// Challenge is what a shopper has to solve to get a ticket.
type Challenge struct {
	Item     string
	Checks   Checks
	Proof    []byte // an ALTCHA challenge, JSON
	Question string // "" if there is none

	// Of an item without questions: a sum in a picture (PNG), and in words.
	Picture     []byte
	Alternative string
	Expires     time.Time
}

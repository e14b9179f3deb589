package seckill

import "time"

// Checks is what a shopper has to pass to buy an item.
type Checks string

// The checks.
const (
	ChecksOff      Checks = ""         // nothing: everybody buys without a ticket
	ChecksStandard Checks = "standard" // a proof of work
	ChecksStrict   Checks = "strict"   // besides, a question, and an account of MinAccountAge
)

// Valid reports whether there are such checks.
func (c Checks) Valid() bool { return c == ChecksOff || c == ChecksStandard || c == ChecksStrict }

// Challenge is what a shopper has to solve to get a ticket.
type Challenge struct {
	Item     string
	Checks   Checks
	Proof    []byte // an ALTCHA challenge, JSON
	Question string // "": none
	Expires  time.Time
}

package seckill

import (
	"context"
	"errors"
	"strings"
	"time"
)

// AloneLimit is what one person of staff may refund alone; a larger refund, or one more on a day, waits for a second
// person. The zero value allows everything.
type AloneLimit struct {
	Amount Fen // of one refund; 0 means any
	PerDay int // refunds a day (UTC+8) of one person; 0 means any number
}

// Proposal is a refund that one person of staff wants and a second one has to want, too.
type Proposal struct {
	Order   string    `row:"entry,key"`
	Who     string    `row:"who"` // as in the order's history
	Why     string    `row:"why"`
	Restock bool      `row:"restock"`
	Gone    bool      `row:"gone,opt"` // they say that all went back outside the shop
	Amount  Fen       `row:"amount"`
	At      time.Time `row:"at"`
}

// Decision is whose refund it is.
type Decision struct {
	Proposal *Proposal // that a second person approves, as it was read; if nil, one person decides alone
	Person   string    // alone: the ledger counts their refunds; "" if it counts none
	PerDay   int       // alone: at most so many on this day, with this one; above 0
}

// ErrTooMany means that a person has refunded as many orders today as one may alone.
var ErrTooMany = errors.New("seckill: a second person must decide about another refund today")

// Person returns who a member of staff is, whatever role they have taken on: the last part of an ARN (the session's
// name, which the sign-in of a company sets) or of the shortened one in an order's history, in lower case.
func Person(who string) string {
	who = strings.ToLower(strings.Trim(who, "/ "))
	return who[strings.LastIndex(who, "/")+1:]
}

// Proposer keeps the refunds that wait for a second person.
type Proposer interface {
	// Propose keeps a proposal to give this trade's money back. It returns ErrStateChanged if the order has one, or if
	// it does not keep that money.
	Propose(ctx context.Context, p Proposal, tradeNo string) error
	// Proposal reads an order's proposal, nil if there is none.
	Proposal(ctx context.Context, order string) (*Proposal, error)
	// Proposals pages through the proposals, by order id. Fewer than limit: there are no more.
	Proposals(ctx context.Context, after string, limit int) ([]Proposal, error)
	// Withdraw deletes a proposal as it was read. ErrStateChanged.
	Withdraw(ctx context.Context, p Proposal) error
}

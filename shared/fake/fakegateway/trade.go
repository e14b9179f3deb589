package fakegateway

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Status is a trade's state, with Alipay's name (trade_status).
type Status string

// The states of a trade.
const (
	StatusWait     Status = "WAIT_BUYER_PAY"
	StatusSuccess  Status = "TRADE_SUCCESS"
	StatusFinished Status = "TRADE_FINISHED" // paid, and too old to refund
	StatusClosed   Status = "TRADE_CLOSED"   // unpaid and never payable again, or fully refunded
)

// Trade is a trade as Trades returns it.
type Trade struct {
	TradeNo          string
	OutTradeNo       string
	Subject          string
	Amount           seckill.Fen
	Status           Status
	Created, Expires time.Time
	Paid             time.Time // zero until paid
	Refunds          []Refund  // in the order in which they were made
}

// Refund is one refund of a trade.
type Refund struct {
	RequestNo string // out_request_no
	Amount    seckill.Fen
	At        time.Time
}

// Refunded returns the sum of a trade's refunds.
func (t *Trade) Refunded() seckill.Fen {
	sum := seckill.Fen(0)
	for _, r := range t.Refunds {
		sum += r.Amount
	}
	return sum
}

// Kept returns the money of a trade that the seller has.
func (t *Trade) Kept() seckill.Fen {
	if t.Paid.IsZero() {
		return 0
	}
	return t.Amount - t.Refunded()
}

// pick returns the trade that a call by out_trade_no means, by the rule in the package comment.
func pick(trades []Record) Record {
	best := trades[len(trades)-1]
	for _, r := range trades {
		if r.Kept() > 0 {
			return r
		}
		if r.Status == StatusWait {
			best = r
		}
	}
	return best
}

// digits returns 15 random digits: gateways that share a store share no counter.
func digits() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1e15))
	if err != nil {
		panic(err) // cannot happen: crypto/rand never fails
	}
	return fmt.Sprintf("%015d", n)
}

// unpayable returns why a trade, as load returned it, cannot be paid now, or nil if it can.
func unpayable(r *Record, now time.Time) error {
	switch {
	case r.Status == StatusWait:
		return nil
	case r.Status != StatusClosed:
		return ErrPaid
	case r.Paid.IsZero() && !now.Before(r.Expires):
		return ErrExpired
	default:
		return ErrClosed
	}
}

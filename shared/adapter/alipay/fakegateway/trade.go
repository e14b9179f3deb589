package fakegateway

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Status is a trade's state by Alipay's name for it (trade_status).
type Status string

// The states of a trade.
const (
	StatusWait     Status = "WAIT_BUYER_PAY"
	StatusSuccess  Status = "TRADE_SUCCESS"
	StatusFinished Status = "TRADE_FINISHED" // paid, and too old for a refund
	StatusClosed   Status = "TRADE_CLOSED"   // not paid and never will be, or refunded in full
)

// Trade is a trade as Trades shows it.
type Trade struct {
	TradeNo, OutTradeNo, Subject string
	Amount                       seckill.Fen
	Status                       Status
	Created, Expires             time.Time
	Paid                         time.Time // zero until paid
	Refunds                      []Refund  // in the order in which they were made
}

// Refund is money of a trade that went back.
type Refund struct {
	RequestNo string // out_request_no
	Amount    seckill.Fen
	At        time.Time
}

// Refunded is what went back of a trade's money.
func (t *Trade) Refunded() seckill.Fen {
	sum := seckill.Fen(0)
	for _, r := range t.Refunds {
		sum += r.Amount
	}
	return sum
}

// Kept is what the seller has of a trade's money.
func (t *Trade) Kept() seckill.Fen {
	if t.Paid.IsZero() {
		return 0
	}
	return t.Amount - t.Refunded()
}

// account is the seller's balance, when it is limited.
type account struct {
	mu      sync.Mutex
	limited bool
	balance seckill.Fen
}

func (a *account) add(f seckill.Fen) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += f
}

// take takes f out if it is there.
func (a *account) take(f seckill.Fen) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limited && a.balance < f {
		return false
	}
	a.balance -= f
	return true
}

// pick is the trade that a call by out_trade_no means: the package's comment says which.
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

// digits are 15 random ones: gateways that share a store have no counter in common.
func digits() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1e15))
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return fmt.Sprintf("%015d", n)
}

// unpayable returns why a trade, as load returned it, cannot be paid now; nil when it can.
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

package fakegateway

import (
	"context"
	"errors"
	"time"
)

// Key names a trade in a Store: the N-th trade of an order, from 1 without gaps.
type Key struct {
	OutTradeNo string
	N          int
}

// Record is a trade as a Store keeps it. Times are kept to the millisecond. Whoever gets one owns it.
type Record struct {
	Trade
	N         int       // the trade is its order's N-th
	Lapses    time.Time // unpaid, it counts as closed from then on: time_expire and the grace
	NotifyURL string
	Token     string // proves that the cashier's page came first
	// none before the payment; the first tells of it, the one behind it of the first refund, and so on
	Notifications []Notification
	Version       int64 // rises with every Save; 0: never saved
}

// Key names the record.
func (r *Record) Key() Key { return Key{r.OutTradeNo, r.N} }

// Notification is how far the shop has been told of one movement of money.
type Notification struct {
	ID       string    // the same for every attempt
	Attempts int       // made so far
	Next     time.Time // of the next one; zero when there is none: confirmed, or given up
}

// Next is when the trade's next attempt is due; zero when there is none.
func (r *Record) Next() time.Time {
	if i := r.next(); i >= 0 {
		return r.Notifications[i].Next
	}
	return time.Time{}
}

// next is the notification whose attempt is due first; -1 when there is none.
func (r *Record) next() int {
	first := -1
	for i := range r.Notifications {
		if at := r.Notifications[i].Next; !at.IsZero() && (first < 0 || at.Before(r.Notifications[first].Next)) {
			first = i
		}
	}
	return first
}

// Moved is when the trade's money moved last; zero when it never did.
func (r *Record) Moved() time.Time {
	if n := len(r.Refunds); n > 0 {
		return r.Refunds[n-1].At
	}
	return r.Paid
}

// ErrChanged: the trade has changed since it was loaded; nothing was saved.
var ErrChanged = errors.New("fakegateway: the trade was changed by another")

// Store keeps a gateway's trades. Several gateways, of several processes, may share one: all that decides is Save's
// condition. Any error but the two that Save names is a fault; after a Save its effect is unknown.
type Store interface {
	// Load reads a trade as it is now; found reports whether there is one.
	Load(ctx context.Context, k Key) (r Record, found bool, err error)
	// Find returns the key of the trade with that number.
	Find(ctx context.Context, tradeNo string) (k Key, found bool, err error)
	// Save writes a trade, with the next version, on condition that its version is still the record's: for 0, that
	// there is no such trade. ErrChanged when it is not; ErrFull when a new one has no room.
	Save(ctx context.Context, r Record) error
	// Due names trades that have an attempt due by then, the one longest due first; those beyond a limit come at a
	// later call. It may lag behind Save, so a caller loads the trade before acting on it.
	Due(ctx context.Context, by time.Time) ([]Key, error)
	// Moved names every trade whose money moved on a day (as seckill.Day gives it), once each, in any order. It may lag
	// behind Save. Of what one Save adds, at most one movement is new: that at the record's Moved.
	Moved(ctx context.Context, day string) ([]Key, error)
}

// Lister is a Store that can name all its trades: what Gateway.List, and so /trades, needs.
type Lister interface {
	// All returns every trade once, in any order. It may lag behind Save.
	All(ctx context.Context) ([]Record, error)
}

// saveTries is how often a change is tried when others change the same trade at the same time. Each time one of them
// got a step further, and a trade has few steps.
const saveTries = 12

// errNothing is returned by a change that would change nothing.
var errNothing = errors.New("nothing to change")

package fakegateway

import (
	"context"
	"errors"
	"time"
)

// Key names a trade in a Store: the Nth trade of an order, from 1 without gaps.
type Key struct {
	OutTradeNo string
	N          int
}

// Record is a trade in a Store. Times have a resolution of milliseconds. The receiver of a Record owns it.
type Record struct {
	Trade
	N         int       // the trade is the Nth of its order
	Lapses    time.Time // if unpaid, it counts as closed from then on: time_expire plus the grace
	NotifyURL string
	Token     string // proves that the cashier's page was opened
	// empty before the payment; the first is about the payment, the following ones about the refunds in order
	Notifications []Notification
	Version       int64 // each Save raises it; 0 if it was never saved
}

// Key returns the record's key.
func (r *Record) Key() Key { return Key{r.OutTradeNo, r.N} }

// Notification is the delivery state of the notification about one movement of money.
type Notification struct {
	ID       string    // equal in every attempt
	Attempts int       // attempts made
	Next     time.Time // time of the next attempt; zero if there is none: confirmed, or given up
}

// Next returns when the trade's next attempt is due; zero if no attempt is.
func (r *Record) Next() time.Time {
	if i := r.next(); i >= 0 {
		return r.Notifications[i].Next
	}
	return time.Time{}
}

// next returns the index of the notification whose attempt is due first, or -1 without such a notification.
func (r *Record) next() int {
	first := -1
	for i := range r.Notifications {
		if at := r.Notifications[i].Next; !at.IsZero() && (first < 0 || at.Before(r.Notifications[first].Next)) {
			first = i
		}
	}
	return first
}

// Moved returns when the trade's money last moved; zero if never.
func (r *Record) Moved() time.Time {
	if n := len(r.Refunds); n > 0 {
		return r.Refunds[n-1].At
	}
	return r.Paid
}

// ErrChanged: the trade has changed since it was loaded; nothing was saved.
var ErrChanged = errors.New("fakegateway: the trade was changed by another")

// Store keeps a gateway's trades. Gateways in several processes may share one: the condition of Save alone keeps them
// consistent. Any error except the two of Save is a fault; after a failed Save the effect is unknown.
type Store interface {
	// Load reads a trade consistently; found reports whether it exists.
	Load(ctx context.Context, k Key) (r Record, found bool, err error)
	// Find returns the key of the trade with that number.
	Find(ctx context.Context, tradeNo string) (k Key, found bool, err error)
	// Save writes a trade with the next version, if the stored version is still r.Version (0: if the trade does not
	// exist). It returns ErrChanged if it is not; ErrFull if a new trade does not fit.
	Save(ctx context.Context, r Record) error
	// Due returns keys of trades with an attempt due by then, longest due first; a later call returns those beyond a
	// limit. It may lag behind Save, so callers load a trade before they act.
	Due(ctx context.Context, by time.Time) ([]Key, error)
	// Moved returns the keys of all trades whose money moved on a day (in the format of seckill.Day), once each, in
	// any order. It may lag behind Save. One Save adds at most one movement, at the record's Moved.
	Moved(ctx context.Context, day string) ([]Key, error)
}

// Lister is a Store that can list all its trades, for Gateway.List and /trades.
type Lister interface {
	// All returns every trade once, in any order. It may lag behind Save.
	All(ctx context.Context) ([]Record, error)
}

// saveTries is how often a change is tried while others change the same trade. Each conflict means that another
// caller made progress, and a trade has few steps.
const saveTries = 12

// errNothing means that a change would change nothing.
var errNothing = errors.New("nothing to change")

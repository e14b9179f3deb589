package fakegateway

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Record is a trade as a Store keeps it. Times are kept to the millisecond.
type Record struct {
	Trade
	Lapses    time.Time // unpaid, it counts as closed from then on: time_expire and the grace
	NotifyURL string
	Token     string // proves that the cashier's page came first
	Notify    Notify
	Version   int64 // rises with every Save; 0: never saved
}

// Notify is how far the shop has been told of a payment; zero before it.
type Notify struct {
	ID       string    // the same for every attempt
	Attempts int       // made so far
	Next     time.Time // of the next one; zero when there is none: confirmed, or given up
}

// ErrChanged says that a trade is not any more what was loaded, and that nothing was saved.
var ErrChanged = errors.New("fakegateway: the trade was changed by another")

// Store keeps a gateway's trades. Several gateways, of several processes, may share one: all that decides is Save's condition. Any error
// but the two that Save names is a fault; after a Save its effect is unknown.
type Store interface {
	// Load reads a trade as it is now; found says whether there is one.
	Load(ctx context.Context, outTradeNo string) (r Record, found bool, err error)
	// Save writes a trade, with the next version, on condition that its version is still the record's: for 0, that there is no such
	// trade. ErrChanged when it is not; ErrFull when a new one has no room.
	Save(ctx context.Context, r Record) error
	// Due names trades whose notify has an attempt due by then, the one longest due first; those beyond a limit come at a later call. It may
	// lag behind Save: whoever acts on it loads the trade first.
	Due(ctx context.Context, by time.Time) (outTradeNos []string, err error)
}

// saveTries is how often a change is tried when others change the same trade at the same time. Each time one of them got a step further, and a
// trade has few steps.
const saveTries = 12

// errNothing is what a change returns when there is nothing to change.
var errNothing = errors.New("nothing to change")

// load reads a trade as it stands now. ErrNoTrade, ErrUnavailable.
func (g *Gateway) load(ctx context.Context, outTradeNo string) (Record, error) {
	r, found, err := g.store.Load(ctx, outTradeNo)
	switch {
	case err != nil:
		return Record{}, unavailable(err)
	case !found:
		return Record{}, ErrNoTrade
	}
	g.lapse(&r)
	return r, nil
}

// change loads a trade, has it changed and saves it, again while others change it in between. An error of f is returned with the trade, and
// nothing is saved then. ErrNoTrade, ErrUnavailable, errNothing and f's.
func (g *Gateway) change(ctx context.Context, outTradeNo string, f func(r *Record, now time.Time) error) (Record, error) {
	err := ErrChanged
	for try := 0; try < saveTries && errors.Is(err, ErrChanged); try++ {
		var r Record
		if r, err = g.load(ctx, outTradeNo); err != nil {
			return r, err
		}
		if err = f(&r, g.opt.Clock.Now()); err != nil {
			return r, err
		}
		if err = g.store.Save(ctx, r); err == nil {
			r.Version++
			return r, nil
		}
	}
	return Record{}, unavailable(err)
}

// unavailable is ErrUnavailable with its cause.
func unavailable(cause error) error { return fmt.Errorf("%w: %w", ErrUnavailable, cause) }

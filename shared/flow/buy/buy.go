package buy

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"seckill/shared/flow/itemcache"
	"seckill/shared/seckill"
)

// Times of the step.
const (
	Resend    = 30 * time.Second // when repair first sends a reservation's message again
	wakeEvery = time.Second      // how often an instance reports that an item is not installed
	sure      = 3 * time.Second  // how far from the window's edges the instance answers by its own clock; beyond SkewBound
)

// Deps is what the step works with.
type Deps struct {
	Stock  seckill.Stock
	Orders seckill.Queue
	Items  seckill.Items
	Clock  seckill.Clock
	IDs    seckill.IDs
	Meter  seckill.Meter
}

// Flow is one instance of the step. Safe for concurrent use.
type Flow struct {
	Deps
	items *itemcache.Cache

	mu      sync.RWMutex
	refused map[string]refusal   // by item
	woke    map[string]time.Time // by item
}

// refusal is what the stock said of an item, remembered for a second: it holds for everybody, and says nothing about a
// shopper's own purchase.
type refusal struct {
	err *seckill.Error
	at  time.Time
}

// New makes an instance.
func New(d Deps) *Flow {
	return &Flow{Deps: d, items: itemcache.New(d.Items, d.Clock), refused: map[string]refusal{}, woke: map[string]time.Time{}}
}

// Refusals without further content, made once: the sold-out answer allocates nothing.
var (
	errSoldOut   = seckill.Refuse(seckill.CodeSoldOut)
	errNotEnough = seckill.Refuse(seckill.CodeNotEnough)
	errEnded     = seckill.Refuse(seckill.CodeEnded)
	errStopped   = seckill.Refuse(seckill.CodeStopped)
)

// Buy reserves units and enqueues the reservation. It answers an order id only when both the stock and the queue have it: from
// then on the order gets a row (I11). The error is an *seckill.Error.
func (f *Flow) Buy(ctx context.Context, p Purchase) (string, error) {
	now := f.Clock.Now()
	r := seckill.Request{Item: p.Item, User: p.User, Count: p.Count, Address: p.Address, Created: now, Trace: seckill.Trace(ctx)}
	if err := r.Validate(); err != nil {
		return "", err
	}
	it, _, err := f.items.Get(ctx, p.Item)
	if err != nil {
		return "", seckill.AsError(err)
	}
	switch {
	case p.Count > it.MaxPerOrder():
		return "", seckill.Invalid("count", "1.."+strconv.Itoa(it.MaxPerOrder()))
	case now.Before(it.Start.Add(-sure)):
		return "", notStarted(it, now)
	case !now.Before(it.End.Add(sure)):
		return "", errEnded
	}
	if e := f.remembered(p.Item, now); e != nil {
		return "", e
	}

	now = f.Clock.Now() // the read may have taken long, and the script judges the window by this time (I10)
	r.Created = now
	if p.Key != "" {
		r.Order = seckill.KeyedOrderID(p.Item, p.User, p.Key)
	} else {
		r.Order = f.IDs.OrderID(p.Item)
	}
	res, err := f.Stock.Reserve(ctx, now, r, p.Key != "", Resend)
	if errors.Is(err, seckill.ErrNotInstalled) {
		f.wake(ctx, p.Item, now)
		return "", &seckill.Error{Code: seckill.CodeNotReady, RetryAfter: seckill.RetryAfterFault}
	}
	if err != nil {
		return "", seckill.AsError(err)
	}
	switch res.Code {
	case seckill.Reserved, seckill.ReservedAgain:
		if res.Code == seckill.Reserved {
			f.Meter.Count(seckill.EventReserved, 1)
		}
		m := seckill.Message{Kind: seckill.MessageOrder, Reservation: res.Reservation}
		if err := f.Orders.Send(ctx, m, 0); err != nil {
			return "", &seckill.Error{Code: seckill.CodeUnconfirmed, Order: res.Order, RetryAfter: seckill.RetryAfterFault, Err: err}
		}
		return res.Order, nil
	case seckill.ReservedBefore:
		return res.Order, nil
	}
	f.Meter.Count(seckill.EventRefused, 1)
	return "", f.refuse(res, it, now)
}

func (f *Flow) refuse(res seckill.ReserveResult, it *seckill.Item, now time.Time) error {
	switch res.Code {
	case seckill.ReserveReused:
		return &seckill.Error{Code: seckill.CodeKeyReused, Order: res.Order}
	case seckill.ReserveLimit:
		return &seckill.Error{Code: seckill.CodeLimitReached, Order: res.Order}
	case seckill.ReserveNone:
		f.remember(it.ID, errSoldOut, now)
		return errSoldOut
	case seckill.ReserveFew:
		return errNotEnough
	case seckill.ReserveEarly:
		return notStarted(it, now)
	case seckill.ReserveLate:
		return errEnded
	case seckill.ReserveStopped:
		f.remember(it.ID, errStopped, now)
		return errStopped
	}
	return seckill.AsError(errors.New("the stock answered " + string(res.Code)))
}

func notStarted(it *seckill.Item, now time.Time) error {
	return &seckill.Error{Code: seckill.CodeNotStarted, Start: it.Start, RetryAfter: max(it.Start.Sub(now), seckill.RetryAfterFault)}
}

func (f *Flow) remembered(item string, now time.Time) *seckill.Error {
	f.mu.RLock()
	r, ok := f.refused[item]
	f.mu.RUnlock()
	if ok && itemcache.Fresh(r.at, now) {
		return r.err
	}
	return nil
}

func (f *Flow) remember(item string, e *seckill.Error, now time.Time) {
	f.mu.Lock()
	f.refused[item] = refusal{e, now} // as many as there are items: an unknown id never gets here
	f.mu.Unlock()
}

// wake tells consume that an item has to be rebuilt. Losing the message costs little: repair looks each minute.
func (f *Flow) wake(ctx context.Context, item string, now time.Time) {
	f.mu.Lock()
	last, ok := f.woke[item]
	age := now.Sub(last)
	due := !ok || age < 0 || age >= wakeEvery
	if due {
		f.woke[item] = now
	}
	f.mu.Unlock()
	if due {
		_ = f.Orders.Send(ctx, seckill.Message{Kind: seckill.MessageWake, Item: item, Trace: seckill.Trace(ctx)}, 0)
	}
}

package buy

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/itemcache"
	"github.com/your-org/seckill/shared/seckill"
)

// Times used by the step.
const (
	wakeEvery = time.Second // how often an instance reports that an item is not installed
	// how often an instance reads the row of an item that is not installed: thousands of instances share one row, and
	// a row allows 3,000 reads a second
	lookEvery = 10 * time.Second
	// before that much time to the start, the instance refuses by its own clock; it exceeds
	// SkewBound
	sure = 3 * time.Second
	// how much sooner than a second an instance asks again after "sold out" while reservations wait for the ledger: it
	// may reject some, and their units are for the next
	soldOutSooner = 900 * time.Millisecond
)

// Deps are the step's dependencies.
type Deps struct {
	Stock  seckill.Reserver
	Orders seckill.Queue
	Items  seckill.Items
	Clock  seckill.Clock
	IDs    seckill.IDs
	Meter  seckill.Meter
	// KeepNetworks makes an order keep the network address that bought it (ADR 50).
	KeepNetworks bool
	// checks tickets for items with checks; if nil, every item sells without tickets
	Tickets seckill.TicketChecker
	// limits that span a family; if nil, only the placement checks them
	Spans seckill.SpanReader
}

// Flow is one instance of the step. It is safe for concurrent use.
type Flow struct {
	Deps
	items *itemcache.Cache

	mu      sync.RWMutex
	refused map[string]refusal   // by item
	woke    map[string]time.Time // by item
	// by item: when its row said that it should be installed, though the stock did not have it
	missed map[string]time.Time
	rows   map[string]fixed     // by item: what its row says, once that cannot change any more
	unread map[string]time.Time // by item: when its row, which may have a limit that spans, could not be read
}

// refusal is an answer of the stock about an item, remembered for one second. It is the same for every shopper but
// those who may have bought. start is when the sale begins.
type refusal struct {
	err    *seckill.Error
	start  time.Time
	at     time.Time
	buyers seckill.Buyers
}

// New returns an instance.
func New(d Deps) *Flow {
	return &Flow{Deps: d, items: itemcache.New(d.Items, d.Clock), refused: map[string]refusal{},
		woke: map[string]time.Time{}, missed: map[string]time.Time{},
		rows: map[string]fixed{}, unread: map[string]time.Time{}}
}

// Refusals without further content are made once, so that the sold-out answer allocates nothing.
var (
	errSoldOut   = seckill.Refuse(seckill.CodeSoldOut)
	errNotEnough = seckill.Refuse(seckill.CodeNotEnough)
	errEnded     = seckill.Refuse(seckill.CodeEnded)
	errStopped   = seckill.Refuse(seckill.CodeStopped)
	errBlocked   = seckill.Refuse(seckill.CodeBlocked)
)

// Buy reserves units and enqueues the reservation. It returns an order id only after both the stock and the queue
// have the order: from then on the order will get a row (I11). The script checks window, limit and stop, so Buy reads
// no item while the stock has it. The error is an *seckill.Error.
func (f *Flow) Buy(ctx context.Context, p Purchase) (string, error) {
	now := f.Clock.Now()
	r := seckill.Request{Item: p.Item, User: p.User, Count: p.Count, Given: p.Given, Created: now,
		Trace: seckill.Trace(ctx)}
	if !f.KeepNetworks {
		r.Network = netip.Addr{}
	}
	if err := r.Check(); err != nil {
		return "", err
	}
	e, known := f.remembered(p, now)
	if e != nil {
		return "", e
	}
	r.Known = known.Version
	if err := f.admitted(ctx, p, now); err != nil {
		return "", err
	}
	if p.Key != "" {
		r.Order = seckill.KeyedOrderID(p.Item, p.User, p.Key)
	} else {
		r.Order = f.IDs.OrderID(p.Item)
	}
	if err := f.within(ctx, p, r.Order, now); err != nil {
		return "", err
	}
	now = f.Clock.Now() // it may have read rows, slowly; the script decides by this time (I10)
	r.Created = now
	res, err := f.Stock.Reserve(ctx, now, r, p.Key != "", seckill.Resend)
	if errors.Is(err, seckill.ErrNotInstalled) {
		return "", f.notInstalled(ctx, p, now)
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
			return "", unconfirmed(res.Order, err)
		}
		if f.Clock.Now().Sub(now) > seckill.AckWithin {
			return "", unconfirmed(res.Order, errSlow)
		}
		return res.Order, nil
	case seckill.ReservedBefore:
		return res.Order, nil
	}
	f.Meter.Count(seckill.EventRefused, 1)
	if res.Buyers.Version == known.Version {
		res.Buyers = known
	}
	return "", f.refuse(res, p, now)
}

// errSlow is why an order is not acknowledged whose message was sent.
var errSlow = errors.New("sent later than an order may be acknowledged")

func unconfirmed(order string, err error) error {
	return &seckill.Error{Code: seckill.CodeUnconfirmed, Order: order, RetryAfter: seckill.RetryAfterFault, Err: err}
}

func (f *Flow) refuse(res seckill.ReserveResult, p Purchase, now time.Time) error {
	switch res.Code {
	case seckill.ReserveReused:
		return &seckill.Error{Code: seckill.CodeKeyReused, Order: res.Order}
	case seckill.ReserveLimit:
		if most := min(res.Limit, seckill.MaxCount); p.Count > most {
			return tooMany(most)
		}
		return &seckill.Error{Code: seckill.CodeLimitReached, Order: res.Order}
	case seckill.ReserveBlocked:
		return errBlocked
	case seckill.ReserveNone:
		at := now
		if res.Waiting {
			at = at.Add(-soldOutSooner)
		}
		f.remember(p.Item, refusal{err: errSoldOut, at: at, buyers: res.Buyers})
		return errSoldOut
	case seckill.ReserveFew:
		return errNotEnough
	case seckill.ReserveHeld:
		if p.Count == 1 { // a smaller purchase may find units
			f.remember(p.Item, refusal{err: errHeldBack, at: now, buyers: res.Buyers})
		}
		return errHeldBack
	case seckill.ReserveEarly:
		f.remember(p.Item, refusal{start: res.Start, at: now})
		return notStarted(res.Start, now)
	case seckill.ReserveLate:
		f.remember(p.Item, refusal{err: errEnded, at: now, buyers: res.Buyers})
		return errEnded
	case seckill.ReserveStopped:
		f.remember(p.Item, refusal{err: errStopped, at: now, buyers: res.Buyers})
		return errStopped
	}
	return seckill.AsError(errors.New("the stock answered " + string(res.Code)))
}

func notStarted(start, now time.Time) *seckill.Error {
	return &seckill.Error{Code: seckill.CodeNotStarted, Start: start, RetryAfter: max(start.Sub(now),
		seckill.RetryAfterFault)}
}

func tooMany(most int) error { return seckill.Invalid("count", "1.."+strconv.Itoa(most)) }

// remembered returns the stock's refusal for an item within the last second, nil if the stock must be asked: always for
// a shopper who may have bought, and whose repeat hears the same. known are the buyers that f knows.
func (f *Flow) remembered(p Purchase, now time.Time) (e *seckill.Error, known seckill.Buyers) {
	f.mu.RLock()
	r, ok := f.refused[p.Item]
	f.mu.RUnlock()
	switch {
	case !ok || !itemcache.Fresh(r.at, now) || r.buyers.May(p.User):
		return nil, r.buyers
	case r.err != nil:
		return r.err, known
	case now.Before(r.start.Add(-sure)):
		return notStarted(r.start, now), known
	}
	return nil, known // close to the start the stock decides, not the instance's clock
}

func (f *Flow) remember(item string, r refusal) {
	f.mu.Lock()
	if len(f.refused) >= seckill.MaxItems { // 16 KiB each
		clear(f.refused)
	}
	f.refused[item] = r
	f.mu.Unlock()
}

// notInstalled returns why the stock does not have an item: the item does not exist, its sale is far off or over, or
// the stock lost it and needs a rebuild. The first purchase reads the item's row; the next one asks for a rebuild. So
// no purchase does both.
func (f *Flow) notInstalled(ctx context.Context, p Purchase, now time.Time) error {
	f.mu.RLock()
	at, ok := f.missed[p.Item]
	f.mu.RUnlock()
	if age := now.Sub(at); ok && age >= 0 && age < lookEvery {
		f.wake(ctx, p.Item, now)
		return errNotReady
	}
	it, _, err := f.items.Get(ctx, p.Item)
	if err != nil {
		return seckill.AsError(err)
	}
	now = f.Clock.Now() // the read may have been slow
	switch {
	case p.Count > it.MaxPerOrder():
		return tooMany(it.MaxPerOrder())
	case now.Before(it.Start.Add(-sure)):
		return notStarted(it.Start, now)
	case !now.Before(it.End.Add(sure)):
		return errEnded
	}
	f.mu.Lock()
	f.missed[p.Item] = now
	f.mu.Unlock()
	return errNotReady
}

var (
	errNotReady = &seckill.Error{Code: seckill.CodeNotReady, RetryAfter: seckill.RetryAfterFault}
	errHeldBack = &seckill.Error{Code: seckill.CodeNotReady, RetryAfter: seckill.RetryAfterHeld}
)

// wake asks consume to rebuild an item. A lost message costs little: the step repair checks every minute.
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

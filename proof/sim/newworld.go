package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// NewWorld returns a world with one item on sale, not yet installed.
func NewWorld(stock, limit int) (*World, error) {
	return NewWorldOf(Setting{Items: []seckill.Item{itemOf("1001", stock, limit)}, IndexLag: time.Second})
}

// NewWorldOf returns a world whose first item's sale began a second ago.
func NewWorldOf(s Setting) (*World, error) {
	clock := memory.NewClock(epoch.Add(time.Second))
	w := &World{
		Clock: clock, Redis: redises.Get().(*memory.Redis), Orders: memory.NewQueue(clock, named(s.Queue, "orders")),
		Closings: memory.NewQueue(clock, named(s.Queue, "closings")),
		Item:     s.Items[0], More: s.Items[1:], Events: Events{}, lag: s.IndexLag, items: memory.NewItems(),
		ids: system.NewIDs(&counter{}), truth: newTruth(), door: newDoor(),
		onLoss: func() {}, onRedrive: func() {}, stopRequestedAt: map[string]time.Time{}, none: map[string]bool{},
		grown: map[string]int{}, onRound: func() {}, bySeconds: func() bool { return false }, losses: 1,
		limited: map[holder]int{}, confirmed: map[string]int{}, read: map[string]*numbers{}, drawing: map[string]int{},
		refusedUsers: map[holder]refusedUser{}, anomalies: map[string]bool{}, asked: map[string][]ask{},
		keyless: map[ask]int{}, placed: map[ask]int{}, signedOut: map[string]time.Time{},
		acked: map[string]bool{}, resuming: map[string]int{}, resumed: map[string]int{},
		stoppedAt: map[string]time.Time{}, userIDs: &counter{}, numberOf: map[int]string{},
		proofs: map[string]seckill.Proof{}, heardOf: map[string][]bool{},
		postedAt: map[string]time.Time{}, arrived: map[string]int{},
		refusesEvent: func(int) bool { return false },
	}
	if s.Networks {
		w.networkKeep = networkKeep
	}
	w.truth.over, w.truth.placed, w.truth.blocked = w.addressOver, w.checkPlaced, w.wroteBlock
	w.truth.span = w.spanOf
	w.truth.networkOver = w.networkOver
	w.truth.limit, w.truth.sent, w.truth.owes = s.Alone, w.truth.wroteFulfil, w.truth.wroteRefund
	w.door.closed = s.NoTickets
	w.door.rotate(clock.Now())
	w.Rows = memory.NewRows(memory.RowsOptions{Clock: clock, IndexLag: s.IndexLag, Watch: w.wrote})
	w.Provider = NewProvider(clock, func(order string) { w.truth.changed[order] = true })
	w.orders = w.Orders
	w.stock, w.ledger = checkedStock{redisstock.New(watched{w.Redis, w}), w}, ledger.New(w.Rows)
	for _, it := range w.allItems() {
		w.grown[it.ID] = it.Stock
		if err := w.items.Put(context.Background(), *it, &seckill.Description{Detail: "<p>手机</p>",
			Covers: []string{"/phone.jpg"}}); err != nil {
			return nil, err
		}
		it.Described, it.Cover = it.Version, "/phone.jpg"
		if it.Checks == seckill.ChecksStrict {
			if err := w.ask(it.ID, s.Questions); err != nil {
				return nil, err
			}
		}
	}
	listed, err := w.items.List(context.Background(), clock.Now())
	if err != nil {
		return nil, err
	}
	return w, published{w.items, w}.Publish(context.Background(), seckill.List{Version: 1, Items: listed})
}

// Drain runs the system without faults, a minute at a time, until nothing is left to do. It returns an error that names
// what never ends (L1, L2).
func (w *World) Drain() error {
	const rounds = 120 // two hours: longer than any wait in the system
	var err error
	minute, held := int64(0), 0
	for n := 0; n < rounds; {
		// Looks at a queue count only what is in it at that moment.
		bySeconds := w.bySeconds() || held < int(rounds*time.Minute/time.Second) && w.holdsBack()
		held++
		if bySeconds {
			w.Clock.Advance(time.Second)
		} else {
			n++
		}
		i := w.Start(nil)
		w.redrive()
		i.Deliver()
		for n := 0; n < 1000; n++ {
			any, e := i.Next()
			if e != nil {
				return e
			}
			if e := w.Check(); e != nil {
				return e
			}
			if !any {
				break
			}
		}
		if m := w.Clock.Now().Unix() / 60; m != minute {
			minute = m
			err = errors.Join(i.topUp(), i.Schedules())
		}
		if e := w.Check(); e != nil {
			return e
		}
		w.onRound()
		if stuck := n%30 == 29 && len(w.Provider.Lost) > 0; err == nil && (stuck || w.quiet() == nil) {
			if len(w.Provider.Lost) == 0 {
				again, e := i.catchUp()
				if e == nil && again {
					w.Clock.Advance(seckill.RecountWait)
					continue
				}
				return errors.Join(e, w.Converged())
			}
			if w.gone {
				if e := i.recordFromBills(); e != nil {
					return e
				}
				w.Provider.Lost = nil
				continue
			}
			w.Provider.Notifications, w.Provider.Lost = w.Provider.Lost, nil
		}
		if !bySeconds {
			w.Clock.Advance(w.idle())
		}
	}
	return errors.Join(fmt.Errorf("after %d minutes without faults", rounds), err, w.quiet())
}

package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"time"

	"seckill/shared/adapter/ledger"
	"seckill/shared/adapter/memory"
	"seckill/shared/adapter/redisstock"
	"seckill/shared/adapter/system"
	"seckill/shared/flow/buy"
	"seckill/shared/flow/consume"
	"seckill/shared/flow/expire"
	"seckill/shared/flow/notify"
	"seckill/shared/flow/repair"
	"seckill/shared/flow/shop"
	"seckill/shared/flow/stage"
	"seckill/shared/seckill"
)

// Hold is how long an unpaid order keeps its units in the world: the shortest that a real provider allows.
const Hold = seckill.MinHold

// World is the whole system in one goroutine: embedded drivers, a manual clock, a payment provider, and what really happened,
// against which Check judges.
type World struct {
	Clock    *memory.Clock
	Redis    *memory.Redis
	Rows     *memory.Rows
	Orders   *memory.Queue
	Closings *memory.Queue
	Provider *Provider
	Item     seckill.Item
	Events   Events

	items  *memory.Items
	stock  seckill.Stock
	ledger seckill.Ledger
	ids    *system.IDs

	forgot    bool                       // the stock has forgotten something
	asked     map[string]seckill.Request // every request made, by order id where it is known
	keys      map[string]int             // requests by user and count, for orders without a key
	acked     map[string]bool            // order ids that buy answered
	exact     bool                       // Check runs after every step: it sees when an order is placed
	stoppedAt time.Time                  // when a stop was acknowledged; zero while on sale
	states    map[string]seckill.State   // of each order at the last check
	returned  map[string]int             // how often each order gave its units back
}

// NewWorld makes a world with one item on sale, not yet installed.
func NewWorld(stock, limit int) (*World, error) {
	return NewWorldWith(stock, limit, memory.QueueOptions{})
}

// NewWorldWith makes a world whose queues have these manners.
func NewWorldWith(stock, limit int, q memory.QueueOptions) (*World, error) {
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	clock := memory.NewClock(start.Add(time.Second))
	w := &World{
		Clock: clock, Redis: memory.NewRedis(), Rows: memory.NewRows(memory.RowsOptions{Clock: clock, IndexLag: time.Second}),
		Orders: memory.NewQueue(clock, named(q, "orders")), Closings: memory.NewQueue(clock, named(q, "closings")),
		Provider: NewProvider(clock), Events: Events{}, items: memory.NewItems(), ids: system.NewIDs(&counter{}),
		asked: map[string]seckill.Request{}, keys: map[string]int{}, acked: map[string]bool{}, states: map[string]seckill.State{}, returned: map[string]int{},
	}
	w.stock, w.ledger = redisstock.New(w.Redis), ledger.New(w.Rows)
	w.Item = seckill.Item{ID: "1001", Commodity: seckill.Commodity{ID: "5", Title: "手机", Price: 99900}, Price: 8888, Start: start,
		End: start.Add(24 * time.Hour), CreateTime: start, Stock: stock, Limit: limit, Buckets: 2, Version: 1}
	return w, w.items.Put(context.Background(), w.Item)
}

func named(q memory.QueueOptions, name string) memory.QueueOptions { q.Name = name; return q }

// Forget has Redis lose everything.
func (w *World) Forget() {
	w.Redis.Flush()
	w.forgot = true
}

// counter is entropy that repeats with the world: each read differs from the one before.
type counter struct{ n uint64 }

func (c *counter) Read(p []byte) (int, error) {
	var b bytes.Buffer
	for b.Len() < len(p) {
		c.n++
		_ = binary.Write(&b, binary.BigEndian, c.n*0x9e3779b97f4a7c15)
	}
	return copy(p, b.Bytes()), nil
}

// none is the hook of a world in which nothing goes wrong.
func none(_ string, do func() error) error { return do() }

// Events counts what happened.
type Events map[seckill.Event]int

// Count implements seckill.Meter.
func (e Events) Count(what seckill.Event, n int) { e[what] += n }

// Instance is one process with all steps, and nothing in its memory yet.
type Instance struct {
	Buy     *buy.Flow
	Consume *consume.Flow
	Notify  *notify.Flow
	Expire  *expire.Flow
	Stage   *stage.Flow
	Repair  *repair.Flow
	Shop    *shop.Flow

	orders, closings seckill.Queue
	world            *World
}

// Start starts a process whose every port call goes through hook.
func (w *World) Start(hook Hook) *Instance { return w.StartAt(hook, w.Clock) }

// StartAt starts a process with a clock of its own.
func (w *World) StartAt(hook Hook, clock seckill.Clock) *Instance {
	st, lg, it := Stock{w.stock, hook}, Ledger{w.ledger, hook}, Items{w.items, hook}
	orders, closings := Queue{"orders", w.Orders, hook}, Queue{"closings", w.Closings, hook}
	pay := Payments{w.Provider, hook}
	rep := repair.New(repair.Deps{Stock: st, Ledger: lg, Items: it, Orders: orders, Clock: clock, IDs: w.ids, Meter: w.Events})
	return &Instance{
		Buy: buy.New(buy.Deps{Stock: st, Orders: orders, Items: it, Clock: clock, IDs: w.ids, Meter: w.Events}),
		Consume: consume.New(consume.Deps{Stock: st, Ledger: lg, Items: it, Orders: orders, Closings: closings, Clock: clock, Meter: w.Events,
			Repair: rep, Hold: Hold}),
		Notify: notify.New(notify.Deps{Payments: pay, Ledger: lg, Clock: clock, Meter: w.Events}),
		Expire: expire.New(expire.Deps{Ledger: lg, Payments: pay, Orders: orders, Closings: closings, Clock: clock, Meter: w.Events}),
		Stage:  stage.New(stage.Deps{Stock: st, Items: it, Clock: clock, IDs: w.ids}),
		Repair: rep,
		Shop:   shop.New(shop.Deps{Stock: st, Ledger: lg, Items: it, Closings: closings, Payments: pay, Clock: clock, Meter: w.Events}),
		orders: orders, closings: closings, world: w,
	}
}

// Purchase asks for units and notes that it was asked for, and what was answered.
func (i *Instance) Purchase(user string, count int, key string) (string, error) {
	w := i.world
	if key != "" {
		w.asked[seckill.KeyedOrderID(w.Item.ID, user, key)] = seckill.Request{User: user, Count: count}
	} else {
		w.keys[fmt.Sprint(user, "/", count)]++
	}
	id, err := i.Buy.Buy(context.Background(), buy.Purchase{Item: w.Item.ID, User: user, Count: count, Address: "杭州市西湖区1号", Key: key})
	if err == nil {
		w.acked[id] = true
	}
	return id, err
}

// Stop stops the sale, and notes when that was acknowledged.
func (i *Instance) Stop(stopped bool) error {
	if !stopped {
		i.world.stoppedAt = time.Time{}
	}
	err := i.Stage.SetStopped(context.Background(), i.world.Item.ID, stopped)
	if err == nil && stopped {
		i.world.stoppedAt = i.world.Clock.Now()
	}
	return err
}

// Next handles one message of each queue, if there is any; any says whether there was.
func (i *Instance) Next() (any bool, err error) {
	one := func(q seckill.Queue, handle func(context.Context, seckill.Delivery) error) {
		ctx := context.Background()
		batch, e := q.Receive(ctx, 1)
		err = errors.Join(err, e)
		for _, d := range batch {
			any = true
			if e := handle(ctx, d); e == nil {
				err = errors.Join(err, q.Delete(ctx, d))
			}
		}
	}
	one(i.orders, i.Consume.Handle)
	one(i.closings, i.Expire.Handle)
	return any, err
}

// Deliver sends every notice that waits; one that is not answered with success stays.
func (i *Instance) Deliver() {
	p := i.world.Provider
	var left []url.Values
	for _, n := range p.Notices {
		if i.Notify.Notify(context.Background(), n) != nil {
			left = append(left, n)
		}
	}
	p.Notices = left
}

// Schedules runs what runs each minute.
func (i *Instance) Schedules() error {
	ctx := context.Background()
	return errors.Join(i.Stage.Run(ctx), i.Repair.Run(ctx), i.Expire.Sweep(ctx))
}

// Drain lets the system run without faults, a minute at a time, until nothing is left to do, and says what never ends (L1, L2).
func (w *World) Drain() error {
	const rounds = 120 // two hours: longer than any wait in the system
	var err error
	for range rounds {
		i := w.Start(none)
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
		err = i.Schedules()
		if e := w.Check(); e != nil {
			return e
		}
		if err == nil && w.quiet() == nil {
			return w.Converged()
		}
		w.Clock.Advance(time.Minute)
	}
	return errors.Join(fmt.Errorf("after %d minutes without faults", rounds), err, w.quiet())
}

// SellOut has fresh shoppers buy and pay until every unit is sold (L4).
func (w *World) SellOut() error {
	i := w.Start(none)
	if err := i.Stop(false); err != nil {
		return err
	}
	for n := range w.Item.Stock + 2 {
		w.Clock.Advance(2 * time.Second)
		user := fmt.Sprint(9000 + n)
		id, err := i.Purchase(user, 1, "k")
		if seckill.CodeOf(err) == seckill.CodeSoldOut && err != nil {
			break
		}
		if err != nil {
			return fmt.Errorf("a fresh shopper: %w", err)
		}
		for any := true; any; {
			if any, err = i.Next(); err != nil {
				return err
			}
		}
		if err := i.PayNow(user, id); err != nil {
			return err
		}
	}
	if err := w.Drain(); err != nil {
		return err
	}
	if sold := len(w.Rows.Dump(ledger.TableUnits)); sold != w.Item.Stock {
		return fmt.Errorf("L4 %d of %d units sold with demand left", sold, w.Item.Stock)
	}
	return nil
}

// PayNow opens the cashier for an order and pays.
func (i *Instance) PayNow(user, order string) error {
	v, err := i.Shop.Order(context.Background(), user, order)
	if err != nil {
		return err
	}
	if v.PayString == "" {
		return fmt.Errorf("order %s in %s cannot be paid", order, v.Order.State)
	}
	no, err := i.world.Provider.Open(order)
	if err != nil {
		return err
	}
	return i.world.Provider.Pay(order, no)
}

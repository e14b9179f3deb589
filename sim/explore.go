package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"seckill/shared/adapter/ledger"
	"seckill/shared/adapter/memory"
	"seckill/shared/seckill"
)

// death is what a dying process panics with.
type death struct{}

var errFault = errors.New("fault")

// Act is one decision of the explorer. A history is a list of them, and any part of it can be played: an act that finds
// nothing to act on does nothing.
type Act struct {
	Kind string
	ID   int    // of the process that it starts, steps or kills
	A    uint64 // its choices
}

// process is one event being handled: a coroutine that stands before a port call.
type process struct {
	id    int
	name  string
	on    int // instance
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	call  string // before which it stands
	since time.Time
}

// Config is what a seed decides once: the world's size and how often what happens.
type Config struct {
	Stock, Limit, Users, Length int
	Weights                     []int // of kinds
	Unknown, Late               int   // per mille of port calls
	Duplicate                   float64
	Sticky                      int // percent: the same process goes on
	Skew                        []time.Duration
	Seed                        uint64
	Installed                   bool
	Honest                      bool // judge "sold out", too (H1)
}

var kinds = []string{"step", "buy", "consume", "close", "tick", "pay", "notify", "sweep", "repair", "cancel", "look", "stage", "kill", "flush", "snapshot", "restore",
	"stop", "grow", "late", "ghost", "jump"}

func configOf(seed uint64) (Config, *rand.Rand) {
	r := rand.New(rand.NewPCG(seed, 7))
	c := Config{Stock: 2 + r.IntN(3), Limit: 1 + r.IntN(2), Users: 3 + r.IntN(4), Length: 80 + r.IntN(260), Sticky: []int{0, 50, 90, 97}[r.IntN(4)],
		Seed: seed, Installed: r.IntN(100) < 80, Skew: []time.Duration{0, 0, 0}}
	w := map[string]int{"step": 60, "buy": 8, "consume": 10, "close": 3, "tick": 5, "pay": 5, "notify": 3, "sweep": 1, "repair": 3, "cancel": 2, "look": 1, "stage": 1}
	for _, k := range []string{"buy", "consume", "pay", "cancel", "repair", "sweep", "close", "tick"} {
		switch r.IntN(6) {
		case 0:
			w[k] *= 3
		case 1:
			w[k] = max(1, w[k]/3)
		}
	}
	on := func(percent int) bool { return r.IntN(100) < percent }
	if on(50) {
		w["kill"] = 1 + r.IntN(4)
	}
	if on(35) {
		w["flush"] = 1
	}
	if on(40) {
		w["snapshot"], w["restore"] = 3, 1+r.IntN(2)
	}
	if on(25) {
		w["stop"] = 1
	}
	if on(20) {
		w["grow"] = 1
	}
	if on(40) {
		w["ghost"] = 2
	}
	if on(20) {
		w["jump"] = 1
	}
	if on(50) {
		c.Unknown = 20 + r.IntN(100)
		if on(50) {
			c.Late, w["late"] = 10+r.IntN(60), 3
		}
	}
	if on(40) {
		c.Duplicate = 0.3 * r.Float64()
	}
	if on(50) {
		for i := range c.Skew {
			c.Skew[i] = time.Duration(r.IntN(4001)-2000) * time.Millisecond
		}
	}
	if on(50) { // a stock that forgets all the time
		c.Stock, c.Length = 2, 200+r.IntN(500)
		w["snapshot"], w["restore"], w["flush"], w["repair"] = 4, 2+r.IntN(3), r.IntN(2), 4+r.IntN(8)
		w["buy"], w["tick"] = 12, 4
	}
	for _, k := range kinds {
		c.Weights = append(c.Weights, w[k])
	}
	return c, r
}

// Explorer plays histories of several processes in one world, one port call at a time.
type Explorer struct {
	*World
	c         Config
	processes []*process
	current   *process
	fault     int // per mille drawn for this step
	instances []*Instance
	late      []func()
	snapshots []*memory.Snapshot
	bodies    [][]byte // of order messages ever sent
	sold      map[string]bool
	Steps     int
	Reached   map[string]int // how often which call was made, and how often it answered with an error
	Log       func(format string, args ...any)
}

type skewed struct {
	of seckill.Clock
	by time.Duration
}

func (s skewed) Now() time.Time { return s.of.Now().Add(s.by) }

// NewExplorer makes a world as the configuration says.
func NewExplorer(c Config) (*Explorer, error) {
	w, err := NewWorldWith(c.Stock, c.Limit, memory.QueueOptions{Seed: c.Seed, Shuffle: true, Duplicate: c.Duplicate})
	if err != nil {
		return nil, err
	}
	w.exact = true
	w.Clock.Advance(5 * time.Second) // the window is open by every clock
	e := &Explorer{World: w, c: c, Reached: map[string]int{}, sold: map[string]bool{}}
	for i := range c.Skew {
		e.instances = append(e.instances, e.instance(i))
	}
	if c.Installed {
		err = w.Start(none).Repair.Run(context.Background())
	}
	e.snapshots = append(e.snapshots, w.Redis.Snapshot())
	return e, err
}

func (e *Explorer) instance(i int) *Instance {
	in := e.StartAt(e.hook, skewed{e.Clock, e.c.Skew[i]})
	return in
}

func (e *Explorer) say(format string, args ...any) {
	if e.Log != nil {
		e.Log("%s "+format, append([]any{e.Clock.Now().Format("15:04:05.000")}, args...)...)
	}
}

// hook is before every port call of every process: others act, then it is carried out, or not, or later.
func (e *Explorer) hook(call string, do func() error) error {
	if call == "ledger.Returns" || call == "ledger.DueOrders" { // 16 shards, mostly empty: what follows from them is a step
		return do()
	}
	p := e.current
	p.call, p.since = call, e.Clock.Now()
	if !p.yield(struct{}{}) {
		panic(death{})
	}
	e.Steps++
	if call == "ledger.Place" && e.Clock.Now().Sub(p.since) > seckill.PlaceTimeout {
		e.say("#%d %s: %s misses its deadline", p.id, p.name, call)
		return context.DeadlineExceeded
	}
	switch f := e.fault; {
	case f < e.c.Unknown/2:
		e.say("#%d %s: %s fails, not done", p.id, p.name, call)
		return errFault
	case f < e.c.Unknown:
		err := do()
		e.say("#%d %s: %s fails, done (%v)", p.id, p.name, call, err)
		return errFault
	case f < e.c.Unknown+e.c.Late && call != "ledger.Place" && len(e.late) < 4:
		e.late = append(e.late, func() { err := do(); e.say("#%d %s: %s arrives late (%v)", p.id, p.name, call, err) })
		e.say("#%d %s: %s fails, and arrives later", p.id, p.name, call)
		return errFault
	}
	err := do()
	e.Reached[call]++
	if err != nil {
		e.Reached[call+" refused"]++
	}
	e.say("#%d %s: %s → %v", p.id, p.name, call, err)
	return err
}

func (e *Explorer) spawn(id int, name string, on uint64, body func(i *Instance)) {
	n := int(on % uint64(len(e.instances)))
	p := &process{id: id, name: name, on: n}
	i := e.instances[n]
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(death); !ok {
					panic(r)
				}
			}
		}()
		body(i)
	})
	e.processes = append(e.processes, p)
	e.step(p)
}

func (e *Explorer) step(p *process) {
	e.current = p
	if _, ok := p.next(); !ok {
		e.processes = slices.DeleteFunc(e.processes, func(q *process) bool { return q == p })
	}
	e.current = nil
}

func (e *Explorer) find(id int) *process {
	for _, p := range e.processes {
		if p.id == id {
			return p
		}
	}
	return nil
}

// handle is one delivery taken from a queue by a process.
func handle(q seckill.Queue, h func(context.Context, seckill.Delivery) error) {
	ctx := context.Background()
	batch, err := q.Receive(ctx, 1)
	if err != nil {
		return
	}
	for _, d := range batch {
		if h(ctx, d) == nil {
			_ = q.Delete(ctx, d)
		}
	}
}

// pick takes the n-th choice out of a.
func pick(a uint64, shift, n int) int { return int(a >> shift % uint64(n)) }

// Play does one act and judges.
func (e *Explorer) Play(t Act) error {
	ctx := context.Background()
	e.fault = 1000
	if t.Kind != "step" && t.Kind != "tick" {
		e.say("---- %s #%d", t.Kind, t.ID)
	}
	switch t.Kind {
	case "step":
		if p := e.find(t.ID); p != nil {
			e.fault = pick(t.A, 0, 1000)
			e.step(p)
		}
	case "kill":
		if p := e.find(t.ID); p != nil {
			p.stop()
			e.processes = slices.DeleteFunc(e.processes, func(q *process) bool { return q == p })
			if pick(t.A, 0, 2) == 0 {
				e.instances[p.on] = e.instance(p.on)
			}
		}
	case "buy":
		user, count, key := fmt.Sprint(1+pick(t.A, 8, e.c.Users)), 1, ""
		if pick(t.A, 16, 2) == 0 {
			key = fmt.Sprint("k", pick(t.A, 17, 2))
		}
		if pick(t.A, 20, 4) == 0 {
			count = e.c.Limit
		}
		e.spawn(t.ID, fmt.Sprintf("buy(%s ×%d %s)", user, count, key), t.A, func(i *Instance) { _, _ = i.Purchase(user, count, key) })
	case "consume":
		e.spawn(t.ID, "consume", t.A, func(i *Instance) {
			handle(i.orders, func(ctx context.Context, d seckill.Delivery) error {
				if len(e.bodies) < 40 {
					e.bodies = append(e.bodies, d.Body)
				}
				return i.Consume.Handle(ctx, d)
			})
		})
	case "ghost":
		if len(e.bodies) > 0 {
			return e.Orders.SendRaw(e.bodies[pick(t.A, 8, len(e.bodies))], 0)
		}
	case "close":
		e.spawn(t.ID, "close", t.A, func(i *Instance) { handle(i.closings, i.Expire.Handle) })
	case "tick":
		e.Clock.Advance([]time.Duration{50 * time.Millisecond, 300 * time.Millisecond, time.Second, 5 * time.Second, 31 * time.Second, time.Minute}[pick(t.A, 8, 6)])
	case "jump":
		e.Clock.Advance([]time.Duration{3 * time.Minute, 15 * time.Minute, time.Hour}[pick(t.A, 8, 3)])
	case "pay":
		e.pay(t.A)
	case "notify":
		if n := len(e.Provider.Notices); n > 0 {
			form := e.Provider.Notices[pick(t.A, 8, n)]
			e.spawn(t.ID, "notify", t.A, func(i *Instance) {
				if i.Notify.Notify(ctx, form) != nil || pick(t.A, 40, 5) == 0 {
					return
				}
				for k, f := range e.Provider.Notices {
					if f.Get("trade_no") == form.Get("trade_no") {
						e.Provider.Notices = slices.Delete(slices.Clone(e.Provider.Notices), k, k+1)
						return
					}
				}
			})
		}
	case "sweep":
		e.spawn(t.ID, "sweep", t.A, func(i *Instance) { _ = i.Expire.Sweep(ctx) })
	case "repair":
		e.spawn(t.ID, "repair", t.A, func(i *Instance) { _ = i.Repair.Run(ctx) })
	case "stage":
		e.spawn(t.ID, "stage", t.A, func(i *Instance) { _ = i.Stage.Run(ctx) })
	case "cancel", "look":
		rows := e.Rows.Dump(ledger.TableOrders)
		if len(rows) == 0 {
			break
		}
		o := rows[pick(t.A, 8, len(rows))]
		if t.Kind == "cancel" {
			e.spawn(t.ID, "cancel", t.A, func(i *Instance) { _, _ = i.Shop.Cancel(ctx, text(o, "user"), text(o, "id")) })
		} else {
			e.spawn(t.ID, "look", t.A, func(i *Instance) { _, _ = i.Shop.Newest(ctx, text(o, "user"), e.Item.ID) })
		}
	case "flush":
		e.Forget()
	case "snapshot":
		if len(e.snapshots) > 5 {
			e.snapshots = slices.Delete(e.snapshots, 1, 2)
		}
		e.snapshots = append(e.snapshots, e.Redis.Snapshot())
	case "restore":
		e.Redis.Restore(e.snapshots[pick(t.A, 8, len(e.snapshots))])
		e.forgot = true
	case "stop":
		e.spawn(t.ID, "stop", t.A, func(i *Instance) { _ = i.Stop(pick(t.A, 8, 2) == 0) })
	case "grow":
		if e.Item.Stock < 6 {
			e.spawn(t.ID, "grow", t.A, func(i *Instance) { _ = i.Stage.AddStock(ctx, e.Item.ID, e.Item.Stock+1) })
		}
	case "late":
		if len(e.late) > 0 {
			n := pick(t.A, 8, len(e.late))
			f := e.late[n]
			e.late = slices.Delete(e.late, n, n+1)
			f()
		}
	}
	return e.judge()
}

// pay has a shopper open the cashier, or pay what is open.
func (e *Explorer) pay(a uint64) {
	rows := e.Rows.Dump(ledger.TableOrders)
	if len(rows) == 0 {
		return
	}
	id := text(rows[pick(a, 8, len(rows))], "id")
	o, err := e.ledger.Order(context.Background(), id)
	if err == nil && o.Payable(e.Clock.Now()) {
		_, _ = e.Provider.Prepare(o)
	}
	p := e.Provider.orders[id]
	if p == nil {
		return
	}
	if len(p.trades) == 0 || len(p.trades) < 2 && pick(a, 24, 5) == 0 {
		_, err := e.Provider.Open(id)
		e.say("the cashier opens for %s: %v", id, err)
		return
	}
	err = e.Provider.Pay(id, p.trades[pick(a, 32, len(p.trades))].TradeNo)
	e.say("%s pays: %v", id, err)
}

// judge looks at the world after every step.
func (e *Explorer) judge() error {
	it, err := e.items.Get(context.Background(), e.Item.ID)
	if err != nil {
		return err
	}
	e.Item.Stock = it.Stock
	if !it.Stopped {
		e.stoppedAt = time.Time{}
	}
	if err := e.Check(); err != nil {
		return err
	}
	if !e.stoppedAt.IsZero() && !e.forgot {
		if s, err := e.Redis.Do("HGET", "{"+e.Item.ID+"}:item", "stopped"); err != nil || s == "0" {
			return fmt.Errorf("I10 the stock, which forgot nothing, sells after an acknowledged stop (%w)", err)
		}
	}
	if !e.c.Honest {
		return nil
	}
	return e.honest()
}

// honest: an order that hears "sold out" hears it while fewer units than it wants are nobody's: neither sold, nor awaited, nor on
// their way back. It is judged when the order is rejected, a step after the stock said so: a unit that came back in between is a
// false alarm.
func (e *Explorer) honest() error {
	t, err := e.truth()
	if err != nil {
		return err
	}
	for id, o := range t.orders {
		if text(o, "reason") != string(seckill.CodeSoldOut) || e.sold[id] {
			continue
		}
		e.sold[id] = true
		s, err := e.numbers()
		if err != nil || s == nil {
			return err
		}
		left := 0
		for n := 1; n <= e.Item.Stock; n++ {
			if _, sold := t.units[n]; sold {
				continue
			}
			holder := s.held[n]
			_, decided := t.orders[holder]
			aw, _ := e.Redis.Do("ZSCORE", "{"+e.Item.ID+"}:awaiting", holder)
			if holder == "" || holder == id || decided && aw == nil {
				left++
			}
		}
		for _, r := range t.returns {
			left -= len(unitsOf(r))
		}
		if left >= int(number(o, "count")) {
			return fmt.Errorf("H1 order %s hears sold out, %d units are nobody's", id, left)
		}
	}
	return nil
}

// End lets faults stop: what is late arrives, processes come to their end, and the rest is World's.
func (e *Explorer) End() error {
	e.say("==== faults stop")
	e.fault = 1000
	for _, f := range e.late {
		f()
		if err := e.judge(); err != nil {
			return err
		}
	}
	e.late = nil
	for n := 0; len(e.processes) > 0; n++ {
		if n > 100_000 {
			return errors.New("L1 a process never ends: " + e.processes[0].name)
		}
		e.step(e.processes[n%len(e.processes)])
		if err := e.judge(); err != nil {
			return err
		}
	}
	e.exact = false
	if e.Log != nil {
		e.say("state: %v", e.Redis.Dump())
	}
	if err := e.Drain(); err != nil {
		return fmt.Errorf("drained: %w", err)
	}
	if err := e.SellOut(); err != nil {
		return fmt.Errorf("sold out: %w", err)
	}
	return nil
}

func (e *Explorer) close() {
	for _, p := range e.processes {
		p.stop()
	}
	e.processes = nil
}

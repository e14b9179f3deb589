package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/proof/sim/linear"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// New returns the world of a plan.
func New(p Plan) (*Sim, error) {
	w, err := NewWorldOf(p.setting())
	if err != nil {
		return nil, err
	}
	w.gone, w.hasWebhook = p.Seed%2 == 1, p.Seed/2%2 == 0
	if err := w.puzzle(); err != nil {
		return nil, err
	}
	s := of(w, p)
	w.Clock.Advance(5 * time.Second) // now the window is open by every clock
	if p.Installed {
		if err := readable(w.Start(nil).Repair.Run(context.Background())); err != nil {
			return nil, err
		}
		if err := w.holdNothing(); err != nil {
			return nil, err
		}
	}
	for _, d := range p.Skew {
		if d != 0 {
			s.fire(Skew)
		}
	}
	for _, it := range s.allItems() {
		s.note(it)
	}
	switch {
	case p.SignsOut:
		err = w.beginSessions(p.Shoppers)
	case p.Hoards:
		err = w.blockHoarder()
	}
	if err != nil {
		return nil, err
	}
	s.minute = s.Clock.Now().Unix() / 60
	s.snapshots = []snapshot{{s.Clock.Now(), w.Redis.Snapshot()}}
	if p.Prelude != "" {
		return s, s.playPrelude()
	}
	return s, nil
}

// playPrelude plays the beginning of the plan's history, without faults.
func (s *Sim) playPrelude() error {
	i := s.Start(nil)
	var err error
	count := 1
	reserve := func(user string) *orderRow {
		p, e1 := i.admitted(buy.Purchase{Item: s.Item.ID, User: user, Count: count,
			Given: seckill.Given{Address: addresses[0]}, Key: "past"})
		id, e2 := s.purchase(i, p)
		err = errors.Join(err, e1, e2)
		return &orderRow{id: id, user: user, item: s.Item.ID}
	}
	handleAll := func() { err = errors.Join(err, i.handleAll()) }
	keep := func() { s.snapshots = append(s.snapshots, snapshot{s.Clock.Now(), s.Redis.Snapshot()}) }
	if s.plan.Prelude == "opened" { // shoppers are about to pay
		for n := range s.Item.Stock {
			o := reserve(strconv.Itoa(91 + n))
			handleAll()
			err = errors.Join(err, s.look(i, o))
		}
		return errors.Join(err, s.check())
	}
	if s.plan.Prelude == "promised" { // orders wait, and a consumer that died took some of their messages
		for n := range 2 + s.plan.Seed/8%2 {
			count = 1 + int(s.plan.Seed>>n%2)
			reserve(strconv.FormatUint(91+n, 10))
		}
		_, err2 := s.Orders.Receive(context.Background(), 1+int(s.plan.Seed/16%3))
		s.Forget()
		return errors.Join(err, err2, s.check())
	}
	// The stock holds a unit that no order owns, and lists a sold unit as free: of three units two were sold, and after
	// the snapshot one of these was given back and the third was sold. Or the stock has lost everything.
	first, _ := reserve("91"), reserve("92")
	keep()
	handleAll()
	err = errors.Join(err, readable(i.Repair.Run(context.Background())))
	keep()
	reserve("93")
	handleAll()
	err = errors.Join(err, s.cancel(i, first))
	handleAll()
	if s.plan.Prelude == "flushed" {
		s.Forget()
		s.snapshots = nil
		keep()
	} else {
		s.Recall(s.snapshots[2].Snapshot)
	}
	return errors.Join(err, s.check())
}

// of returns a simulation of an existing world.
func of(w *World, p Plan) *Sim {
	s := &Sim{World: w, plan: p, facts: map[string]*linear.Truth{}, Calls: map[string]int{},
		queues: map[string]*slowQueue{}, recounts: map[string]string{}, kept: map[holder]reply{}}
	w.truth.say = func(format string, args ...any) { s.trace.say(w.Clock.Now(), format, args...) }
	for _, it := range w.allItems() {
		limit := it.Limit
		if it.Variant.Span() != "" {
			limit = 0 // a shopper may reach it by other items
		}
		s.facts[it.ID] = &linear.Truth{Limit: limit, Opens: s.nano(it.Start), Closes: s.nano(it.End)}
	}
	w.onRound = func() { s.Out.look(s) }
	w.bySeconds = func() bool { return s.Out.On && len(s.Out.since) > 0 }
	w.onRedrive = func() { s.fire(Park) }
	w.refusesEvent = func(n int) bool {
		refused := s.faultsOn && p.Faults[Partial] && pick(s.draw, 8+n, 100) < p.Rates[Partial]/4
		if refused {
			s.fire(Partial)
		}
		return refused
	}
	w.onLoss = func() { s.losses = append(s.losses, s.tick()) }
	for name, q := range map[string]*memory.Queue{"orders": w.Orders, "closings": w.Closings} {
		s.queues[name] = &slowQueue{Queue: q, now: w.Clock.Now, misled: func() {
			w.promises.misled = w.promises.misled || w.losses > 0
		}}
	}
	w.orders = s.queues["orders"]
	w.promises.jumps = p.Faults[ClockJump]
	for i := range p.Skew {
		s.instances = append(s.instances, nil)
		s.restart(i)
	}
	return s
}

// holdNothing makes the items sell as if they had been installed before their sale. The queue has looks at most.
func (w *World) holdNothing() error {
	for _, it := range w.allItems() {
		level, err := w.stock.Level(context.Background(), it.ID)
		if err != nil {
			continue // it is not on sale
		}
		h := seckill.HeldBack{Build: level.Back.Build}
		for h.Looks = 1; h.Looks <= 2; h.Looks++ {
			if _, err := w.stock.HoldBack(context.Background(), it.ID, h); err != nil {
				return err
			}
		}
	}
	return w.Start(nil).handleAll()
}

// restart replaces an instance by a new instance without memory.
func (s *Sim) restart(i int) {
	c := &skewed{s.Clock, s.plan.Skew[i]}
	rows := Rows{s.Rows, s.hookRows, s.plan.sabotage, false}
	s.instances[i] = &instance{Instance: s.start(s.hook, c, rows, s.queues["orders"], s.queues["closings"], s.Provider),
		clock: c}
	in := s.instances[i]
	in.keys.learns = learning(s.plan.Seed, i)
	if in.tickets != nil {
		in.tickets.learns, in.tickets.fails = in.keys.learns, unreadable(s.plan.Seed, i)
	}
}

// check checks the world after every act.
func (s *Sim) check() error {
	for _, it := range s.allItems() {
		row, err := s.items.Get(context.Background(), it.ID)
		if err != nil {
			return err
		}
		it.Stock = row.Stock
		if err := s.checkStops(&row); err != nil {
			return err
		}
		if !row.Stopped {
			delete(s.stoppedAt, it.ID)
		}
		if s.touched || row.Stopped != it.Stopped {
			it.Stopped = row.Stopped
			s.note(it)
		}
	}
	if len(s.truth.changed) > 0 {
		s.wrote = s.Clock.Now()
	}
	err := s.Check()
	s.Out.look(s)
	return err
}

// note records an item's state from now on.
func (s *Sim) note(it *seckill.Item) {
	m := linear.Moment{At: s.tick(), Stopped: it.Stopped}
	if num, err := s.numbersOf(it.ID); err == nil && num != nil {
		m.Installed, m.Left, m.Stopped = true, num.stock-num.highWater+len(num.free), m.Stopped || num.stopped
		m.HoldsBack = num.holdsBack
	}
	s.facts[it.ID].Note(m)
}

// End ends the faults: delayed calls arrive, processes finish, parked messages are moved back, and World does the
// rest.
func (s *Sim) End() error {
	s.trace.say(s.Clock.Now(), "==== faults stop")
	s.faultsOn, s.refuses, s.faultsEnded = false, time.Time{}, s.Clock.Now()
	for _, in := range s.instances {
		in.frozen = time.Time{}
	}
	for _, f := range slices.Concat(s.late, s.lateReads) {
		f()
		if err := s.check(); err != nil {
			return err
		}
	}
	s.late, s.lateReads, s.webhookDead = nil, nil, false
	for n := 0; len(s.processes)+len(s.readers) > 0; n++ {
		list := s.processes
		if len(list) == 0 {
			list = s.readers
		}
		if n > 100_000 {
			return errors.New("L1 a process never ends: " + list[0].name)
		}
		s.step(list[n%len(list)])
		if err := s.check(); err != nil {
			return err
		}
	}
	if err := s.Drain(); err != nil {
		return fmt.Errorf("drained: %w", err)
	}
	s.Out.end(s)
	if err := s.checkAnswers(); err != nil {
		return fmt.Errorf("I12 what shoppers were told: %w", err)
	}
	if err := s.checkParked(); err != nil {
		return err
	}
	if err := s.checkIdentities(); err != nil {
		return err
	}
	if err := s.checkBlocking(); err != nil {
		return fmt.Errorf("blocked: %w", err)
	}
	if err := s.checkSpanning(); err != nil {
		return fmt.Errorf("a limit that spans: %w", err)
	}
	if err := s.SellOut(); err != nil {
		return fmt.Errorf("sold out: %w", err)
	}
	if err := s.retire(); err != nil {
		return fmt.Errorf("retired: %w", err)
	}
	if err := s.outlive(); err != nil {
		return fmt.Errorf("the time of addresses over: %w", err)
	}
	if err := s.parcelsArrive(); err != nil {
		return fmt.Errorf("parcels arrived: %w", err)
	}
	return nil
}

// retire lets an ended item become so old that the stock removes it, while its messages are delivered once more.
func (s *Sim) retire() error {
	ends := s.Item.End
	if s.plan.Items[0].Lasts == 0 || len(s.plan.Items) > 1 {
		return nil
	}
	away := time.Duration(0)
	if s.plan.Seed%2 == 1 { // stage did not run for days, fewer than addresses are kept; or clocks were set forward
		away = time.Duration(1+s.plan.Seed/2%27) * 24 * time.Hour
	}
	s.trace.say(s.Clock.Now(), "two days pass, stage away for %s", away)
	s.Clock.Advance(max(0, ends.Add(seckill.KeepLoaded+10*time.Minute+away).Sub(s.Clock.Now())))
	for _, b := range s.bodies {
		if err := s.Orders.SendRaw(b, 0); err != nil {
			return err
		}
	}
	return s.Drain()
}

// parcelsArrive lets the time of parcels pass: what was shipped is completed, unless its money goes back (L1).
func (w *World) parcelsArrive() error {
	sent := func() (out []string) {
		for _, id := range w.truth.list {
			if s := w.truth.orders[id].state; s == seckill.Shipped || s == seckill.Received {
				out = append(out, fmt.Sprintf("%s %s", id, s))
			}
		}
		return out
	}
	if len(sent()) == 0 {
		return nil
	}
	for _, wait := range []time.Duration{seckill.ReceivedAfter, seckill.CompletedAfter} {
		w.Clock.Advance(wait + time.Hour) // clocks differ, and an index lags
		if err := w.Start(nil).Expire.Sweep(context.Background()); err != nil {
			return err
		}
		if err := w.Check(); err != nil {
			return err
		}
	}
	if left := sent(); len(left) > 0 {
		return fmt.Errorf("L1 orders stay on their way: %s", strings.Join(left, ", "))
	}
	return nil
}

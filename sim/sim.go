package sim

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/adapter/memory"
	"github.com/your-org/seckill/shared/flow/buy"
	"github.com/your-org/seckill/shared/seckill"
	"github.com/your-org/seckill/sim/linear"
)

// death is what a dying process panics with.
type death struct{}

var errFault = errors.New("fault")

// Sim plays a history of several processes in one world, one port call at a time. Nothing in it runs at the same time:
// a process is a coroutine that stands before a port call until it is stepped.
type Sim struct {
	*World
	plan      Plan
	trace     trace
	processes []*process
	idle      []*routine
	current   *process
	instances []*instance
	faultsOn  bool   // faults strike port calls
	swept     uint64 // reads of sweeps
	draw      uint64 // what this step's chance drew
	can       []int  // for moving, which is asked at each act

	late      []func()
	snapshots []snapshot
	bodies    [][]byte // of order messages ever received
	refuses   time.Time
	silent    time.Time // schedules are gone until then
	wrote     time.Time // when the ledger last changed
	deferred  bool      // schedules that are late
	minute    int64     // that schedules last ran in
	queues    map[string]*slowQueue

	heard        linear.Recorder // what shoppers asked and were told
	facts        map[string]*linear.Truth
	losses       []int64
	acknowledged []*orderRow // orders that shoppers were answered
	monotonic    int64

	Steps              int
	Checked, Undecided int // answers compared; shoppers whose answers took too long to judge
	Fired              [nFaults]int
	Calls              map[string]int // how often which port call was made
	States             sketch
	Out                outOfSale
}

// process is one event being handled.
type process struct {
	id     int
	name   string
	on     int // instance
	run    *routine
	method string // of the ledger, that its rows are read or written for
	call   string // before which it stands
	since  time.Time
	dies   bool // after the call that it is at
	killed bool // before it
	ends   func()
	left   int  // calls until its time is up; 0: it has time
	what   Kind // of act that began it
}

// instance is one process's memory and clock.
type instance struct {
	*Instance
	clock  *skewed
	frozen time.Time // until then
}

// skewed is an instance's clock, which may be wrong and jump; its count does not.
type skewed struct {
	of *memory.Clock
	by time.Duration
}

func (s *skewed) Now() time.Time           { return s.of.Now().Add(s.by) }
func (s *skewed) Monotonic() time.Duration { return s.of.Monotonic() }

type snapshot struct {
	at time.Time
	*memory.Snapshot
}

// slowQueue is a queue that may add to a message's delay, and that knows what it has delivered.
type slowQueue struct {
	*memory.Queue
	extra   time.Duration
	newest  int // number of the newest message ever delivered
	repeats int // deliveries that were repeated
}

func (q *slowQueue) Send(ctx context.Context, m seckill.Message, delay time.Duration) error {
	extra := q.extra
	q.extra = 0
	return q.Queue.Send(ctx, m, min(delay+extra, seckill.MaxDelay))
}

// New makes the world of a plan.
func New(p Plan) (*Sim, error) {
	w, err := NewWorldOf(p.setting())
	if err != nil {
		return nil, err
	}
	w.gone = p.Seed%2 == 1
	if err := w.puzzle(); err != nil {
		return nil, err
	}
	s := of(w, p)
	w.Clock.Advance(5 * time.Second) // the window is open by every clock
	if p.Installed {
		if err := readable(w.Start(w.plain).Repair.Run(context.Background())); err != nil {
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
	s.minute = s.Clock.Now().Unix() / 60
	s.snapshots = []snapshot{{s.Clock.Now(), w.Redis.Snapshot()}}
	if p.Prelude != "" {
		return s, s.playPrelude()
	}
	return s, nil
}

// playPrelude brings about what the plan's history begins with, while nothing goes wrong.
func (s *Sim) playPrelude() error {
	i := s.Start(s.plain)
	var err error
	reserve := func(user string) *orderRow {
		id, e := s.purchase(i, buy.Purchase{Item: s.Item.ID, User: user, Count: 1, Address: addresses[0], Key: "past"})
		err = errors.Join(err, e)
		return &orderRow{id: id, user: user, item: s.Item.ID}
	}
	handleAll := func() { err = errors.Join(err, s.handleAll(i)) }
	keep := func() { s.snapshots = append(s.snapshots, snapshot{s.Clock.Now(), s.Redis.Snapshot()}) }
	if s.plan.Prelude == "opened" { // shoppers are about to pay
		for n := range s.Item.Stock {
			o := reserve(strconv.Itoa(91 + n))
			handleAll()
			err = errors.Join(err, s.look(i, o))
		}
		return errors.Join(err, s.check())
	}
	// The stock holds a number that is nobody's, and thinks one free that is sold: of three units two were sold; since
	// then one was given back, and the third sold. Or it has forgotten all that.
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

// handleAll handles messages until there are none.
func (s *Sim) handleAll(i *Instance) error {
	for {
		if any, err := i.Next(); !any || err != nil {
			return err
		}
	}
}

// of is a simulation of a world that is there already.
func of(w *World, p Plan) *Sim {
	s := &Sim{World: w, plan: p, facts: map[string]*linear.Truth{}, Calls: map[string]int{},
		queues: map[string]*slowQueue{}}
	w.truth.say = func(format string, args ...any) { s.trace.say(w.Clock.Now(), format, args...) }
	for _, it := range w.allItems() {
		s.facts[it.ID] = &linear.Truth{Limit: it.Limit, Opens: s.nano(it.Start), Closes: s.nano(it.End)}
	}
	w.onRound = func() { s.Out.look(s) }
	w.bySeconds = func() bool { return s.Out.On && len(s.Out.since) > 0 }
	w.onRedrive = func() { s.fire(Park) }
	w.onLoss = func() { s.losses = append(s.losses, s.tick()) }
	for name, q := range map[string]*memory.Queue{"orders": w.Orders, "closings": w.Closings} {
		s.queues[name] = &slowQueue{Queue: q}
	}
	for i := range p.Skew {
		s.instances = append(s.instances, nil)
		s.restart(i)
	}
	return s
}

// restart gives an instance's place to a new one, which remembers nothing.
func (s *Sim) restart(i int) {
	c := &skewed{s.Clock, s.plan.Skew[i]}
	lg := Ledger{ledger.New(Rows{s.Rows, s.hookRows, s.plan.sabotage}), s.method}
	s.instances[i] = &instance{Instance: s.start(s.hook, c, lg, s.queues["orders"], s.queues["closings"], s.Provider),
		clock: c}
}

// spawn begins a process, up to before its first port call.
func (s *Sim) spawn(id int, what Kind, name string, on uint64, body func(i *Instance)) {
	n := int(on % uint64(len(s.instances)))
	for k := range s.instances { // not on one that stands still
		if m := (n + k) % len(s.instances); !s.Clock.Now().Before(s.instances[m].frozen) {
			n = m
			break
		}
	}
	p := &process{id: id, what: what, name: name, on: n, run: s.routine()}
	i := s.instances[n].Instance
	p.run.body = func() { body(i) }
	s.processes = append(s.processes, p)
	s.trace.step(s.Clock.Now(), p, "begins on instance ", strconv.Itoa(n))
	s.step(p)
}

// step lets a process make the call that it stands before, and go on to the next.
func (s *Sim) step(p *process) {
	s.current = p
	if ended, ok := p.run.next(); ended || !ok {
		s.remove(p)
		s.idle = append(s.idle, p.run)
	}
	s.current = nil
}

// kill ends a process before the call that it stands at.
func (s *Sim) kill(p *process) {
	p.killed = true
	s.step(p)
}

func (s *Sim) remove(p *process) {
	s.processes = slices.DeleteFunc(s.processes, func(q *process) bool { return q == p })
}

func (s *Sim) find(id int) *process {
	for _, p := range s.processes {
		if p.id == id {
			return p
		}
	}
	return nil
}

// check looks at the world after every act.
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
	s.States.add(s.fingerprint())
	s.Out.look(s)
	return err
}

// nano is a time as the judge of answers wants it.
func (s *Sim) nano(at time.Time) int64 { return at.Sub(epoch).Nanoseconds() }

// tick is now, and later than the tick before: what happens at one time happens in an order.
func (s *Sim) tick() int64 {
	s.monotonic++
	return s.nano(s.Clock.Now()) + s.monotonic
}

// note writes down what holds of an item from now on.
func (s *Sim) note(it *seckill.Item) {
	m := linear.Moment{At: s.tick(), Stopped: it.Stopped}
	if num, err := s.numbersOf(it.ID); err == nil && num != nil {
		m.Installed, m.Left, m.Stopped = true, num.stock-num.highWater+len(num.free), m.Stopped || num.stopped
	}
	s.facts[it.ID].Note(m)
}

// checkAnswers judges what shoppers were told, all together.
func (s *Sim) checkAnswers() error {
	o := linear.Options{Losses: s.losses, Truth: s.facts, Stale: int64(seckill.ItemFresh),
		Skew: int64(seckill.SkewBound)}
	if s.plan.Faults[ClockJump] {
		o.Stale += int64(2 * seckill.SkewBound) // an instance measures a second by its own clock
	}
	r, err := linear.Check(s.heard.Ops(), o)
	s.Checked += r.Operations + r.Refusals
	if errors.Is(err, linear.ErrUndecided) {
		s.Undecided += r.Undecided
		return nil
	}
	return err
}

// End lets faults stop: what is late arrives, processes come to their end, what was parked is moved back, and the rest
// is World's.
func (s *Sim) End() error {
	s.trace.say(s.Clock.Now(), "==== faults stop")
	s.faultsOn, s.refuses, s.faultsEnded = false, time.Time{}, s.Clock.Now()
	for _, in := range s.instances {
		in.frozen = time.Time{}
	}
	for _, f := range s.late {
		f()
		if err := s.check(); err != nil {
			return err
		}
	}
	s.late = nil
	for n := 0; len(s.processes) > 0; n++ {
		if n > 100_000 {
			return errors.New("L1 a process never ends: " + s.processes[0].name)
		}
		s.step(s.processes[n%len(s.processes)])
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
	if err := s.SellOut(); err != nil {
		return fmt.Errorf("sold out: %w", err)
	}
	if err := s.retire(); err != nil {
		return fmt.Errorf("retired: %w", err)
	}
	if err := s.outlive(); err != nil {
		return fmt.Errorf("the time of addresses over: %w", err)
	}
	return nil
}

// retire lets an item that ends grow so old that the stock forgets it, while its messages come back once more.
func (s *Sim) retire() error {
	ends := s.Item.End
	if s.plan.Items[0].Lasts == 0 || len(s.plan.Items) > 1 {
		return nil
	}
	s.trace.say(s.Clock.Now(), "two days pass")
	s.Clock.Advance(max(0, ends.Add(seckill.KeepLoaded+10*time.Minute).Sub(s.Clock.Now())))
	for _, b := range s.bodies {
		if err := s.Orders.SendRaw(b, 0); err != nil {
			return err
		}
	}
	return s.Drain()
}

// checkParked: L5. Every message that nobody can read is in a dead-letter queue.
func (s *Sim) checkParked() error {
	seen := map[string]bool{}
	for _, q := range s.queues {
		for _, m := range q.Parked() {
			seen[string(m.Body)] = true
		}
	}
	for body := range s.anomalies {
		if !seen[body] {
			return fmt.Errorf("L5 nobody can do anything with a message, and it is not parked: %s", body)
		}
	}
	return nil
}

// close ends what is under way.
func (s *Sim) close() {
	for _, p := range s.processes {
		p.run.stop()
	}
	for _, r := range s.idle {
		r.stop()
	}
	s.processes, s.idle = nil, nil
	s.over()
}

// forms of notifications that wait.
func (s *Sim) notifications() []url.Values { return s.Provider.Notifications }

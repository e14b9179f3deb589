package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/adapter/memory"
	"github.com/your-org/seckill/shared/seckill"
	"github.com/your-org/seckill/sim/linear"
)

var errFault = errors.New("fault")

// Sim plays a history of several processes in one world, one port call at a time. Nothing in it runs at the same time:
// a process is a coroutine that waits before a port call until it is stepped.
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
	Checked, Undecided int // answers compared; shoppers whose answers took too long to check
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

// handleAll handles messages until there are none.
func (s *Sim) handleAll(i *Instance) error {
	for {
		if any, err := i.Next(); !any || err != nil {
			return err
		}
	}
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

// step lets a process make the call that it waits before, and go on to the next.
func (s *Sim) step(p *process) {
	s.current = p
	if ended, ok := p.run.next(); ended || !ok {
		s.remove(p)
		s.idle = append(s.idle, p.run)
	}
	s.current = nil
}

// kill ends a process before the call that it waits at.
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

// nano is a time as the check of answers wants it.
func (s *Sim) nano(at time.Time) int64 { return at.Sub(epoch).Nanoseconds() }

// tick is now, and later than the tick before: what happens at one time happens in an order.
func (s *Sim) tick() int64 {
	s.monotonic++
	return s.nano(s.Clock.Now()) + s.monotonic
}

// checkAnswers checks what shoppers were told, all together.
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

// checkParked: L5. Every unreadable message is in a dead-letter queue.
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

func (s *Sim) pickItem(a uint64) *seckill.Item {
	items := s.allItems()
	return items[pick(a, 4, len(items))]
}

// offers reports whether a number without a unit row is free, or reserved for an order that waits to be
// placed.
func (num *numbers) offers(s *Sim, item string, n int) bool {
	if holder := num.held[n]; holder != "" {
		score, _ := s.Redis.Do("ZSCORE", stockKey(item, "awaiting"), holder)
		return score != nil
	}
	return num.free[n] || n > num.highWater
}

// fingerprint is what the world's state is told from others by: orders by state and units, processes by what they do
// and where they stand, and what is on its way.
func (s *Sim) fingerprint() uint64 {
	h := uint64(len(s.late))<<8 + uint64(len(s.truth.returns))<<16 + uint64(len(s.notifications()))<<24 +
		uint64(len(s.Provider.list))<<32
	for _, o := range s.truth.orders {
		h += mix(o.state, "", len(o.units))
	}
	for _, p := range s.processes {
		h += mix(seckill.State(p.call), p.method, int(p.what))
	}
	return h
}

// routine is one that has nothing to do.
func (s *Sim) routine() *routine {
	if n := len(s.idle); n > 0 {
		r := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return r
	}
	r := &routine{}
	r.next, r.stop = iter.Pull(func(yield func(bool) bool) {
		r.yield = yield
		for {
			r.live()
			if !yield(true) {
				return
			}
		}
	})
	return r
}

// step writes one line: when, which process, what it called, and how that went.
func (t *trace) step(at time.Time, p *process, what, how string) {
	t.time(at)
	t.buf = append(t.buf, '#')
	t.buf = strconv.AppendInt(t.buf, int64(p.id), 10)
	t.buf = append(t.buf, ' ')
	t.buf = append(t.buf, p.name...)
	t.buf = append(t.buf, ": "...)
	t.buf = append(t.buf, what...)
	t.buf = append(t.buf, how...)
	t.buf = append(t.buf, '\n')
}

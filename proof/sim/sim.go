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

	"github.com/your-org/seckill/proof/sim/linear"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// Sim plays a history of several processes in one world, one port call at a time, without concurrency: a process is a
// coroutine that waits before each port call until it is stepped.
type Sim struct {
	*World
	plan      Plan
	trace     trace
	processes []*process
	readers   []*process // of the stream, and operators about it
	idle      []*routine
	current   *process
	instances []*instance
	faultsOn  bool   // faults are applied to port calls
	swept     uint64 // reads of sweeps
	draw      uint64 // the current step's random draw
	can       []int  // used by moving, which runs at each act

	late      []func()
	lateReads []func()          // of readers
	recounts  map[string]string // by item, the cursor of a recount
	kept      map[holder]reply  // challenges that shoppers keep, the answers with them
	snapshots []snapshot
	bodies    [][]byte // all received order messages
	refuses   time.Time
	silent    time.Time // no schedule runs before this time
	wrote     time.Time // when the ledger last changed
	deferred  bool      // schedules are delayed
	minute    int64     // the minute in which schedules last ran
	queues    map[string]*slowQueue

	heard        linear.Recorder // requests and answers of shoppers
	facts        map[string]*linear.Truth
	losses       []int64
	acknowledged []*orderRow // orders that were acknowledged to shoppers
	monotonic    int64

	Steps              int
	Checked, Undecided int // answers checked; shoppers whose answers took too long to check
	Fired              [nFaults]int
	Calls              map[string]int // number of calls by name
	Out                outOfSale
}

// process is the handling of one event.
type process struct {
	id     int
	name   string
	on     int // its instance
	run    *routine
	call   string // the port call that it waits before
	since  time.Time
	dies   bool // after its current call
	killed bool // before its current call
	ends   func()
	left   int  // calls until its time is up; 0 if unlimited
	what   Kind // kind of the act that started it
}

// instance is one process's memory and clock.
type instance struct {
	*Instance
	clock  *skewed
	frozen time.Time // suspended until then
}

// skewed is an instance's clock, which may be wrong and jump; its monotonic reading does not.
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

// slowQueue is a queue that may add to a message's delay, and that records its deliveries.
type slowQueue struct {
	*memory.Queue
	extra   time.Duration
	newest  int // number of the newest message that was delivered
	repeats int // deliveries that were repeated

	now     func() time.Time
	late    []time.Time // when messages become visible whose delay nobody asked for: they count as visible before
	samples []sample    // earlier counts
	stale   uint64      // a random number if the next count is one of them; else 0
	misled  func()      // is called when such a count looks new and shows less than there is
}

// sample is what a queue counted at a moment.
type sample struct {
	at time.Time
	seckill.Depth
}

// sample counts the queue for later.
func (q *slowQueue) sample() {
	d, err := q.count()
	if err != nil {
		return // cannot happen
	}
	now := q.now()
	q.samples = slices.DeleteFunc(q.samples, func(s sample) bool { return now.Sub(s.at) > countsLag })
	q.samples = append(q.samples, sample{now, d})
}

// Depth implements seckill.Queue.
func (q *slowQueue) Depth(context.Context) (seckill.Depth, error) {
	n, now := q.stale, q.now()
	q.stale = 0
	q.samples = slices.DeleteFunc(q.samples, func(s sample) bool { return now.Sub(s.at) > countsLag })
	if n > 0 && len(q.samples) > 0 {
		old := q.samples[n%uint64(len(q.samples))].Depth
		if d, err := q.count(); err == nil && old.Delayed > 0 && old.InFlight > 0 &&
			old.Visible+old.InFlight < d.Visible+d.InFlight {
			q.misled()
		}
		return old, nil
	}
	return q.count()
}

func (q *slowQueue) count() (seckill.Depth, error) {
	d, err := q.Queue.Depth(context.Background())
	now := q.now()
	q.late = slices.DeleteFunc(q.late, func(due time.Time) bool { return !due.After(now) })
	n := min(len(q.late), d.Delayed)
	d.Delayed, d.Visible = d.Delayed-n, d.Visible+n
	return d, err
}

func (q *slowQueue) Send(ctx context.Context, m seckill.Message, delay time.Duration) error {
	extra := q.extra
	q.extra = 0
	if extra > 0 {
		q.late = append(q.late, q.now().Add(min(delay+extra, seckill.MaxDelay)))
	}
	return q.Queue.Send(ctx, m, min(delay+extra, seckill.MaxDelay))
}

// spawn starts a process and runs it to its first port call.
func (s *Sim) spawn(id int, what Kind, name string, on uint64, body func(i *Instance)) {
	s.begin(&s.processes, id, what, name, on, body)
}

func (s *Sim) begin(list *[]*process, id int, what Kind, name string, on uint64, body func(i *Instance)) {
	n := int(on % uint64(len(s.instances)))
	for k := range s.instances { // not on a frozen one
		if m := (n + k) % len(s.instances); !s.Clock.Now().Before(s.instances[m].frozen) {
			n = m
			break
		}
	}
	p := &process{id: id, what: what, name: name, on: n, run: s.routine()}
	i := s.instances[n].Instance
	p.run.body = func() { body(i) }
	*list = append(*list, p)
	s.trace.step(s.Clock.Now(), p, "begins on instance ", strconv.Itoa(n))
	s.step(p)
}

// step executes the call that a process waits before, and runs it to the next one.
func (s *Sim) step(p *process) {
	s.current = p
	if ended, ok := p.run.next(); ended || !ok {
		s.remove(p)
		s.idle = append(s.idle, p.run)
	}
	s.current = nil
}

// kill ends a process before its next call.
func (s *Sim) kill(p *process) {
	p.killed = true
	s.step(p)
}

func (s *Sim) remove(p *process) {
	same := func(q *process) bool { return q == p }
	s.processes, s.readers = slices.DeleteFunc(s.processes, same), slices.DeleteFunc(s.readers, same)
}

func (s *Sim) find(id int) *process {
	for _, p := range s.processes {
		if p.id == id {
			return p
		}
	}
	return nil
}

// nano returns a time in the unit of package linear.
func (s *Sim) nano(at time.Time) int64 { return at.Sub(epoch).Nanoseconds() }

// tick returns a time later than the previous tick, so that simultaneous events have an order.
func (s *Sim) tick() int64 {
	s.monotonic++
	return s.nano(s.Clock.Now()) + s.monotonic
}

// checkAnswers checks all answers to shoppers together.
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

// checkParked checks L5: every unreadable message is in a dead-letter queue.
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

// close ends everything under way.
func (s *Sim) close() {
	for _, p := range slices.Concat(s.processes, s.readers) {
		p.run.stop()
	}
	for _, r := range s.idle {
		r.stop()
	}
	s.processes, s.readers, s.idle = nil, nil, nil
	s.over()
}

// notifications returns the waiting forms.
func (s *Sim) notifications() []url.Values { return s.Provider.Notifications }

func (s *Sim) pickItem(a uint64) *seckill.Item {
	items := s.allItems()
	return items[pick(a, 4, len(items))]
}

// offers reports whether a unit without a unit row is free, or reserved for an order that waits for its placement.
func (num *numbers) offers(s *Sim, item string, n int) bool {
	if holder := num.held[n]; holder != "" {
		score, _ := s.Redis.Do("ZSCORE", stockKey(item, "awaiting"), holder)
		return score != nil
	}
	return num.free[n] || n > num.highWater
}

// routine returns an idle coroutine.
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

// step writes one line: time, process, call and outcome.
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

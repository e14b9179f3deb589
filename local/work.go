package local

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/adapter/memory"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	scheduleEvery = time.Minute      // of the system's clock
	notifyEvery   = time.Second      // likewise; between looks at a table of trades
	longestIdle   = time.Hour        // a worker looks again after that, whatever it was told
	idleLook      = time.Millisecond // how often WaitIdle looks
)

// worker does one kind of work whenever there may be some: at first, when ready speaks, when next is due, when the
// clock was moved. It waits otherwise.
type worker struct {
	step  func(ctx context.Context, stop <-chan struct{}) (more bool)
	next  func() (time.Time, bool) // when there will be work; false: not by the passing of time
	ready <-chan struct{}          // may be nil
	due   func(now time.Time) bool // there is work that could be begun
}

// activity says whether any worker is at work, for those who wait for rest.
type activity struct {
	busy  atomic.Int64
	turns atomic.Uint64 // begun
}

func (a *activity) begin() {
	a.busy.Add(1)
	a.turns.Add(1)
}

func (a *activity) end() { a.busy.Add(-1) }

// run works until stop is closed; a step in progress is finished first, unless ctx ends.
func (s *System) run(ctx context.Context, w *worker, stop <-chan struct{}) {
	timer := time.NewTimer(longestIdle)
	defer timer.Stop()
	for {
		changed := s.Clock.Changed() // before the step: a jump during it must not be slept through
		s.active.begin()
		more := w.step(ctx, stop)
		s.active.end()
		select {
		case <-stop:
			return
		default:
		}
		if more {
			continue
		}
		wait := longestIdle
		if at, ok := w.next(); ok {
			wait = min(max(at.Sub(s.Clock.Now()), time.Millisecond), longestIdle)
		}
		timer.Reset(wait)
		select {
		case <-stop:
			return
		case <-w.ready:
		case <-changed:
		case <-timer.C:
		}
	}
}

// poller takes messages off a queue: receive, handle, delete what was handled. A failed one comes back by itself.
func (s *System) poller(name string, q *memory.Queue, handle func(context.Context, seckill.Delivery) error) *worker {
	return &worker{
		step: func(ctx context.Context, stop <-chan struct{}) bool {
			batch, err := q.Receive(ctx, seckill.MaxBatch)
			if err != nil {
				s.log.Warn("receive failed", "queue", name, "err", err)
				return false
			}
			s.handleBatch(ctx, name, q, batch, handle, stop)
			return len(batch) > 0
		},
		next:  q.Next,
		ready: q.Ready(),
		due:   dueBy(q.Next),
	}
}

// handleBatch handles deliveries one after another and deletes those that are done with. Once stop is closed it begins
// no further one: what is left becomes visible again.
func (s *System) handleBatch(ctx context.Context, name string, q seckill.Queue, batch []seckill.Delivery,
	handle func(context.Context, seckill.Delivery) error, stop <-chan struct{}) {
	for _, d := range batch {
		select {
		case <-stop:
			return
		default:
		}
		order, trace := d.Subject()
		ctx := seckill.WithTrace(ctx, trace)
		if err := handle(ctx, d); err != nil {
			s.log.WarnContext(ctx, "message comes back", "queue", name, "order", order, "receives", d.Receives, "err",
				err)
		} else if err := q.Delete(ctx, d); err != nil {
			s.log.WarnContext(ctx, "message not deleted", "queue", name, "order", order, "err", err)
		}
	}
}

// schedule runs a flow at every full minute of the system's clock, once for all those that a jump passed. Being one
// worker, it never overlaps itself. Name and minute are the request id of what it causes.
func (s *System) schedule(name string, run func(context.Context) error) *worker {
	var next atomic.Pointer[time.Time]
	plan := func(now time.Time) {
		at := now.Truncate(scheduleEvery).Add(scheduleEvery)
		next.Store(&at)
	}
	plan(s.Clock.Now())
	at := func() (time.Time, bool) { return *next.Load(), true }
	return &worker{
		step: func(ctx context.Context, _ <-chan struct{}) bool {
			now := s.Clock.Now()
			if now.Before(*next.Load()) {
				return false
			}
			ctx = seckill.WithTrace(ctx, name+"@"+now.Truncate(scheduleEvery).Format(time.RFC3339))
			if err := run(ctx); err != nil {
				s.log.WarnContext(ctx, "schedule failed", "schedule", name, "err", err)
			}
			plan(now) // not from the end: a minute that a jump passed meanwhile is run as well
			return false
		},
		next: at,
		due:  dueBy(at),
	}
}

// notifier lets the gateway make the notification attempts that are due. A gateway whose trades are in a table cannot
// say when that is: it looks after each payment and refund of its own, and every notifyEvery for what is to be
// repeated.
func (s *System) notifier() *worker {
	var look atomic.Pointer[time.Time] // when a table is looked at next
	look.Store(new(time.Time))
	w := &worker{
		step: func(ctx context.Context, _ <-chan struct{}) bool {
			now := s.Clock.Now()
			if _, failed := s.Gateway.Tick(ctx); failed > 0 {
				s.log.Warn("notifications were not confirmed", "count", failed)
			}
			now = now.Add(notifyEvery)
			look.Store(&now)
			return false
		},
		next:  s.Gateway.Next,
		ready: s.Gateway.Ready(),
		due:   dueBy(s.Gateway.Next),
	}
	if s.trades != nil {
		w.next = func() (time.Time, bool) { return *look.Load(), true }
		w.due = func(now time.Time) bool { return len(w.ready) > 0 || dueBy(w.next)(now) }
	}
	return w
}

func dueBy(next func() (time.Time, bool)) func(time.Time) bool {
	return func(now time.Time) bool {
		at, ok := next()
		return ok && !at.After(now)
	}
}

// WaitIdle waits until nothing is at work and nothing is due: no message can be received, every schedule has run that
// should have, no notification waits. It reports ctx's error when that ends first.
func (s *System) WaitIdle(ctx context.Context) error {
	tick := time.NewTicker(idleLook)
	defer tick.Stop()
	for !s.idle() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// idle reads the turns before and after it looks for work: a worker that took a message in between has begun a turn.
func (s *System) idle() bool {
	turns := s.active.turns.Load()
	if s.active.busy.Load() != 0 {
		return false
	}
	now := s.Clock.Now()
	for _, w := range s.workers {
		if w.due(now) {
			return false
		}
	}
	return s.active.turns.Load() == turns
}

package local

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	scheduleEvery = time.Minute      // by the system's clock
	notifyEvery   = time.Second      // by the same clock; between reads of a table of trades
	longestIdle   = time.Hour        // a worker looks for work at least this often
	idleLook      = time.Millisecond // how often WaitIdle checks
)

// run executes a worker until stop is closed. It finishes a running step first, unless ctx ends.
func (s *System) run(ctx context.Context, w *worker, stop <-chan struct{}) {
	timer := time.NewTimer(longestIdle)
	defer timer.Stop()
	for {
		changed := s.Clock.Changed() // before the step: a clock change during it must not be missed
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

// poller receives messages from a queue, handles them and deletes the handled messages. A failed message becomes
// visible again.
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

// handleBatch handles deliveries one after another and deletes the handled messages. Once stop is closed it begins no
// more; the rest become visible again.
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

// schedule runs a flow at every full minute of the system's clock; if the clock jumps over several, once. Its runs do
// not overlap, because one worker makes them. Name and minute are the trace id of a run.
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
			plan(now) // not from the end of the run: a minute that passed meanwhile is due
			return false
		},
		next: at,
		due:  dueBy(at),
	}
}

// notifier makes the gateway send the notifications that are due. A gateway with trades in a table does not know when
// the next one is due: it reads the table after each payment and refund, and every notifyEvery for retries.
func (s *System) notifier() *worker {
	var look atomic.Pointer[time.Time] // when a table is read next
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

// WaitIdle waits until no worker runs and no work is due: no message is visible, every due schedule has run, and no
// notification waits. It returns ctx's error if ctx ends first.
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

// idle compares the turns before and after it looks for due work: a worker that takes a message in between begins a
// turn.
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

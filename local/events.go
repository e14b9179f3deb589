package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/stream"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	eventShop  = "seckill"       // in the events' source
	sweepEvery = 5 * time.Second // the shortest wait of an event that was posted in vain
)

// Of what follows changes of orders.
const (
	changesOrders = 100         // read and passed on at a time
	changesAgain  = time.Second // after a failure
)

// errNoEvents: the run has no option Events.
var errNoEvents = &seckill.Error{Code: seckill.CodeUnavailable,
	Err: errors.New("this run tells nobody of its orders: start it with --events and a URL or a file")}

// buildEvents connects what takes the events of orders.
func (s *System) buildEvents() error {
	s.drivers.endpoint = noEndpoint{}
	if s.opt.Events != "" {
		var err error
		if s.drivers.endpoint, err = s.endpoint(); err != nil {
			return err
		}
		s.told = s.takers.watch(nil)
	}
	s.drivers.bus = endpointBus{s.drivers.endpoint}
	return nil
}

func (s *System) endpoint() (seckill.Endpoint, error) {
	to := s.opt.Events
	if strings.HasPrefix(to, "http://") || strings.HasPrefix(to, "https://") {
		// The machine's clock: receivers compare the signature's time with theirs, and this run's may be ahead.
		return bus.NewWebhooks(bus.WebhookConfig{URL: to, Secrets: s.opt.EventSecrets, Shop: eventShop,
			Clock: system.Clock{}})
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the file of events: %w", err)
	}
	s.closers = append(s.closers, f.Close)
	return &eventFile{f: f}, endLine(f)
}

// endLine ends a line that a run was writing when it was killed.
func endLine(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.Write([]byte("\n"))
	return err
}

// eventFile is an endpoint that appends each event to a file, as a line.
type eventFile struct {
	mu sync.Mutex
	f  *os.File
}

// Post implements seckill.Endpoint.
func (e *eventFile) Post(_ context.Context, event *seckill.OrderEvent) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := e.f.Write(append(bus.Encode(eventShop, event), '\n'))
	return err
}

// noEndpoint refuses all events.
type noEndpoint struct{}

func (noEndpoint) Post(context.Context, *seckill.OrderEvent) error { return errNoEvents }

// endpointBus is a bus that posts events to an endpoint, one after the other.
type endpointBus struct{ seckill.Endpoint }

// Publish implements seckill.Bus. After a failure it posts nothing more.
func (b endpointBus) Publish(ctx context.Context, events []seckill.OrderEvent) []error {
	for i := range events {
		if err := b.Post(ctx, &events[i]); err != nil {
			errs := make([]error, len(events))
			for ; i < len(events); i++ {
				errs[i] = err
			}
			return errs
		}
	}
	return nil
}

// follower is a worker that passes changed orders to a step.
func (s *System) follower(name string, c *changes, step stream.Step) *worker {
	return &worker{
		step: func(ctx context.Context, _ <-chan struct{}) bool {
			err := s.pass(ctx, c, step)
			if err != nil {
				s.log.WarnContext(ctx, name+" are late", "err", err)
			}
			return err == nil && c.waiting()
		},
		next:  func() (time.Time, bool) { return s.Clock.Now().Add(changesAgain), c.waiting() },
		ready: c.ready,
		due:   func(time.Time) bool { return c.waiting() },
	}
}

// pass reads changed orders and passes them to a step, which may find some of their changes known: an order is told
// as a whole. Those of a failed call come again.
func (s *System) pass(ctx context.Context, c *changes, step stream.Step) error {
	var list []seckill.OrderChange
	var errs []error
	for _, id := range c.take(changesOrders) {
		o, err := s.Ledger.Order(ctx, id)
		switch {
		case err == nil:
			list = append(list, seckill.OrderChange{Order: o})
		case errors.Is(err, seckill.ErrUnreadable):
			step.Unreadable()
			errs = append(errs, err)
		case !errors.Is(err, seckill.ErrNoOrder):
			c.back(id)
			errs = append(errs, err)
		}
	}
	done, err := step.Changes(ctx, list)
	for _, o := range list[done:] {
		c.back(o.Order.ID)
	}
	return errors.Join(append(errs, err)...)
}

// teller is the worker that posts what happened to orders.
func (s *System) teller() *worker {
	w := s.follower("events", s.told, s.Deliver)
	var sweep atomic.Pointer[time.Time]
	sweep.Store(new(time.Time))
	pass := w.step
	w.step = func(ctx context.Context, stop <-chan struct{}) bool {
		more := pass(ctx, stop)
		now := s.Clock.Now()
		if now.Before(*sweep.Load()) {
			return more
		}
		if err := s.Deliver.Sweep(ctx); err != nil {
			s.log.WarnContext(ctx, "events are late", "err", err)
		}
		now = now.Add(sweepEvery)
		sweep.Store(&now)
		return more
	}
	w.next = func() (time.Time, bool) { return *sweep.Load(), true }
	w.due = func(now time.Time) bool { return s.told.waiting() || dueBy(w.next)(now) }
	return w
}

// lookBack is a worker that makes orders due whose changes an earlier run did not pass on, page by page, and then
// rests.
func (s *System) lookBack() *worker {
	var items []seckill.Item
	var after string
	listed := false
	var done atomic.Bool
	page := func(ctx context.Context) (err error) {
		if !listed {
			items, err = s.Items.List(ctx, time.Time{})
			if err = s.readable(err); err != nil {
				return err
			}
			listed = true
		}
		if len(items) == 0 {
			done.Store(true)
			return nil
		}
		orders, err := s.Ledger.OrdersByItem(ctx, items[0].ID, after, changesOrders)
		if err == nil {
			err = s.Deliver.Look(ctx, orders.Orders)
		}
		if err != nil {
			return err
		}
		if after = orders.Next; after == "" {
			items = items[1:]
		}
		return nil
	}
	return &worker{
		step: func(ctx context.Context, _ <-chan struct{}) bool {
			if done.Load() {
				return false
			}
			err := page(ctx)
			if err != nil {
				s.log.WarnContext(ctx, "changes of an earlier run are late", "err", err)
			}
			return err == nil && !done.Load()
		},
		next: func() (time.Time, bool) { return s.Clock.Now().Add(changesAgain), !done.Load() },
		due:  func(time.Time) bool { return !done.Load() },
	}
}

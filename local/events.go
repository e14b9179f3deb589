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

	"github.com/your-org/seckill/shared/adapter/cloudevent"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/adapter/system"
	"github.com/your-org/seckill/shared/adapter/webhook"
	"github.com/your-org/seckill/shared/flow/deliver"
	"github.com/your-org/seckill/shared/flow/tell"
	"github.com/your-org/seckill/shared/seckill"
)

// DefaultEventSecret signs webhooks if Options name no other; a local run has no secrets.
const DefaultEventSecret = "whsec_c2Vja2lsbC1sb2NhbC1ydW4taGFzLW5vLXNlY3JldHM="

const (
	eventShop   = "seckill"       // in the events' source
	eventPosts  = 16              // at the same time
	eventOrders = 100             // read and passed on at a time
	sweepEvery  = 5 * time.Second // the shortest wait of an event that was posted in vain
)

// errNoEvents: the run has no option Events.
var errNoEvents = &seckill.Error{Code: seckill.CodeUnavailable,
	Err: errors.New("this run tells nobody of its orders: start it with --events and a URL or a file")}

// changes collects the ids of orders whose rows were written, each once until it is taken. It is as large as the
// ledger at most.
type changes struct {
	ready chan struct{} // has an element while there are ids

	mu  sync.Mutex
	ids []string
	has map[string]bool
}

func newChanges() *changes { return &changes{ready: make(chan struct{}, 1), has: map[string]bool{}} }

func (c *changes) add(order string) {
	c.mu.Lock()
	if !c.has[order] {
		c.has[order], c.ids = true, append(c.ids, order)
	}
	c.mu.Unlock()
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// take removes the oldest ids.
func (c *changes) take(most int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(most, len(c.ids))
	ids := c.ids[:n:n]
	c.ids = c.ids[n:]
	for _, id := range ids {
		delete(c.has, id)
	}
	return ids
}

func (c *changes) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ids) > 0
}

// watchedRows tells which orders were written. What a transaction that failed has done is unknown: its orders are
// looked at, too.
type watchedRows struct {
	ledger.Rows
	changes *changes
}

// Transact implements ledger.Rows.
func (r watchedRows) Transact(ctx context.Context, writes []ledger.Write) error {
	err := r.Rows.Transact(ctx, writes)
	if errors.As(err, new(*ledger.Canceled)) {
		return err
	}
	for i := range writes {
		if writes[i].Table == ledger.TableOrders {
			r.changes.add(writes[i].PK)
		}
	}
	return err
}

// watched returns rows that tell of orders, if somebody wants to know.
func (s *System) watched(rows ledger.Rows) ledger.Rows {
	if s.opt.Events == "" {
		return rows
	}
	s.changes = newChanges()
	return watchedRows{rows, s.changes}
}

// buildEvents connects what takes the events of orders.
func (s *System) buildEvents() error {
	to := endpointBus{noEndpoint{}}
	if s.opt.Events != "" {
		endpoint, err := s.endpoint()
		if err != nil {
			return err
		}
		to = endpointBus{endpoint}
		s.Deliver = deliver.New(deliver.Deps{Ledger: s.Ledger, Endpoint: endpoint, Clock: s.Clock, Meter: s.Meter,
			Each: system.Several(eventPosts), GivenUp: func(ctx context.Context, order string, err error) {
				s.log.ErrorContext(ctx, "events given up", "order", order, "err", err)
			}})
	}
	s.tell = tell.New(tell.Deps{Bus: to, Ledger: s.Ledger, Meter: s.Meter})
	return nil
}

func (s *System) endpoint() (seckill.Endpoint, error) {
	to := s.opt.Events
	if strings.HasPrefix(to, "http://") || strings.HasPrefix(to, "https://") {
		// The machine's clock: receivers compare the signature's time with theirs, and this run's may be ahead.
		return webhook.New(webhook.Config{URL: to, Secrets: s.opt.EventSecrets, Shop: eventShop, Clock: system.Clock{}})
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
	_, err := e.f.Write(append(cloudevent.Encode(eventShop, event), '\n'))
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

// teller is the worker that posts what happened to orders.
func (s *System) teller() *worker {
	var sweep atomic.Pointer[time.Time]
	sweep.Store(new(time.Time))
	next := func() (time.Time, bool) { return *sweep.Load(), true }
	return &worker{
		step: func(ctx context.Context, _ <-chan struct{}) bool {
			err := s.pass(ctx)
			now := s.Clock.Now()
			if !now.Before(*sweep.Load()) {
				err = errors.Join(err, s.Deliver.Sweep(ctx))
				now = now.Add(sweepEvery)
				sweep.Store(&now)
			}
			if err != nil {
				s.log.WarnContext(ctx, "events are late", "err", err)
			}
			return err == nil && s.changes.waiting()
		},
		next: next, ready: s.changes.ready,
		due: func(now time.Time) bool { return s.changes.waiting() || dueBy(next)(now) },
	}
}

// pass reads changed orders and passes them on. Those of a failed call are looked at again.
func (s *System) pass(ctx context.Context) error {
	var list []seckill.OrderChange
	var errs []error
	for _, id := range s.changes.take(eventOrders) {
		o, err := s.Ledger.Order(ctx, id)
		switch {
		case err == nil:
			list = append(list, seckill.OrderChange{Order: o})
		case errors.Is(err, seckill.ErrUnreadable):
			s.Deliver.Unreadable()
			errs = append(errs, err)
		case !errors.Is(err, seckill.ErrNoOrder):
			s.changes.add(id)
			errs = append(errs, err)
		}
	}
	done, err := s.Deliver.Changes(ctx, list)
	for _, c := range list[done:] {
		s.changes.add(c.Order.ID)
	}
	return errors.Join(append(errs, err)...)
}

// lookBack makes orders due whose changes an earlier run did not pass on; the ledger is a real one.
func (s *System) lookBack(ctx context.Context) error {
	if s.Deliver == nil || s.Rows != nil {
		return nil
	}
	items, err := s.Items.List(ctx, time.Time{})
	if err := s.readable(err); err != nil {
		return err
	}
	for i := range items {
		for after := ""; ; {
			page, err := s.Ledger.OrdersByItem(ctx, items[i].ID, after, eventOrders)
			if err == nil {
				err = s.Deliver.Look(ctx, page.Orders)
			}
			if err != nil {
				return err
			}
			if after = page.Next; after == "" {
				break
			}
		}
	}
	return nil
}

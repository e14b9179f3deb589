package deliver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/deliver"
	"github.com/your-org/seckill/shared/seckill"
)

var start = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// shop is a ledger with an endpoint that keeps what it acknowledges.
type shop struct {
	*testing.T
	clock  *memory.Clock
	rows   *memory.Rows
	ledger *ledger.Ledger
	flow   *deliver.Flow
	given  []string // orders given up

	mu     sync.Mutex
	answer func(id string) error // if nil, everything is acknowledged
	posted []string              // ids of events, acknowledged or not
	kept   []string              // those acknowledged
	meter  map[seckill.Event]int
}

func newShop(t *testing.T) *shop {
	s := &shop{T: t, clock: memory.NewClock(start), meter: map[seckill.Event]int{}}
	s.rows = memory.NewRows(memory.RowsOptions{Clock: s.clock})
	s.ledger = ledger.New(s.rows)
	s.flow = s.instance(s.ledger)
	return s
}

func (s *shop) instance(l deliver.Ledger) *deliver.Flow {
	return deliver.New(deliver.Deps{Ledger: l, Endpoint: s, Clock: s.clock, Meter: s, Each: system.Several(4),
		GivenUp: func(_ context.Context, order string, _ error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.given = append(s.given, order)
		}})
}

func (s *shop) Count(e seckill.Event, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter[e] += n
}

func (s *shop) Post(_ context.Context, e *seckill.OrderEvent) error {
	s.mu.Lock()
	answer := s.answer
	s.posted = append(s.posted, e.ID())
	s.mu.Unlock()
	if answer != nil {
		if err := answer(e.ID()); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, e.ID())
	return nil
}

var errDown = errors.New("503")

func down(string) error { return errDown }

// place places order n and returns its id.
func (s *shop) place(n int) string {
	s.Helper()
	o := drivertest.Order("1", fmt.Sprint(n), start, n)
	must.OK(s, s.ledger.Place(s.Context(), o, 1))
	return o.ID
}

// closing adds an entry to an order's history.
func (s *shop) closing(id string) {
	s.Helper()
	must.OK(s, s.ledger.BeginClosing(s.Context(), s.order(id), seckill.Expired, s.clock.Now(), "c"))
}

// again adds one more entry, to an order in closing.
func (s *shop) again(id string) {
	s.Helper()
	must.OK(s, s.ledger.RescheduleNow(s.Context(), id, s.clock.Now(), "c"))
}

func (s *shop) order(id string) seckill.Order {
	s.Helper()
	return must.Get(s.ledger.Order(s.Context(), id))
}

// changed passes the orders' last changes to the flow.
func (s *shop) changed(ids ...string) {
	s.Helper()
	var changes []seckill.OrderChange
	for _, id := range ids {
		o := s.order(id)
		changes = append(changes, seckill.OrderChange{Order: o, Before: len(o.History) - 1})
	}
	if done, err := s.flow.Changes(s.Context(), changes); err != nil || done != len(ids) {
		s.Fatalf("%d of %d changes, %v", done, len(ids), err)
	}
}

func (s *shop) sweep() {
	s.Helper()
	must.OK(s, s.flow.Sweep(s.Context()))
}

func (s *shop) row(id string) seckill.Webhook {
	s.Helper()
	return must.Get(s.ledger.Webhook(s.Context(), id))
}

// want checks which events were posted since the last call, acknowledged or not.
func (s *shop) want(when string, events ...string) {
	s.Helper()
	if !slices.Equal(s.posted, events) {
		s.Errorf("%s: posted %v, want %v", when, s.posted, events)
	}
	s.posted = nil
}

func TestChangesArePostedAtOnceAndOnce(t *testing.T) {
	s := newShop(t)
	id := s.place(1)
	s.changed(id)
	s.want("placed", id+".1")
	s.changed(id)
	s.sweep()
	s.want("told twice")
	s.closing(id)
	s.again(id)
	s.changed(id)
	s.want("two changes, of which the last is told", id+".2", id+".3")
	late := s.order(id)
	late.History = late.History[:2]
	if _, err := s.flow.Changes(t.Context(), []seckill.OrderChange{{Order: late, Before: 1}}); err != nil {
		t.Error(err)
	}
	s.clock.Advance(time.Hour)
	s.sweep()
	s.want("an old change told late")
	if got, want := s.row(id), (seckill.Webhook{Order: id, Known: 3, Sent: 3, Writes: 5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s.meter[seckill.EventPosted] != 3 || len(s.meter) != 1 {
		t.Errorf("counted %v", s.meter)
	}
}

// TestADeadEndpoint checks when an event is posted again, that it is given up after a day, and what opens its order
// again; and that an order's later events wait.
func TestADeadEndpoint(t *testing.T) {
	s := newShop(t)
	s.answer = down
	id := s.place(1)
	s.changed(id)
	s.want("placed", id+".1")
	s.closing(id)
	s.changed(id)
	s.want("a change while it waits")
	var waits []time.Duration
	last := s.clock.Now()
	for len(s.given) == 0 && len(waits) < 100 {
		s.clock.Advance(time.Second)
		if s.sweep(); len(s.posted) > 0 {
			s.want("again", id+".1")
			waits, last = append(waits, s.clock.Now().Sub(last)), s.clock.Now()
		}
	}
	want := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
	for len(want) < len(waits) {
		want = append(want, time.Hour)
	}
	if !slices.Equal(waits, want) || last.Sub(start) < 24*time.Hour || last.Sub(start) > 25*time.Hour {
		t.Errorf("posted again after %v, given up after %v", waits, last.Sub(start))
	}
	if s.meter[seckill.EventGivenUp] != 1 || s.meter[seckill.EventPostFailed] != len(waits)+1 {
		t.Errorf("counted %v", s.meter)
	}
	s.clock.Advance(48 * time.Hour)
	s.sweep()
	s.changed(id) // repeated: no new change
	s.want("given up")
	s.again(id)
	s.changed(id)
	s.want("a new change opens it", id+".1")
	must.Equal(t, 0, must.Get(s.flow.Resume(t.Context())), "resumed", "nothing is given up")
	for s.given = nil; len(s.given) == 0; {
		s.clock.Advance(time.Hour)
		s.sweep()
	}
	s.posted, s.answer = nil, nil
	must.Equal(t, 1, must.Get(s.flow.Resume(t.Context())), "resumed")
	s.sweep()
	s.want("resumed", id+".1", id+".2", id+".3")
}

// TestAStreamIsNotHeldUp checks that after a failed post a batch of changes is only made due.
func TestAStreamIsNotHeldUp(t *testing.T) {
	s := newShop(t)
	s.answer = down
	var ids []string
	for n := range 100 {
		ids = append(ids, s.place(n+1))
	}
	s.changed(ids...)
	if len(s.posted) > 4 { // those at the same time
		t.Errorf("%d posts", len(s.posted))
	}
	s.answer = nil
	s.clock.Advance(time.Minute)
	s.sweep()
	if len(s.kept) != 100 {
		t.Errorf("%d events arrived, want 100", len(s.kept))
	}
}

// TestASlowOrderHoldsUpNoOther checks that all other orders are posted while the endpoint does not answer for one.
func TestASlowOrderHoldsUpNoOther(t *testing.T) {
	s := newShop(t)
	var ids []string
	for n := range 40 {
		ids = append(ids, s.place(n+1))
	}
	others := make(chan struct{})
	s.answer = func(id string) error {
		s.mu.Lock()
		n := len(s.kept)
		s.mu.Unlock()
		switch {
		case id == ids[0]+".1":
			<-others
			return errDown
		case n == len(ids)-2:
			close(others)
		}
		return nil
	}
	s.changed(ids...)
	if len(s.kept) != len(ids)-1 {
		t.Errorf("%d events arrived", len(s.kept))
	}
}

// faulty fails a share of the calls that a test makes, before or after their effect.
type faulty struct {
	*ledger.Ledger
	fails func() bool
}

var errFault = errors.New("fault")

func (l faulty) SaveWebhook(ctx context.Context, w seckill.Webhook) error {
	if l.fails() {
		return errFault
	}
	err := l.Ledger.SaveWebhook(ctx, w)
	if err == nil && l.fails() {
		return errFault
	}
	return err
}

// TestManySweepers runs sweeps and a stream at the same time, over a ledger and an endpoint that fail at random. Each
// event arrives, and no event before the one before it.
func TestManySweepers(t *testing.T) {
	s := newShop(t)
	fails := func(percent int) func() bool { return func() bool { return rand.IntN(100) < percent } }
	s.answer = func(string) error {
		if fails(20)() {
			return errDown
		}
		return nil
	}
	var ids []string
	for n := range 50 {
		ids = append(ids, s.place(n+1))
		s.closing(ids[n])
	}
	flows := []*deliver.Flow{s.instance(faulty{s.ledger, fails(5)}), s.instance(faulty{s.ledger, fails(5)})}
	var running sync.WaitGroup
	for _, f := range flows {
		running.Go(func() {
			for range 200 {
				s.clock.Advance(5 * time.Second)
				_ = f.Sweep(t.Context())
			}
		})
	}
	for _, id := range ids {
		if rand.IntN(2) == 0 {
			s.again(id)
		}
		o := s.order(id)
		for err := errFault; err != nil; {
			var done int
			if done, err = flows[0].Changes(t.Context(), []seckill.OrderChange{{Order: o}}); done == 0 && err == nil {
				t.Fatal("nothing done, without an error")
			}
		}
	}
	running.Wait()
	s.answer = nil
	for range 200 {
		s.clock.Advance(time.Minute)
		s.sweep()
	}
	arrived := map[string]int{}
	for _, id := range s.kept {
		order, sequence, err := seckill.ParseEventID(id)
		if err != nil || sequence > arrived[order]+1 {
			t.Errorf("%s after %d, %v", id, arrived[order], err)
		}
		arrived[order] = max(arrived[order], sequence)
	}
	for _, id := range ids {
		if want := len(s.order(id).History); arrived[id] != want || s.row(id).Sent != want {
			t.Errorf("%s: %d events arrived, %d by its row, want %d", id, arrived[id], s.row(id).Sent, want)
		}
	}
}

// TestAnOrderHasOnePoster checks that a sweep leaves an order alone that another one is posting, also if the index
// still shows it as due, and that a poster takes an order again that it was late for.
func TestAnOrderHasOnePoster(t *testing.T) {
	s := newShop(t)
	s.rows = memory.NewRows(memory.RowsOptions{Clock: s.clock, IndexLag: 10 * time.Second})
	s.ledger = ledger.New(s.rows)
	s.flow = s.instance(s.ledger)
	id := s.place(1)
	s.answer = down
	s.changed(id)
	s.want("in vain", id+".1")
	s.clock.Advance(time.Minute)
	other := s.instance(s.ledger)
	s.answer = func(string) error {
		s.answer = nil
		return other.Sweep(t.Context())
	}
	s.sweep()
	s.want("a sweep during a post", id+".1")
	if w := s.row(id); w.Sent != 1 || w.Tries != 0 {
		t.Errorf("got %+v, want it acknowledged", w)
	}
	late := deliver.New(deliver.Deps{Ledger: s.ledger, Endpoint: s, Clock: s.clock, Meter: s,
		Each: func(_ int, do func(int)) {
			s.clock.Advance(time.Minute)
			if err := other.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			do(0)
		}})
	s.closing(id)
	if _, err := late.Changes(t.Context(), []seckill.OrderChange{{Order: s.order(id)}}); err != nil {
		t.Error(err)
	}
	s.want("a minute late", id+".2")
	s.answer = func(string) error { // a post that lasts longer than the lease
		s.answer = nil
		s.clock.Advance(time.Minute)
		return other.Sweep(t.Context())
	}
	s.again(id)
	s.changed(id)
	s.want("posted by two", id+".3", id+".3")
	must.Equal(t, 3, s.row(id).Sent)
}

// TestAProcessThatDies checks that an order whose poster died is posted by the next sweep after the lease, and that
// the end of a run's time is not a failure of the endpoint.
func TestAProcessThatDies(t *testing.T) {
	s := newShop(t)
	id := s.place(1)
	ctx, cancel := context.WithCancel(t.Context())
	s.answer = func(string) error {
		cancel()
		return ctx.Err()
	}
	if _, err := s.flow.Changes(ctx, []seckill.OrderChange{{Order: s.order(id)}}); err != nil {
		t.Error(err)
	}
	s.want("at once", id+".1")
	s.answer = nil
	s.clock.Advance(seckill.WebhookLease - time.Second)
	s.sweep()
	s.want("within the lease")
	s.clock.Advance(time.Second)
	s.sweep()
	s.want("after it", id+".1")
	if s.meter[seckill.EventPostFailed] != 0 {
		t.Errorf("counted %v", s.meter)
	}
}

func TestAFaultReturnsTheRest(t *testing.T) {
	s := newShop(t)
	var calls atomic.Int32 // several posts at once save
	f := s.instance(faulty{s.ledger, func() bool { return calls.Add(1) == 3 }})
	var changes []seckill.OrderChange
	for n := range 3 {
		changes = append(changes, seckill.OrderChange{Order: s.order(s.place(n + 1))})
	}
	if done, err := f.Changes(t.Context(), changes); done != 1 || !errors.Is(err, errFault) {
		t.Errorf("%d done, %v; want 1 and the fault", done, err)
	}
	must.Equal(t, 2, must.Get(f.Changes(t.Context(), changes[1:])), "done")
	s.clock.Advance(time.Minute)
	s.sweep()
	if len(s.kept) != 3 {
		t.Errorf("arrived: %v", s.kept)
	}
}

// TestLook checks that orders that changed unnoticed become due.
func TestLook(t *testing.T) {
	s := newShop(t)
	var want, all []string
	for n := range 10 {
		id := s.place(n + 1)
		all = append(all, id)
		if n%2 == 0 {
			s.changed(id)
			s.closing(id)
			want = append(want, id+".2")
		} else {
			want = append(want, id+".1")
		}
	}
	s.posted = nil
	var orders []seckill.Order
	for _, id := range all {
		orders = append(orders, s.order(id))
	}
	must.OK(t, s.flow.Look(t.Context(), orders))
	s.want("looked")
	s.sweep()
	slices.Sort(want)
	slices.Sort(s.posted)
	s.want("swept", want...)
}

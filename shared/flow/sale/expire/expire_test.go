package expire_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/expire"
	"github.com/your-org/seckill/shared/seckill"
)

var (
	ctx    = context.Background()
	placed = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	due    = placed.Add(15*time.Minute + seckill.Grace) // when an order with a hold of 15 minutes is due
	order  = drivertest.Order("1", "9", placed, 7).ID
)

// shop is a ledger with one order, and the payment provider that the step asks.
type shop struct {
	seckill.Payments
	ledger *ledger.Ledger
	clock  *memory.Clock
	// answers holds the provider's answers in order: a trade state per query, a result per close, "fault" for either.
	answers []string
	asked   []string
	sent    []string
}

var errFault = errors.New("no answer")

func (s *shop) answer(question string) (string, error) {
	s.asked = append(s.asked, question)
	if len(s.answers) == 0 {
		return "", fmt.Errorf("%s: the table has no answer", question)
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if a == "fault" {
		return "", errFault
	}
	return a, nil
}

func (s *shop) Query(context.Context, string) (seckill.Trade, error) {
	a, err := s.answer("query")
	return seckill.Trade{State: seckill.TradeState(a), TradeNo: "t1", Amount: 100}, err
}

func (s *shop) Close(context.Context, string) (seckill.CloseResult, error) {
	a, err := s.answer("close")
	return seckill.CloseResult(a), err
}

func (s *shop) Count(seckill.Event, int) {}

type queue struct {
	seckill.Queue
	*shop
	name string
}

func (q queue) Send(_ context.Context, m seckill.Message, delay time.Duration) error {
	q.sent = append(q.sent, fmt.Sprintf("%s to %s in %v", m.Kind, q.name, delay))
	return nil
}

func (q queue) Delay(context.Context, seckill.Delivery, time.Duration) error { return nil }

func (q queue) Park(_ context.Context, _ seckill.Delivery, why string) error {
	q.sent = append(q.sent, "parked: "+why)
	return nil
}

// newShop returns a shop with one order in the given state.
func newShop(t *testing.T, state seckill.State, now time.Time) *shop {
	t.Helper()
	clock := memory.NewClock(placed)
	s := &shop{clock: clock, ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))}
	o := drivertest.Order("1", "9", placed, 7)
	if state == seckill.Cancelled { // means: closing, because its shopper cancelled it
		must.OK(t, drivertest.Place(ctx, s.ledger, o, seckill.PendingPayment),
			s.ledger.BeginClosing(ctx, o, seckill.Cancelled, placed, "cancelled"))
	} else {
		must.OK(t, drivertest.Place(ctx, s.ledger, o, state))
	}
	clock.Advance(now.Sub(placed))
	return s
}

func (s *shop) flow() *expire.Flow {
	return expire.New(expire.Deps{Ledger: s.ledger, Payments: s, Orders: queue{shop: s, name: "orders"},
		Closings: queue{shop: s, name: "closings"}, Clock: s.clock, Meter: s})
}

// TestExpire is the specification of the step: what it asks the provider, and what happens to the order.
func TestExpire(t *testing.T) {
	const back = "return to orders in 0s"
	unpaid, cancelled := seckill.PendingPayment, seckill.Cancelled
	for _, c := range []struct {
		name    string
		state   seckill.State
		at      time.Time
		answers string // the provider's answers: to query, close, query, …
		then    seckill.State
		sent    string
		comes   bool // the message is delivered again
	}{
		{"a second early: sent again for when it is due", unpaid, due.Add(-time.Second), "", unpaid,
			"close to closings in 1s", false},
		{"sixteen minutes early: sent again, for as long as a queue delays", unpaid, placed, "", unpaid,
			"close to closings in 15m0s", false},
		{"paid: nothing is asked", seckill.Paid, due, "", seckill.Paid, "", false},

		{"never opened at the provider: given back", unpaid, due, "unknown not_exist", seckill.Expired, back, false},
		{"opened and not paid: closed, asked once more, given back", unpaid, due, "waiting closed closed",
			seckill.Expired, back, false},
		{"closed there already: given back", unpaid, due, "closed", seckill.Expired, back, false},
		{"paid there: paid here, though the hold is over", unpaid, due, "paid", seckill.Paid, "", false},
		{"paid by another trade between query and close: paid", unpaid, due, "waiting closed paid",
			seckill.Paid, "", false},
		{"a close that is refused: the next query decides", unpaid, due, "waiting refused paid",
			seckill.Paid, "", false},

		{"no answer to the query: nothing is given back", unpaid, due, "fault", seckill.Closing, "", true},
		{"no answer to the close: nothing is given back", unpaid, due, "waiting fault", seckill.Closing, "", true},
		{"no answer to the query after the close: nothing is given back", unpaid, due, "waiting closed fault",
			seckill.Closing, "", true},
		{"refused three times: later", unpaid, due, "waiting refused waiting refused waiting refused",
			seckill.Closing, "", true},

		{"cancelled, never opened: given back at once", cancelled, placed.Add(time.Minute), "unknown not_exist",
			cancelled, back, false},
		{"cancelled, and paid all the same: paid", cancelled, placed.Add(time.Minute), "paid", seckill.Paid, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t, c.state, c.at)
			s.answers = strings.Fields(c.answers)
			m := seckill.Message{Kind: seckill.MessageClose, Order: order}
			err := s.flow().Handle(ctx, seckill.Delivery{ID: "m", Body: m.Encode(), Receives: 1})
			s.check(t, err, c.then, c.sent, c.comes)
		})
	}
}

// check compares the order's final state.
func (s *shop) check(t *testing.T, err error, then seckill.State, sent string, comes bool) {
	t.Helper()
	if (err != nil) != comes {
		t.Errorf("error %v, want that it comes back: %v", err, comes)
	}
	o, err := s.ledger.Order(ctx, order)
	if err != nil || o.State != then || strings.Join(s.sent, "; ") != sent || len(s.answers) > 0 {
		t.Errorf("order %s (%v), sent %q, asked %q, answers left %q; want %s, sent %q",
			o.State, err, s.sent, s.asked, s.answers, then, sent)
	}
	if held := len(o.Units) > 0; held == (then == seckill.Expired || then == seckill.Cancelled) {
		t.Errorf("an order in %s has units %v", o.State, o.Units)
	}
}

// TestExpireTheRest covers messages about unknown orders.
func TestExpireTheRest(t *testing.T) {
	for _, c := range []struct {
		name string
		m    seckill.Message
		then string
	}{
		{"an unknown order",
			seckill.Message{Kind: seckill.MessageClose, Order: seckill.KeyedOrderID("1", "9", "x")}, ""},
		{"a message of the other queue", seckill.Message{Kind: seckill.MessageReturn, Order: order},
			"parked: a return message on the closings queue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t, seckill.PendingPayment, due)
			err := s.flow().Handle(ctx, seckill.Delivery{ID: "m", Body: c.m.Encode(), Receives: 1})
			s.check(t, err, seckill.PendingPayment, c.then, false)
		})
	}
}

// TestClosingMessageGoesRoundAFewTimes follows the messages of an order from the first, which consume sends, to the
// last.
func TestClosingMessageGoesRoundAFewTimes(t *testing.T) {
	for _, c := range []struct {
		hold   time.Duration
		rounds int // deliveries
		then   seckill.State
	}{
		{seckill.MinHold, 1, seckill.Expired},
		{seckill.DefaultHold, 2, seckill.Expired},
		{4 * time.Hour, 17, seckill.Expired},
		{seckill.MaxHold, expire.MaxRounds, seckill.Expired},
		{seckill.MaxHold * 100, expire.MaxRounds, seckill.PendingPayment}, // no shop has it; the sweep closes it
	} {
		clock := memory.NewClock(placed)
		s := &shop{clock: clock, ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))}
		o := drivertest.Order("1", "9", placed, 7)
		o.PayBy = placed.Add(c.hold)
		must.OK(t, drivertest.Place(ctx, s.ledger, o, seckill.PendingPayment))
		s.answers = []string{"closed"}
		f, rounds, wait := s.flow(), 0, min(o.Due().Sub(placed), seckill.MaxDelay)
		for more := true; more && rounds <= expire.MaxRounds; rounds++ {
			clock.Advance(wait)
			s.sent = nil
			m := seckill.Message{Kind: seckill.MessageClose, Order: o.ID}
			must.OK(t, f.Handle(ctx, seckill.Delivery{ID: "m", Body: m.Encode(), Receives: 1}))
			var delay string
			if more = len(s.sent) == 1 && strings.HasPrefix(s.sent[0], "close to closings in "); more {
				delay = strings.TrimPrefix(s.sent[0], "close to closings in ")
				wait = must.Get(time.ParseDuration(delay))
			}
			if more && wait < seckill.MaxDelay && clock.Now().Add(wait).Before(o.Due()) {
				t.Errorf("hold %v: a message is delayed by %s only", c.hold, delay)
			}
		}
		if got := must.Get(s.ledger.Order(ctx, o.ID)); rounds != c.rounds || got.State != c.then {
			t.Errorf("hold %v: delivered %d times, then %s, want %d, %s", c.hold, rounds, got.State, c.rounds, c.then)
		}
	}
}

// TestSweep checks that the schedule finds an order whose message was lost as soon as it is due. An order for which
// the provider does not answer is rescheduled for a minute later, so that it does not delay the others.
func TestSweep(t *testing.T) {
	s := newShop(t, seckill.PendingPayment, due.Add(-time.Second))
	f := s.flow()
	if err := f.Sweep(ctx); err != nil || len(s.asked) > 0 {
		t.Fatalf("a second early: %v, asked %q", err, s.asked)
	}
	s.clock.Advance(time.Second)
	s.answers = []string{"fault"}
	must.Is(t, errFault, f.Sweep(ctx), "no answer")
	s.clock.Advance(59 * time.Second)
	if err := f.Sweep(ctx); err != nil || len(s.asked) != 1 {
		t.Errorf("59 s later: %v, asked %q, want no second question", err, s.asked)
	}
	s.clock.Advance(time.Second)
	s.answers = []string{"closed"}
	err := f.Sweep(ctx)
	s.check(t, err, seckill.Expired, "return to orders in 0s", false)
}

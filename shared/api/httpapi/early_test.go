package httpapi

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// early is a stock and a table of items before their start; its clock can be moved.
type early struct {
	seckill.Queue
	seckill.Items
	checks seckill.Checks
	now    time.Time
}

func (e *early) Now() time.Time { return e.now }

func (*early) OrderID(string) string { return orderID }

func (*early) Token() string { return "t" }

func (*early) Count(seckill.Event, int) {}

func (e *early) Get(_ context.Context, id string) (seckill.Item, error) {
	return seckill.Item{ID: id, Start: now.Add(5 * time.Minute), End: now.Add(time.Hour), Limit: 1,
		Checks: e.checks}, nil
}

func (e *early) Reserve(context.Context, time.Time, seckill.Request, bool, time.Duration) (seckill.ReserveResult,
	error) {
	return seckill.ReserveResult{Code: seckill.ReserveEarly, Start: now.Add(5 * time.Minute)}, nil
}

// TestEarlyPresses holds docs/ACTS.md: rule early counts shoppers who are told that the sale has not begun. With
// checks these are shoppers with a ticket. Within a second after such a press, the instance tells it to everybody, and
// it counts.
func TestEarlyPresses(t *testing.T) {
	tickets, err := jwtauth.NewTickets(map[string]string{"1": "a secret of tickets"}, fixedClock{})
	must.OK(t, err)
	good, err := tickets.Make(alice, "42", now.Add(time.Hour))
	must.OK(t, err)
	expired, err := tickets.Make(alice, "42", now)
	must.OK(t, err)
	for name, c := range map[string]struct {
		checks  seckill.Checks
		ticket  string
		between time.Duration // two presses
		reason  string        // of each refusal
		marked  int           // of acts.MaxEarly+2 presses
	}{
		"no checks":               {seckill.ChecksOff, "", 2 * time.Second, "not_started", 2},
		"no checks, rarely":       {seckill.ChecksOff, "", 13 * time.Second, "not_started", 0},
		"checks, a ticket":        {seckill.ChecksStandard, good, 2 * time.Second, "not_started", 2},
		"checks, no ticket":       {seckill.ChecksStandard, "", 2 * time.Second, "ticket_required", 0},
		"checks, an old ticket":   {seckill.ChecksStandard, expired, 2 * time.Second, "ticket_expired", 0},
		"no checks, any ticket":   {seckill.ChecksOff, "x", 2 * time.Second, "not_started", 2},
		"checks, a forged ticket": {seckill.ChecksStandard, "x", 2 * time.Second, "ticket_key", 0},
	} {
		t.Run(name, func(t *testing.T) {
			e, to := &early{checks: c.checks, now: now}, &taken{}
			flow := buy.New(buy.Deps{Stock: e, Orders: e, Items: e, Clock: e, IDs: e, Meter: e, Tickets: tickets})
			h := NewBuy(flow, verifier(), Options{Acts: NewActs(to, e)})
			headers := []string{"Ticket", c.ticket}
			if c.ticket == "" {
				headers = nil
			}
			for range acts.MaxEarly + 2 {
				do(t, h, "POST", "/seckill/buy", `{"seckill_id":"42","count":1,"address":"a"}`, headers...)
				e.now = e.now.Add(c.between)
			}
			marked := 0
			for _, a := range to.acts {
				if a.Rules == seckill.RuleEarly {
					marked++
				}
				if string(a.Result) != c.reason {
					t.Errorf("refused for %s, want %s", a.Result, c.reason)
				}
			}
			if marked != c.marked || len(to.acts) != acts.MaxEarly+2 {
				t.Errorf("%d of %d acts are early ones, want %d", marked, len(to.acts), c.marked)
			}
		})
	}

	e, to := &early{checks: seckill.ChecksStandard, now: now}, &taken{}
	flow := buy.New(buy.Deps{Stock: e, Orders: e, Items: e, Clock: e, IDs: e, Meter: e, Tickets: tickets})
	h := NewBuy(flow, verifier(), Options{Acts: NewActs(to, e)})
	const body = `{"seckill_id":"42","count":1,"address":"a"}`
	do(t, h, "POST", "/seckill/buy", body, "Ticket", good)
	w := do(t, h, "POST", "/seckill/buy", body)
	var problem struct{ Code seckill.Code }
	if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || problem.Code != seckill.CodeNotStarted {
		t.Errorf("within a second after a press with a ticket: %d %s", w.Code, w.Body)
	}
}

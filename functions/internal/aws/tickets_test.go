package aws

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRotatedTicketKeys: an instance that has not read a new key takes what one that has makes, until the key's time;
// afterwards what the old key made is still good.
func TestRotatedTicketKeys(t *testing.T) {
	t.Parallel()
	cheap := seckill.Work{Cost: 1, Tries: 2}
	old := jwtauth.TicketKeys(nil).Add("the-old-secret-of-tickets", begin.Add(-time.Hour))
	both := old.Add("the-new-secret-of-tickets", begin.Add(15*time.Minute))
	settings := map[string]string{"TICKET_SECRET_NAME": "tickets"}
	d, clock, fake, log := newDrivers(t, map[string]string{"tickets": old.String()}, settings)
	ahead, _, _, _ := newDrivers(t, map[string]string{"tickets": both.String()}, settings) // has read the new key
	ahead.clock = clock
	var maker, behind app.Admission
	var checker seckill.TicketChecker
	opened(t, ahead, func(d *Drivers) func() {
		m := d.Admission()
		return func() { maker = m }
	})
	r := opened(t, d, func(d *Drivers) func() {
		c, m := d.Tickets(), d.Admission()
		return func() { checker, behind = c, m }
	})
	made := func(m app.Admission) (ticket string, solution []byte) {
		t.Helper()
		ticket = must.Get(m.Tickets.Make("42", "1001", clock.Now().Add(time.Hour)))
		challenge, err := m.Proofs.Make("42", "1001", cheap, clock.Now().Add(time.Hour))
		if err == nil {
			solution, _, err = altcha.Solve(challenge)
		}
		must.OK(t, err)
		return ticket, solution
	}
	check := func(when, ticket string, solution []byte, by *app.Admission, want bool) {
		t.Helper()
		if err := checker.Check(ticket, "42", "1001"); (err == nil) != want {
			t.Errorf("%s: a ticket: %v, want accepted %v", when, err, want)
		}
		if _, ok := by.Proofs.Check(solution, "42", "1001"); ok != want {
			t.Errorf("%s: a proof accepted %v, want %v", when, ok, want)
		}
	}
	first, firstProof := made(maker)
	check("before its time", first, firstProof, &behind, true)
	question := maker.Picker.Pick("42", "1001", 7, 1000)
	if behind.Picker.Pick("42", "1001", 7, 1000) != question {
		t.Error("a new key changes a shopper's question")
	}

	clock.Advance(15 * time.Minute) // b reads nothing meanwhile
	second, secondProof := made(maker)
	check("an instance that slept", second, secondProof, &behind, false)
	fake.SetSecret("tickets", both.String())
	if err := checker.Check(second, "42", "1001"); seckill.CodeOf(err) != seckill.CodeTicket {
		t.Errorf("read a moment ago: %v", err)
	}
	clock.Advance(renewAge)
	if err := checker.Check(second, "42", "1001"); err != nil {
		t.Errorf("the first ticket after a long sleep: %v", err)
	}
	must.Get(r.handle(t.Context(), nil))
	check("read", second, secondProof, &behind, true)
	check("the old key's", first, firstProof, &maker, true)
	if maker.Picker.Pick("42", "1001", 7, 1000) != question {
		t.Error("a new key changes a shopper's question when its time comes")
	}

	fake.SetSecret("tickets", "1764000000:short") // a mistake by an operator
	refreshUntil(t, r, clock, func() bool { return strings.Contains(log.String(), "secrets stay as they were") })
	third, _ := made(maker)
	if err := checker.Check(third, "42", "1001"); err != nil || strings.Contains(log.String(), "short") ||
		!strings.Contains(log.String(), "TICKET_SECRET_NAME names the secret") {
		t.Errorf("after a mistake: %v; log: %s", err, log)
	}
}

package boot

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRotatedTicketKeys: an instance that has not read a new key takes what one that has makes, until the key's time;
// afterwards what the old key made is still good.
func TestRotatedTicketKeys(t *testing.T) {
	t.Parallel()
	cheap := seckill.Work{Cost: 1, Tries: 2}
	old := jwtauth.TicketKeys(nil).Add("the-old-secret-of-tickets", begin.Add(-time.Hour))
	both := old.Add("the-new-secret-of-tickets", begin.Add(15*time.Minute))
	settings := config.Tickets{KeyName: "tickets"}
	b, clock, fake, log := newBoot(t, map[string]string{"tickets": old.String()})
	ahead, _, _, _ := newBoot(t, map[string]string{"tickets": both.String()}) // has read the new key already
	ahead.Clock = clock
	maker, checker := ahead.TicketMaker(settings), b.TicketChecker(settings)
	behind := b.TicketMaker(settings)
	for _, one := range []*Boot{b, ahead} {
		if err := one.open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	made := func(m *TicketMaker) (ticket string, solution []byte) {
		t.Helper()
		ticket, err := m.Make("42", "1001", clock.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		challenge, err := m.Proofs().Make("42", "1001", cheap, clock.Now().Add(time.Hour))
		if err == nil {
			solution, _, err = altcha.Solve(challenge)
		}
		if err != nil {
			t.Fatal(err)
		}
		return ticket, solution
	}
	check := func(when, ticket string, solution []byte, by *TicketMaker, want bool) {
		t.Helper()
		if err := checker.Check(ticket, "42", "1001"); (err == nil) != want {
			t.Errorf("%s: a ticket: %v, want accepted %v", when, err, want)
		}
		if _, ok := by.Proofs().Check(solution, "42", "1001"); ok != want {
			t.Errorf("%s: a proof accepted %v, want %v", when, ok, want)
		}
	}
	first, firstProof := made(maker)
	check("before its time", first, firstProof, behind, true)
	question := maker.Pick("42", "1001", 7, 1000)
	if behind.Pick("42", "1001", 7, 1000) != question {
		t.Error("a new key changes a shopper's question")
	}

	clock.Advance(15 * time.Minute) // b reads nothing meanwhile
	second, secondProof := made(maker)
	check("an instance that slept", second, secondProof, behind, false)
	fake.SetSecret("tickets", both.String())
	if err := checker.Check(second, "42", "1001"); seckill.CodeOf(err) != seckill.CodeTicket {
		t.Errorf("read a moment ago: %v", err)
	}
	clock.Advance(renewAge)
	if err := checker.Check(second, "42", "1001"); err != nil {
		t.Errorf("the first ticket after a long sleep: %v", err)
	}
	check("read", second, secondProof, behind, true)
	check("the old key's", first, firstProof, maker, true)
	if maker.Pick("42", "1001", 7, 1000) != question {
		t.Error("a new key changes a shopper's question when its time comes")
	}

	fake.SetSecret("tickets", "1764000000:short") // a mistake by an operator
	refreshUntil(t, b, clock, func() bool { return strings.Contains(log.String(), "secrets stay as they were") })
	third, _ := made(maker)
	if err := checker.Check(third, "42", "1001"); err != nil || strings.Contains(log.String(), "short") ||
		!strings.Contains(log.String(), "TICKET_SECRET_NAME names the secret") {
		t.Errorf("after a mistake: %v; log: %s", err, log)
	}
}

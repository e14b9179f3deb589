package jwtauth_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

func tickets(t testing.TB, clock seckill.Clock, secrets map[string]string) *jwtauth.Tickets {
	t.Helper()
	all, err := jwtauth.NewTickets(secrets, clock)
	must.OK(t, err)
	return all
}

// TestTickets: a ticket serves its user and item until it expires, under any secret of the set; forged, foreign and
// expired ones are refused, each with its reason.
func TestTickets(t *testing.T) {
	t.Parallel()
	clock := &passClock{time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)}
	end := clock.now.Add(time.Hour)
	now := tickets(t, clock, map[string]string{"2026": "old", "2027": "new"})
	make := func(from *jwtauth.Tickets, user, item string) string {
		ticket, err := from.Make(user, item, end)
		must.OK(t, err)
		return ticket
	}
	good := make(now, "42", "1001")
	parsed, err := jwt.Parse(good, func(*jwt.Token) (any, error) { return []byte("new"), nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithAudience("1001"), jwt.WithSubject("42"),
		jwt.WithTimeFunc(clock.Now))
	if err != nil || parsed.Header["typ"] != "seckill-ticket" || parsed.Header["kid"] != "2027" {
		t.Errorf("as a library reads it: %v, %v", parsed, err)
	}
	older := make(tickets(t, clock, map[string]string{"2026": "old"}), "42", "1001")
	for _, ticket := range []string{good, good, older} {
		if err := now.Check(ticket, "42", "1001"); err != nil {
			t.Error(err)
		}
	}
	access, err := jwtauth.Sign("new", "42", end)
	must.OK(t, err)
	parts := strings.Split(good, ".")
	other := strings.Split(make(now, "43", "1001"), ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"2027","typ":"seckill-ticket"}`))
	gone := make(tickets(t, clock, map[string]string{"2025": "old"}), "42", "1001")
	fake := make(tickets(t, clock, map[string]string{"2027": "x"}), "42", "1001")
	broken := good[:len(good)-4] + "\n" + good[len(good)-4:]
	changed := good[:len(good)-1] + string(good[len(good)-1]+1)
	for what, c := range map[string]struct {
		ticket, user, item string
		want               seckill.Reason
	}{
		"another user":          {good, "43", "1001", seckill.TicketForeign},
		"another item":          {good, "42", "1002", seckill.TicketForeign},
		"another's claims":      {parts[0] + "." + other[1] + "." + parts[2], "43", "1001", seckill.TicketSignature},
		"no signature":          {parts[0] + "." + parts[1] + ".", "42", "1001", seckill.TicketSignature},
		"only two parts":        {parts[0] + "." + parts[1], "42", "1001", seckill.TicketSignature},
		"no algorithm":          {none + "." + parts[1] + ".", "42", "1001", seckill.TicketKey},
		"a secret that is gone": {gone, "42", "1001", seckill.TicketKey},
		"a secret of that name": {fake, "42", "1001", seckill.TicketSignature},
		"an access token":       {access, "42", "1001", seckill.TicketKey},
		"nothing":               {"", "42", "1001", seckill.TicketKey},
		"10 MB":                 {good + strings.Repeat("A", 10<<20), "42", "1001", seckill.TicketKey},
		"a line break in it":    {broken, "42", "1001", seckill.TicketSignature},
		"its last bits changed": {changed, "42", "1001", seckill.TicketSignature},
	} {
		err := now.Check(c.ticket, c.user, c.item)
		if e := seckill.AsError(orNil(err)); err == nil || e.Code != seckill.CodeTicket || e.Token != c.want {
			t.Errorf("%s: %v, %s; want %s", what, err, e.Token, c.want)
		}
	}
	clock.now = end
	if e := seckill.AsError(orNil(now.Check(good, "42", "1001"))); e.Token != seckill.TicketExpired {
		t.Errorf("at its end: %v", e)
	}
	for _, bad := range []map[string]string{nil, {"": "x"}, {"2026": ""}} {
		if _, err := jwtauth.NewTickets(bad, clock); err == nil {
			t.Errorf("secrets %v are enough", bad)
		}
	}
}

// orNil makes an error of none, which AsError does not take.
func orNil(err error) error {
	if err == nil {
		return &seckill.Error{}
	}
	return err
}

func BenchmarkTicketCheck(b *testing.B) {
	clock := &passClock{time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)}
	all := tickets(b, clock, map[string]string{"2026": "secret", "2027": "secret"})
	ticket, err := all.Make("42", "1001", clock.now.Add(time.Hour))
	must.OK(b, err)
	b.ReportAllocs()
	for b.Loop() {
		must.OK(b, all.Check(ticket, "42", "1001"))
	}
}

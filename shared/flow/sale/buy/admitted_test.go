package buy_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// tickets takes the ticket "good" of user 1 for the item.
type tickets struct{}

func (tickets) Check(ticket, user, item string) error {
	if ticket == "good" && user == "1" && item == "1001" {
		return nil
	}
	return &seckill.Error{Code: seckill.CodeTicket, Token: seckill.TicketForeign}
}

// readItems counts reads of items, which fail with err.
type readItems struct {
	*memory.Items
	reads int
	err   error
}

func (r *readItems) Get(ctx context.Context, id string) (seckill.Item, error) {
	r.reads++
	if r.err != nil {
		return seckill.Item{}, r.err
	}
	return r.Items.Get(ctx, id)
}

func setupChecks(t *testing.T, checks seckill.Checks) (*fixture, *readItems) {
	t.Helper()
	f := setup(t, 5, 5)
	f.item.Checks = checks
	f.item.Version++
	must.OK(t, f.items.Put(t.Context(), f.item, nil))
	items := &readItems{Items: f.items}
	d := f.Deps
	d.Items, d.Tickets = items, tickets{}
	f.Flow = buy.New(d)
	return f, items
}

func (f *fixture) present(user, ticket string) error {
	_, err := f.Buy(context.Background(), buy.Purchase{Item: "1001", User: user, Count: 1,
		Given: seckill.Given{Address: "杭州市西湖区1号"}, Ticket: ticket})
	return err
}

// TestTickets: an item with checks sells to holders of a ticket of their own, without a read of the item and as often
// as they like; one without checks sells to everybody, whatever they bring. Nothing of others reaches the stock.
func TestTickets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		checks       seckill.Checks
		user, ticket string
		want         seckill.Code
		why          seckill.Reason
		reads        int
	}{
		{seckill.ChecksStandard, "1", "good", "", "", 0},
		{seckill.ChecksStrict, "1", "good", "", "", 0},
		{seckill.ChecksStandard, "1", "", seckill.CodeTicket, seckill.Reason(seckill.CodeTicket), 1},
		{seckill.ChecksStandard, "1", "bad", seckill.CodeTicket, seckill.TicketForeign, 1},
		{seckill.ChecksStandard, "2", "good", seckill.CodeTicket, seckill.TicketForeign, 1},
		{seckill.ChecksOff, "1", "", "", "", 1},
		{seckill.ChecksOff, "2", "good", "", "", 1},
	} {
		f, items := setupChecks(t, c.checks)
		for range 3 {
			err := f.present(c.user, c.ticket)
			refused := err != nil && seckill.CodeOf(err) == c.want && seckill.AsError(err).Reason() == c.why
			if c.want == "" && err != nil || c.want != "" && !refused {
				t.Errorf("checks %q, user %s, ticket %q: %v", c.checks, c.user, c.ticket, err)
			}
		}
		if items.reads != c.reads {
			t.Errorf("checks %q, ticket %q: %d reads of the item, want %d", c.checks, c.ticket, items.reads, c.reads)
		}
		if (f.stock.reserves == 0) != (c.want != "") {
			t.Errorf("checks %q, ticket %q: %d calls of the stock", c.checks, c.ticket, f.stock.reserves)
		}
	}
}

// TestChecksAreRemembered: an instance reads an item once, as soon as its checks are for good. Without that answer
// nobody passes who has no ticket; with it, a purchase needs no database.
func TestChecksAreRemembered(t *testing.T) {
	t.Parallel()
	for checks, want := range map[seckill.Checks]seckill.Code{seckill.ChecksOff: "",
		seckill.ChecksStandard: seckill.CodeTicket} {
		f, items := setupChecks(t, checks)
		items.err = errors.New("no answer")
		if err := f.present("2", ""); seckill.CodeOf(err) != seckill.CodeUnavailable ||
			seckill.AsError(err).RetryAfter <= 0 {
			t.Errorf("checks %q, nothing is known: %v", checks, err)
		}
		if err := f.present("1", "good"); err != nil {
			t.Errorf("checks %q, a ticket needs no read: %v", checks, err)
		}
		items.err = nil
		reads := items.reads
		for _, after := range []time.Duration{0, time.Second, 40 * time.Minute} {
			f.clock.Advance(after)
			if err := f.present("2", ""); err == nil != (want == "") || err != nil && seckill.CodeOf(err) != want {
				t.Errorf("checks %q: %v", checks, err)
			}
			items.err = errors.New("no answer")
		}
		if items.reads != reads+1 {
			t.Errorf("checks %q: %d reads more, want 1", checks, items.reads-reads)
		}
	}
}

// TestChecksThatMayChangeAreNotRemembered: until the item is loaded for sale, an import may change its checks.
func TestChecksThatMayChangeAreNotRemembered(t *testing.T) {
	t.Parallel()
	f, items := setupChecks(t, seckill.ChecksOff)
	clock := memory.NewClock(f.item.Start.Add(-48 * time.Hour))
	d := f.Deps
	d.Clock, d.Items, d.Tickets = clock, items, tickets{}
	f.Flow = buy.New(d)
	change := func(c seckill.Checks) {
		t.Helper()
		f.item.Checks, f.item.Version = c, f.item.Version+1
		must.OK(t, f.items.Put(t.Context(), f.item, nil))
	}
	for _, c := range []struct {
		before time.Duration // the start
		checks seckill.Checks
		want   seckill.Code
		reads  int
	}{
		{24 * time.Hour, seckill.ChecksOff, seckill.CodeNotStarted, 1},
		{seckill.StageLead - 58*time.Second, seckill.ChecksStrict, seckill.CodeTicket, 1},
		{seckill.StageLead - time.Minute, seckill.ChecksOff, seckill.CodeNotStarted, 1},
		{time.Minute, seckill.ChecksStrict, seckill.CodeNotStarted, 0}, // nobody can change it, and nobody looks
	} {
		change(c.checks)
		clock.Advance(f.item.Start.Add(-c.before).Sub(clock.Now()))
		reads := items.reads
		if err := f.present("2", ""); seckill.CodeOf(err) != c.want || items.reads != reads+c.reads {
			t.Errorf("%s before the start, checks %q: %v, %d reads; want %s, %d", c.before, c.checks, err,
				items.reads-reads, c.want, c.reads)
		}
	}
}

// drain sells all units to users with tickets for nothing but the stock.
func (f *fixture) drain(t *testing.T) {
	t.Helper()
	for i := range f.item.Stock {
		r := drivertest.Request("1001", "9"+strconv.Itoa(i), f.clock.Now())
		res, err := f.stock.Reserve(t.Context(), f.clock.Now(), r, true, seckill.Resend)
		if err != nil || res.Code != seckill.Reserved {
			t.Fatal(res, err)
		}
	}
}

// TestSoldOutAsksForNoTicket: who comes too late is told so from memory, as without checks.
func TestSoldOutAsksForNoTicket(t *testing.T) {
	t.Parallel()
	f, items := setupChecks(t, seckill.ChecksStandard)
	f.drain(t)
	if err := f.present("1", "good"); seckill.CodeOf(err) != seckill.CodeSoldOut {
		t.Fatal(err)
	}
	reserves := f.stock.reserves
	for _, ticket := range []string{"", "bad", "good"} {
		if err := f.present("2", ticket); seckill.CodeOf(err) != seckill.CodeSoldOut {
			t.Errorf("ticket %q: %v", ticket, err)
		}
	}
	if items.reads != 0 || f.stock.reserves != reserves {
		t.Errorf("%d reads of the item, %d calls of the stock", items.reads, f.stock.reserves-reserves)
	}
}

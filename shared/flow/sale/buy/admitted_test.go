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

// spans has what users hold of families, and counts how often it was asked.
type spans struct {
	of    map[string]seckill.Quota
	reads int
	err   error
}

func (s *spans) SpanQuota(_ context.Context, user, family string) (seckill.Quota, error) {
	s.reads++
	if family != "70" {
		return seckill.Quota{}, errors.New("another family")
	}
	return s.of[user], s.err
}

// TestSpanningLimit: who has bought up a limit that spans a family hears so at once on another variant. The ledger is
// asked only about items whose limit spans; without its answer the purchase goes on.
func TestSpanningLimit(t *testing.T) {
	t.Parallel()
	mine, other := seckill.KeyedOrderID("1001", "3", "k"), seckill.KeyedOrderID("1002", "3", "k")
	for _, c := range []struct {
		name  string
		spans bool
		quota seckill.Quota // the limit is 2
		count int
		fault error
		want  seckill.Code // "" if it is reserved
		order string       // named by the refusal
	}{
		{"nothing bought", true, seckill.Quota{}, 2, nil, "", ""},
		{"one left", true, seckill.Quota{Units: 1, Orders: map[string]int{other: 1}}, 1, nil, "", ""},
		{"all of another variant", true, seckill.Quota{Units: 2, Orders: map[string]int{other: 2}}, 1, nil,
			seckill.CodeLimitReached, ""},
		{"too many with one of another variant", true, seckill.Quota{Units: 1, Orders: map[string]int{other: 1}}, 2,
			nil, seckill.CodeLimitReached, ""},
		{"one of each", true, seckill.Quota{Units: 2, Orders: map[string]int{other: 1,
			seckill.KeyedOrderID("1001", "3", "before"): 1}}, 1, nil, seckill.CodeLimitReached,
			seckill.KeyedOrderID("1001", "3", "before")},
		{"more than anybody may", true, seckill.Quota{}, 3, nil, seckill.CodeInvalid, ""},
		{"a repeat of what was placed", true, seckill.Quota{Units: 2, Orders: map[string]int{mine: 2}}, 2, nil, "", ""},
		{"no answer", true, seckill.Quota{Units: 2}, 2, errors.New("no answer"), "", ""},
		{"a limit of the item alone", false, seckill.Quota{Units: 2}, 2, nil, "", ""},
	} {
		f := setup(t, 5, 2)
		if c.spans {
			f.item.Variant = seckill.Variant{Family: "70", LimitSpans: true,
				Options: seckill.Options{{Name: "颜色", Value: "黑"}}}
		}
		f.item.Version++
		must.OK(t, f.items.Put(t.Context(), f.item, nil))
		s := &spans{of: map[string]seckill.Quota{"3": c.quota}, err: c.fault}
		d := f.Deps
		d.Spans = s
		f.Flow = buy.New(d)
		_, err := f.buy("3", "k", c.count)
		e := &seckill.Error{}
		if err != nil {
			e = seckill.AsError(err)
		}
		if e.Code != c.want || e.Order != c.order {
			t.Errorf("%s: %v, want %q %s", c.name, err, c.want, c.order)
		}
		if (s.reads == 1) != c.spans || (f.stock.reserves == 1) != (c.want == "" || c.want == seckill.CodeInvalid &&
			s.reads == 0) {
			t.Errorf("%s: %d reads of the ledger, %d calls of the stock", c.name, s.reads, f.stock.reserves)
		}
	}
}

// TestAnUnreadableItemHoldsUpFewPurchases: a purchase with a good ticket goes on when nobody knows whether the item's
// limit spans, and the instance does not ask again for each purchase.
func TestAnUnreadableItemHoldsUpFewPurchases(t *testing.T) {
	t.Parallel()
	f, items := setupChecks(t, seckill.ChecksStandard)
	d := f.Deps
	s := &spans{}
	d.Items, d.Tickets, d.Spans = items, tickets{}, s
	f.Flow = buy.New(d)
	items.err = errors.New("no answer")
	for _, reads := range []int{1, 1, 2, 2} {
		if err := f.present("1", "good"); err != nil || items.reads != reads {
			t.Errorf("%v, %d reads of the item, want %d", err, items.reads, reads)
		}
		f.clock.Advance(5 * time.Second)
	}
	items.err = nil
	f.clock.Advance(10 * time.Second)
	for range 2 {
		if err := f.present("1", "good"); err != nil || items.reads != 3 || s.reads != 0 {
			t.Errorf("%v, %d reads of the item, %d of quotas", err, items.reads, s.reads)
		}
	}
}

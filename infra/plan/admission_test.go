package plan

import (
	"bytes"
	"math"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

func checked(shoppers, units int, checks string) Sale {
	s := sale(shoppers, units, true)
	s.Checks = checks
	return s
}

// TestTicketsAreAskedForAhead: by hand, 60,000 of 120,000 shoppers are there before the opening.
func TestTicketsAreAskedForAhead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		checks                     string
		before                     time.Duration
		rate                       float64
		peak, admitted, late, wait float64
	}{
		// 100 a second over ten minutes; in the opening's two seconds 49 and 46 thousandths of the rest.
		"as they open":       {ChecksStandard, 10 * time.Minute, 300, 2926, 300, 0, 2},
		"more than admitted": {ChecksStandard, 10 * time.Minute, 50, 2926, 50, 30_000, 600},
		// Half of them are there when the first ticket is given, and ask within a minute.
		"pages of an hour":  {ChecksStandard, time.Hour, 1000, 2926, 1000, 0, 1.926},
		"one in five again": {ChecksStrict, 10 * time.Minute, 300, 2926, 250, 0, 2},
	} {
		s := checked(120_000, 1000, c.checks)
		s.Before = c.before
		a := s.admission(c.rate, 0)
		near := func(got, want float64) bool { return math.Abs(got-want) <= 0.005*max(want, 1) }
		if !near(a.Peak, c.peak) || !near(a.Admitted, c.admitted) || !near(a.Late, c.late) || !near(a.Wait, c.wait) {
			t.Errorf("%s: %+v, want %+v", name, a, c)
		}
		if want := 60_000 + 60_000*(1-math.Exp(-0.1)); !near(a.Shoppers, want) ||
			!near(a.Calls, want*(1+s.answers())) {
			t.Errorf("%s: %+v, want %.0f shoppers", name, a, want)
		}
	}
	s := checked(120_000, 1000, ChecksStandard)
	s.Before = time.Hour
	if got := s.asking(-ticketLead + 30); math.Abs(got-(15_000+500)) > 1 {
		t.Errorf("%.0f have asked half a minute after the first ticket, want 15,500", got)
	}
	if got := s.asking(-ticketLead - 1); got != 0 {
		t.Errorf("%.0f ask before there are tickets", got)
	}
}

// TestPlanGivesTickets: with the plan, who came before the opening has a ticket soon after it; what the plan adds for
// checks is named, paid for, and nothing without them.
func TestPlanGivesTickets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shoppers, units int
		checks, says    string
	}{
		{20_000, 100, ChecksStandard, "admit: 1"},
		{1_000_000, 1000, ChecksStandard, "--table-name STACK-blocks --warm-throughput ReadUnitsPerSecond="},
		{1_000_000, 1000, ChecksStrict, "checks    strict: a page asks"},
		{5_000_000, 1000, ChecksStrict, "--table-name STACK-passing"},
	} {
		off := Make(sale(c.shoppers, c.units, true))
		p := Make(checked(c.shoppers, c.units, c.checks))
		var b bytes.Buffer
		if err := p.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		l := p.Planned.Limits
		if p.Admission.Wait > p.Sale.Wait.Seconds() || l.Fits() != nil || l.Admitting < 1 || p.Total <= off.Total ||
			!strings.Contains(b.String(), c.says) || l.Rate < off.Planned.Limits.Rate {
			t.Errorf("%d shoppers, %s: %+v, %q, %+v, %.2f USD, without checks %.2f; want %q\n%s", c.shoppers, c.checks,
				p.Admission, l.Fits(), l, p.Total, off.Total, c.says, b.String())
		}
		for _, d := range p.Door {
			if float64(d.WarmReads)*evenness < d.Reads-1000 || float64(d.WarmWrites)*evenness < d.Writes-1000 {
				t.Errorf("%d shoppers: %+v", c.shoppers, d)
			}
		}
		if off.Admission != nil || off.Door != nil || slices.ContainsFunc(off.Bill,
			func(l Line) bool { return l.What == "tickets" }) {
			t.Errorf("without checks: %+v, %+v", off.Admission, off.Door)
		}
	}
}

// TestPlacementsCheckBlocks: a sale whose orders want warm tables wants blocks warm, with checks and without.
func TestPlacementsCheckBlocks(t *testing.T) {
	t.Parallel()
	s := sale(200_000, 100_000, true)
	s.Wait = 2 * time.Second
	p := Make(s)
	i := slices.IndexFunc(p.Door, func(a Access) bool { return a.Name == "blocks" })
	if p.Planned.Limits.Writes <= NewTableWrites || i < 0 || p.Door[i].WarmWrites <= NewTableWrites ||
		p.Door[i].WarmReads != tableReads ||
		p.Door[1-i].Writes != p.Door[i].Writes/placeChecks*(changeWrites+loginChecks) {
		t.Errorf("orders are written with %.0f units, the door %+v", p.Planned.Limits.Writes, p.Door)
	}
}

// TestSpans: each purchase of an item whose limit spans reads the user's quota of the family, and each order writes it.
func TestSpans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shoppers, units int
		within          time.Duration
		warm            bool
	}{{1000, 1000, DefaultWithin, false}, {200_000, 100_000, 0, true}} {
		s := sale(c.shoppers, c.units, true)
		s.Within, s.Wait = c.within, 2*time.Second
		off := Make(s)
		s.Spans = true
		on := Make(s)
		of := func(p *Plan) Table {
			return p.Tables[slices.IndexFunc(p.Tables, func(t Table) bool { return t.Name == "quotas" })]
		}
		if off.Spans != nil || on.Total <= off.Total || of(on).PerOrder != of(off).PerOrder+spanWrites {
			t.Errorf("%d shoppers: %+v of %+v, %v and %v USD", c.shoppers, of(on), of(off), on.Total, off.Total)
		}
		a := on.Spans
		if a.Reads < on.Redis.Scripts || float64(a.WarmReads)*evenness < a.Reads-1000 ||
			a.WarmWrites != of(on).Warm || (a.WarmReads > tableReads) != c.warm {
			t.Errorf("%d shoppers: %+v for %v purchases per second", c.shoppers, a, on.Redis.Scripts)
		}
		var text strings.Builder
		if err := on.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"read units per second of purchases", "  limit that spans "} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%d shoppers: the plan lacks %q:\n%s", c.shoppers, want, &text)
			}
		}
		if got := strings.Contains(text.String(), "--table-name STACK-quotas --warm-throughput"); got != c.warm {
			t.Errorf("%d shoppers: warm %t:\n%s", c.shoppers, got, &text)
		}
	}
}

func TestChecksThatThereAreNot(t *testing.T) {
	t.Parallel()
	s := checked(1000, 100, "hard")
	if err := s.Validate(); err == nil || err.Error() != `--checks "hard": want off, standard or strict` {
		t.Error(err)
	}
	if s.Checks = ChecksOff; s.Validate() != nil || s.hasChecks() {
		t.Errorf("%v, %v", s.Validate(), s.hasChecks())
	}
}

// TestCallsOfAdmitAreTheLedgers compares the plan's units with the ledger's calls, and its times with shop and page.
func TestCallsOfAdmitAreTheLedgers(t *testing.T) {
	t.Parallel()
	ranges := len(seckill.NetworkSubjects(netip.MustParseAddr("203.0.113.7")))
	// UserBlocks reads a user's two blocks consistently, RangeBlocks two rows of a range for half.
	if want := 2 + float64(ranges); want != blockReads {
		t.Errorf("%d ranges: want %v reads of blocks, the plan has %v", ranges, want, blockReads)
	}
	used, now := units{}, time.Date(2026, 12, 12, 2, 0, 0, 0, time.UTC)
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(now), Watch: used.row}))
	f := &first{Ledger: l}
	if err := seckill.CheckSession(t.Context(), f, "1001", "a"); err == nil || f.reads != loginReads {
		t.Errorf("a call asks for the session %d times, %v", f.reads, err)
	}
	if err := l.CountAttempt(t.Context(), strings.Repeat("u", 64), "1001", now); err != nil {
		t.Fatal(err)
	}
	if got := used[ledger.TableAttempts] / 2; got != answerWrites || len(used) != 1 { // no transaction
		t.Errorf("an answer writes %v", used)
	}
	if seckill.TicketLead.Seconds() != ticketLead {
		t.Errorf("tickets are given from %v on", seckill.TicketLead)
	}
	page, err := os.ReadFile("../../web/src/admission.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`LEAD = 30 \* 60_000;`, `SPREAD = 60_000;`} {
		if !regexp.MustCompile(want).Match(page) {
			t.Errorf("admission.js has no %s", want)
		}
	}
}

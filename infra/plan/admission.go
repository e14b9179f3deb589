package plan

import (
	"math"
	"strconv"
)

// The storefront's way to a ticket (web/src/admission.js; TestPageIsTheStorefronts compares).
const (
	ticketLead   = 30 * 60.0 // s before the start, from which on tickets are given
	ticketSpread = 60.0      // s over which the pages that are open then ask
)

// What a call of admit costs in the tables, in units (TestCallsOfAdmitAreTheLedgers compares).
const (
	blockReads   = 7.0 // blocks: two rows of the user, consistently, and ten of five ranges
	answerWrites = 1.0 // passing, for each answer
	loginReads   = 1.0 // passing: the shopper's session, consistently
	// Guess: each of the rows that a placement checks, two of blocks and the session, costs as much as a row that it
	// writes.
	placeChecks = 4.0
	loginChecks = 2.0 // passing

	// Guess: a fifth of the shoppers of a strict item answer wrong once.
	strictAnswers = 1.2
)

// Admission is how the crowd gets its tickets for an item with checks. Waits are seconds.
type Admission struct {
	Shoppers float64 `json:"shoppers"`       // who ask for a ticket
	Peak     float64 `json:"peak"`           // who begin to ask, per second
	Admitted float64 `json:"peak_admitted"`  // who get theirs, per second
	Late     float64 `json:"late"`           // who came before the opening and have none at the opening
	Wait     float64 `json:"longest_wait_s"` // after the opening
	Calls    float64 `json:"calls"`
}

func (s *Sale) hasChecks() bool { return s.Checks == ChecksStandard || s.Checks == ChecksStrict }

// answers returns how often a shopper answers a challenge.
func (s *Sale) answers() float64 {
	if s.Checks == ChecksStrict {
		return strictAnswers
	}
	return 1
}

// asking returns how many shoppers have asked for a ticket t seconds after the opening: pages that were open when the
// first tickets were given, over a minute; the others as they open.
func (s *Sale) asking(t float64) float64 {
	first := float64(s.Shoppers) * s.First
	opened := func(t float64) float64 {
		if before := s.Before.Seconds(); t < 0 {
			return first * max(0, t+before) / max(before, 1)
		}
		return first
	}
	if t < -ticketLead {
		return 0
	}
	were := opened(-ticketLead)
	n := were*min(1, (t+ticketLead)/ticketSpread) + opened(t) - were
	if t > 0 {
		n += float64(s.Shoppers) * (1 - s.First) * (1 - math.Exp(-3*t/s.Rest.Seconds()))
	}
	return n
}

// admission returns how the crowd gets its tickets with a throttle of rate calls per second of each method. soldOut is
// when the last unit goes, or never: a little later all pages know, and nobody asks or waits.
func (s *Sale) admission(rate, soldOut float64) *Admission {
	if !s.hasChecks() {
		return nil
	}
	a, rate := &Admission{}, rate/s.answers()
	end := soldOut + statusAge
	if soldOut < 0 {
		end = math.Inf(1)
	}
	waiting, most := 0.0, 10*s.Rest.Seconds()+s.Wait.Seconds()
	for t := -ticketLead; t < min(end, max(most, a.Wait)); t++ {
		if t == 0 {
			a.Late, a.Wait = waiting, waiting/rate
		}
		asks := s.asking(t+1) - s.asking(t)
		gets := min(waiting+asks, rate)
		waiting += asks - gets
		a.Shoppers += asks
		a.Peak, a.Admitted = max(a.Peak, asks), max(a.Admitted, gets)
		if t >= 0 {
			a.Wait = max(a.Wait, min(waiting/rate, end-t))
		}
	}
	a.Calls = a.Shoppers * (1 + s.answers())
	return a
}

// admitting returns how many instances of admit run at once.
func (s *Sale) admitting(rate float64) float64 {
	a := s.admission(rate, 0)
	if a == nil {
		return 0
	}
	return math.Ceil(a.Admitted * (1 + s.answers()) * Occupied)
}

// Access is what the sale reads from and writes to a table that no parameter warms, in units per second at the peak,
// and what the table has to serve at once.
type Access struct {
	Name       string  `json:"name"`
	Reads      float64 `json:"peak_reads"`
	Writes     float64 `json:"peak_writes"`
	WarmReads  int     `json:"warm_read_units"`
	WarmWrites int     `json:"warm_write_units"`
}

func (a *Access) warm() bool { return a.WarmReads > tableReads || a.WarmWrites > NewTableWrites }

// accesses returns the tables of the door. Placements check blocks, and tell counts them, for items without checks,
// too: with as many orders as the tables of orders are warmed for.
func (p *Plan) accesses() (out []Access) {
	placed := max(p.Planned.Outcome.PeakPlaced, min(p.Planned.Limits.Writes, plenty)/writesMost(p.Sale.Count))
	blocks := Access{Name: "blocks", Writes: placeChecks * placed}
	passing := Access{Name: "passing", Writes: (changeWrites + loginChecks) * placed}
	if a := p.Admission; a != nil {
		calls := a.Admitted * (1 + p.Sale.answers())
		blocks.Reads, passing.Reads = blockReads*calls, loginReads*calls
		passing.Writes += answerWrites * a.Admitted * p.Sale.answers()
	}
	for _, t := range []Access{passing, blocks} {
		t.WarmReads, t.WarmWrites = toWarm(t.Reads, tableReads), toWarm(t.Writes, NewTableWrites)
		if p.Admission != nil || t.warm() {
			out = append(out, t)
		}
	}
	return out
}

// admitBill returns what tickets cost, and the tables that they want warm.
func (p *Plan) admitBill() (lines []Line) {
	if a := p.Admission; a != nil {
		n := 1 + p.Sale.answers()
		each := n*(callPrice(p.Sale.Edge)+callSeconds*memoryGB*priceCompute+(blockReads+loginReads)*priceRead) +
			p.Sale.answers()*answerWrites*priceWrite
		lines = append(lines, Line{"tickets", text("%.0f × (%.1f calls, %.0f ms and %.0f reads each, %.1f writes) = "+
			"%.2f/million", a.Shoppers, n, callSeconds*1000, blockReads+loginReads,
			p.Sale.answers()*answerWrites, each*million), a.Shoppers * each})
	}
	reads, writes := 0.0, 0.0
	for _, t := range p.Door {
		reads, writes = reads+float64(t.WarmReads-tableReads), writes+float64(t.WarmWrites-NewTableWrites)
	}
	if reads+writes > 0 {
		lines = append(lines, Line{"warm door", text("%.0f read units × 0.00013, %.0f write units × 0.00065, once",
			reads, writes), reads*priceWarmRead + writes*priceWarm})
	}
	return lines
}

// toWarm returns the units that a table has to serve at once, for use at the peak: at least those of a new one.
func toWarm(peak, least float64) int { return int(max(least, up(math.Floor(peak/evenness), 1000))) }

// warmText prints how to warm a table.
func (a *Access) warmText(line func(string, ...any)) {
	line("  warm    aws dynamodb update-table --table-name STACK-%s --warm-throughput ReadUnitsPerSecond=%s,"+
		"WriteUnitsPerSecond=%s", a.Name, strconv.Itoa(a.WarmReads), strconv.Itoa(a.WarmWrites))
	line("          the day before; it costs once, and cannot be lowered again")
}

// admitText prints how the crowd gets its tickets, and which tables to warm.
func (p *Plan) admitText(line func(string, ...any)) {
	if a := p.Admission; a != nil {
		line("  have    admit: %.0f shoppers ask for a ticket from %.0f min before the opening on, at most %.0f per "+
			"second;", a.Shoppers, ticketLead/60, a.Peak)
		line("          each makes %.1f calls. ThrottleRate lets %.0f per second through, on %.0f instances; Redis "+
			"hears", 1+p.Sale.answers(), a.Admitted, p.Planned.Limits.Admitting)
		line("          nothing of it. At the opening %.0f of those who came before have none; after it nobody waits",
			a.Late)
		line("          longer than %s for one, besides the time to solve", seconds(a.Wait))
	}
	for i := range p.Door {
		t := &p.Door[i]
		line("  have    table %-13s %5.0f read and %5.0f write units per second; it serves %d and %d at once", t.Name,
			t.Reads, t.Writes, tableReads, NewTableWrites)
		if t.warm() {
			t.warmText(line)
		}
	}
}

package plan

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

func text(format string, a ...any) string { return fmt.Sprintf(format, a...) }

var english = message.NewPrinter(language.English)

// number writes an amount for people: whole, in groups of three.
func number(v float64) string { return english.Sprintf("%.0f", math.Round(math.Max(v, 0))) }

// seconds writes a time after the opening.
func seconds(v float64) string {
	switch {
	case v < 0:
		return "never"
	case v < 10:
		return text("%.1f s", v)
	default:
		return text("%.0f s", v)
	}
}

func bytesText(n int) string {
	switch v := float64(n); {
	case v >= 1e9:
		return text("%.1f GB", v/1e9)
	case v >= 1e6:
		return text("%.1f MB", v/1e6)
	default:
		return text("%.0f kB", v/1e3)
	}
}

// steps are the spans of the table of requests, s after the opening.
var steps = []float64{0, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600}

// WriteText prints the plan for people.
func (p *Plan) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	s := &p.Sale
	line("sale      %s shoppers, %s units, %d an order, at %s", number(float64(s.Shoppers)), number(float64(s.Units)),
		s.Count, s.At.Format(time.RFC3339))
	line(
		"crowd     %s wait for the opening, their pages open since up to %v, and press the button within %v of it, "+
			"evenly;", number(float64(s.Shoppers)*s.First), s.Before, s.Within)
	line(
		"          of the rest 95 in 100 come within %v, fewer and fewer. An open page makes %.2f calls a second; "+
			"who is told 429 or", s.Rest, s.Looks)
	line(
		"          503 comes back after 1 to 1.2 s and gives up after %v. A buyer pays in %v on average, its page "+
			"asking each %.0f s.", giveUp, s.Paying, pollEvery)
	line(
		"edge      %.0f in 100 looks at lists, items and the time are answered by a CDN, and %.0f in 100 purchases "+
			"by a waiting page: sold", 100*s.Edge, 100*s.Edge)
	line("          out, for good. Neither is part of template.yaml. All below is about what gets past it.")
	line("lists     %d items are on them.", s.Items)
	line("")
	p.table(line)
	p.outcomes(line)
	p.todo(line)
	line("")
	line("bill, USD, list prices of %s %s: check; all orders paid, settings for %.0f h", PricesRegion, PricesAsOf,
		hours)
	for _, l := range p.Bill {
		line("  %-20s %10.2f  %s", l.What, l.USD, l.How)
	}
	line("  %-20s %10.2f", "together", p.Total)
	_, err := io.WriteString(w, b.String())
	return err
}

// table is the plan's traffic, span by span.
func (p *Plan) table(line func(string, ...any)) {
	o := &p.Planned.Outcome
	line("a second  %10s %10s %10s %10s %10s %10s", "looks", "purchases", "let in", "told later", "placed", "instances")
	for i := 0; i+1 < len(steps) && int(steps[i]) < len(o.Seconds); i++ {
		from, to := int(steps[i]), min(int(steps[i+1]), len(o.Seconds))
		var sum Second
		for _, s := range o.Seconds[from:to] {
			sum.Looks, sum.Buys, sum.Passed, sum.Told, sum.Placed = sum.Looks+s.Looks, sum.Buys+s.Buys, sum.Passed+
				s.Passed, sum.Told+s.Told, sum.Placed+s.Placed
			sum.Instances = math.Max(sum.Instances, s.Instances)
		}
		n := float64(to - from)
		line("%4d-%-4d  %10s %10s %10s %10s %10s %10s", from, to, number(sum.Looks/n), number(sum.Buys/n),
			number(sum.Passed/n), number(sum.Told/n), number(sum.Placed/n), number(sum.Instances))
	}
	line("")
}

// outcomes puts what would come of the sale today beside the plan.
func (p *Plan) outcomes(line func(string, ...any)) {
	a, b := &p.Today.Outcome, &p.Planned.Outcome
	row := func(what string, show func(float64) string, of func(*Outcome) float64) {
		line("%-34s %14s %14s", what, show(of(a)), show(of(b)))
	}
	line("%-34s %14s %14s", "", "with defaults", "as planned")
	row("most calls a second, asked", number, func(o *Outcome) float64 { return o.PeakCalls })
	row("most calls a second, let in", number, func(o *Outcome) float64 { return o.PeakPassed })
	row("told to come again (429)", number, func(o *Outcome) float64 { return o.Throttled })
	row("told to come again (503)", number, func(o *Outcome) float64 { return o.Refused })
	row("all units reserved after", seconds, func(o *Outcome) float64 { return o.SoldOut })
	row("last order in the ledger after", seconds, func(o *Outcome) float64 { return o.LastPlaced })
	row("median wait for an answer", seconds, func(o *Outcome) float64 { return o.MedianWait })
	row("longest wait for an answer", seconds, func(o *Outcome) float64 { return o.LongestWait })
	row("somebody waits until", seconds, func(o *Outcome) float64 { return o.BusyUntil })
	row("gave up without an answer", number, func(o *Outcome) float64 { return o.GaveUp })
	line("")
}

func (p *Plan) todo(line func(string, ...any)) {
	line("do this")
	if len(p.Quotas) == 0 && len(p.Overrides) == 0 {
		line("  nothing: defaults are enough")
	}
	for _, q := range p.Quotas {
		code := "Service Quotas, " + q.Code
		if q.Code == "" {
			code = "AWS sets it with the rate, ask for both"
		}
		line("  raise   %-32s %8s → %-8s %s; days ahead", q.Name, number(float64(q.Have)), number(float64(q.Want)),
			code)
	}
	if len(p.Overrides) > 0 {
		line("  deploy  %s", p.OverridesText())
	}
	if slices.ContainsFunc(p.Overrides, func(o Override) bool { return warms(o.Name) }) {
		line(
			"          Warm… cannot be lowered again, and is paid once; a table that was busy lately may have it " +
				"already (seckill doctor --crowd)")
	}
	p.redisText(line)
	p.lambdaText(line)
	p.apiText(line)
	line(
		"  have    reads of items: %s units a second of the sale's row, %s of one of %d rows of the lists, %s when "+
			"instances "+
			"start; a row takes %s, the tables %s", number(p.Reads.Sale), number(p.Reads.Lists), catalogCopies,
		number(p.Reads.Start), number(keyReads), number(tableReads))
	for _, t := range p.Tables {
		line("  have    table %-9s %3.0f write units an order, %3.0f a paid one, %7s a second; it takes %s at once",
			t.Name, t.PerOrder, t.PerPaid, number(t.PeakPlace), number(float64(t.Warm)))
	}
	line("  have    Secrets Manager: %s instances start cold in a second and read a secret each; it takes %s a second "+
		"(Systems Manager took %s)", number(p.Planned.Outcome.PeakStarts), number(secretReads), number(parameterReads))
	line("  have    SQS as it is: %s messages at the most, no quota is near", number(p.Planned.Outcome.Sold))
	for _, n := range p.Notes {
		line("  note    %s", n)
	}
}

// redisText says what Redis has to take, and what to set when.
func (p *Plan) redisText(line func(string, ...any)) {
	r := &p.Redis
	line(
		"  have    Redis with %s (%s when all is in the ledger), for %s scripts of purchases a second, %s of lists "+
			"and %s of looks at", bytesText(r.Bytes), bytesText(r.Confirmed),
		number(r.Scripts), number(r.Levels), number(r.Status))
	line("          queued orders: %s ECPU, of these %s of the item's slot, which takes %s", number(r.PeakECPU),
		number(r.ItemECPU), number(slotECPU))
	if r.Ready == 0 {
		line("          ElastiCache Serverless takes %s ECPU a second at once, also when idle: nothing to set",
			number(firstECPU))
		return
	}
	line(
		"          ElastiCache Serverless takes %s ECPU a second at once. CacheEcpu=%s has it ready for this within "+
			"%.0f minutes: deploy",
		number(firstECPU), strconv.FormatFloat(p.override(CacheEcpu), 'f', -1, 64), preScaling.Minutes())
	line(
		"          it two hours before. Otherwise it doubles each %.0f minutes or so, and is there %.0f minutes "+
			"after the opening: until then",
		doubles.Minutes(), r.Ready/60)
	line("          what is above is refused, and purchases hear 503")
}

// lambdaText says whose instances are whose.
func (p *Plan) lambdaText(line func(string, ...any)) {
	l := &p.Planned.Limits
	have := math.Max(l.Concurrency, accountConcurrency)
	line(
		"  have    Lambda: of %s instances ReserveConcurrency=true keeps %s (notify %s, consume %s, expire 10, stage "+
			"10, repair 5, refund 5);",
		number(have), number(l.Reserved()), number(l.NotifyKept), number(l.Consume))
	line(
		"          %s are for buy, shop and reconcile, %s of buy wait ahead. Below %s AWS refuses the reservation: "+
			"it wants %d unreserved",
		number(have-l.Reserved()), number(l.Provisioned), number(l.Reserved()+Unreserved), Unreserved)
	line(
		"          at the opening buy starts %s instances at once beside those; Lambda starts %s of a function, and "+
			"100 more a second", number(l.Starting()), number(l.Ramp))
}

// apiText says what the throttles let through.
func (p *Plan) apiText(line func(string, ...any)) {
	l := &p.Planned.Limits
	rate, burst := l.Calls()
	line(
		"  have    API Gateway: buy %s a second and %s at once, each of %d other methods %s and %s, notify %s and "+
			"%s: together %s and %s,", number(l.BuyRate), number(l.BuyBurst),
		Methods, number(l.Rate), number(l.Burst), number(l.Notify), number(l.NotifyBurst), number(rate), number(burst))
	line(
		"          which the account's %s and %s bear, so that a crowd cannot use up what notifications of payments "+
			"need", number(l.Account), number(l.AccountSize))
}

// OverridesText is what `sam deploy --parameter-overrides` takes.
func (p *Plan) OverridesText() string {
	parts := make([]string, len(p.Overrides))
	for i, o := range p.Overrides {
		parts[i] = o.Name + "=" + strconv.Itoa(o.Value)
	}
	return strings.Join(parts, " ")
}

// DayText is every parameter that a sale's day sets, also those that stay as they are: what an earlier sale has set
// would stick to a stack otherwise. What warms a table alone is left out unless it is raised, since no table goes back.
func (p *Plan) DayText() string {
	var parts []string
	for _, d := range dayParameters {
		switch v := p.override(d.name); {
		case v > 0:
			parts = append(parts, d.name+"="+strconv.Itoa(int(v)))
		case !warms(d.name):
			parts = append(parts, d.name+"="+strconv.Itoa(int(d.normal)))
		}
	}
	return strings.Join(parts, " ")
}

// BackText is what takes a sale's day back: every parameter of it as given (by samconfig.toml), else as template.yaml
// has it. What warms a table is left out: no table goes back.
func BackText(given map[string]string) string {
	var parts []string
	for _, d := range dayParameters {
		if warms(d.name) {
			continue
		}
		v, ok := given[d.name]
		if !ok {
			v = strconv.Itoa(int(d.normal))
		}
		parts = append(parts, d.name+"="+v)
	}
	return strings.Join(parts, " ")
}

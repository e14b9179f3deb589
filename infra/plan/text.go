package plan

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// steps are the bounds of the rows of the request table, seconds after the opening.
var steps = []int{0, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600}

// WriteText prints the plan for people.
func (p *Plan) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(format string, a ...any) { b.WriteString(text(format+"\n", a...)) }
	s := &p.Sale
	p.verdict(line)
	line("sale      %d shoppers, %d units, %d per order, at %s", s.Shoppers, s.Units, s.Count,
		seckill.Local(s.At))
	line("crowd     %.0f shoppers open their pages over the last %v, wait, and press the button within %v of the "+
		"opening;",
		float64(s.Shoppers)*s.First, s.Before, s.Within)
	line("          95 in 100 of the rest come within %v, at a falling rate. An open page makes %d calls, then %.2f",
		s.Rest, opening, s.Looks)
	line("          per second while a sale is near or on, and %.2f otherwise.", s.Looks*farShare)
	line("          Shoppers who get 429 or 503 retry after 1 to 1.2 s, up to %v. A buyer pays after %v on average and",
		giveUp, s.Paying)
	line("          polls the order every %.0f s.", pollEvery)
	line("          A page that got 429 asks for the item's status before it sends the purchase again, and stops when")
	line("          that says \"sold out\". A page that opens more than %.0f s after the sell-out has no button.",
		statusAge)
	if s.Edge {
		line("CDN       It answers pages, files, time, lists and status. Each of %.0f locations asks for each answer",
			locations)
		line("          once a second for each language. Below, calls are those that reach the API.")
	} else {
		line("CDN       None.")
	}
	if s.hasChecks() {
		line("checks    %s: a page asks for a challenge and a ticket as it opens, or %.0f min before the opening.",
			s.Checks, ticketLead/60)
		line("          Below, purchases are as many as without checks: at most that many.")
	}
	line("lists     They show %d items.", s.Items)
	line("")
	p.table(line)
	p.outcomes(line)
	p.todo(line)
	line("")
	line("bill, USD, list prices of %s %s (verify them); all orders paid, settings kept for %.0f h", PricesRegion,
		PricesAsOf, hours)
	for _, l := range p.Bill {
		line("  %-21s %10.2f  %s", l.What, l.USD, l.How)
	}
	line("  %-21s %10.2f", "together", p.Total)
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict says first whether the sale fits, and what to do first.
func (p *Plan) verdict(line func(string, ...any)) {
	o, s := &p.Planned.Outcome, &p.Sale
	switch {
	case !p.fits():
		line("verdict   Even as planned it does not fit: a shopper waits up to %s (--wait %v), and %s give up.",
			seconds(o.LongestWait), s.Wait, number(o.GaveUp))
	case o.SoldOut < 0:
		line("verdict   As planned it fits: no shopper waits longer than %s.", seconds(o.LongestWait))
	default:
		line("verdict   As planned it fits: all units are reserved after %s, and no shopper waits longer than %s.",
			seconds(o.SoldOut), seconds(o.LongestWait))
	}
	line("first     %s", p.first())
	line("")
}

// first is the one thing to do first: what takes longest, or what decides whether the sale fits.
func (p *Plan) first() string {
	switch {
	case !p.fits() && !p.Sale.Edge:
		return "Put the CDN in front (--edge), or allow a longer wait (--wait)."
	case !p.fits():
		return "Allow a longer wait (--wait), or sell in several sales."
	case len(p.Quotas) > 0:
		q := &p.Quotas[0]
		return text("Days ahead, have AWS raise %s from %d to %d.", q.Name, q.Have, q.Want)
	case len(p.Overrides) > 0:
		return "Two hours before the opening, deploy Size=" + p.Size + ", as below."
	case p.warmer():
		return "Deploy" + p.warmText() + ", as below."
	}
	return "Nothing: the defaults are enough."
}

// table prints the plan's traffic as averages per second.
func (p *Plan) table(line func(string, ...any)) {
	o := &p.Planned.Outcome
	line("per second  %10s %10s %10s %10s %10s %10s", "looks", "purchases", "admitted", "429 or 503", "placed",
		"instances")
	for i := 0; i+1 < len(steps) && steps[i] < len(o.Seconds); i++ {
		from, to := steps[i], min(steps[i+1], len(o.Seconds))
		var sum Second
		for _, s := range o.Seconds[from:to] {
			sum.add(s)
		}
		n := float64(to - from)
		line("%4d-%-4d    %10s %10s %10s %10s %10s %10s", from, to, number(sum.Looks/n), number(sum.Buys/n),
			number(sum.Passed/n), number(sum.Told/n), number(sum.Placed/n), number(sum.Instances))
	}
	line("")
}

// outcomes compares the sale under the defaults with the sale under the plan.
func (p *Plan) outcomes(line func(string, ...any)) {
	a, b := &p.Today.Outcome, &p.Planned.Outcome
	line("%-34s %14s %14s", "", "with defaults", "as planned")
	for _, r := range []struct {
		what string
		show func(float64) string
		a, b float64
	}{
		{"peak calls per second, requested", number, a.PeakCalls, b.PeakCalls},
		{"peak calls per second, admitted", number, a.PeakPassed, b.PeakPassed},
		{"calls to the API", number, a.calls(), b.calls()},
		{"of these 429", number, a.Throttled, b.Throttled},
		{"of these 503", number, a.Refused, b.Refused},
		{"all units reserved after", seconds, a.SoldOut, b.SoldOut},
		{"last order in the ledger after", seconds, a.LastPlaced, b.LastPlaced},
		{"median wait for an answer", seconds, a.MedianWait, b.MedianWait},
		{"longest wait for an answer", seconds, a.LongestWait, b.LongestWait},
		{"shoppers wait until", seconds, a.BusyUntil, b.BusyUntil},
		{"saw \"sold out\", sent no more", number, a.Saw, b.Saw},
		{"gave up without an answer", number, a.GaveUp, b.GaveUp},
	} {
		line("%-34s %14s %14s", r.what, r.show(r.a), r.show(r.b))
	}
	line("")
}

func (p *Plan) todo(line func(string, ...any)) {
	line("do this")
	if len(p.Quotas) == 0 && len(p.Overrides) == 0 && !p.warmer() {
		line("  nothing: the defaults are enough")
	}
	for _, q := range p.Quotas {
		code := "Service Quotas, " + q.Code
		if q.Code == "" {
			code = "AWS sets it by the rate"
		}
		line("  raise   %-32s %8d → %-8d %s; days ahead", q.Name, q.Have, q.Want, code)
	}
	switch p.Size {
	case Large:
		line("  deploy  Size=large")
	case Planned:
		parts := make([]string, len(p.Overrides))
		for i, o := range p.Overrides {
			parts[i] = o.Name + "=" + strconv.Itoa(o.Value)
		}
		line("  deploy  Size=planned and a Plan, which seckill plan --overrides prints, with")
		line("          %s", strings.Join(parts, " "))
	}
	if p.warmer() {
		line("  deploy %s", p.warmText())
		line("          It cannot be lowered again and costs once. A table that was busy may have it already: see")
		line("          seckill doctor --crowd")
	}
	p.redisText(line)
	p.lambdaText(line)
	p.apiText(line)
	p.signinText(line)
	p.admitText(line)
	p.spanText(line)
	line("  have    reads of items, in read units per second: %.0f of the sale's row, %.0f of each of %d rows of the "+
		"lists,",
		p.Reads.Sale, p.Reads.Lists, catalogCopies)
	line("          %.0f when instances start; a row serves %d, the tables %d", p.Reads.Start, keyReads, tableReads)
	for _, t := range p.Tables {
		line("  have    table %-13s %2.0f write units per order, %2.0f per paid order, %5.0f per second; it accepts "+
			"%5d at once",
			t.Name, t.PerOrder, t.PerPaid, t.PeakPlace, t.Warm)
	}
	line("  have    Secrets Manager: %.0f instances start cold in a second and read one secret each; it serves %d per "+
		"second",
		p.Planned.Outcome.PeakStarts, secretReads)
	line("  have    SQS: at most %.0f messages; no quota is near", p.Planned.Outcome.Sold)
	for _, n := range p.Notes {
		line("  note    %s", n)
	}
}

// redisText prints the load of Redis and how to have the cache ready for it.
func (p *Plan) redisText(line func(string, ...any)) {
	r := &p.Redis
	line("  have    Redis: %s (%s when the ledger has all orders); scripts/s: %.0f of purchases, %.0f of lists,",
		bytesText(r.Bytes), bytesText(r.Confirmed), r.Scripts, r.Levels)
	line("          %.0f of looks at queued orders; %.0f ECPU per second, %.0f of them in the item's slot, which "+
		"serves %d",
		r.Status, r.PeakECPU, r.ItemECPU, slotECPU)
	if r.Ready == 0 {
		line("          ElastiCache Serverless serves %d ECPU per second at once, also after idle time: set nothing",
			firstECPU)
		return
	}
	line("          ElastiCache Serverless serves %d ECPU per second at once. Deploy CacheEcpu=%s two hours before "+
		"the sale:",
		firstECPU, strconv.FormatFloat(p.number(CacheEcpu), 'f', -1, 64))
	line("          the cache then has it within %.0f minutes. Else it doubles each %.0f minutes or so and",
		preScaling.Minutes(), doubles.Minutes())
	line("          refuses the excess until %.0f minutes after the opening; purchases then get 503", r.Ready/60)
}

// lambdaText prints how the account's instances are shared.
func (p *Plan) lambdaText(line func(string, ...any)) {
	l := &p.Planned.Limits
	have := max(l.Concurrency, accountConcurrency)
	line("  have    Lambda: ReserveConcurrency=true reserves %.0f of %.0f instances (notify %.0f, consume %.0f, "+
		"signin %.0f,",
		l.Reserved(), have, l.NotifyKept, l.Consume, l.SigninKept)
	line("          expire 7, stage 5, repair 5, refund 3, acts 3, admin 7); %.0f remain, %.0f of them provisioned for",
		have-l.Reserved(), l.Provisioned)
	line("          buy, at most %.0f for tell and deliver, the rest for buy, shop, pay and reconcile. AWS wants %d "+
		"unreserved and", l.Telling(), Unreserved)
	line("          refuses the reservation below %.0f. Buy starts %.0f at the opening; Lambda starts %.0f of a "+
		"function at", l.Reserved()+Unreserved, l.Starting(), l.Ramp)
	line("          once, then 100 per second")
}

// apiText prints what the throttles admit.
func (p *Plan) apiText(line func(string, ...any)) {
	l := &p.Planned.Limits
	rate, burst := l.Calls()
	line("  have    API Gateway, per second and at once: buy %.0f and %.0f, polls %.0f and %.0f, each of %d other "+
		"methods", l.BuyRate, l.BuyBurst, l.Poll, l.PollBurst, Methods)
	line("          %.0f and %.0f, signin %.0f and %.0f, notify %.0f and %.0f: together %.0f and %.0f. The account's "+
		"%.0f and", l.Rate, l.Burst, l.Signin, l.SigninKept, l.Notify, l.NotifyBurst, rate, burst, l.Account)
	line("          %.0f cover them (2,500 and 1,250 in thirteen regions), so a crowd cannot use up what payment",
		l.AccountSize)
	line("          notifications need")
}

// signinText prints how long the crowd takes to sign in.
func (p *Plan) signinText(line func(string, ...any)) {
	l, s := &p.Planned.Limits, &p.Sale
	takes := time.Duration(float64(s.Shoppers) / l.Signin * float64(time.Second))
	line("  have    signin: %.0f instances, %.2f s for each sign-in: %.0f per second, %s for %d shoppers. A sign-in "+
		"lasts at",
		l.SigninKept, signinSeconds, l.Signin, roughly(takes), s.Shoppers)
	if s.Signin > 0 {
		line("          most an hour, and the page renews it, which counts as another")
	} else {
		line("          most an hour, and the page renews it, which counts as another; --signin 1h plans for all " +
			"within an hour")
	}
}

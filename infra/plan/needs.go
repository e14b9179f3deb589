package plan

// quotas lists the account's quotas that the plan exceeds.
func (p *Plan) quotas() {
	l := &p.Planned.Limits
	for _, q := range []Quota{
		{"API Gateway: throttle rate", "L-8A5B8E43", accountRate, int(l.Account)},
		{"API Gateway: throttle burst", "", accountBurst, int(l.AccountSize)},
		{"Lambda: concurrent executions", "L-B99A9384", accountConcurrency, int(l.Concurrency)},
		{"CloudFront: requests per second", "requests per second for each distribution", EdgeRate, int(p.edgePeak())},
	} {
		if q.Want > q.Have {
			p.Quotas = append(p.Quotas, q)
		}
	}
}

// edgePeak returns the calls in the CDN's busiest second, 0 without a CDN.
func (p *Plan) edgePeak() float64 {
	if !p.Sale.Edge {
		return 0
	}
	return up(p.Planned.Outcome.PeakEdge, 10_000)
}

// fits reports whether, as planned, nobody waits longer than wanted or gives up.
func (p *Plan) fits() bool {
	o := &p.Planned.Outcome
	return o.LongestWait <= p.Sale.Wait.Seconds() && o.GaveUp < half
}

// notes lists the problems that the plan's settings cannot solve, with remedies where there are any.
func (p *Plan) notes() {
	add := func(format string, a ...any) { p.Notes = append(p.Notes, text(format, a...)) }
	s, o := &p.Sale, &p.Planned.Outcome
	slot := p.Planned.Limits.Scripts
	if !p.fits() {
		add("Whatever is deployed, a shopper waits up to %s, and %.0f give up: %.0f calls per second arrive, "+
			"BuyRate is at most %d, and Redis reserves %.0f units per second. Put the CDN in front (--edge), "+
			"or allow a longer wait (--wait).",
			seconds(o.LongestWait), o.GaveUp, p.Free.PeakCalls, maxThrottle, slot)
	}
	if a := p.Admission; a != nil && a.Wait > s.Wait.Seconds() {
		add("Tickets take longer than asked for: the last shopper waits %s for one. Let pages open earlier "+
			"(--before 30m).", seconds(a.Wait))
	}
	if o.PeakStarts > secretReads {
		add("%.0f instances start in one second, but Secrets Manager answers %d calls per second: the others retry "+
			"and start late. Provision more instances (BuyProvisioned).",
			o.PeakStarts, secretReads)
	}
	if o.PeakScripts > slot {
		add("One item's keys are in one slot of Redis, which runs %.0f purchases per second on ElastiCache "+
			"Serverless (30,000 ECPU). The excess gets 503 and retries. No quota raises this; a dedicated node "+
			"runs about 26,000.", slot)
	}
	if p.Redis.ItemECPU > slotECPU {
		add("Purchases, lists and looks at orders of one item take %.0f ECPU per second of its slot, which has %d. "+
			"No quota raises this, and the excess gets 503. Put the CDN in front (--edge).", p.Redis.ItemECPU, slotECPU)
	}
	if r := p.Reads; r.Sale > keyReads || r.Start > keyReads || r.Lists > keyReads {
		add("A row of the items table serves %d read units per second. The sale's row needs %.0f, a row of the "+
			"lists %.0f, and %.0f while instances start. Functions go on with cached items and report their age.",
			keyReads, r.Sale, r.Lists, r.Start)
	}
	if p.Reads.Table > tableReads {
		add("Reads of items need %.0f units per second, but a new table serves %d; it serves twice its peak %v "+
			"later. Read it as much the day before, or run fewer instances.", p.Reads.Table, tableReads, tableGrowth)
	}
	if n := p.Planned.Limits.Notifying(); n > rampInstances {
		add("With no warm instance of notify, %.0f would have to start at once, but Lambda starts %d. Alipay gets "+
			"503 for the others and repeats them after 4 minutes.", n, rampInstances)
	}
	for _, why := range p.Planned.Limits.Fits() {
		add("The plan does not fit: %s.", why)
	}
	if !s.Edge && p.Free.PeakCalls > accountRate {
		add("Nothing answers before API Gateway. Just before the opening, open pages look at lists %.0f times per "+
			"second. The CDN of make deploy EDGE=true (--edge) keeps nearly all of that.",
			float64(s.Shoppers)*s.First*s.Looks)
	}
}

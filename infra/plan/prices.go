package plan

// Region and date of the prices. Verify prices before a decision depends on them.
const (
	PricesRegion = "us-east-1"
	PricesAsOf   = "as known in 2025"
)

// Prices in USD, before tax and without free tiers, for arm64.
const (
	million = 1e6

	priceAPI     = 3.50 / million // API Gateway, REST, per call; throttled calls are free
	priceOut     = 0.09           // data out, per GB
	priceInvoke  = 0.20 / million // Lambda, per call
	priceCompute = 0.0000133334   // Lambda, per GB-second
	priceWaiting = 0.0000033334   // Lambda, provisioned concurrency, per GB-second
	priceLogs    = 0.50           // CloudWatch Logs, per GB
	priceWrite   = 0.625 / million
	priceRead    = 0.125 / million
	// DynamoDB, warm throughput, once per additional write unit: taken as an hour of a provisioned unit, the least
	// certain price.
	priceWarm      = 0.00065
	priceWarmRead  = 0.00013 // the same of a read unit
	priceQueue     = 0.40 / million
	priceECPU      = 0.0023 / million
	priceCacheHour = 0.084          // ElastiCache Serverless for Valkey, per GB and hour; at least 0.1 GB
	priceEdge      = 1.20 / million // CloudFront, per HTTPS call in Asia
	priceFunction  = 0.10 / million // CloudFront Functions, per run; two for each call
	priceEdgeOut   = 0.12           // CloudFront, data out in Asia, per GB
	priceWAF       = 0.60 / million // AWS WAF, per call
	priceEvent     = 1.00 / million // EventBridge, per custom event of at most 64 kB; Lambda reads streams for free
)

// hours is how long a sale's settings are deployed: from two hours before, so that the cache is ready, to an hour
// after.
const hours = 3.0

// bill returns the cost of the sale under the planned settings, all orders paid.
func bill(p *Plan) []Line {
	s, o, l := &p.Sale, &p.Planned.Outcome, &p.Planned.Limits
	polls := o.Sold * s.Paying.Seconds() / pollEvery
	calls := o.BuyCalls + o.ShopCalls + polls + 2*o.Sold // and per payment a way to the cashier, and a notification
	perPaid, warmed := 0.0, 0.0
	warm := map[string]int{}
	for _, t := range p.Tables {
		warm[t.Name] = t.Warm
	}
	for _, w := range s.writes() {
		perPaid += w.Place + w.Each*float64(s.Count) + w.Pay
		warmed += float64(warm[w.Table]) - NewTableWrites
	}
	ecpu := max(p.Redis.ECPU, p.number(CacheEcpu)*hours*3600)
	gb := max(0.1, float64(p.Redis.Bytes)/1e9)
	out := kilobytesOut
	if s.Edge {
		out = 0 // CloudFront pays for what it fetches
	}
	signin := signinPrice(s.Edge)
	lines := []Line{
		{"API Gateway", text("%.0f calls × 3.50/million", calls), calls * priceAPI},
		{"data out", text("%.1f kB each × 0.09/GB", out), calls * out / 1e6 * priceOut},
		{"Lambda calls", "× 0.20/million", calls * priceInvoke},
		{"Lambda time", text("%.0f ms × %.1f GB each × 0.0000133/GB-s", callSeconds*1000, memoryGB),
			calls * callSeconds * memoryGB * priceCompute},
		{"provisioned instances", text("%.0f × %.1f GB × %.0f h × 0.0000033/GB-s", l.Provisioned, memoryGB, hours),
			l.Provisioned * memoryGB * hours * 3600 * priceWaiting},
		{"logs", text("%.1f kB per call × 0.50/GB", kilobytesLog), calls * kilobytesLog / 1e6 * priceLogs},
		{"DynamoDB writes", text("%.0f for each of %.0f paid orders × 0.625/million", perPaid, o.Sold),
			perPaid * o.Sold * priceWrite},
		{"DynamoDB reads", text("3 for each of %.0f looks at an order × 0.125/million", polls),
			3 * polls * priceRead},
		{"warm throughput", text("%.0f write units above 4,000 × 0.00065, once", warmed), warmed * priceWarm},
		{"SQS", text("%d calls per order × 0.40/million", queueCalls), o.Sold * queueCalls * priceQueue},
		{"Redis (Serverless)", text("%.0f ECPU × 0.0023/million, %.1f GB × %.0f h × 0.084", ecpu, gb, hours),
			ecpu*priceECPU + gb*hours*priceCacheHour},
	}
	lines = append(lines, Line{"sign-ins", text("%.0f × (2 calls, %.0f ms, %.0f writes) = %.2f/million, once each",
		float64(s.Shoppers), (callSeconds+signinSeconds)*1000, signinWrites, signin*million),
		float64(s.Shoppers) * signin})
	changes := 2 * o.Sold // placed, paid
	lines = append(lines, Line{"events, counts", text("%.0f × (an event, a call of tell, %.0f ms, %.0f writes) "+
		"= %.2f/million", changes, tellSeconds*1000, changeWrites, tellPrice*million), changes * tellPrice})
	if s.Webhook {
		lines = append(lines, Line{"webhook", text("%.0f × (a call of deliver, %.0f ms, %.0f writes) = "+
			"%.2f/million", changes, postSeconds*1000, changeWrites, postPrice*million), changes * postPrice})
	}
	lines = append(append(lines, p.admitBill()...), p.spanBill()...)
	pages := o.FirstLooks * kilobytesPage / 1e6
	if !s.Edge {
		return append(lines, Line{"page files", text("%.1f GB × 0.09", pages), pages * priceOut})
	}
	through := o.EdgeCalls + calls + o.Throttled + o.Refused
	answers := (through - o.FirstLooks*openingFiles) * kilobytesOut / 1e6
	return append(lines,
		Line{"CloudFront, WAF", text("%.0f calls × (1.20 + functions 0.20 + WAF 0.60)/million", through),
			through * (priceEdge + 2*priceFunction + priceWAF)},
		Line{"CloudFront, data out", text("(page files %.1f + answers %.1f GB) × 0.12", pages, answers),
			(pages + answers) * priceEdgeOut})
}

// spanBill returns what purchases of an item whose limit spans read, and the table that wants it warm.
func (p *Plan) spanBill() (lines []Line) {
	if p.Spans == nil {
		return nil
	}
	n := p.Planned.Outcome.Scripts
	lines = []Line{{"limit that spans", text("%.0f read for each of %.0f purchases × 0.125/million", spanReads, n),
		spanReads * n * priceRead}}
	if more := float64(p.Spans.WarmReads - tableReads); more > 0 {
		lines = append(lines, Line{"warm quotas", text("%.0f read units × 0.00013, once", more), more * priceWarmRead})
	}
	return lines
}

// What a change costs that comes alone; when a crowd buys, a call has up to 100. The function tell writes the item's
// counts and how far the order is counted, in a transaction, and reads both before. The function deliver writes the
// order's row when it takes the order and when the endpoint has answered, and its index each time.
const (
	changeWrites = 4.0 // in either

	streamCall = priceInvoke + kilobytesLog/1e6*priceLogs + changeWrites*priceWrite
	tellPrice  = streamCall + priceEvent + tellSeconds*memoryGB*priceCompute + 2*priceRead
	postPrice  = streamCall + postSeconds*memoryGB*priceCompute + priceRead
)

// What a shopper's first sign-in costs: reads of who they are and of their sessions; transactions of two rows and of
// the session's row.
const (
	signinReads  = 2
	signinWrites = 6.0
)

// signinPrice returns what a shopper's first sign-in costs: two calls, which ask for the issuers and exchange what one
// gave, and its units. The issuer's own price is not in it.
func signinPrice(edge bool) float64 {
	return 2*callPrice(edge) + (callSeconds+signinSeconds)*memoryGB*priceCompute + signinReads*priceRead +
		signinWrites*priceWrite
}

// callPrice returns what a call costs that reaches a function, besides the function's time.
func callPrice(edge bool) float64 {
	call, out := priceAPI+priceInvoke+kilobytesLog/1e6*priceLogs, priceOut
	if edge {
		call, out = call+priceEdge+2*priceFunction+priceWAF, priceEdgeOut
	}
	return call + kilobytesOut/1e6*out
}

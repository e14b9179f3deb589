package plan

import "math"

// The prices' place and date. They cannot be asked for here: have a look before a decision hangs on one.
const (
	PricesRegion = "us-east-1"
	PricesAsOf   = "as known in 2025"
)

// Prices in USD, before tax and without free tiers, for arm64.
const (
	million = 1e6

	priceAPI     = 3.50 / million // API Gateway, REST, a call; calls that it throttles itself are free
	priceOut     = 0.09           // data out, a GB
	priceInvoke  = 0.20 / million // Lambda, a call
	priceCompute = 0.0000133334   // Lambda, a GB-second
	priceWaiting = 0.0000033334   // Lambda, provisioned concurrency, a GB-second
	priceLogs    = 0.50           // CloudWatch Logs, a GB
	priceWrite   = 0.625 / million
	priceRead    = 0.125 / million
	// DynamoDB, warm throughput, a write unit above what is there, once: an hour of a provisioned one; least sure of
	// all
	priceWarm      = 0.00065
	priceQueue     = 0.40 / million
	priceECPU      = 0.0023 / million
	priceCacheHour = 0.084          // ElastiCache Serverless for Valkey, a GB and hour; at least 0.1 GB
	priceEdge      = 1.00 / million // CloudFront, an HTTPS call
	priceWAF       = 0.60 / million // AWS WAF, a call
)

// hours is how long what is set up for a sale stays: deployed two hours before it, so that the cache is ready, taken
// back an hour after.
const hours = 3.0

// Line is one of the bill.
type Line struct {
	What string  `json:"what"`
	How  string  `json:"how"` // the arithmetic
	USD  float64 `json:"usd"`
}

// bill is what the sale costs with the plan's settings, all orders paid.
func bill(p *Plan) []Line {
	s, o, l := &p.Sale, &p.Planned.Outcome, &p.Planned.Limits
	polls := o.Sold * s.Paying.Seconds() / pollEvery
	calls := o.BuyCalls + o.ShopCalls + polls + o.Sold // and a notification of each payment
	perPaid, warmed := 0.0, 0.0
	warm := map[string]int{}
	for _, t := range p.Tables {
		warm[t.Name] = t.Warm
	}
	for _, w := range orderWrites {
		perPaid += w.Place + w.Each*float64(s.Count) + w.Pay
		warmed += float64(warm[w.Table]) - NewTableWrites
	}
	ecpu := math.Max(p.Redis.ECPU, p.override(CacheEcpu)*hours*3600)
	gb := math.Max(0.1, float64(p.Redis.Bytes)/1e9)
	lines := []Line{
		{"API Gateway", text("%s calls × 3.50/million", number(calls)), calls * priceAPI},
		{"data out", text("%.1f kB each × 0.09/GB", kilobytesOut), calls * kilobytesOut / 1e6 * priceOut},
		{"Lambda calls", "× 0.20/million", calls * priceInvoke},
		{"Lambda time", text("%.0f ms × %.1f GB each × 0.0000133/GB-s", callSeconds*1000, memoryGB),
			calls * callSeconds * memoryGB * priceCompute},
		{"instances that wait", text("%s × %.1f GB × %.0f h × 0.0000033/GB-s", number(l.Provisioned), memoryGB, hours),
			l.Provisioned * memoryGB * hours * 3600 * priceWaiting},
		{"logs", text("%.1f kB a call × 0.50/GB", kilobytesLog), calls * kilobytesLog / 1e6 * priceLogs},
		{"DynamoDB writes", text("%.0f for each of %s orders that are paid × 0.625/million", perPaid, number(o.Sold)),
			perPaid * o.Sold * priceWrite},
		{"DynamoDB reads", text("2 for each of %s looks at an order × 0.125/million", number(polls)),
			2 * polls * priceRead},
		{"warm throughput", text("%s write units above 4,000 × 0.00065, once", number(warmed)), warmed * priceWarm},
		{"SQS", text("%d calls an order × 0.40/million", queueCalls), o.Sold * queueCalls * priceQueue},
		{"Redis (Serverless)", text("%s ECPU × 0.0023/million, %.1f GB × %.0f h × 0.084", number(ecpu), gb, hours),
			ecpu*priceECPU + gb*hours*priceCacheHour},
	}
	if o.EdgeCalls > 0 {
		lines = append(lines, Line{"the edge",
			text("%s calls × (CloudFront 1.00 + WAF 0.60)/million, data out as above", number(o.EdgeCalls)),
			o.EdgeCalls * (priceEdge + priceWAF + kilobytesOut/1e6*priceOut)})
	}
	return lines
}

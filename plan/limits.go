package plan

import "math"

// Limits is what lets calls and orders through: parameters of template.yaml and quotas of the account.
type Limits struct {
	Rate        float64 `json:"throttle_rate"`         // calls a second of the API's token bucket (ThrottleRate, and the account's quota)
	Burst       float64 `json:"throttle_burst"`        // its size (ThrottleBurst, and the account's quota)
	Concurrency float64 `json:"concurrent_executions"` // of Lambda, in the account
	Provisioned float64 `json:"buy_provisioned"`       // instances of buy that wait for the opening (BuyProvisioned)
	Ramp        float64 `json:"ramp"`                  // instances that a function may gain at once; refilled within rampRefill
	Consume     float64 `json:"consume_concurrency"`   // batches that consume handles at a time (ConsumeConcurrency)
	Writes      float64 `json:"warm_writes"`           // write units that each table and index takes at once (WarmWrites)
	Scripts     float64 `json:"scripts"`               // that Redis runs a second for one item
}

// What AWS says (developer guides; read in 2026, to be checked against the account: seckill doctor --crowd does for rate and concurrency).
const (
	accountRate  = 10_000 // API Gateway, "Account-level throttling per Region": 10,000 requests/s, burst 5,000, in most regions
	accountBurst = 5_000

	accountConcurrency = 1_000 // Lambda, "Lambda quotas": concurrent executions; a new account may have less
	rampInstances      = 1_000 // "Lambda scaling behavior": 1,000 instances every 10 s for each function, refilled continuously, not saved up
	rampRefill         = 10.0  // s

	// Occupied is how long an instance of Lambda counts for one call at the least, in seconds: "Each instance of your execution environment can serve up to
	// 10 requests per second" (Lambda quotas), however short they are.
	Occupied = 0.1

	pollersFirst  = 5.0        // "Configuring scaling behavior for SQS event source mappings": five batches at first,
	pollersRefill = 300.0 / 60 // and up to 300 more a minute

	// secretReads are GetSecretValue calls a second of an account (Secrets Manager, quotas). Systems Manager, where secrets
	// were before, allows parameterReads (GetParameters, standard throughput).
	secretReads    = 10_000
	parameterReads = 40

	// NewTableWrites is what a new table on demand, and each index of it, takes at once: write units a second.
	NewTableWrites = 4_000

	slotECPU    = 30_000     // ElastiCache Serverless, quotas: ECPU a second of one hash slot; an item's keys are in one
	maxECPU     = 15_000_000 // ECPUPerSecond.Minimum: 1,000 to 15 million
	minECPU     = 1_000
	maxThrottle = 100_000 // MaxValue of ThrottleRate in template.yaml: more has to be answered at the edge
)

// consumeChoices are the values of ConsumeConcurrency in template.yaml.
var consumeChoices = []float64{20, 50, 100, 200, 400, 700, 1000}

// Background is how many concurrent executions are not for shoppers, beside consume's: expire 5, five schedules, the rest to spare.
const Background = 20

// Instances that ReserveConcurrency=true keeps for notify, stage, expire, refund and repair, to which consume's come; and how
// many AWS wants an account to leave unreserved ("Configuring reserved concurrency", AWS Lambda developer guide).
const (
	Reserved   = 120
	Unreserved = 100
)

// Today is a stack deployed with template.yaml's defaults in an account whose quotas nobody raised.
var Today = Limits{Rate: 5000, Burst: 2500, Concurrency: accountConcurrency, Ramp: rampInstances, Consume: consumeChoices[0], Writes: NewTableWrites,
	Scripts: math.Floor(slotECPU / reserveECPU)}

// plenty is more than anything here uses.
const plenty = 1e12

// unlimited has no limit but one item's in Redis, which no quota raises.
var unlimited = Limits{Rate: plenty, Burst: plenty, Concurrency: plenty, Ramp: plenty, Consume: plenty / 1000, Writes: plenty, Scripts: Today.Scripts}

// need finds the smallest limits with which nobody waits longer than the sale allows, one after another: the API first, since it decides how much the
// others get to do.
func need(s *Sale, free *Outcome) Limits {
	l, wait, lost := unlimited, s.Wait.Seconds(), half
	good := func() bool {
		o := simulate(s, l)
		return o.LongestWait <= wait && o.GaveUp <= lost
	}
	l.Ramp = rampInstances
	rate := func(v float64) { l.Rate, l.Burst, l.Provisioned = v, math.Round(v/2), up(1.2*Occupied*v, 50) }
	most := math.Max(Today.Rate, math.Min(maxThrottle, up(free.PeakCalls, 100)))
	rate(most)
	best := simulate(s, l) // where even that is not enough, no more than what helps
	wait, lost = math.Max(wait, best.LongestWait), math.Max(lost, best.GaveUp)
	rate(least(Today.Rate, most, 100, func(v float64) bool { rate(v); return good() }))
	l.Consume = firstOf(consumeChoices, func(v float64) bool { l.Consume = v; return placedInTime(s, simulate(s, l)) })
	l.Writes = least(NewTableWrites, up(writesMost(s.Count)*float64(s.Units)/float64(s.Count), 1000), 1000, func(v float64) bool {
		l.Writes = v
		return placedInTime(s, simulate(s, l))
	})
	l.Provisioned = least(0, l.Provisioned, 50, func(v float64) bool { l.Provisioned = v; return good() })
	o := simulate(s, l)
	l.Concurrency = math.Max(accountConcurrency, up(1.2*o.PeakInstances+l.Consume+Background, 100))
	return l
}

// placedInTime says whether orders get their rows as fast as shoppers their answers.
func placedInTime(s *Sale, o Outcome) bool {
	return o.LastPlaced >= 0 && o.LastPlaced-math.Max(o.LastSold, 0) <= s.Wait.Seconds()
}

// least is the smallest of from, from+step, …, to that is good; to, when none is.
func least(from, to, step float64, good func(float64) bool) float64 {
	n := int(math.Max(0, math.Ceil((to-from)/step)))
	lo, hi := 0, n // hi is good, or the last
	for lo < hi {
		if mid := (lo + hi) / 2; good(from + float64(mid)*step) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return from + float64(hi)*step
}

// firstOf is the first of some values that is good; the last, when none is.
func firstOf(values []float64, good func(float64) bool) float64 {
	for _, v := range values[:len(values)-1] {
		if good(v) {
			return v
		}
	}
	return values[len(values)-1]
}

// up rounds up to a multiple.
func up(v, step float64) float64 { return math.Ceil(v/step) * step }

package plan

import (
	"math"
	"time"
)

// Limits is what lets calls and orders through: parameters of template.yaml and quotas of the account.
type Limits struct {
	BuyRate  float64 `json:"buy_rate"`  // calls a second of the token bucket of purchases (BuyRate)
	BuyBurst float64 `json:"buy_burst"` // its size (BuyBurst)
	// calls a second of the token bucket that each other method has (ThrottleRate)
	Rate        float64 `json:"throttle_rate"`
	Burst       float64 `json:"throttle_burst"` // its size (ThrottleBurst)
	Notify      float64 `json:"notify_rate"`    // payment notifications a second (NotifyRate)
	NotifyBurst float64 `json:"notify_burst"`   // and at once (NotifyBurst)
	// executions that ReserveConcurrency=true keeps for them (NotifyConcurrency)
	NotifyKept float64 `json:"notify_concurrency"`
	// calls a second of the bucket behind these, of all APIs of the account
	Account     float64 `json:"account_rate"`
	AccountSize float64 `json:"account_burst"`         // its size
	Concurrency float64 `json:"concurrent_executions"` // of Lambda, in the account
	Provisioned float64 `json:"buy_provisioned"`       // instances of buy that wait for the opening (BuyProvisioned)
	// instances that a function may gain at once; refilled within rampRefill
	Ramp    float64 `json:"ramp"`
	Consume float64 `json:"consume_concurrency"` // batches that consume handles at a time (ConsumeConcurrency)
	// write units that the table takes at once which an order writes most
	Writes  float64 `json:"warm_writes"`
	Scripts float64 `json:"scripts"` // that Redis runs a second for one item
}

// What AWS says (developer guides; read in 2026, to be checked against the account: seckill doctor --crowd does for
// rate and concurrency).
const (
	// API Gateway, "Account-level throttling per Region": 10,000 requests/s, burst 5,000, in most regions
	accountRate  = 10_000
	accountBurst = 5_000

	accountConcurrency = 1_000 // Lambda, "Lambda quotas": concurrent executions; a new account may have less
	// "Lambda scaling behavior": 1,000 instances every 10 s for each function, refilled continuously, not saved up
	rampInstances = 1_000
	rampRefill    = 10.0 // s

	// Occupied is how long an instance of Lambda counts for one call at the least, in seconds: "Each instance of your
	// execution environment can serve up to 10 requests per second" (Lambda quotas), however short they are.
	Occupied = 0.1

	pollersFirst  = 5.0        // "Configuring scaling behavior for SQS event source mappings": five batches at first,
	pollersRefill = 300.0 / 60 // and up to 300 more a minute

	// secretReads are GetSecretValue calls a second of an account (Secrets Manager, quotas). Systems Manager, where
	// secrets were before, allows parameterReads (GetParameters, standard throughput).
	secretReads    = 10_000
	parameterReads = 40

	// NewTableWrites is what a new table on demand, and each index of it, takes at once: write units a second.
	NewTableWrites = 4_000

	// ElastiCache Serverless, quotas: ECPU a second of one hash slot; an item's keys are in one
	slotECPU    = 30_000
	maxECPU     = 15_000_000 // ECPUPerSecond.Minimum: 1,000 to 15 million
	maxThrottle = 100_000    // MaxValue of BuyRate in template.yaml: more has to be answered at the edge

	// "Scaling ElastiCache", pre-scaling: an empty cache takes 30,000 ECPU a second; it doubles what it takes within 10
	// to 12 minutes; a minimum that is set is there within 60.
	firstECPU  = 30_000
	doubles    = 12 * time.Minute
	preScaling = time.Hour
	keyReads   = 3_000 // "Partitions and data distribution in DynamoDB": read units a second of one partition key
	// "DynamoDB on-demand capacity mode": read units a second that a new table takes, or twice its peak
	tableReads  = 12_000
	tableGrowth = 30 * time.Minute
)

// Methods are what a page calls beside purchases, each with a token bucket of its own: the two lists, the time, an
// item, an order by its item and by its id, one's orders, cancel, and the health of the API.
const Methods = 9

// consumeChoices are the values of ConsumeConcurrency in template.yaml.
var consumeChoices = []float64{20, 50, 100, 200, 400, 700, 1000}

// Background is how many concurrent executions are not for shoppers where nothing is reserved, beside consume's: expire
// 5, five schedules, the rest to spare.
const Background = 20

// Instances that ReserveConcurrency=true keeps for stage, expire, refund and repair, to which notify's and consume's
// come; and how many AWS wants an account to leave unreserved ("Configuring reserved concurrency", AWS Lambda developer
// guide).
const (
	Reserved   = 30
	Unreserved = 100
)

// Today is a stack deployed with template.yaml's defaults, and ReserveConcurrency=true as samconfig.toml has it for a
// shop, in an account whose quotas nobody raised. Its throttles are what such an account bears without an instance that
// waits: all methods together stay below its calls a second, and what comes to buy while its first instances start is
// what Lambda starts beside those of shop (Fits).
var Today = Limits{BuyRate: 1000, BuyBurst: 200, Rate: 300, Burst: 100, Notify: 200, NotifyBurst: 100, NotifyKept: 180,
	Account: accountRate, AccountSize: accountBurst,
	Concurrency: accountConcurrency, Ramp: rampInstances, Consume: consumeChoices[0], Writes: NewTableWrites,
	Scripts: math.Floor(slotECPU / reserveECPU)}

// Calls are how many a second, and how many at once, all methods together may let through. Notifications are among
// them: as long as the account takes that many, a crowd cannot use up what they need.
func (l *Limits) Calls() (rate, burst float64) {
	return l.BuyRate + l.Notify + Methods*l.Rate, l.BuyBurst + l.NotifyBurst + Methods*l.Burst
}

// Starting is how many instances of buy start at once when everybody presses its button and none but BuyProvisioned is
// there: those for the burst, and those for what comes until the first of them has started.
func (l *Limits) Starting() float64 {
	return math.Max(0, l.BuyBurst-l.Provisioned) + math.Max(0, l.BuyRate-l.Provisioned/Occupied)*coldSeconds
}

// Notifying is how many executions of notify may be at work at once: those for the burst, and those for what comes
// until the first of them has started. Where fewer are reserved for it, Alipay hears 503 of the rest, and repeats after
// minutes.
func (l *Limits) Notifying() float64 { return math.Ceil(l.NotifyBurst + l.Notify*coldSeconds) }

// listMethods are those that a page calls again and again before the opening: two lists and the time.
const listMethods = 3

// Fits says in sentences what the throttles let through and the account does not bear; nil is well.
func (l *Limits) Fits() (why []string) {
	if rate, burst := l.Calls(); rate > l.Account || burst > l.AccountSize {
		why = append(why,
			text("all methods together let %s calls a second through and %s at once, the account %s and %s: "+
				"a crowd takes what notifications of payments need", number(rate), number(burst), number(l.Account),
				number(l.AccountSize)))
	}
	if n := l.Starting(); n > l.Ramp {
		why = append(why, text("%s instances of buy have to start at once, and Lambda starts %s: the others hear 503",
			number(n),
			number(l.Ramp)))
	}
	if n := l.Notifying(); n > l.NotifyKept {
		why = append(why,
			text("%s notifications of payments may be at work at once, and %s executions are kept for notify: Alipay "+
				"hears 503 of the others", number(n), number(l.NotifyKept)))
	}
	all := l.Reserved() + l.Provisioned + l.Starting() + listMethods*l.Rate*Occupied
	if all > l.Concurrency {
		why = append(why, text("at the opening %s instances are wanted, and the account has %s", number(all),
			number(l.Concurrency)))
	}
	return why
}

// Reserved is how many instances are not for shoppers.
func (l *Limits) Reserved() float64 { return Reserved + l.NotifyKept + l.Consume }

// plenty is more than anything here uses.
const plenty = 1e12

// unlimited has no limit but one item's in Redis, which no quota raises.
var unlimited = Limits{BuyRate: plenty, BuyBurst: plenty, Rate: plenty, Burst: plenty, Notify: plenty,
	NotifyBurst: plenty, Account: plenty, AccountSize: plenty, Concurrency: plenty, Ramp: plenty,
	Consume: plenty / 1000, Writes: plenty, Scripts: Today.Scripts}

// spared is the share of the instances that Lambda starts at once that a plan counts on.
const spared = 0.8

// seen is how long a page that waits for the opening may wait for a list: so many looks of it may be refused before one
// is let through.
const seen = time.Minute

// need finds the smallest limits with which nobody waits longer than the sale allows, one after another: the API first,
// since it decides how much the others get to do.
func need(s *Sale, free *Outcome) Limits {
	l, wait, lost := unlimited, s.Wait.Seconds(), half
	good := func() bool {
		o := simulate(s, l)
		return o.LongestWait <= wait && o.GaveUp <= lost
	}
	l.Ramp = rampInstances
	// Before the opening pages look at the lists. Who buys looks at the order.
	pages := float64(s.Shoppers) * s.First * (1 - s.Edge)
	l.Rate = math.Max(math.Min(pages*s.Looks*listShare, pages/seen.Seconds()), free.PeakPolls)
	l.Rate = math.Max(Today.Rate, math.Min(maxThrottle, up(l.Rate, 100)))
	l.Burst = math.Max(Today.Burst, up(l.Rate/4, 100))
	rate := func(v float64) { l.BuyRate, l.BuyBurst, l.Provisioned = v, math.Round(v/2), up(1.2*Occupied*v, 50) }
	most := math.Max(Today.BuyRate, math.Min(maxThrottle, up(free.PeakCalls, 100)))
	rate(most)
	best := simulate(s, l) // where even that is not enough, no more than what helps
	wait, lost = math.Max(wait, best.LongestWait), math.Max(lost, best.GaveUp)
	rate(least(Today.BuyRate, most, 100, func(v float64) bool { rate(v); return good() }))
	l.Consume = firstOf(consumeChoices, func(v float64) bool { l.Consume = v; return placedInTime(s, simulate(s, l)) })
	l.Writes = least(NewTableWrites, up(writesMost(s.Count)*float64(s.Units)/float64(s.Count), 1000), 1000,
		func(v float64) bool {
			l.Writes = v
			return placedInTime(s, simulate(s, l))
		})
	// As many purchases at once as still find an instance, and as few instances that wait as keep that many from being
	// few.
	provision := func(v float64) bool {
		l.Provisioned, l.BuyBurst = v, 0
		l.BuyBurst = math.Max(1, math.Min(math.Round(l.BuyRate/5), math.Floor(v+spared*rampInstances-l.Starting())))
		return l.BuyBurst >= math.Round(l.BuyRate/10)
	}
	provision(least(0, up(1.2*Occupied*l.BuyRate, 50), 50, func(v float64) bool { return provision(v) && good() }))
	o := simulate(s, l)
	l.notify(o.PeakPaid)
	l.Concurrency = math.Max(accountConcurrency, up(math.Max(l.Reserved()+1.2*o.PeakInstances,
		l.Reserved()+l.Provisioned+math.Max(Unreserved, l.Starting()+listMethods*l.Rate*Occupied)), 100))
	calls, burst := l.Calls()
	l.Account, l.AccountSize = math.Max(accountRate, up(calls, 100)), math.Max(accountBurst, up(burst, 100))
	return l
}

// notify lets twice the notifications through that come: people pay in bunches, and Alipay repeats what it is not told.
// At once as many as of the defaults, fewer where Lambda would start fewer; executions are kept for all of them.
func (l *Limits) notify(paid float64) {
	l.Notify = math.Max(Today.Notify, up(2*paid, 100))
	l.NotifyBurst = math.Floor(math.Min(l.Notify/2, spared*l.Ramp-l.Notify*coldSeconds))
	l.NotifyBurst = math.Max(Today.NotifyBurst, l.NotifyBurst)
	l.NotifyKept = l.Notifying()
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

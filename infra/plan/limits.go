package plan

import (
	"math"
	"time"
)

// Limits are the parameters of template.yaml and the account's quotas that bound a sale's calls and orders. Rates are
// per second; a burst is the size of a token bucket.
type Limits struct {
	BuyRate     float64 `json:"buy_rate"`           // of purchases (BuyRate)
	BuyBurst    float64 `json:"buy_burst"`          // (BuyBurst)
	Poll        float64 `json:"poll_rate"`          // of buyers' looks at their newest order of an item (PollRate)
	PollBurst   float64 `json:"poll_burst"`         // (PollBurst)
	Rate        float64 `json:"throttle_rate"`      // of each other method (ThrottleRate)
	Burst       float64 `json:"throttle_burst"`     // (ThrottleBurst)
	Notify      float64 `json:"notify_rate"`        // of payment notifications (NotifyRate)
	NotifyBurst float64 `json:"notify_burst"`       // (NotifyBurst)
	NotifyKept  float64 `json:"notify_concurrency"` // executions reserved for notify (NotifyConcurrency)
	Signin      float64 `json:"signin_rate"`        // of sign-ins (SigninRate)
	SigninKept  float64 `json:"signin_concurrency"` // at once, and executions reserved for signin (SigninConcurrency)
	Account     float64 `json:"account_rate"`       // of all APIs of the account together
	AccountSize float64 `json:"account_burst"`
	Concurrency float64 `json:"concurrent_executions"` // of Lambda, in the account
	Provisioned float64 `json:"buy_provisioned"`       // instances of buy that are always warm (BuyProvisioned)
	Admitting   float64 `json:"admit_instances"`       // of admit, at once; 0 without checks
	// instances that a function may start at once; refilled within rampRefill
	Ramp    float64 `json:"ramp"`
	Consume float64 `json:"consume_concurrency"` // batches that consume handles at a time (ConsumeConcurrency)
	Writes  float64 `json:"warm_writes"`         // write units per second of the table that an order writes most
	Scripts float64 `json:"scripts"`             // purchases per second that Redis runs for one item
}

// AWS's documented limits (developer guides, read in 2026). Verify them in the account; seckill doctor --crowd verifies
// rate and concurrency.
const (
	// API Gateway, "Account-level throttling per Region": 10,000 requests/s, burst 5,000; in thirteen regions 2,500 and
	// 1,250. AWS sets the burst by the rate. Throttles are "on a best-effort basis".
	accountRate  = 10_000
	accountBurst = 5_000

	EdgeRate = 250_000 // CloudFront, "Quotas": requests per second per distribution

	accountConcurrency = 1_000 // Lambda, "Lambda quotas": concurrent executions; a new account may have fewer
	// "Lambda scaling behavior": 1,000 instances every 10 s for each function, refilled continuously, not saved up.
	rampInstances = 1_000
	rampRefill    = 10.0 // s

	// Occupied is the least time in seconds that a call occupies an instance: "Each instance of your execution
	// environment can serve up to 10 requests per second" (Lambda quotas).
	Occupied = 0.1

	// "Configuring scaling behavior for SQS event source mappings": five batches at first, up to 300 more per minute.
	pollersFirst  = 5.0
	pollersRefill = 300.0 / 60

	// GetSecretValue calls per second of an account (Secrets Manager, quotas).
	secretReads = 10_000

	// NewTableWrites is the write units per second of a new table on demand, and of each of its indexes.
	NewTableWrites = 4_000

	slotECPU    = 30_000     // ElastiCache Serverless, quotas: per second and hash slot; an item's keys are in one slot
	maxECPU     = 15_000_000 // ECPUPerSecond.Minimum: 1,000 to 15 million
	maxThrottle = 100_000    // of BuyRate, ours; answer more at the edge

	// "Scaling ElastiCache", pre-scaling: an empty cache serves 30,000 ECPU per second and doubles that within 10 to 12
	// minutes; a minimum takes effect within 60.
	firstECPU  = 30_000
	doubles    = 12 * time.Minute
	preScaling = time.Hour
	keyReads   = 3_000 // "Partitions and data distribution in DynamoDB": read units per second of one partition key
	// "DynamoDB on-demand capacity mode": read units per second of a new table, or twice its peak.
	tableReads  = 12_000
	tableGrowth = 30 * time.Minute
)

// Methods is the number of methods beside purchases, polls, sign-ins and notifications, each with its own token bucket:
// two lists, time, item, its stock, challenge, ticket, order by id, own orders, cancel, payment, connect pass, issuers,
// health, the page, links to items, and files and pictures.
const Methods = 18

// Methods that few call, with a throttle of their own: the API's page and description, an icon, addresses
// that lead nowhere, what shoppers say about orders that are paid, their sessions, and staff's page and commands.
const (
	RareMethods = 10
	RareRate    = 12 // calls per second of each
	RareBurst   = 12
	rareCalls   = RareMethods * RareRate
	rareAtOnce  = RareMethods * RareBurst
)

// consumeChoices are the values of ConsumeConcurrency in template.yaml.
var consumeChoices = []float64{20, 50, 100, 200, 400, 700, 1000}

// Background is the concurrent executions that do not serve shoppers when nothing is reserved, besides consume's:
// expire 5, five schedules, 10 spare, and 20 that read the stream of a new table (Telling).
const Background = 40

// TellAtOnce is the batches of a shard of the orders table's stream that tell handles at a time
// (ParallelizationFactor); the function deliver handles one.
const TellAtOnce = 4

// partitionWrites is the write units per second of a partition, which has a shard of the stream ("Partitions and data
// distribution in DynamoDB").
const partitionWrites = 1_000

// Reserved is how many instances ReserveConcurrency=true reserves for stage, expire, refund, repair, acts and admin,
// besides notify's, signin's and consume's. Unreserved is what AWS wants an account to leave unreserved ("Configuring
// reserved concurrency", AWS Lambda developer guide).
const (
	Reserved   = 30
	Unreserved = 100
)

// Today is a stack with template.yaml's defaults, with ReserveConcurrency=true as samconfig.toml has it for a shop, in
// an account with default quotas. Fits holds for it, without a provisioned instance.
var Today = Limits{BuyRate: 1000, BuyBurst: 200, Poll: 300, PollBurst: 100, Rate: 300, Burst: 100,
	Notify: 200, NotifyBurst: 100, NotifyKept: 180,
	Signin: 80, SigninKept: 20,
	Account: accountRate, AccountSize: accountBurst, Concurrency: accountConcurrency, Ramp: rampInstances,
	Consume: consumeChoices[0], Writes: NewTableWrites, Scripts: math.Floor(slotECPU / reserveECPU)}

// Calls returns how many calls all methods together admit, per second and at once. Notifications are among them: while
// the account serves that many, a crowd cannot use up what notifications need.
func (l *Limits) Calls() (rate, burst float64) {
	return l.BuyRate + l.Poll + l.Notify + l.Signin + Methods*l.Rate + rareCalls,
		l.BuyBurst + l.PollBurst + l.NotifyBurst + l.SigninKept + Methods*l.Burst + rareAtOnce
}

// Starting returns how many instances of buy start at once when all shoppers press the button and only provisioned ones
// are warm: those for the burst, and those for the calls until the first has started.
func (l *Limits) Starting() float64 {
	return max(0, l.BuyBurst-l.Provisioned) + max(0, l.BuyRate-l.Provisioned/Occupied)*coldSeconds
}

// Notifying returns how many executions of notify may run at once: those for the burst, and those for the calls until
// the first instance has started. Without as many reserved, Alipay gets 503 for the rest and repeats them minutes
// later.
func (l *Limits) Notifying() float64 { return math.Ceil(l.NotifyBurst + l.Notify*coldSeconds) }

// Telling returns how many instances of the functions tell and deliver may read the orders table's stream at once. None
// is reserved, nor counted at the opening: a crowd delays events, not orders.
func (l *Limits) Telling() float64 { return (TellAtOnce + 1) * math.Ceil(l.Writes/partitionWrites) }

const listMethods = 3 // called before the opening: two lists, and the time or a file

// Fits returns a sentence for each way in which the throttles admit more than the account serves.
func (l *Limits) Fits() (why []string) {
	if rate, burst := l.Calls(); rate > l.Account || burst > l.AccountSize {
		why = append(why, text("all methods together admit %.0f calls per second and %.0f at once, but the account "+
			"serves %.0f and %.0f: a crowd uses up what payment notifications need", rate, burst, l.Account,
			l.AccountSize))
	}
	if n := l.Starting(); n > l.Ramp {
		why = append(why, text("%.0f instances of buy have to start at once, but Lambda starts %.0f: the other "+
			"calls get 503", n, l.Ramp))
	}
	if n := l.Notifying(); n > l.NotifyKept {
		why = append(why, text("%.0f executions of notify may run at once, but %.0f are reserved: Alipay gets 503 "+
			"for the others", n, l.NotifyKept))
	}
	if n := l.Signin * signinSeconds; n > l.SigninKept {
		why = append(why, text("%.0f executions of signin run at once, but %.0f are reserved: the other sign-ins get "+
			"503", n, l.SigninKept))
	}
	all := l.Reserved() + l.Provisioned + l.Starting() + l.Admitting + listMethods*l.Rate*Occupied
	if all > l.Concurrency {
		why = append(why, text("the opening needs %.0f instances, but the account has %.0f", all, l.Concurrency))
	}
	return why
}

// Reserved returns how many instances do not serve shoppers.
func (l *Limits) Reserved() float64 { return Reserved + l.NotifyKept + l.SigninKept + l.Consume }

const plenty = 1e12 // more than a sale uses

// unlimited limits only one item's scripts in Redis, which no quota raises.
var unlimited = Limits{BuyRate: plenty, BuyBurst: plenty, Poll: plenty, PollBurst: plenty, Rate: plenty,
	Burst: plenty, Notify: plenty, NotifyBurst: plenty,
	Account: plenty, AccountSize: plenty, Concurrency: plenty, Ramp: plenty,
	Consume: plenty / 1000, Writes: plenty, Scripts: Today.Scripts}

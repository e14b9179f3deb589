package plan

import (
	"math"
	"strings"
)

// Parameters of template.yaml that a plan sets.
const (
	BuyRate            = "BuyRate"
	BuyBurst           = "BuyBurst"
	ThrottleRate       = "ThrottleRate"
	ThrottleBurst      = "ThrottleBurst"
	NotifyRate         = "NotifyRate"
	NotifyBurst        = "NotifyBurst"
	NotifyConcurrency  = "NotifyConcurrency"
	BuyProvisioned     = "BuyProvisioned"
	ConsumeConcurrency = "ConsumeConcurrency"
	WarmUnits          = "WarmUnits"
	WarmOrders         = "WarmOrders"
	WarmQuotas         = "WarmQuotas"
	WarmPayments       = "WarmPayments"
	WarmNotifications  = "WarmNotifications"
	CacheGigabytes     = "CacheGigabytes"
	CacheEcpu          = "CacheEcpu"
)

// WarmParameters are the parameters of what tables take at once, by table; its indexes have the same.
var WarmParameters = map[string]string{
	"units": WarmUnits, "orders": WarmOrders, "quotas": WarmQuotas, "payments": WarmPayments,
	"notifications": WarmNotifications,
}

// warms says whether a parameter is one of them: no table goes back.
func warms(name string) bool { return strings.HasPrefix(name, "Warm") }

const defaultGigabytes = 5 // CacheGigabytes

// dayParameters are all of them, with their defaults in template.yaml.
var dayParameters = []struct {
	name   string
	normal float64
}{
	{BuyRate, Today.BuyRate}, {BuyBurst, Today.BuyBurst}, {ThrottleRate, Today.Rate}, {ThrottleBurst, Today.Burst},
	{NotifyRate, Today.Notify}, {NotifyBurst, Today.NotifyBurst}, {NotifyConcurrency, Today.NotifyKept},
	{BuyProvisioned, 0}, {ConsumeConcurrency, Today.Consume}, {CacheGigabytes, defaultGigabytes}, {CacheEcpu, 0},
	{WarmUnits, NewTableWrites}, {WarmOrders, NewTableWrites}, {WarmQuotas, NewTableWrites},
	{WarmPayments, NewTableWrites},
	{WarmNotifications, NewTableWrites},
}

// overrides compares the plan with the defaults, for the stack and for the account.
func (p *Plan) overrides() {
	l := &p.Planned.Limits
	gb := math.Ceil(1.5 * float64(p.Redis.Bytes) / 1e9)
	// An empty cache takes firstECPU. What is above it has to be asked for ahead of the sale: by itself a cache doubles
	// within ten minutes or so, which is longer than a sale.
	ecpu := 0.0
	if p.Redis.Ready > 0 {
		ecpu = math.Min(up(p.Redis.wanted(), 1000), maxECPU)
	}
	type value struct {
		name         string
		want, normal float64
	}
	all := []value{
		{BuyRate, l.BuyRate, Today.BuyRate}, {BuyBurst, l.BuyBurst, Today.BuyBurst},
		{ThrottleRate, l.Rate, Today.Rate}, {ThrottleBurst, l.Burst, Today.Burst},
		{NotifyRate, l.Notify, Today.Notify}, {NotifyBurst, l.NotifyBurst, Today.NotifyBurst},
		{NotifyConcurrency, l.NotifyKept, Today.NotifyKept}, {BuyProvisioned, l.Provisioned, 0},
		{ConsumeConcurrency, l.Consume, Today.Consume},
		{CacheGigabytes, math.Max(gb, defaultGigabytes), defaultGigabytes}, {CacheEcpu, ecpu, 0},
	}
	for _, t := range p.Tables {
		all = append(all, value{WarmParameters[t.Name], float64(t.Warm), NewTableWrites})
	}
	for _, o := range all {
		if o.want != o.normal {
			p.Overrides = append(p.Overrides, Override{o.name, int(o.want)})
		}
	}
	for _, q := range []Quota{
		{"API Gateway: throttle rate", "L-8A5B8E43", accountRate, int(l.Account)},
		{"API Gateway: throttle burst", "", accountBurst, int(l.AccountSize)},
		{"Lambda: concurrent executions", "L-B99A9384", accountConcurrency, int(l.Concurrency)},
	} {
		if q.Want > q.Have {
			p.Quotas = append(p.Quotas, q)
		}
	}
}

// override is a parameter's value, 0 when the plan leaves it.
func (p *Plan) override(name string) float64 {
	for _, o := range p.Overrides {
		if o.Name == name {
			return float64(o.Value)
		}
	}
	return 0
}

// notes says what the plan cannot mend, and what would.
func (p *Plan) notes() {
	add := func(format string, a ...any) { p.Notes = append(p.Notes, text(format, a...)) }
	s, o := &p.Sale, &p.Planned.Outcome
	through := float64(s.Shoppers) * (1 - s.Edge)
	slot := p.Planned.Limits.Scripts
	if o.LongestWait > s.Wait.Seconds() || o.GaveUp >= half {
		add(
			"Somebody waits %s, and %s give up, whatever is deployed: %s calls/s want to get in, BuyRate goes to %s, "+
				"and Redis reserves %s units a second. Have more answered at the edge (--edge), or allow a longer "+
				"wait (--wait).",
			seconds(o.LongestWait), number(o.GaveUp), number(p.Free.PeakCalls), number(maxThrottle), number(slot))
	}
	if o.PeakStarts > secretReads {
		add(
			"%s instances start in a second, and Secrets Manager answers %s: the rest start late, as they try again. "+
				"Have more "+
				"instances wait (BuyProvisioned), or more answered at the edge.", number(o.PeakStarts),
			number(secretReads))
	}
	if through < float64(s.Units)/float64(s.Count) {
		add("Only %s shoppers get past the edge, fewer than there are orders to sell: units stay.", number(through))
	}
	if o.PeakScripts > slot {
		add(
			"One item's keys are in one slot of Redis, which runs %s purchases a second on ElastiCache Serverless "+
				"(30,000 ECPU): what is above is told 503 and comes again. No quota raises it; a node of one's own "+
				"runs about 26,000.",
			number(slot))
	}
	if p.Redis.ItemECPU > slotECPU {
		add(
			"Purchases, lists and looks at orders of one item take %s ECPU a second of its slot, which has %s, and "+
				"no quota raises that: what is above is told 503. Have more looks answered at the edge.",
			number(p.Redis.ItemECPU), number(slotECPU))
	}
	if r := p.Reads; r.Sale > keyReads || r.Start > keyReads || r.Lists > keyReads {
		add(
			"One row of items takes %s read units a second: %s are asked of the sale's row, %s of one of the lists', "+
				"%s at start. Functions go on with what they know, and say how old it is.",
			number(keyReads), number(r.Sale), number(r.Lists), number(r.Start))
	}
	if p.Reads.Table > tableReads {
		add(
			"Items are read with %s units a second, and a new table takes %s; it takes twice its peak %v later. Read "+
				"it as much the day before, or have fewer instances.",
			number(p.Reads.Table), number(tableReads), tableGrowth)
	}
	if n := p.Planned.Limits.Notifying(); n > rampInstances {
		add(
			"Were no instance of notify warm, %s would have to start at once, and Lambda starts %s: Alipay hears 503 "+
				"of the others, and "+
				"repeats after 4 min.", number(n), number(rampInstances))
	}
	for _, why := range p.Planned.Limits.Fits() {
		add("The plan does not fit: %s.", why)
	}
	if s.Edge == 0 && p.Free.PeakCalls > accountRate {
		add(
			"Nothing in template.yaml answers before API Gateway (--edge 0). Just before the opening open pages look "+
				"at lists and the time %s times a second: a CDN that keeps lists for the second that they allow "+
				"(Cache-Control: public, max-age=1) takes most of that.",
			number(float64(s.Shoppers)*s.First*s.Looks))
	}
}

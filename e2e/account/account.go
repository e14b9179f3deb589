// Package account stands in for an AWS account that enforces its limits, for drills: the calls of functions, shoppers
// and operators pass through it on their way to real servers and to e2e/lambdahost, and what is over a limit is refused
// with the service's own error. In: calls. Out: the same calls as far as the limits allow, or refusals; counts of both.
// Rates and numbers of instances are a hundredth of the account's, and at least 1, so that a hundredth
// of a crowd meets what a whole one meets; times are as they are.
//
// It stands for limits only. Permissions, regions and what a service does within its limits are for other stand-ins and
// for AWS itself. docs/adr/0022 says
// what each limit rests on and how sure it is.
package account

import (
	"math"
	"sync"
	"time"
)

// Clock tells the time.
type Clock func() time.Time

// Limits are those of one account in one region. Rates are a second's.
type Limits struct {
	// GetParameters of Systems Manager. "AWS Systems Manager endpoints and quotas": 40, shared with GetParameter
	Parameters float64
	Secrets    float64 // GetSecretValue of Secrets Manager. "AWS Secrets Manager quotas": 10,000
	// DynamoDB's control plane, DescribeTable among it. "Best practices for managing the control plane in DynamoDB":
	// 2,500
	Control  float64
	APIRate  float64 // requests to all APIs. "Amazon API Gateway quotas": 10,000
	APIBurst float64 // the token bucket's size: 5,000, set by AWS
	// executions of Lambda at a time. "Lambda quotas": 1,000, of a new account less; raised on request
	Concurrency float64
	// executions that reservations have to leave to all other functions, or Lambda refuses them. "Configuring reserved
	// concurrency": 100
	Unreserved float64
	// instances that a function may gain within GrowthTime. "Lambda scaling behavior": 1,000 each 10 s, refilled
	// continuously, not saved
	Growth      float64
	PerInstance float64 // invocations a second for each of Concurrency, whatever the scale. "Lambda quotas": 10

	PartitionReads  float64 // units for one partition key. "Partitions and data distribution in DynamoDB": 3,000
	PartitionWrites float64 // 1,000
	// units that a new table on demand, or an index of it, takes. "DynamoDB on-demand capacity mode": 12,000
	TableReads  float64
	TableWrites float64 // 4,000; WarmThroughput raises it

	// ECPU is ElastiCache Serverless's units for one slot, which is where an item's keys are, and for a new cache.
	// "Scaling ElastiCache": 30,000.
	ECPU float64
}

// Times of limits, which no scale changes.
const (
	GrowthTime = 10 * time.Second
	InitLimit  = 10 * time.Second // of a cold start. "Lambda execution environment lifecycle"
	TableGrows = 30 * time.Minute // a table on demand takes twice the peak of so long ago
	CacheGrows = 12 * time.Minute // ElastiCache Serverless doubles what it takes each 10 to 12 minutes
)

// AWS are the default limits of an account.
func AWS() Limits {
	return Limits{
		Parameters:      40,
		Secrets:         10_000,
		Control:         2500,
		APIRate:         10_000,
		APIBurst:        5000,
		Concurrency:     1000,
		Unreserved:      100,
		Growth:          1000,
		PerInstance:     10,
		PartitionReads:  3000,
		PartitionWrites: 1000,
		TableReads:      12_000,
		TableWrites:     4000,
		ECPU:            30_000,
	}
}

// Hundredth is a hundredth of a rate or a number of instances, and at least 1; 0 stays 0, which is "none".
func Hundredth(v float64) float64 {
	if v <= 0 {
		return 0
	}
	return math.Max(1, math.Floor(v/100))
}

// Hundredth scales all limits. PerInstance is a fact about one instance, and stays.
func (l Limits) Hundredth() Limits {
	for _, v := range []*float64{&l.Parameters, &l.Secrets, &l.Control, &l.APIRate, &l.APIBurst,
		&l.Concurrency, &l.Unreserved, &l.Growth,
		&l.PartitionReads, &l.PartitionWrites, &l.TableReads, &l.TableWrites, &l.ECPU} {
		*v = Hundredth(*v)
	}
	return l
}

// Count is what a limit let through, and what it refused or, for the cache, delayed.
type Count struct{ Passed, Refused int64 }

// counts are by the limit's name.
type counts struct {
	mu sync.Mutex
	by map[string]Count
}

func (c *counts) add(name string, passed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]Count{}
	}
	n := c.by[name]
	if passed {
		n.Passed++
	} else {
		n.Refused++
	}
	c.by[name] = n
}

// snapshot returns the counts so far.
func (c *counts) snapshot() map[string]Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]Count, len(c.by))
	for name, n := range c.by {
		out[name] = n
	}
	return out
}

// Package account stands in for an AWS account that enforces its limits, for drills: the calls of functions, shoppers
// and operators pass through it to real servers and to e2e/lambdahost, and it refuses calls above a limit with the
// service's own error. In: calls. Out: the same calls within the limits, refusals above them, and counts of both.
// Rates and numbers of instances are a hundredth of the account's, at least 1, so that a hundredth of a crowd meets
// the same limits as a whole one; times are not scaled.
//
// It imitates only limits. Permissions, regions and a service's behaviour within its limits are left to other
// stand-ins and to AWS itself. Limits names the source of each limit and how certain it is.
package account

import (
	"math"
	"sync"
	"time"
)

// Clock returns the time.
type Clock func() time.Time

// Limits are the limits of one account in one region. Rates are per second.
type Limits struct {
	Secrets float64 // GetSecretValue of Secrets Manager. "AWS Secrets Manager quotas": 10,000
	// DynamoDB's control plane, DescribeTable among it. "Best practices for managing the control plane in DynamoDB":
	// 2,500
	Control  float64
	APIRate  float64 // requests to all APIs. "Amazon API Gateway quotas": 10,000
	APIBurst float64 // the token bucket's size: 5,000, set by AWS
	// concurrent executions of Lambda. "Lambda quotas": 1,000, in a new account less; raised on request
	Concurrency float64
	// executions that reservations must leave to all other functions, or Lambda refuses them. "Configuring reserved
	// concurrency": 100
	Unreserved float64
	// instances that a function may gain within GrowthTime. "Lambda scaling behavior": 1,000 each 10 s, refilled
	// continuously, not saved
	Growth      float64
	PerInstance float64 // invocations per second for each unit of Concurrency, not scaled. "Lambda quotas": 10

	PartitionReads  float64 // units for one partition key. "Partitions and data distribution in DynamoDB": 3,000
	PartitionWrites float64 // 1,000
	// units that a new on-demand table, or one of its indexes, allows. "DynamoDB on-demand capacity mode": 12,000
	TableReads  float64
	TableWrites float64 // 4,000; WarmThroughput raises it

	// ECPU is the rate of a new ElastiCache Serverless cache for one slot, which has all keys of an item. "Scaling
	// ElastiCache": 30,000.
	ECPU float64
}

// Times of limits, which are not scaled.
const (
	GrowthTime = 10 * time.Second
	TableGrows = 30 * time.Minute // an on-demand table allows twice its peak of this long ago
	CacheGrows = 12 * time.Minute // ElastiCache Serverless doubles its rate every 10 to 12 minutes
)

// AWS returns the default limits of an account.
func AWS() Limits {
	return Limits{
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

// Hundredth returns a hundredth of a rate or a number of instances, at least 1; 0 stays 0, which means "none".
func Hundredth(v float64) float64 {
	if v <= 0 {
		return 0
	}
	return math.Max(1, math.Floor(v/100))
}

// Hundredth scales all limits except PerInstance, which is a property of one instance.
func (l Limits) Hundredth() Limits {
	for _, v := range []*float64{&l.Secrets, &l.Control, &l.APIRate, &l.APIBurst,
		&l.Concurrency, &l.Unreserved, &l.Growth,
		&l.PartitionReads, &l.PartitionWrites, &l.TableReads, &l.TableWrites, &l.ECPU} {
		*v = Hundredth(*v)
	}
	return l
}

// Count is how often a limit allowed a call, and how often it refused a call or, for the cache, delayed it.
type Count struct{ Passed, Refused int64 }

// counts has the counts by the limits' names.
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

package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"seckill/shared/adapter/ledger"
)

// What is assumed of a crowd. Nobody has measured it on AWS: these are to be replaced by figures of a first sale.
const (
	callsEach  = 2                      // of each shopper within the time: one purchase, one look at what came of it
	perCall    = 100 * time.Millisecond // that a function is busy with one call, cold starts included
	background = 40                     // instances that do not answer shoppers: consume 20, expire 5, schedules, spare
	perOrder   = 6.7                    // writes to the orders table for one order: 4,000 make about 600 orders a second
)

// quotas compares what a crowd asks for with what the account and the stack let through.
func (d *Doctor) quotas(ctx context.Context, c *check) {
	if d.Crowd == 0 {
		return
	}
	rate := float64(d.Crowd*callsEach) / d.Within.Seconds()
	crowd := fmt.Sprintf("%d shoppers within %v make %.0f calls/s", d.Crowd, d.Within, rate)
	c.concurrency(ctx, crowd, rate)
	c.throttle(ctx, crowd, rate)
	client := dynamodb.NewFromConfig(d.AWS)
	name := d.outputs["StackPrefix"] + ledger.TableOrders
	writes, err := warm(ctx, client, name)
	if err != nil {
		c.unasked("how much "+name+" takes at once", err)
		return
	}
	c.ok("%s takes %d writes/s at once, about %.0f orders/s; what is above waits in the queue", name, writes, float64(writes)/perOrder)
}

func (c *check) concurrency(ctx context.Context, crowd string, rate float64) {
	out, err := lambda.NewFromConfig(c.AWS).GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	switch {
	case err != nil:
		c.unasked("for Lambda's quota", err)
		return
	case out.AccountLimit == nil || out.AccountLimit.ConcurrentExecutions == 0:
		c.unasked("for Lambda's quota", errors.New("the answer has none"))
		return
	}
	have := out.AccountLimit.ConcurrentExecutions
	if unreserved := aws.ToInt32(out.AccountLimit.UnreservedConcurrentExecutions); unreserved > 0 {
		have = min(have, unreserved)
	}
	need := int32(math.Ceil(rate*perCall.Seconds())) + background
	if have < need {
		c.fault("%s, which want some %d instances at %v a call; the account has %d: have Lambda's quota of concurrent executions raised (Service Quotas, L-B99A9384)",
			crowd, need, perCall, have)
		return
	}
	c.ok("%s, which want some %d of the account's %d instances at %v a call", crowd, need, have, perCall)
}

// throttle finds the smallest of the limits that stand before the functions.
func (c *check) throttle(ctx context.Context, crowd string, rate float64) {
	client := apigateway.NewFromConfig(c.AWS)
	id, stage := c.outputs["ApiId"], c.outputs["ApiStage"]
	limits := map[string]float64{}
	if out, err := client.GetStage(ctx, &apigateway.GetStageInput{RestApiId: &id, StageName: &stage}); err != nil {
		c.unasked("how many calls the API lets through", err)
	} else if s, ok := out.MethodSettings["*/*"]; ok && s.ThrottlingRateLimit > 0 {
		limits["the API (parameter ThrottleRate)"] = s.ThrottlingRateLimit
	}
	if out, err := client.GetAccount(ctx, &apigateway.GetAccountInput{}); err != nil {
		c.unasked("how many calls the account's APIs let through", err)
	} else if out.ThrottleSettings != nil && out.ThrottleSettings.RateLimit > 0 {
		limits["the account (Service Quotas, L-8A5B8E43)"] = out.ThrottleSettings.RateLimit
	}
	if len(limits) == 0 {
		c.unasked("how many calls are let through", errors.New("neither the API's stage nor the account names a limit"))
		return
	}
	enough := true
	for whose, limit := range limits {
		if limit < rate {
			enough = false
			c.fault("%s, and %s lets %.0f through: the others are told 429 and come again, so all are served after %.0f s at the earliest; have it raised, or let the crowd wait",
				crowd, whose, limit, rate*c.Within.Seconds()/limit)
		}
	}
	if enough {
		c.ok("%s, and all are let through", crowd)
	}
}

// size writes bytes for people.
func size(n int64) string {
	v, unit := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for ; v >= 1024 && unit < len(units)-1; unit++ {
		v /= 1024
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[unit])
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/shared/driver/ledger"
)

// callsEach is the number of calls per shopper: a purchase and a look at its order. Package plan has the costs of a
// call; `seckill plan` has a finer model of the crowd.
const callsEach = 2

// background is the number of instances that do not answer shoppers.
var background = int32(plan.Today.Consume + plan.Background)

// quotas checks that the functions that a crowd must not starve have reserved instances, and compares the crowd's calls
// with the limits of account and stack, including the limit on the orders table's writes.
func (d *Doctor) quotas(ctx context.Context, c *check) {
	if d.Crowd == 0 && d.sandbox() {
		return
	}
	account, err := c.lambdaQuota(ctx)
	if err != nil {
		c.unasked("for Lambda's quota", err)
	} else if !d.sandbox() {
		c.reserved(account.ConcurrentExecutions)
	}
	if d.Crowd == 0 {
		return
	}
	rate := float64(d.Crowd*callsEach) / d.Within.Seconds()
	crowd := fmt.Sprintf("%d shoppers within %v make %.0f calls/s", d.Crowd, d.Within, rate)
	if err == nil {
		c.concurrency(account, crowd, rate)
	}
	c.throttle(ctx, crowd, rate)
	client := dynamodb.NewFromConfig(d.AWS)
	name := d.outputs["StackPrefix"] + ledger.TableOrders
	writes, err := warm(ctx, client, name)
	if err != nil {
		c.unasked("how many writes "+name+" takes", err)
		return
	}
	c.ok("%s takes %d writes/s without warm-up, about %.0f orders/s; more orders wait in the queue", name, writes,
		plan.OrdersPerSecond(float64(writes)))
}

func (c *check) lambdaQuota(ctx context.Context) (*types.AccountLimit, error) {
	out, err := lambda.NewFromConfig(c.AWS).GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err == nil && (out.AccountLimit == nil || out.AccountLimit.ConcurrentExecutions == 0) {
		err = errors.New("the answer has none")
	}
	if err != nil {
		return nil, err
	}
	return out.AccountLimit, nil
}

// reserved compares the stack's parameter ReserveConcurrency with the account's quota.
func (c *check) reserved(have int32) {
	parameter := func(name string) float64 {
		v, err := strconv.ParseFloat(c.parameters[name], 64)
		if err != nil {
			return 0
		}
		return v
	}
	l := plan.Limits{Consume: parameter(plan.ConsumeConcurrency), Notify: parameter(plan.NotifyRate),
		NotifyBurst: parameter(plan.NotifyBurst), NotifyKept: parameter(plan.NotifyConcurrency),
		SigninKept: parameter(plan.SigninConcurrency)}
	wanted := int32(l.Reserved())
	fits := have >= wanted+plan.Unreserved
	raise :=
		fmt.Sprintf(
			"request an increase of the account's quota of %d concurrent executions to %d or more (Service Quotas, "+
				"L-B99A9384)", have, wanted+plan.Unreserved)
	switch reserves := c.parameters["ReserveConcurrency"] == "true"; {
	case reserves && fits && l.Notifying() > l.NotifyKept:
		c.fault(
			"up to %.0f payment notifications may come at once, and notify has %.0f reserved instances: Alipay gets "+
				"503 for the others; raise NotifyConcurrency of Plan to %[1].0f or more, or lower NotifyBurst",
			l.Notifying(), l.NotifyKept)
	case reserves && fits:
		c.ok("%d instances are reserved for the functions that a crowd must not starve", wanted)
	case reserves:
		c.fault("ReserveConcurrency=true reserves %d instances, which AWS refuses in this account: %s", wanted, raise)
	case fits:
		c.fault("no instance is reserved for stop, payments and placing, so a crowd can starve them: deploy with " +
			"ReserveConcurrency=true")
	default:
		c.fault("no instance is reserved for stop, payments and placing, so a crowd can starve them, and the account "+
			"is too small to reserve any: %s, then deploy with ReserveConcurrency=true", raise)
	}
}

func (c *check) concurrency(account *types.AccountLimit, crowd string, rate float64) {
	have := account.ConcurrentExecutions
	if unreserved := aws.ToInt32(account.UnreservedConcurrentExecutions); unreserved > 0 {
		have = min(have, unreserved)
	}
	need := int32(math.Ceil(rate*plan.Occupied)) + background
	if have < need {
		c.fault("%s, which need about %d Lambda instances; the account has %d: request an increase of its quota of "+
			"concurrent executions (Service Quotas, L-B99A9384)", crowd, need, have)
		return
	}
	c.ok("%s, which need about %d of the account's %d Lambda instances", crowd, need, have)
}

// throttle compares the crowd's calls with the limits in front of the functions. Each method has its own limit; of
// callsEach calls one is a purchase.
func (c *check) throttle(ctx context.Context, crowd string, rate float64) {
	type limit struct {
		whose       string
		asked, lets float64
	}
	var limits []limit
	if c.stageErr != nil {
		c.unasked("for the API's limit", c.stageErr)
	} else {
		for method, s := range c.throttles() {
			whose := map[string]string{EveryMethod: "a method of the API (ThrottleRate of Plan)",
				"seckill/buy/POST":               "the API (BuyRate of Plan)",
				"seckill/order/{seckill_id}/GET": "the API (PollRate of Plan)"}[method]
			if whose != "" && s.ThrottlingRateLimit > 0 {
				limits = append(limits, limit{whose, rate / callsEach, s.ThrottlingRateLimit})
			}
		}
	}
	if out, err := apigateway.NewFromConfig(c.AWS).GetAccount(ctx, &apigateway.GetAccountInput{}); err != nil {
		c.unasked("for the limit of the account's APIs", err)
	} else if out.ThrottleSettings != nil && out.ThrottleSettings.RateLimit > 0 {
		limits = append(limits, limit{"the account (Service Quotas, L-8A5B8E43)", rate, out.ThrottleSettings.RateLimit})
	}
	if edge := c.outputs["Edge"]; edge != "" && edge != "none" {
		limits = append(limits, limit{"CloudFront (a distribution's quota unless raised)", rate, plan.EdgeRate})
	}
	if len(limits) == 0 {
		c.unasked("for limits of calls", errors.New("neither the API's stage nor the account has one"))
		return
	}
	slices.SortFunc(limits, func(a, b limit) int { return strings.Compare(a.whose, b.whose) })
	enough := true
	for _, l := range limits {
		if l.lets < l.asked {
			enough = false
			c.fault(
				"%s, and %s allows %.0f of %.0f: the others get 429 and retry, so serving all takes at least %.0f s; "+
					"see \"seckill plan\" for what to deploy and what to have raised, or let the crowd wait",
				crowd, l.whose, l.lets, l.asked, l.asked*c.Within.Seconds()/l.lets)
		}
	}
	if enough {
		c.ok("%s, within all limits", crowd)
	}
}

// size writes bytes with a unit.
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

package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// Names that SAM gives to a function's triggers, after those of function and event.
var (
	scheduled = []string{"ExpireFunctionMinute", "RefundFunctionMinute", "ReconcileFunctionHour",
		"RepairFunctionMinute", "StageFunctionMinute"}
	polled = []string{"ConsumeFunctionOrders", "ExpireFunctionClosings"}
)

// byHand: CloudFormation compares templates, not what is there.
const byHand = "somebody deleted it, and a deployment does not notice; make it again by hand, as template.yaml has it"

var errNoResources = errors.New("the stack's resources could not be listed")

// schedules looks at the rules that wake functions.
func (d *Doctor) schedules(ctx context.Context, c *check) {
	if d.resourcesErr != nil {
		c.unasked("for the schedules", errNoResources)
		return
	}
	client := eventbridge.NewFromConfig(d.AWS)
	rules := scheduled
	if d.sandbox() {
		rules = append([]string{"GatewayFunctionMinute"}, rules...)
	}
	for _, id := range rules {
		function, _, _ := strings.Cut(id, "Function")
		c.schedule(ctx, client, d.resources[id].id, d.outputs[function+"Function"])
	}
}

func (c *check) schedule(ctx context.Context, client *eventbridge.Client, rule, function string) {
	if rule == "" {
		c.fault("%s has no schedule: deploy the stack again", function)
		return
	}
	r, err := client.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: &rule})
	if missing := (*types.ResourceNotFoundException)(nil); errors.As(err, &missing) {
		c.fault("the schedule of %s is gone (rule %s): "+byHand, function, rule)
		return
	}
	if err != nil {
		c.unasked("for the schedule of "+function, err)
		return
	}
	if r.State == types.RuleStateDisabled {
		c.fault("the schedule of %s is switched off: aws events enable-rule --name %s", function, rule)
		return
	}
	targets, err := client.ListTargetsByRule(ctx, &eventbridge.ListTargetsByRuleInput{Rule: &rule})
	if err != nil {
		c.unasked("whom the schedule of "+function+" wakes", err)
		return
	}
	for _, t := range targets.Targets {
		if arn := aws.ToString(t.Arn) + ":"; strings.Contains(arn, ":function:"+function+":") {
			c.ok("%s is woken by %s", function, aws.ToString(r.ScheduleExpression))
			return
		}
	}
	c.fault("the schedule of %s wakes something else (rule %s): deploy the stack again", function, rule)
}

// triggers looks at what takes messages off the queues.
func (d *Doctor) triggers(ctx context.Context, c *check) {
	if d.resourcesErr != nil {
		c.unasked("for what takes messages off the queues", errNoResources)
		return
	}
	client := lambda.NewFromConfig(d.AWS)
	for _, id := range polled {
		uuid := d.resources[id].id
		if uuid == "" {
			c.fault("the stack has no %s: nothing takes messages off that queue, deploy the stack again", id)
			continue
		}
		m, err := client.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: &uuid})
		if err != nil {
			c.unasked("for "+id, err)
			continue
		}
		if state := aws.ToString(m.State); state != "Enabled" {
			c.fault("%s is %s: messages wait; aws lambda update-event-source-mapping --uuid %s --enabled", id, state,
				uuid)
			continue
		}
		c.ok("%s is on, %d messages at a time", id, aws.ToInt32(m.BatchSize))
	}
}

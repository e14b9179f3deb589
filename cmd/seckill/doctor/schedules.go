package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// Logical ids that SAM gives to triggers: the function's, then the event's.
var (
	scheduled = []string{"GatewayFunctionMinute", "ExpireFunctionMinute", "RefundFunctionMinute",
		"ReconcileFunctionHour", "RepairFunctionMinute", "StageFunctionMinute", "DeliverFunctionMinute"}
	polled = []string{"ConsumeFunctionOrders", "ExpireFunctionClosings"}
	// streaming: of the orders table's stream
	streaming = []string{"TellFunctionChanges", "DeliverFunctionChanges"}
)

// byHand: a deployment compares templates, so it does not notice a missing resource.
const byHand = "it was deleted, and a deployment does not restore it; create it by hand as in template.yaml"

var errNoResources = errors.New("the stack's resources could not be listed")

// schedules checks the rules that start functions.
func (d *Doctor) schedules(ctx context.Context, c *check) {
	if d.resourcesErr != nil {
		c.unasked("for the schedules", errNoResources)
		return
	}
	client := eventbridge.NewFromConfig(d.AWS)
	for _, id := range scheduled {
		if !d.wants(id) {
			continue
		}
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
		c.fault("the schedule of %s does not exist (rule %s): "+byHand, function, rule)
		return
	}
	if err != nil {
		c.unasked("for the schedule of "+function, err)
		return
	}
	if r.State == types.RuleStateDisabled {
		c.fault("the schedule of %s is disabled: aws events enable-rule --name %s", function, rule)
		return
	}
	targets, err := client.ListTargetsByRule(ctx, &eventbridge.ListTargetsByRuleInput{Rule: &rule})
	if err != nil {
		c.unasked("what the schedule of "+function+" starts", err)
		return
	}
	for _, t := range targets.Targets {
		if arn := aws.ToString(t.Arn) + ":"; strings.Contains(arn, ":function:"+function+":") {
			c.ok("%s is scheduled by %s", function, aws.ToString(r.ScheduleExpression))
			return
		}
	}
	c.fault("the schedule of %s has another target (rule %s): deploy the stack again", function, rule)
}

// triggers checks the event source mappings of the queues and the stream.
func (d *Doctor) triggers(ctx context.Context, c *check) {
	if d.resourcesErr != nil {
		c.unasked("for the triggers of queues and stream", errNoResources)
		return
	}
	client := lambda.NewFromConfig(d.AWS)
	for _, id := range slices.Concat(polled, streaming) {
		if !d.wants(id) {
			continue
		}
		wait := "messages wait"
		if slices.Contains(streaming, id) {
			wait = "changes of orders wait, for a day at most"
		}
		uuid := d.resources[id].id
		if uuid == "" {
			c.fault("the stack has no %s, so %s: deploy the stack again", id, wait)
			continue
		}
		m, err := client.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: &uuid})
		if err != nil {
			c.unasked("for "+id, err)
			continue
		}
		if state := aws.ToString(m.State); state != "Enabled" {
			c.fault("%s is %s, so %s: aws lambda update-event-source-mapping --uuid %s --enabled", id, state, wait,
				uuid)
			continue
		}
		c.ok("%s is enabled, %d at a time", id, aws.ToInt32(m.BatchSize))
	}
}

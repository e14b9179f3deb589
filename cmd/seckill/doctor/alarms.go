package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
)

const (
	maxAlarms = 100                   // per DescribeAlarms call
	pending   = "PendingConfirmation" // in place of the ARN of an unconfirmed subscription
)

// alarms checks that each alarm of the stack exists, is quiet, and has the stack's topic as an action.
func (d *Doctor) alarms(ctx context.Context, c *check) {
	ids, err := d.made("AWS::CloudWatch::Alarm")
	if err != nil {
		c.unasked("for the alarms", errNoResources)
		return
	}
	if len(ids) == 0 {
		c.fault("the stack has no alarms: deploy it again")
		return
	}
	if risk, err := d.made("AWS::CloudWatch::CompositeAlarm"); err == nil {
		ids = append(ids, risk...)
	}
	client, found := cloudwatch.NewFromConfig(d.AWS), map[string]types.MetricAlarm{}
	var names []string
	for _, id := range ids {
		names = append(names, d.resources[id].id)
	}
	for part := range slices.Chunk(names, maxAlarms) {
		out, err := client.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: part,
			MaxRecords: aws.Int32(maxAlarms),
			AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm}})
		if err != nil {
			c.unasked("for the alarms", err)
			return
		}
		for _, a := range out.MetricAlarms {
			found[aws.ToString(a.AlarmName)] = a
		}
		for _, a := range out.CompositeAlarms { // of a sale at risk
			found[aws.ToString(a.AlarmName)] = types.MetricAlarm{ActionsEnabled: a.ActionsEnabled,
				AlarmActions: a.AlarmActions, StateValue: a.StateValue, AlarmDescription: a.AlarmDescription}
		}
	}
	quiet, of := 0, [4]int{}
	for _, name := range names {
		a, ok := found[name]
		switch {
		case !ok:
			c.fault("the alarm %s does not exist: "+byHand, name)
		case !aws.ToBool(a.ActionsEnabled):
			c.fault("the actions of the alarm %[1]s are disabled: aws cloudwatch enable-alarm-actions "+
				"--alarm-names %[1]s", name)
		case !slices.Contains(a.AlarmActions, d.outputs["AlarmTopic"]):
			c.fault("the alarm %s does not notify the stack's topic: add the action %s again", name,
				d.outputs["AlarmTopic"])
		case a.StateValue == types.StateValueAlarm:
			c.fault("the alarm %s is in state ALARM: %s", name, aws.ToString(a.AlarmDescription))
		default:
			quiet++
		}
		for severity := 1; severity <= 3; severity++ {
			if strings.HasPrefix(aws.ToString(a.AlarmDescription), fmt.Sprintf("Severity %d: ", severity)) {
				of[severity]++
			}
		}
	}
	if quiet > 0 {
		c.ok("%d of %d alarms are quiet and notify the stack's topic; %d are of severity 1, %d of 2, %d of 3", quiet,
			len(names), of[1], of[2], of[3])
	}
	c.subscriptions(ctx, sns.NewFromConfig(c.AWS), c.outputs["AlarmTopic"])
}

// subscriptions checks that someone receives a topic's notifications.
func (c *check) subscriptions(ctx context.Context, client *sns.Client, topic string) {
	confirmed, waiting := 0, 0
	pages := sns.NewListSubscriptionsByTopicPaginator(client, &sns.ListSubscriptionsByTopicInput{TopicArn: &topic})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			c.unasked("who receives alarms", err)
			return
		}
		for _, s := range page.Subscriptions {
			if strings.HasPrefix(aws.ToString(s.SubscriptionArn), pending) {
				waiting++
			} else {
				confirmed++
			}
		}
	}
	switch {
	case confirmed > 0:
		c.ok("confirmed subscriptions to alarms: %d", confirmed)
	case waiting > 0:
		c.fault("no one receives alarms yet: confirm the subscription by the link in its e-mail")
	case c.sandbox():
		c.ok("no one receives alarms, which is fine for a sandbox (to change it: the parameter AlarmEmail)")
	default:
		c.fault("no one receives alarms: deploy with AlarmEmail, or aws sns subscribe --topic-arn %s …", topic)
	}
}

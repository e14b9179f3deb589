package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
)

const (
	maxAlarms = 100                   // that DescribeAlarms takes
	pending   = "PendingConfirmation" // what stands for the ARN of a subscription that nobody has confirmed
)

// alarms looks whether each alarm of the stack is there, quiet, and tells somebody.
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
	client, found := cloudwatch.NewFromConfig(d.AWS), map[string]types.MetricAlarm{}
	var names []string
	for _, id := range ids {
		names = append(names, d.resources[id].id)
	}
	for part := range slices.Chunk(names, maxAlarms) {
		out, err := client.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: part,
			MaxRecords: aws.Int32(maxAlarms)})
		if err != nil {
			c.unasked("for the alarms", err)
			return
		}
		for _, a := range out.MetricAlarms {
			found[aws.ToString(a.AlarmName)] = a
		}
	}
	quiet := 0
	for _, name := range names {
		a, ok := found[name]
		switch {
		case !ok:
			c.fault("the alarm %s is gone: "+byHand, name)
		case !aws.ToBool(a.ActionsEnabled):
			c.fault("the alarm %s tells nobody: aws cloudwatch enable-alarm-actions --alarm-names %s", name, name)
		case !slices.Contains(a.AlarmActions, d.outputs["AlarmTopic"]):
			c.fault("the alarm %s does not tell the stack's topic: give it the action %s again", name,
				d.outputs["AlarmTopic"])
		case a.StateValue == types.StateValueAlarm:
			c.fault("the alarm %s rings: %s", name, aws.ToString(a.AlarmDescription))
		default:
			quiet++
		}
	}
	if quiet > 0 {
		c.ok("%d of %d alarms are quiet, and wired to the stack's topic", quiet, len(names))
	}
	c.subscriptions(ctx)
}

// subscriptions looks whether anybody hears what the topic says.
func (c *check) subscriptions(ctx context.Context) {
	topic := c.outputs["AlarmTopic"]
	confirmed, waiting := 0, 0
	pages := sns.NewListSubscriptionsByTopicPaginator(sns.NewFromConfig(c.AWS),
		&sns.ListSubscriptionsByTopicInput{TopicArn: &topic})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			c.unasked("who hears of alarms", err)
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
		c.ok("who hears of alarms: %d", confirmed)
	case waiting > 0:
		c.fault("nobody hears of alarms yet: the subscription's e-mail waits to be confirmed")
	case c.sandbox():
		c.ok("nobody hears of alarms, which a sandbox may have (else: the parameter AlarmEmail)")
	default:
		c.fault("nobody hears of alarms: deploy with AlarmEmail, or aws sns subscribe --topic-arn %s …", topic)
	}
}

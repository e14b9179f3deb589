package sqsqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/shared/seckill"
)

// What CreateQueue gives its queues; template.yaml gives the same to those on AWS.
const (
	deadSuffix    = "-dead"
	retention     = 4 * 24 * time.Hour
	deadRetention = 14 * 24 * time.Hour // the longest that SQS keeps anything: a person has to look
)

// CreateQueue makes a queue and its dead-letter queue (named name + "-dead") where a template has not: locally. Queues
// that are there already are kept with what they hold; one with other attributes is an error. Repeating it after an
// error goes on where that ended.
func CreateQueue(ctx context.Context, client *sqs.Client, name string) (Options, error) {
	client = limited(client, tryTimeout)
	dead, err := create(ctx, client, name+deadSuffix, map[types.QueueAttributeName]string{
		types.QueueAttributeNameMessageRetentionPeriod: inSeconds(deadRetention),
	})
	if err != nil {
		return Options{}, err
	}
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &dead,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		return Options{}, fmt.Errorf("sqsqueue: create: queue %s: %w", name+deadSuffix, err)
	}
	redrive, err := json.Marshal(
		map[string]any{"deadLetterTargetArn": out.Attributes[string(types.QueueAttributeNameQueueArn)],
			"maxReceiveCount": seckill.MaxReceives})
	if err != nil {
		return Options{}, err
	}
	url, err := create(ctx, client, name, map[types.QueueAttributeName]string{
		types.QueueAttributeNameMessageRetentionPeriod: inSeconds(retention),
		types.QueueAttributeNameVisibilityTimeout:      inSeconds(seckill.DefaultVisible),
		// The dead-letter queue has SQS's own limit, which is larger: a message fits there with its attributes.
		types.QueueAttributeNameMaximumMessageSize: strconv.Itoa(seckill.MaxMessage),
		types.QueueAttributeNameRedrivePolicy:      string(redrive),
	})
	return Options{URL: url, DeadLetterURL: dead}, err
}

func create(ctx context.Context, client *sqs.Client, name string,
	attributes map[types.QueueAttributeName]string) (url string, err error) {
	in := &sqs.CreateQueueInput{QueueName: &name, Attributes: map[string]string{}}
	for k, v := range attributes {
		in.Attributes[string(k)] = v
	}
	out, err := client.CreateQueue(ctx, in)
	if err != nil {
		return "", fmt.Errorf("sqsqueue: create: queue %s: %w", name, err)
	}
	return *out.QueueUrl, nil
}

func inSeconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

package provision

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/seckill"
)

// Attributes that Queue sets; template.yaml sets the same on AWS.
const (
	deadSuffix    = "-dead"
	retention     = 4 * 24 * time.Hour
	deadRetention = 14 * 24 * time.Hour // the longest that SQS allows: an operator must look at it
)

// Queue creates a queue and its dead-letter queue (name + "-dead"). Existing queues keep their messages; one with other
// attributes is an error. After an error, call it again to continue.
func Queue(ctx context.Context, client *sqs.Client, name string) (sqsqueue.Options, error) {
	dead, err := create(ctx, client, name+deadSuffix, map[types.QueueAttributeName]string{
		types.QueueAttributeNameMessageRetentionPeriod: inSeconds(deadRetention),
	})
	if err != nil {
		return sqsqueue.Options{}, err
	}
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &dead,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		return sqsqueue.Options{}, fmt.Errorf("provision: queue %s: %w", name+deadSuffix, err)
	}
	redrive, err := json.Marshal(
		map[string]any{"deadLetterTargetArn": out.Attributes[string(types.QueueAttributeNameQueueArn)],
			"maxReceiveCount": seckill.MaxReceives})
	if err != nil {
		return sqsqueue.Options{}, err
	}
	url, err := create(ctx, client, name, map[types.QueueAttributeName]string{
		types.QueueAttributeNameMessageRetentionPeriod: inSeconds(retention),
		types.QueueAttributeNameVisibilityTimeout:      inSeconds(seckill.DefaultVisible),
		// The dead-letter queue has SQS's own, larger limit, so that a message fits with its attributes.
		types.QueueAttributeNameMaximumMessageSize: strconv.Itoa(seckill.MaxMessage),
		types.QueueAttributeNameRedrivePolicy:      string(redrive),
	})
	return sqsqueue.Options{URL: url, DeadLetterURL: dead}, err
}

func create(ctx context.Context, client *sqs.Client, name string,
	attributes map[types.QueueAttributeName]string) (url string, err error) {
	in := &sqs.CreateQueueInput{QueueName: &name, Attributes: map[string]string{}}
	for k, v := range attributes {
		in.Attributes[string(k)] = v
	}
	out, err := client.CreateQueue(ctx, in)
	if err != nil {
		return "", fmt.Errorf("provision: queue %s: %w", name, err)
	}
	return *out.QueueUrl, nil
}

func inSeconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

package sqsqueue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/shared/seckill"
)

// Depth returns counts that lag by up to a minute ("GetQueueAttributes", Amazon SQS API Reference). Parked is the
// size of the dead-letter queue, 0 if its URL is not set. The error names each queue that is missing or that this
// process may not read.
func (q *Queue) Depth(ctx context.Context) (seckill.Depth, error) {
	own, dead, err := q.count(ctx)
	if err != nil {
		return seckill.Depth{}, err
	}
	own.Parked = dead.Visible + dead.InFlight + dead.Delayed
	return own, nil
}

// count reads both queues concurrently.
func (q *Queue) count(ctx context.Context) (own, dead seckill.Depth, err error) {
	var ownErr, deadErr error
	var wg sync.WaitGroup
	if q.opt.DeadLetterURL != "" {
		wg.Go(func() { dead, deadErr = q.countOne(ctx, q.opt.DeadLetterURL) })
	}
	own, ownErr = q.countOne(ctx, q.opt.URL)
	wg.Wait()
	return own, dead, errors.Join(ownErr, deadErr)
}

func (q *Queue) countOne(ctx context.Context, url string) (d seckill.Depth, err error) {
	figures := map[types.QueueAttributeName]*int{
		types.QueueAttributeNameApproximateNumberOfMessages:           &d.Visible,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible: &d.InFlight,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed:    &d.Delayed,
	}
	in := &sqs.GetQueueAttributesInput{QueueUrl: &url}
	for name := range figures {
		in.AttributeNames = append(in.AttributeNames, name)
	}
	out, err := q.calls.GetQueueAttributes(ctx, in)
	if err != nil {
		return seckill.Depth{}, q.fault("depth", url, err)
	}
	for name, figure := range figures {
		if *figure, err = strconv.Atoi(out.Attributes[string(name)]); err != nil {
			return seckill.Depth{}, q.fault("depth", url, fmt.Errorf("attribute %s: %w", name, err))
		}
	}
	return d, nil
}

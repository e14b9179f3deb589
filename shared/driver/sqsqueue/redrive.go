package sqsqueue

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/shared/seckill"
)

// Redrive has SQS move the messages of the dead-letter queue back, if there are any: it goes on after this call. It
// returns how many can be moved now, a count that lags like Depth's. SQS moves those that Park sent, too, because it is
// told where to.
func (q *Queue) Redrive(ctx context.Context) (messages int, err error) {
	if q.opt.DeadLetterURL == "" {
		return 0, q.fault("redrive", q.opt.URL, errNoDeadLetterURL)
	}
	dead, err := q.countOne(ctx, q.opt.DeadLetterURL)
	if err != nil || dead.Visible == 0 {
		return 0, err
	}
	from, err := q.arn(ctx, q.opt.DeadLetterURL)
	if err != nil {
		return 0, err
	}
	to, err := q.arn(ctx, q.opt.URL)
	if err != nil {
		return 0, err
	}
	_, err = q.calls.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &from, DestinationArn: &to})
	if refused := (*types.UnsupportedOperation)(nil); errors.As(err, &refused) && q.moves(ctx, from) {
		err = nil // perhaps this very call began it, and its first answer was lost
	}
	return dead.Visible, q.fault("redrive", q.opt.DeadLetterURL, err)
}

// moves reports whether SQS moves messages out of a queue now. A queue has at most one such move at a time.
func (q *Queue) moves(ctx context.Context, from string) bool {
	out, err := q.calls.ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{SourceArn: &from})
	return err == nil && len(out.Results) > 0 && out.Results[0].Status != nil && *out.Results[0].Status == "RUNNING"
}

func (q *Queue) arn(ctx context.Context, url string) (string, error) {
	out, err := q.calls.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		return "", q.fault("redrive", url, err)
	}
	return out.Attributes[string(types.QueueAttributeNameQueueArn)], nil
}

var _ seckill.OperatedQueue = (*Queue)(nil)

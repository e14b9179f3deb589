// Package sqsqueue is seckill.Queue on an Amazon SQS standard queue and its dead-letter queue. In: messages and
// receipts. Out: requests to SQS, through a client that the caller has configured with region, credentials and
// endpoint.
//
// The package may repeat every call: SQS delivers at least once anyway, so a message sent twice costs a duplicate,
// and a message not sent costs a purchase. So an error never proves that nothing happened. The request id that caused
// a message is in its body (Message.Trace, Request.Trace).
package sqsqueue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits in addition to those in package seckill ("Amazon SQS message quotas").
const (
	maxVisible = 12 * time.Hour   // longest that Delay hides a message
	maxWait    = 20 * time.Second // longest that a receive waits for a message
	maxReason  = 1_000            // bytes of a parking reason that are kept
)

// Attributes of a parked message.
const (
	attributeReason   = "reason"    // why it was parked
	attributeSource   = "source_id" // its id in the original queue
	attributeReceives = "receives"  // how often it had been received
)

// Options configure the queue.
type Options struct {
	URL           string // URL of the queue
	DeadLetterURL string // URL of its dead-letter queue; not needed without Park, and Depth counts none there
	// how long Receive waits for a message, up to 20 s, rounded up to seconds; if 0, it does not wait
	Wait time.Duration
}

// Queue is one queue. It is safe for concurrent use.
type Queue struct {
	calls *sqs.Client
	polls *sqs.Client // with longer time limits
	opt   Options
}

// New returns a queue that uses a client's region, credentials, endpoint and HTTP client; this package sets retries
// and timeouts. It makes no call. It panics on options out of range.
func New(client *sqs.Client, opt Options) *Queue {
	if opt.URL == "" || opt.Wait < 0 || opt.Wait > maxWait {
		panic(fmt.Sprintf("sqsqueue: options %+v", opt))
	}
	return &Queue{calls: limited(client, tryTimeout), polls: limited(client, tryTimeout+opt.Wait), opt: opt}
}

// Send enqueues a message; delay is 0 to MaxDelay, rounded up to seconds, so that nothing arrives early. If the
// error is nil, SQS has the message, perhaps twice. After an error SQS may have it.
func (q *Queue) Send(ctx context.Context, m seckill.Message, delay time.Duration) error {
	body := m.Encode()
	if delay < 0 || delay > seckill.MaxDelay {
		return q.fault("send", q.opt.URL, fmt.Errorf("delay of %v, want 0 to %v", delay, seckill.MaxDelay))
	}
	if len(body) > seckill.MaxMessage {
		return q.fault("send", q.opt.URL, fmt.Errorf("message of %d bytes, want at most %d", len(body),
			seckill.MaxMessage))
	}
	return q.send(ctx, "send", &sqs.SendMessageInput{QueueUrl: &q.opt.URL, MessageBody: aws.String(string(body)),
		DelaySeconds: seconds(delay)})
}

func (q *Queue) send(ctx context.Context, what string, in *sqs.SendMessageInput) error {
	out, err := q.calls.SendMessage(ctx, in)
	if err == nil && aws.ToString(out.MessageId) == "" {
		err = errors.New("answered without a message id") // the answer comes from something other than SQS
	}
	return q.fault(what, *in.QueueUrl, err)
}

// Receive returns at most limit messages, 1 to MaxBatch, after waiting up to Options.Wait for the first; an empty
// result is not an error. After an error, messages may be hidden until their visibility timeout.
func (q *Queue) Receive(ctx context.Context, limit int) ([]seckill.Delivery, error) {
	if limit < 1 || limit > seckill.MaxBatch {
		return nil, q.fault("receive", q.opt.URL, fmt.Errorf("%d messages, want 1 to %d", limit, seckill.MaxBatch))
	}
	out, err := q.polls.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &q.opt.URL, MaxNumberOfMessages: int32(limit), WaitTimeSeconds: seconds(q.opt.Wait),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{
			types.MessageSystemAttributeNameApproximateReceiveCount},
	})
	if err != nil {
		return nil, q.fault("receive", q.opt.URL, err)
	}
	batch := make([]seckill.Delivery, 0, len(out.Messages))
	for i := range out.Messages {
		m := &out.Messages[i]
		// Without a count, it was received at least now.
		receives, _ := strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
		batch = append(batch, seckill.Delivery{ID: aws.ToString(m.MessageId), Receipt: aws.ToString(m.ReceiptHandle),
			Body: []byte(aws.ToString(m.Body)), Receives: max(receives, 1)})
	}
	return batch, nil
}

// Delete acknowledges a delivery. Deleting it again is not an error; a receipt that SQS does not know is.
func (q *Queue) Delete(ctx context.Context, d seckill.Delivery) error {
	_, err := q.calls.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.opt.URL, ReceiptHandle: &d.Receipt})
	return q.fault("delete", q.opt.URL, err)
}

// Delay hides a delivered message from now on for 0 to 12 hours, rounded up to seconds. It is an error if the message
// is no longer in flight.
func (q *Queue) Delay(ctx context.Context, d seckill.Delivery, wait time.Duration) error {
	if wait < 0 || wait > maxVisible {
		return q.fault("delay", q.opt.URL, fmt.Errorf("visibility timeout of %v, want 0 to %v", wait, maxVisible))
	}
	_, err := q.calls.ChangeMessageVisibility(ctx,
		&sqs.ChangeMessageVisibilityInput{QueueUrl: &q.opt.URL, ReceiptHandle: &d.Receipt,
			VisibilityTimeout: seconds(wait)})
	return q.fault("delay", q.opt.URL, err)
}

// Park sends a copy of a delivered message to the dead-letter queue, with the reason (its first 1,000 bytes), the
// message's id and its receives as attributes. After nil the dead-letter queue has it, perhaps twice. The message
// itself stays until the caller deletes it.
func (q *Queue) Park(ctx context.Context, d seckill.Delivery, reason string) error {
	if q.opt.DeadLetterURL == "" {
		return q.fault("park", q.opt.URL, errNoDeadLetterURL)
	}
	attributes := map[string]types.MessageAttributeValue{
		attributeReceives: {DataType: aws.String("Number"), StringValue: aws.String(strconv.Itoa(d.Receives))},
	}
	for name, text := range map[string]string{attributeReason: sendable(reason[:min(len(reason), maxReason)]),
		attributeSource: d.ID} {
		if text != "" { // SQS allows no empty attribute
			attributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &text}
		}
	}
	return q.send(ctx, "park", &sqs.SendMessageInput{QueueUrl: &q.opt.DeadLetterURL,
		MessageBody:       aws.String(string(d.Body)),
		MessageAttributes: attributes})
}

var errNoDeadLetterURL = errors.New("no dead-letter queue is set")

// sendable removes characters that SQS refuses: invalid ones and those that XML 1.0 forbids ("SendMessage", Amazon
// SQS API Reference).
func sendable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) int32 { return int32((d + time.Second - 1) / time.Second) }

// fault adds the call and the queue to a call's error; nil stays nil.
func (q *Queue) fault(what, url string, err error) error {
	if err == nil {
		return nil
	}
	var missing *types.QueueDoesNotExist
	if errors.As(err, &missing) {
		return fmt.Errorf("sqsqueue: %s: there is no queue %s", what, url)
	}
	return fmt.Errorf("sqsqueue: %s: queue %s: %w", what, url[strings.LastIndexByte(url, '/')+1:], err)
}

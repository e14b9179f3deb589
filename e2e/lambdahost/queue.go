//go:build linux

package lambdahost

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	batchSize   = 10
	longPoll    = 2               // seconds
	pollAgain   = time.Second     // after a failed receive
	callTimeout = 5 * time.Second // limit of a delete
	holdBack    = 2 * time.Second // longest time that a batch is held back so that later batches overtake it
	// how long a poller retries while its function is throttled; less than the queues' visibility timeout
	throttledFor   = 25 * time.Second
	throttledAgain = 500 * time.Millisecond

	lateReplay = 4 * time.Second // how long after its first handling a batch is delivered again
)

// SQS is the part of the SQS client that a poller calls.
type SQS interface {
	ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput,
		o ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput,
		o ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
}

// Queue is a poller between a queue and a function: it receives, invokes, and deletes the messages that the function
// does not list as failed; the others become visible again after the visibility timeout.
type Queue struct {
	host     *Host
	client   SQS
	url      string
	function string
	room     chan struct{} // one place per concurrent batch: as many as instances
	handed   sync.WaitGroup

	twice, shuffle           atomic.Bool
	doubled, replayed, moved atomic.Int64
	newest                   atomic.Int64 // when the newest delivered message was sent, in ms
}

// QueueStats counts a queue's deliveries.
type QueueStats struct {
	Doubled   int64 // additional deliveries, to another instance at the same time or seconds later
	Overtaken int64 // messages delivered after a message that was sent later, while Shuffle was on
}

// Poll starts to deliver a queue's messages to a function, until Close.
func (h *Host) Poll(client SQS, url, function string) *Queue {
	room := h.opt.Instances[function]
	if n, cold := h.opt.Cold[function]; cold {
		room = n // MaximumConcurrency
	}
	q := &Queue{host: h, client: client, url: url, function: function, room: make(chan struct{}, room)}
	h.wg.Go(q.run)
	return q
}

// Twice makes the queue deliver each batch to two instances at the same time, and every other batch again seconds
// after it was handled and deleted.
func (q *Queue) Twice(on bool) { q.twice.Store(on) }

// Shuffle makes the queue hold batches back for up to 2 s, so that they overtake each other, and shuffle their
// messages.
func (q *Queue) Shuffle(on bool) { q.shuffle.Store(on) }

// Stats returns the counts so far.
func (q *Queue) Stats() QueueStats {
	return QueueStats{Doubled: q.doubled.Load() + q.replayed.Load(), Overtaken: q.moved.Load()}
}

func (q *Queue) run() {
	defer q.handed.Wait()
	ctx := q.host.ctx
	for ctx.Err() == nil {
		select {
		case q.room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		batch, err := q.receive(ctx)
		if err != nil {
			sleep(ctx, pollAgain)
		}
		if len(batch) == 0 {
			<-q.room
			continue
		}
		q.handed.Go(func() {
			hold := q.shuffle.Load()
			if hold {
				<-q.room // a batch that is held back must not keep others from overtaking
				sleep(ctx, rand.N(holdBack))
				rand.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
			}
			q.deliver(ctx, batch)
			if !hold {
				<-q.room
			}
		})
	}
}

func (q *Queue) receive(ctx context.Context) ([]types.Message, error) {
	out, err := q.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q.url, MaxNumberOfMessages: batchSize,
		WaitTimeSeconds:             longPoll,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll}})
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

// deliver delivers a batch, twice while Twice is on.
func (q *Queue) deliver(ctx context.Context, batch []types.Message) {
	q.overtaken(batch)
	if !q.twice.Load() {
		q.hand(ctx, batch, true)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { q.hand(ctx, batch, true) })
	both.Go(func() {
		if q.hand(ctx, batch, false) {
			q.doubled.Add(int64(len(batch)))
		}
	})
	both.Wait()
	if rand.IntN(2) == 0 {
		sleep(ctx, lateReplay)
		if q.hand(ctx, batch, false) {
			q.replayed.Add(int64(len(batch)))
		}
	}
}

// overtaken counts the messages that come after a message that was sent later.
func (q *Queue) overtaken(batch []types.Message) {
	on := q.shuffle.Load()
	for i := range batch {
		sent, _ := strconv.ParseInt(batch[i].Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64)
		newest := q.newest.Load()
		switch {
		case sent >= newest:
			q.newest.Store(sent)
		case on:
			q.moved.Add(1)
		}
	}
}

// hand invokes the function and deletes the finished messages; done: the function answered.
func (q *Queue) hand(ctx context.Context, batch []types.Message, remove bool) (done bool) {
	event, err := json.Marshal(sqsEvent(batch))
	if err != nil {
		return false
	}
	out, err := q.host.patiently(ctx, q.function, event, throttledFor)
	var answer events.SQSEventResponse
	if err != nil || json.Unmarshal(out, &answer) != nil {
		return false // all of them are delivered again
	}
	failed := map[string]bool{}
	for _, f := range answer.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	var finished []types.DeleteMessageBatchRequestEntry
	for i := range batch {
		if !failed[*batch[i].MessageId] {
			finished = append(finished, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)),
				ReceiptHandle: batch[i].ReceiptHandle})
		}
	}
	if remove && len(finished) > 0 {
		call, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		// what is not deleted is delivered again
		_, _ = q.client.DeleteMessageBatch(call, &sqs.DeleteMessageBatchInput{QueueUrl: &q.url, Entries: finished})
	}
	return true
}

func sqsEvent(batch []types.Message) events.SQSEvent {
	var e events.SQSEvent
	for i := range batch {
		m := &batch[i]
		e.Records = append(e.Records, events.SQSMessage{MessageId: *m.MessageId, ReceiptHandle: *m.ReceiptHandle,
			Body: *m.Body, Attributes: m.Attributes,
			MessageAttributes: map[string]events.SQSMessageAttribute{}, EventSource: "aws:sqs"})
	}
	return e
}

// Schedule invokes a function with a schedule's event, periodically, never twice at a time, until Close.
func (h *Host) Schedule(function string, every time.Duration) {
	h.wg.Go(func() {
		for sleep(h.ctx, every) {
			now := time.Now().UTC()
			event, err := json.Marshal(events.EventBridgeEvent{Version: "0", ID: strconv.FormatInt(now.UnixNano(), 16),
				DetailType: "Scheduled Event", Source: "aws.events",
				AccountID: "123456789012", Time: now, Region: "eu-west-1",
				Resources: []string{"arn:aws:events:eu-west-1:123456789012:rule/" + function},
				Detail:    json.RawMessage("{}")})
			if err != nil {
				return
			}
			wait, cancel := context.WithTimeout(h.ctx, every)
			_, _ = h.patiently(wait, function, event, every) // faults are counted; the next turn is the retry
			cancel()
		}
	})
}

// patiently is Invoke for events without a waiting client: if a function in Options.Cold is throttled, it retries for
// a while, as pollers and asynchronous events do.
func (h *Host) patiently(ctx context.Context, function string, event []byte, long time.Duration) ([]byte, error) {
	for end := time.Now().Add(long); ; {
		out, err := h.Invoke(ctx, function, event)
		_, cold := h.opt.Cold[function]
		again := cold && errors.Is(err, ErrThrottled) && time.Now().Before(end)
		if !again || !sleep(ctx, throttledAgain) {
			return out, err
		}
	}
}

// sleep waits; it returns false if ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

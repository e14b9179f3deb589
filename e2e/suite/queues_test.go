//go:build e2e

package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/shared/seckill"
)

// send puts a message on the queue that an output names.
func (s *stack) send(t *testing.T, output, body string) {
	t.Helper()
	if _, err := s.queues.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(s.Outputs[output]),
		MessageBody: &body}); err != nil {
		t.Fatal(err)
	}
}

// depth returns a queue's visible messages and those in flight.
func (s *stack) depth(t *testing.T, output string) (visible, inFlight string) {
	t.Helper()
	out, err := s.queues.GetQueueAttributes(t.Context(),
		&sqs.GetQueueAttributesInput{QueueUrl: aws.String(s.Outputs[output]),
			AttributeNames: []types.QueueAttributeName{
				types.QueueAttributeNameApproximateNumberOfMessages,
				types.QueueAttributeNameApproximateNumberOfMessagesNotVisible}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)],
		out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible)]
}

// drained waits until a queue has only delayed messages.
func (s *stack) drained(t *testing.T, output string) {
	t.Helper()
	eventually(t, "empty queue", func() string {
		if visible, inFlight := s.depth(t, output); visible != "0" || inFlight != "0" {
			return fmt.Sprintf("%s: %s messages wait, %s are in flight", output, visible, inFlight)
		}
		return ""
	})
}

// pauseQueue disconnects a function from its queue until the returned function is called, or the case ends.
func (s *stack) pauseQueue(t *testing.T, function string) (resume func()) {
	t.Helper()
	out, err := s.functions.ListEventSourceMappings(t.Context(),
		&lambda.ListEventSourceMappingsInput{FunctionName: aws.String(s.Outputs[function])})
	if err != nil || len(out.EventSourceMappings) != 1 {
		t.Fatalf("%s has %d queues, %v, want one", function, len(out.EventSourceMappings), err)
	}
	id := out.EventSourceMappings[0].UUID
	enable := func(on bool, state string) {
		// The test's context has ended when its clean-up runs.
		if _, err := s.functions.UpdateEventSourceMapping(background(t), &lambda.UpdateEventSourceMappingInput{UUID: id,
			Enabled: &on}); err != nil {
			t.Errorf("queue of %s: %v", function, err)
			return
		}
		eventually(t, "queue of "+function+" "+state, func() string {
			got, err := s.functions.GetEventSourceMapping(background(t), &lambda.GetEventSourceMappingInput{UUID: id})
			if err != nil {
				return err.Error()
			}
			if aws.ToString(got.State) != state {
				return "it is " + aws.ToString(got.State)
			}
			return ""
		})
	}
	done := false
	resume = func() {
		if !done {
			done = true
			enable(true, "Enabled")
		}
	}
	t.Cleanup(resume)
	enable(false, "Disabled")
	return resume
}

// Of a batch with unreadable messages those are parked, and the others are placed.
func testPoison(t *testing.T, s *stack) {
	report.timed(t, nil)
	const buyers = 4
	sale := s.sell(t, buyers, 1)
	ids := newShoppers(buyers)
	poison, parked := map[string]bool{}, map[string]bool{}
	for _, p := range []string{"no-json-%s", `{"v":99,"kind":"order","order":"%s"}`,
		`{"v":1,"kind":"order","order":"%s"}`, `{"v":1,"kind":"dance","order":"%s"}`} {
		poison[fmt.Sprintf(p, sale.item.ID)] = true
	}

	resume := s.pauseQueue(t, "ConsumeFunction") // so that all are in one batch
	left := buyers
	for p := range poison {
		s.send(t, "OrdersQueueUrl", p)
		left--
		if a, err := sale.shopper(t, ids+int64(left)).buy(t.Context(), 1, "cart"); err != nil || a.Status != 200 {
			t.Fatalf("buy: %v, %v", a, err)
		}
	}
	resume()
	for i := range int64(buyers) {
		sale.shopper(t, ids+i).await(t, seckill.PendingPayment)
	}
	sale.soldOut(t)
	eventually(t, "parked messages", func() string {
		out, err := s.queues.ReceiveMessage(t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: aws.String(s.Outputs["OrdersDeadLetterQueueUrl"]),
				MaxNumberOfMessages: 10, VisibilityTimeout: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range out.Messages {
			if !strings.Contains(aws.ToString(m.Body), sale.item.ID) {
				continue // from another run
			}
			body := strings.ReplaceAll(aws.ToString(m.Body), " ", "") // LocalStack changes the spaces in JSON
			if !poison[body] {
				t.Errorf("parked: %s", body)
			}
			parked[body] = true // perhaps again: a queue may deliver a message twice
			if _, err := s.queues.DeleteMessage(t.Context(),
				&sqs.DeleteMessageInput{QueueUrl: aws.String(s.Outputs["OrdersDeadLetterQueueUrl"]),
					ReceiptHandle: m.ReceiptHandle}); err != nil {
				t.Fatal(err)
			}
		}
		if len(parked) < len(poison) {
			return fmt.Sprintf("of %v only %v are in the dead-letter queue", poison, parked)
		}
		return ""
	})
}

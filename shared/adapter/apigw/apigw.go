// Package apigw turns the events that AWS Lambda hands to a function into calls of what serves them, and the results
// into the answers that Lambda expects: API Gateway's REST proxy events and an http.Handler, SQS batches and a step's
// Handle, EventBridge schedules and a step's run. In: an event's JSON. Out: an answer's JSON. It touches nothing but
// the handler it was given.
//
// Each handler ends its work somewhat before Lambda's deadline, so that there is an answer: an instance that is killed
// in the middle costs a cold start and leaves no reason in the log.
package apigw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/your-org/seckill/shared/seckill"
)

// Margins before Lambda's deadline.
const (
	answerMargin = 250 * time.Millisecond // of an HTTP request: to write the refusal
	batchMargin  = 2 * time.Second        // of a batch and of a schedule: what is under way ends, the rest is reported
)

// Handler handles one event. An error makes Lambda count the call as failed; its text goes to logs and to the caller.
type Handler func(ctx context.Context, event []byte) ([]byte, error)

// Invoke makes a Handler what the Lambda runtime starts.
func (h Handler) Invoke(ctx context.Context, event []byte) ([]byte, error) { return h(ctx, event) }

// Schedule makes a handler of what runs each minute. It ends 2 s before the deadline. Whatever the event says, it means
// now. The request's id is Lambda's own, which the platform's log lines have too.
func Schedule(run func(context.Context) error) Handler {
	return direct(func(ctx context.Context, _ []byte) ([]byte, error) {
		if err := run(ctx); err != nil {
			return nil, err
		}
		return []byte("null"), nil
	})
}

// ScheduleOr tells the events of a function that has a schedule and an operator apart: a schedule's says so
// (detail-type "Scheduled Event" from aws.events). operator gets every other, and has to refuse what it does not know;
// it too ends 2 s before the deadline and has Lambda's request id.
func ScheduleOr(schedule, operator Handler) Handler {
	operator = direct(operator)
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var e struct {
			Kind   string `json:"detail-type"`
			Source string `json:"source"`
		}
		if json.Unmarshal(event, &e) == nil && e.Kind == "Scheduled Event" && e.Source == "aws.events" {
			return schedule(ctx, event)
		}
		return operator(ctx, event)
	}
}

// direct is what comes before a handler whose event is no queue's and no HTTP request's.
func direct(h Handler) Handler {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		ctx, cancel := early(ctx, batchMargin)
		defer cancel()
		if lc, ok := lambdacontext.FromContext(ctx); ok {
			ctx = seckill.WithTrace(ctx, lc.AwsRequestID)
		}
		return h(ctx, event)
	}
}

// BatchOr distinguishes the events of a function with a queue and a schedule: only a queue's event has Records.
func BatchOr(batch, schedule Handler) Handler {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var e struct {
			Records json.RawMessage
		}
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, notAnEvent("Lambda", err)
		}
		if e.Records != nil {
			return batch(ctx, event)
		}
		return schedule(ctx, event)
	}
}

// HTTPOr distinguishes the events of a function with routes and a schedule: only an HTTP request has a method.
func HTTPOr(http, schedule Handler) Handler {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var e struct {
			Method string `json:"httpMethod"`
		}
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, notAnEvent("Lambda", err)
		}
		if e.Method != "" {
			return http(ctx, event)
		}
		return schedule(ctx, event)
	}
}

// early ends a context somewhat before its deadline; one without a deadline stays as it is.
func early(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	if at, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, at.Add(-margin))
	}
	return context.WithCancel(ctx)
}

func notAnEvent(kind string, err error) error {
	return fmt.Errorf("apigw: not an event of %s: %w", kind, err)
}

var (
	errShape   = errors.New("a part is missing")
	errAborted = errors.New("apigw: the answer was broken off")
)

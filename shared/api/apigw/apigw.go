// Package apigw converts the events that AWS Lambda passes to a function into calls, and their results into the
// answers that Lambda expects: API Gateway's REST proxy events for an http.Handler, SQS batches for a step's Handle,
// EventBridge schedules for a step's run. In: an event's JSON. Out: an answer's JSON. It touches only the handler
// that it was given.
//
// Each handler ends its work shortly before Lambda's deadline, so that there is an answer: killing an instance midway
// costs a cold start and leaves no reason in the log.
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
	answerMargin = 250 * time.Millisecond // HTTP: time to write the refusal
	batchMargin  = 2 * time.Second        // batches and schedules: running work ends, the rest is reported
)

// Handler handles one event. An error makes Lambda count the call as failed; logs and the caller receive its text.
type Handler func(ctx context.Context, event []byte) ([]byte, error)

// Invoke adapts a Handler to the Lambda runtime.
func (h Handler) Invoke(ctx context.Context, event []byte) ([]byte, error) { return h(ctx, event) }

// Schedule returns a handler for a step that runs each minute. It ends 2 s before the deadline and ignores the
// event's content. The request id is Lambda's own, which the platform's log lines also have.
func Schedule(run func(context.Context) error) Handler {
	return direct(func(ctx context.Context, _ []byte) ([]byte, error) {
		if err := run(ctx); err != nil {
			return nil, err
		}
		return []byte("null"), nil
	})
}

// ScheduleOr dispatches the events of a function that serves a schedule and an operator: a schedule's event says so
// (detail-type "Scheduled Event" from aws.events). operator receives every other event and must refuse unknown ones;
// it also ends 2 s before the deadline and has Lambda's request id.
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

// direct prepares the context for a handler whose event comes neither from a queue nor from an HTTP request.
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

// BatchOr dispatches the events of a function with a queue and a schedule: only a queue's event has Records.
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

// HTTPOr dispatches the events of a function with routes and a schedule: only an HTTP request has a method.
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

// early returns a context that ends margin before its parent's deadline; without a deadline it never ends early.
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

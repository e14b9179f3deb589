// Package stream reads the events with which Lambda passes on the orders table's stream (Amazon DynamoDB Streams). In:
// an event's JSON. Out: changes of orders, and an answer that names the first record to deliver again. It touches only
// the handler that it was given.
package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// Step handles changes in the order of the stream.
type Step interface {
	// Changes returns how many of the changes, counted from the first, are done.
	Changes(ctx context.Context, changes []seckill.OrderChange) (done int, err error)
	// Unreadable counts a change that cannot be read.
	Unreadable()
}

// source is the event source of a stream's records.
const source = "aws:dynamodb"

// record is one write of a row.
type record struct {
	Source string                      `json:"eventSource"`
	Change events.DynamoDBStreamRecord `json:"dynamodb"`
}

// Handle returns a handler of the stream's events. Its answer names the first record that is not done, so that Lambda
// delivers the batch again from there. A row that cannot be read holds up nothing: the log names it, the step counts
// it. A deleted row tells nothing.
func Handle(step Step, log *slog.Logger) func(ctx context.Context, event []byte) ([]byte, error) {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var e struct{ Records []record }
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, fmt.Errorf("stream: not an event of a stream: %w", err)
		}
		writes := make([]Write, len(e.Records))
		for i := range e.Records {
			r := &e.Records[i]
			if r.Source != source || r.Change.SequenceNumber == "" {
				return nil, errors.New("stream: a record is not a stream's")
			}
			writes[i] = Write{row(r.Change.OldImage), row(r.Change.NewImage)}
		}
		out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
		if done, err := Pass(ctx, step, writes, log); err != nil {
			log.WarnContext(ctx, "changes come back", "done", done, "of", len(writes), "err", err)
			out.BatchItemFailures = append(out.BatchItemFailures,
				events.DynamoDBBatchItemFailure{ItemIdentifier: e.Records[done].Change.SequenceNumber})
		}
		return json.Marshal(out)
	}
}

// Write is one write of an order's row: the row before and after it, nil for no row.
type Write struct{ Before, After ledger.Row }

// Pass passes writes to a step and returns how many of them, counted from the first, are done.
func Pass(ctx context.Context, step Step, writes []Write, log *slog.Logger) (done int, err error) {
	var changes []seckill.OrderChange
	var of []int // which write each change is
	for i, w := range writes {
		if w.After == nil {
			continue
		}
		c, err := ledger.OrderChange(w.Before, w.After)
		if err != nil {
			step.Unreadable()
			log.ErrorContext(ctx, "change not told", "err", err)
			continue
		}
		changes, of = append(changes, c), append(of, i)
	}
	n, err := step.Changes(ctx, changes)
	if err != nil {
		return of[n], err
	}
	return len(writes), nil
}

// Each returns a step that passes changes to all of these steps. If a step fails, the next steps still get the changes.
// A change is done when all steps have done it, so what one step has not done comes back to all of them.
func Each(steps ...Step) Step { return each(steps) }

type each []Step

// Changes implements Step.
func (e each) Changes(ctx context.Context, changes []seckill.OrderChange) (done int, err error) {
	done = len(changes)
	for _, s := range e {
		n, failed := s.Changes(ctx, changes)
		done, err = min(done, n), errors.Join(err, failed)
	}
	return done, err
}

// Unreadable implements Step.
func (e each) Unreadable() {
	for _, s := range e {
		s.Unreadable()
	}
}

// Within returns a step that gives another step this long for each call, so that the steps after it have their time.
func Within(d time.Duration, s Step) Step { return within{s, d} }

type within struct {
	Step
	d time.Duration
}

// Changes implements Step.
func (w within) Changes(ctx context.Context, changes []seckill.OrderChange) (done int, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.d)
	defer cancel()
	return w.Step.Changes(ctx, changes)
}

// row decodes an image of a row; it returns nil without an image.
func row(image map[string]events.DynamoDBAttributeValue) ledger.Row {
	if len(image) == 0 {
		return nil
	}
	out := make(ledger.Row, len(image))
	for attr, v := range image {
		out[attr] = value(v)
	}
	return out
}

// value decodes the types that the ledger writes; anything else becomes ledger.Foreign.
func value(v events.DynamoDBAttributeValue) any {
	switch v.DataType() {
	case events.DataTypeString:
		return v.String()
	case events.DataTypeNumber:
		if n, err := strconv.ParseInt(v.Number(), 10, 64); err == nil {
			return n
		}
	case events.DataTypeStringSet:
		set := ledger.Set(v.StringSet())
		slices.Sort(set)
		return set
	case events.DataTypeList:
		texts := make([]string, 0, len(v.List()))
		for _, entry := range v.List() {
			if entry.DataType() != events.DataTypeString {
				return ledger.Foreign{}
			}
			texts = append(texts, entry.String())
		}
		return texts
	}
	return ledger.Foreign{}
}

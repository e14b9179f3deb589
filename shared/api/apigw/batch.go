package apigw

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/your-org/seckill/shared/seckill"
)

// stragglers is how long after its end a batch waits for messages under way. It reports unfinished ones as failed, so
// that they are delivered again.
const stragglers = time.Second

// Batch returns a handler for a queue's events. It handles at most MaxBatch messages concurrently and lists the
// failed ones in the answer, so that the queue delivers these again and deletes the rest. It starts nothing in the
// last 2 s before the deadline. handle must be safe for concurrent use; its context has the request id that the
// message carries; if it panics, only its own message fails.
func Batch(handle func(context.Context, seckill.Delivery) error, log *slog.Logger) Handler {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var e events.SQSEvent
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, notAnEvent("SQS", err)
		}
		for i := range e.Records {
			if e.Records[i].MessageId == "" {
				return nil, notAnEvent("SQS", errShape) // the answer could not name it
			}
		}
		ctx, cancel := early(ctx, batchMargin)
		defer cancel()
		done := run(ctx, e.Records, func(ctx context.Context, d seckill.Delivery) bool {
			return one(ctx, d, handle, log)
		})
		// null would fail the whole batch
		out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		for i := range e.Records {
			if !done[i].Load() {
				out.BatchItemFailures = append(out.BatchItemFailures,
					events.SQSBatchItemFailure{ItemIdentifier: e.Records[i].MessageId})
			}
		}
		return json.Marshal(out)
	}
}

// run handles messages until all are handled or ctx ends, and reports which are done.
func run(ctx context.Context, batch []events.SQSMessage, handle func(context.Context,
	seckill.Delivery) bool) []atomic.Bool {
	done := make([]atomic.Bool, len(batch))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(batch), seckill.MaxBatch) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(batch) || ctx.Err() != nil {
					return
				}
				done[i].Store(handle(ctx, delivery(&batch[i])))
			}
		})
	}
	all := make(chan struct{})
	go func() {
		workers.Wait()
		close(all)
	}()
	select {
	case <-all:
	case <-ctx.Done():
		late := time.NewTimer(stragglers)
		defer late.Stop()
		select {
		case <-all:
		case <-late.C:
		}
	}
	return done
}

func delivery(m *events.SQSMessage) seckill.Delivery {
	// Without a count, it was received at least now.
	receives, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	return seckill.Delivery{ID: m.MessageId, Receipt: m.ReceiptHandle, Body: []byte(m.Body), Receives: max(receives, 1)}
}

// one handles a message and reports whether it may be deleted.
func one(ctx context.Context, d seckill.Delivery, handle func(context.Context, seckill.Delivery) error,
	log *slog.Logger) bool {
	order, trace := d.Subject()
	ctx = seckill.WithTrace(ctx, trace)
	err := recovering(ctx, d, handle)
	if err != nil {
		log.LogAttrs(ctx, slog.LevelWarn, "message comes back", slog.String("message", d.ID),
			slog.String("order", order),
			slog.Int("receives", d.Receives), slog.Any("error", err))
	}
	return err == nil
}

// recovering turns a panic into an error; otherwise one poisoned message would kill the instance with the other
// messages at each delivery.
func recovering(ctx context.Context, d seckill.Delivery, handle func(context.Context,
	seckill.Delivery) error) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case runtime.Error: // only the runtime's own messages are known to contain nothing of the message
			err = fmt.Errorf("panic: %w", v)
		default:
			err = fmt.Errorf("panic: %T", v)
		}
	}()
	return handle(ctx, d)
}

package sqsqueue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
)

// Limits of one call: it ends within 3.3 s, a Receive up to three times its wait later. The first try of an instance
// that was frozen often meets a dead connection; the third try covers a failing server.
const (
	tries      = 3
	tryTimeout = time.Second
	backoff    = 100 * time.Millisecond // mean wait before the third try; half of it before the second
)

// limited returns the client with this package's retries and a time limit per try.
func limited(client *sqs.Client, timeout time.Duration) *sqs.Client {
	retryer := retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = tries
		o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			return rand.N(backoff << min(attempt-1, tries)), nil
		})
		// A truncated answer proves as little as no answer.
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return aws.TrueTernary
			}
			return aws.UnknownTernary
		}))
	})
	return sqs.New(client.Options(), func(o *sqs.Options) {
		o.Retryer = retryer
		o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
			return s.Finalize.Insert(limitTry(timeout), "Retry", middleware.After)
		})
	})
}

// limitTry limits what follows it: one try, including reading the answer's body. The SDK limits calls only by the
// context, which all tries share, and takes its end for a cancellation by the caller.
func limitTry(timeout time.Duration) middleware.FinalizeMiddleware {
	return middleware.FinalizeMiddlewareFunc("LimitTry", func(ctx context.Context, in middleware.FinalizeInput,
		next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		try, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		out, meta, err := next.HandleFinalize(try, in)
		if err != nil && try.Err() != nil && ctx.Err() == nil {
			err = noAnswer(timeout)
		}
		return out, meta, err
	})
}

// noAnswer is the error of a try that took too long.
type noAnswer time.Duration

func (n noAnswer) Error() string { return fmt.Sprintf("no answer within %v", time.Duration(n)) }

// Timeout makes the SDK try again.
func (noAnswer) Timeout() bool { return true }

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	// limit of a call: API Gateway waits for 29 s, and the end of the command has to be recorded, too
	callTimeout = 24 * time.Second
	live        = "live" // the alias whose version is called
	// a busy function is called again: its schedule or another command ends soon, and nothing was done
	busyTries   = 20
	longestWait = 200 * time.Millisecond
)

// caller calls a stack's functions. It is safe for concurrent use.
type caller struct {
	client *lambda.Client
	stack  string
}

// newCaller returns a caller of the functions of the stack with this name.
func newCaller(c aws.Config, stack string) *caller {
	return &caller{stack: stack, client: lambda.NewFromConfig(c, func(o *lambda.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff, o.RateLimiter = busyTries, longestWait, ratelimit.None
			o.Retryables = []retry.IsErrorRetryable{retry.RetryableErrorCode{
				Codes: map[string]struct{}{(*types.TooManyRequestsException)(nil).ErrorCode(): {}}}}
		})
	})}
}

// Invoke calls a function by its short name and waits for its answer. A stack without the function: CodeNotFound. After
// another error the function may have done what it was asked.
func (c *caller) Invoke(ctx context.Context, function string, event []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := c.client.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(c.stack + "-" + function),
		Qualifier: aws.String(live), Payload: event})
	switch {
	case errors.As(err, new(*types.ResourceNotFoundException)):
		return nil, &seckill.Error{Code: seckill.CodeNotFound, Err: err}
	case err != nil:
		return nil, err
	case out.FunctionError != nil:
		var failed struct{ ErrorMessage string }
		if json.Unmarshal(out.Payload, &failed) != nil || failed.ErrorMessage == "" {
			failed.ErrorMessage = *out.FunctionError
		}
		return nil, fmt.Errorf("it failed: %s; the command may have been carried out, and can be repeated",
			failed.ErrorMessage)
	}
	return out.Payload, nil
}

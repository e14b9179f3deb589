package seckill

import "context"

type traceContext struct{}

// WithTrace returns a context the id of the request that is being worked on, for logs only: the HTTP request's, the
// schedule's, or that of the message on which it has survived a queue. Whoever hands an event to a flow calls it.
func WithTrace(ctx context.Context, trace string) context.Context {
	return context.WithValue(ctx, traceContext{}, trace)
}

// Trace is the context's request id, "" when it has none. A flow passes it on to the messages that it sends.
func Trace(ctx context.Context) string {
	trace, _ := ctx.Value(traceContext{}).(string)
	return trace
}

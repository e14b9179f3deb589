package seckill

import "context"

type traceContext struct{}

// WithTrace returns a context with the id of the current request, for logs only: the HTTP request's, the schedule's,
// or the one that a message carries. Whatever hands an event to a flow calls it.
func WithTrace(ctx context.Context, trace string) context.Context {
	return context.WithValue(ctx, traceContext{}, trace)
}

// Trace returns the context's request id, "" if it has none. Flows copy it into the messages that they send.
func Trace(ctx context.Context) string {
	trace, _ := ctx.Value(traceContext{}).(string)
	return trace
}

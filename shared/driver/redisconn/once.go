package redisconn

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// final hides an error from the cluster client. That client uses one loop for redirects and for retries: after a
// timeout, a closed connection or a LOADING it sends the command again, to the same node or another, and no option
// separates the two. It inspects an error by errors.As and its text, so this error has neither.
type final struct{ cause error }

func (f *final) Error() string { return "redisconn: " + f.cause.Error() }

// once is a hook on each node's client: any error of a script's command is final, except a redirect.
type once struct{}

var _ redis.Hook = once{}

func (once) DialHook(next redis.DialHook) redis.DialHook { return next }

func (once) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return asFinal(next(ctx, cmd), cmd)
	}
}

// ProcessPipelineHook handles the command that follows ASKING.
func (once) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if len(cmds) == 0 {
			return err
		}
		return asFinal(err, cmds[len(cmds)-1])
	}
}

func asFinal(err error, cmd redis.Cmder) error {
	if err == nil || cmd.Name() != "evalsha" && cmd.Name() != "eval" {
		return err
	}
	_, moved := redis.IsMovedError(err)
	_, ask := redis.IsAskError(err)
	if moved || ask || errors.Is(err, redis.ErrClosed) { // ErrClosed: the node left the map before anything was sent
		return err
	}
	return &final{err}
}

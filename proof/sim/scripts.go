package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/seckill"
)

// The simulator hooks the calls that the ledger and the stock make, to rows and scripts, and not their own methods. So
// a new method of either needs no line here.

// Runner runs the stock's scripts, each through a Hook: "stock.Reserve".
type Runner struct {
	Next redisstock.Runner
	Hook Hook
}

// Run implements redisstock.Runner.
func (r Runner) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	reply, err := get(r.Hook, "stock."+camel(s.Name), func() (any, error) {
		run := &echo{Runner: r.Next}
		if check, ok := ctx.Value(checkKey{}).(func(seckill.Stock)); ok {
			check(redisstock.New(run))
		} else {
			_, _ = run.Run(ctx, s, keys, args)
		}
		if refused := redisstock.Refusal(run.reply); refused != nil {
			return run.reply, refusal{refused} // for the trace
		}
		return run.reply, run.err
	})
	if errors.As(err, &refusal{}) {
		err = nil
	}
	return reply, err
}

// refusal is a script's answer that the stock returns as an error.
type refusal struct{ error }

// camel returns the name of the stock's method that runs a script: DriftBegin for drift_begin.
func camel(script string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(script, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// echo keeps a script's reply.
type echo struct {
	redisstock.Runner
	reply any
	err   error
}

// Run implements redisstock.Runner.
func (e *echo) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	e.reply, e.err = e.Runner.Run(ctx, s, keys, args)
	return e.reply, e.err
}

// hookedStock has some answers checked when the script gives them, below the Hook, which may lose an answer, delay it,
// or never pass the call on.
type hookedStock struct {
	seckill.Stock
	w *World
}

// checkKey is the context's key of a func(seckill.Stock), which repeats the call on that stock and checks the answer.
type checkKey struct{}

func checking(ctx context.Context, check func(seckill.Stock)) context.Context {
	return context.WithValue(ctx, checkKey{}, check)
}

// Reserve implements seckill.Stock.
func (j hookedStock) Reserve(ctx context.Context, now time.Time, r seckill.Request, keyed bool,
	resend time.Duration) (seckill.ReserveResult, error) {
	return j.Stock.Reserve(checking(ctx, func(s seckill.Stock) {
		_, _ = checkedStock{s, j.w}.Reserve(ctx, now, r, keyed, resend)
	}), now, r, keyed, resend)
}

// Confirm implements seckill.Stock.
func (j hookedStock) Confirm(ctx context.Context, v seckill.Verdict) error {
	return j.Stock.Confirm(checking(ctx, func(s seckill.Stock) {
		_ = checkedStock{s, j.w}.Confirm(ctx, v)
	}), v)
}

// Return implements seckill.Stock.
func (j hookedStock) Return(ctx context.Context, item, order, user string, units []int) error {
	return j.Stock.Return(checking(ctx, func(s seckill.Stock) {
		_ = checkedStock{s, j.w}.Return(ctx, item, order, user, units)
	}), item, order, user, units)
}

// Redraw implements seckill.Stock.
func (j hookedStock) Redraw(ctx context.Context, now time.Time, r seckill.Reservation, c seckill.Collision,
	resend time.Duration) (seckill.RedrawCode, seckill.Reservation, error) {
	return j.Stock.Redraw(checking(ctx, func(s seckill.Stock) {
		_, _, _ = checkedStock{s, j.w}.Redraw(ctx, now, r, c, resend)
	}), now, r, c, resend)
}

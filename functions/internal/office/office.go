// Package office connects functions to the back office (ADR 40): the seven that execute commands take those that it has
// signed, and admin signs them. It is apart from package boot, so that functions in front of a crowd do not link it.
package office

import (
	"crypto/ed25519"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/telemetry"
)

// Text returns the log of commands, which is independent of LOG_LEVEL.
func Text() *slog.Logger { return telemetry.NewLog(os.Stdout, slog.LevelInfo) }

// Serve returns what executes the commands that the back office has signed for this function, with these handlers.
func Serve(b *boot.Boot, s config.Commands, handlers ...operator.Handler) apigw.Handler {
	keys := parsed(b, s.Keys(), operator.ParsePublicKeys)
	return operator.ServeSigned(Text(), &operator.Verifier{Stack: b.Stack, Function: b.Step, Clock: b.Clock,
		Keys:  func() []ed25519.PublicKey { return keys.Load().Accepted(b.Clock.Now()) },
		Renew: func() { _ = b.Renew() }}, handlers...) // b has logged why it cannot
}

// Keys returns what gives the keys that sign.
func Keys(b *boot.Boot, s config.CommandKey) func() operator.Keys {
	keys := parsed(b, s.Keys(), operator.ParseKeys)
	return func() operator.Keys { return *keys.Load() }
}

// parsed keeps what parse makes of a secret, also after it changes.
func parsed[T any](b *boot.Boot, from config.Source, parse func(string) (T, error)) *atomic.Pointer[T] {
	var p atomic.Pointer[T]
	boot.Renewed(b, &p, func(secrets *config.Secrets) (*T, error) {
		next, err := parse(string(secrets.Of(from)))
		if err != nil {
			return nil, from.Wrong(err)
		}
		return &next, nil
	}, from)
	return &p
}

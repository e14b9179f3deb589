// Package office connects functions to the back office (ADR 40): the seven that execute commands take those that it has
// signed, and admin signs them. It is apart from package boot, so that functions in front of a crowd do not link it.
package office

import (
	"crypto/ed25519"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/adapter/apigw"
	"github.com/your-org/seckill/shared/adapter/config"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/adapter/telemetry"
)

// Text returns the log of commands, which is independent of LOG_LEVEL.
func Text() *slog.Logger { return telemetry.NewLog(os.Stdout, slog.LevelInfo) }

// Serve returns what executes the commands that the back office has signed for this function, with these handlers.
func Serve(b *boot.Boot, s config.Commands, handlers ...operator.Handler) apigw.Handler {
	var keys atomic.Pointer[operator.PublicKeys]
	b.Secret(func(secrets *config.Secrets) error {
		next, err := operator.ParsePublicKeys(string(secrets.Of(s.Keys())))
		if err != nil {
			return s.Keys().Wrong(err)
		}
		keys.Store(&next)
		return nil
	}, s.Keys())
	return operator.ServeSigned(Text(), &operator.Verifier{Stack: b.Stack, Function: b.Step, Clock: b.Clock,
		Keys:  func() []ed25519.PublicKey { return keys.Load().Accepted(b.Clock.Now()) },
		Renew: func() { _ = b.Renew() }}, handlers...) // b has logged why it cannot
}

// Key returns what gives the key that signs.
func Key(b *boot.Boot, s config.CommandKey) func() ed25519.PrivateKey {
	var keys atomic.Pointer[operator.Keys]
	b.Secret(func(secrets *config.Secrets) error {
		next, err := operator.ParseKeys(string(secrets.Of(s.Keys())))
		if err != nil {
			return s.Keys().Wrong(err)
		}
		keys.Store(&next)
		return nil
	}, s.Keys())
	return func() ed25519.PrivateKey { return keys.Load().Signs(b.Clock.Now()) }
}

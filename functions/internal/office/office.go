// Package office connects functions to the back office (ADR 40): the seven that execute commands take those that it has
// signed, and admin signs them. It is apart from package boot, so that functions in front of a crowd do not link it.
package office

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/adapter/apigw"
	"github.com/your-org/seckill/shared/adapter/config"
	"github.com/your-org/seckill/shared/adapter/oidc"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/adapter/staffdoor"
	"github.com/your-org/seckill/shared/adapter/telemetry"
	"github.com/your-org/seckill/shared/seckill"
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

// Key returns what gives the key that signs.
func Key(b *boot.Boot, s config.CommandKey) func() ed25519.PrivateKey {
	keys := parsed(b, s.Keys(), operator.ParseKeys)
	return func() ed25519.PrivateKey { return keys.Load().Signs(b.Clock.Now()) }
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

// Staff opens the issuer at which staff sign in; nil if there is none.
func Staff(b *boot.Boot, s config.Staff) seckill.StaffIssuer {
	entry, ok := s.Entry()
	if !ok {
		return nil
	}
	asks, _ := s.Asks() // config has checked it
	var secret atomic.Pointer[string]
	issuer, err := oidc.NewStaff(oidc.StaffOptions{Groups: asks.Groups, Prefix: asks.Prefix, WhoClaim: asks.Who,
		Scope: asks.Scope, Options: oidc.Options{Clock: b.Clock, Clients: []oidc.Client{{Issuer: entry.URL,
			ClientID: entry.ClientID, Metadata: entry.Metadata, Secret: func() string { return *secret.Load() }}}}})
	if err != nil {
		err = fmt.Errorf("settings: STAFF_ISSUER: %w", err)
	}
	b.Secret(func(secrets *config.Secrets) error {
		text := string(secrets.Of(s.Client()))
		secret.Store(&text)
		return err
	}, s.Client())
	return issuer
}

// Doors returns what answers both of API Gateway's routes to the back office: /operator/{role}, whose callers it has
// verified, and /admin/{proxy+} of browsers.
func Doors(b *boot.Boot, page config.Page, office *operator.Office) apigw.Handler {
	door, err := staffdoor.New(staffdoor.Options{Sessions: office.Sessions, Do: office.Do, Public: page.URL,
		Plain: strings.HasPrefix(page.URL, "http:"), SignIn: office.Sessions.Issuer != nil, Clock: b.Clock,
		Random: b.IDs, Log: b.Log})
	b.Secret(func(*config.Secrets) error { return err })
	browsers := apigw.HTTP(door)
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var e struct{ Resource string }
		if json.Unmarshal(event, &e) == nil && strings.HasPrefix(e.Resource, "/admin/") {
			return browsers(ctx, event)
		}
		return office.Handle(ctx, event)
	}
}

// Package office connects functions to the back office (ADR 40): the seven that execute commands take those that it has
// signed, and admin signs them. It is apart from package aws, so that functions in front of a crowd do not link it.
package office

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"os"
	"strings"

	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/telemetry"
)

// Text returns the log of commands, which is independent of LOG_LEVEL.
func Text() *slog.Logger { return telemetry.NewLog(os.Stdout, slog.LevelInfo) }

// Serve returns what executes the commands that the back office has signed for this function, with these handlers.
func Serve(d *aws.Drivers, handlers ...operator.Handler) apigw.Handler {
	s := aws.Part[config.Commands](d)
	source := s.Keys
	if _, err := operator.ParsePublicKeys(d.Secret(source)); err != nil {
		d.Fail(source.Wrong(err))
	}
	return operator.ServeSigned(Text(), &operator.Verifier{Stack: d.Stack(), Function: d.Step, Clock: d.Clock(),
		Keys: func() []ed25519.PublicKey {
			// A malformed value gives no keys: the step then refuses commands, and goes on.
			keys, _ := operator.ParsePublicKeys(d.Latest(source))
			return keys.Accepted(d.Clock().Now())
		},
		Renew: func() { _ = d.Renew() }}, handlers...) // it has logged why it cannot
}

// Handler returns what answers both of API Gateway's routes to the back office: /operator/{role}, whose callers it has
// verified, and /admin/{proxy+} of browsers. It completes office with the keys that sign what it passes on; they mark
// what browsers keep.
func Handler(d *aws.Drivers, office *operator.Office) apigw.Handler {
	s := aws.Part[config.CommandKey](d)
	source := s.Keys
	keys, err := operator.ParseKeys(d.Secret(source))
	if err != nil {
		d.Fail(source.Wrong(err))
	}
	office.Key = func() ed25519.PrivateKey { return keys.Signs(d.Clock().Now()) }
	public := d.Public()
	browsers, err := operator.NewBrowserHandler(operator.BrowserOptions{Sessions: office.Sessions, Do: office.Do,
		Public: public, Plain: strings.HasPrefix(public, "http:"), SignIn: office.Sessions.Issuer != nil,
		Clock: d.Clock(), Random: d.IDs(), Log: d.Log, Tool: "--stack " + d.Stack() + " --region " + d.AWS().Region,
		Keys: func() [][]byte { return keys.Seeds(d.Clock().Now()) }})
	d.Fail(err)
	serve := apigw.HTTP(browsers)
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var e struct{ Resource string }
		if json.Unmarshal(event, &e) == nil && strings.HasPrefix(e.Resource, "/admin/") {
			return serve(ctx, event)
		}
		return office.Handle(ctx, event)
	}
}

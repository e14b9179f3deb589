package office

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/api/staffdoor"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/seckill"
)

// Staff opens the issuer at which staff sign in; nil if there is none.
func Staff(b *boot.Boot, s config.Staff) seckill.StaffIssuer {
	entry, ok := s.Entry()
	if !ok {
		return nil
	}
	asks, _ := s.Asks() // config has checked it
	secret := parsed(b, s.Client(), func(text string) (string, error) { return text, nil })
	issuer, err := oidc.NewStaff(oidc.StaffOptions{Groups: asks.Groups, Prefix: asks.Prefix, WhoClaim: asks.Who,
		Scope: asks.Scope, Options: oidc.Options{Clock: b.Clock, Clients: []oidc.Client{{Issuer: entry.URL,
			ClientID: entry.ClientID, Metadata: entry.Metadata, Secret: func() string { return *secret.Load() }}}}})
	if err != nil {
		err = fmt.Errorf("settings: STAFF_ISSUER: %w", err)
	}
	b.Secret(func(*config.Secrets) error { return err })
	return issuer
}

// Doors returns what answers both of API Gateway's routes to the back office: /operator/{role}, whose callers it has
// verified, and /admin/{proxy+} of browsers. keys sign what the office passes on, and mark what browsers keep.
func Doors(b *boot.Boot, page config.Page, office *operator.Office, keys func() operator.Keys) apigw.Handler {
	office.Key = func() ed25519.PrivateKey { return keys().Signs(b.Clock.Now()) }
	door, err := staffdoor.New(staffdoor.Options{Sessions: office.Sessions, Do: office.Do, Public: page.URL,
		Plain: strings.HasPrefix(page.URL, "http:"), SignIn: office.Sessions.Issuer != nil, Clock: b.Clock,
		Random: b.IDs, Log: b.Log, Tool: "--stack " + b.Stack + " --region " + b.AWS().Region,
		Keys: func() [][]byte { return keys().Seeds(b.Clock.Now()) }})
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

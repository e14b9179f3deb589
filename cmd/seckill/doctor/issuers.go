package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/seckill"
)

// clients returns the shop's clients at an issuer of a parameter, with the secrets that they have.
func (d *Doctor) clients(parameter string, secret func(config.Issuer) string) (out []oidc.Client) {
	if d.parameters[parameter] == "" {
		return nil
	}
	list := config.Issuers{List: strings.Split(d.parameters[parameter], ",")}
	for _, e := range list.Entries() {
		out = append(out, oidc.Client{Issuer: e.URL, ClientID: e.ClientID, Metadata: e.Metadata,
			Secret: func() string { return secret(e) }})
	}
	return out
}

// clientSecrets checks the secrets of the shop's clients at shoppers' issuers: the stack knows each of these clients.
func (s *stored) clientSecrets() {
	if s.all[secrets.SignInSecrets] == "" {
		return
	}
	list, ok := parsed(s, secrets.SignInSecrets, config.ParseClientSecrets)
	if !ok {
		return
	}
	s.shopperSecrets = list
	used := 0
	for _, c := range s.clients("SigninIssuers", list.Of) {
		if c.Secret() != "" {
			used++
		}
	}
	if used < len(list) {
		name := secrets.SignInSecrets
		s.fault("%s has %d clients, of which SigninIssuers names %d: deploy with the others, or take them away (%s "+
			"--rotate=%s; an empty FILE takes all away)", name, len(list), used, s.makes(name), name)
		return
	}
	s.ok("%s has the secrets of %d clients", secrets.SignInSecrets, len(list))
}

// signIn reads the documents of the issuers at which shoppers and staff sign in, as the functions do.
func (d *Doctor) signIn(ctx context.Context, c *check) {
	c.issuers(ctx, "SigninIssuers", d.shopperSecrets.Of, d.secretsRead)
	c.issuers(ctx, "StaffIssuer", func(config.Issuer) string { return d.staffSecret },
		d.secretsRead || d.parameters["StaffSecret"] != "true")
}

// issuers reads the issuers of a parameter. read: the secrets of its clients could be read; else nothing is said of
// what depends on them.
func (c *check) issuers(ctx context.Context, parameter string, secret func(config.Issuer) string, read bool) {
	issuers, err := oidc.New(oidc.Options{Clients: c.clients(parameter, secret), Clock: system.Clock{},
		HTTP: c.HTTP.Transport})
	if err != nil {
		c.fault("%s: %v", parameter, err)
		return
	}
	if !read && c.parameters[parameter] != "" {
		c.say(Unasked, "whether the clients of %s need a secret was not checked: the secrets could not be read",
			parameter)
	}
	for _, f := range issuers.Inspect(ctx, read) {
		switch name := f.Client.Issuer; {
		case errors.Is(f.Err, seckill.ErrIssuerAway):
			c.say(Unasked, "nobody could sign in at %s from here: %v", name, f.Err)
		case f.Err != nil && strings.Contains(f.Err.Error(), "{tenantid}"):
			c.fault("nobody can sign in at %s: it stands for many tenants; %s has to name the issuer of one", name,
				parameter)
		case f.Err != nil:
			c.fault("nobody can sign in at %s: %v", name, f.Err)
		case f.Wrong != "":
			c.fault("nobody can sign in at %s: %s", name, f.Wrong)
		case f.Hint != "":
			c.ok("%s answers; %s", name, f.Hint)
		default:
			c.ok("%s answers, and the shop can check what it signs", name)
		}
	}
}

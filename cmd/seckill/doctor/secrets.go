package doctor

import (
	"context"
	"crypto/rsa"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/driver/alipay"
)

const minTokenKey = 32 // bytes: the output size of HS256 (RFC 7518 section 3.2)

// soon is how long before its end a certificate should be replaced.
const soon = 30 * 24 * time.Hour

// secrets checks that the stack's secrets are valid, and that each function reads the same values. It never prints one.
func (d *Doctor) secrets(ctx context.Context, c *check) {
	path := d.outputs["SecretsPath"]
	store := secrets.Store{Client: secretsmanager.NewFromConfig(d.AWS), Path: path}
	all, err := store.Read(ctx, secrets.Keys)
	if err != nil {
		c.unasked("for the secrets below "+path, err)
		return
	}
	d.secretsRead = true
	s := &stored{c, path, all}
	certified := !d.sandbox() && d.parameters["AlipayCertificates"] == "true"
	s.token(secrets.JWTSecret)
	for kid := range strings.SplitSeq(d.parameters["JwtKids"], ",") {
		if kid != "" {
			s.token(secrets.JWTPrefix + kid)
		}
	}
	if _, ok := parsed(s, secrets.TicketSecret, jwtauth.ParseTicketKeys); ok {
		c.ok("%s exists", secrets.TicketSecret)
	}
	if d.parameters["RedisPassword"] == "true" && s.stored(secrets.RedisPassword) != "" {
		c.ok("%s exists", secrets.RedisPassword)
	}
	if d.parameters["StaffSecret"] == "true" && s.stored(secrets.StaffSecret) != "" {
		d.staffSecret = all[secrets.StaffSecret]
		c.ok("%s exists", secrets.StaffSecret)
	}
	s.clientSecrets()
	if d.wants("DeliverFunction") && s.stored(secrets.WebhookSecret) != "" {
		c.ok("%s exists", secrets.WebhookSecret)
	}
	if all[secrets.AudienceFrom] != "" {
		if from, ok := parsed(s, secrets.AudienceFrom, jwtauth.ParseAudienceFrom); ok {
			c.ok("tokens without an audience are refused from %s on", from.Format(time.RFC3339))
		}
	}
	if text := all[secrets.ReportSalts]; text != "" {
		if report, err := salts.Parse(text); err != nil {
			c.fault("%s is invalid, so that no order shows its salt: %v; to replace it: %s --rotate=%s",
				secrets.ReportSalts, err, s.makes(secrets.ReportSalts), secrets.ReportSalts)
		} else {
			c.ok("%s is of the reports of %s", secrets.ReportSalts, report.Verifier)
		}
	}
	if all != nil {
		s.audiences(ctx, &store)
	}
	shop := s.private(secrets.ShopPrivate)
	if d.sandbox() {
		s.pair(secrets.ShopPublic, secrets.ShopPrivate, shop)
		s.pair(secrets.AlipayPublic, secrets.GatewayPrivate, s.private(secrets.GatewayPrivate))
		return
	}
	if certified {
		s.certificates(shop != nil, time.Now())
		return
	}
	if theirs := s.public(secrets.AlipayPublic); theirs != nil && shop != nil && theirs.Equal(&shop.PublicKey) {
		c.fault("%s is the shop's own public key: store Alipay's, which its console shows (seckill keys --path %s "+
			"--rotate=%s --alipay-public-key FILE)", secrets.AlipayPublic, path, secrets.AlipayPublic)
	} else if theirs != nil && shop != nil {
		c.ok("both keys for Alipay are valid; only a payment shows whether its console has the shop's public key")
	}
}

// audiences checks that each function's secret has the values of Keys.
func (s *stored) audiences(ctx context.Context, store *secrets.Store) {
	good := 0
	for _, audience := range secrets.Audiences() {
		want := secrets.Of(audience, s.all)
		have, err := store.Read(ctx, audience)
		switch {
		case err != nil:
			s.unasked("for "+s.path+"/"+audience, err)
		case !maps.Equal(have, want):
			s.fault("%s/%s has other values than %s/%s, perhaps after an interrupted run: %s", s.path, audience, s.path,
				secrets.Keys, s.makes(secrets.JWTSecret))
		default:
			good++
		}
	}
	if good == len(secrets.Audiences()) {
		s.ok("every function's secret has the same values")
	}
}

// stored holds the values of the secret Keys.
type stored struct {
	*check
	path string
	all  map[string]string
}

// stored returns a value, or "" if it is missing, which it reports.
func (s *stored) stored(name string) string {
	if s.all[name] == "" {
		s.fault("%s is missing in %s/%s: %s", name, s.path, secrets.Keys, s.makes(name))
	}
	return s.all[name]
}

// makes returns the command that creates a secret.
func (s *stored) makes(name string) string {
	out := "seckill keys --path " + s.path
	kid, ofKid := strings.CutPrefix(name, secrets.JWTPrefix)
	switch {
	case s.sandbox():
		out += " --sandbox"
	case name == secrets.AlipayPublic:
		out += " --alipay-public-key FILE"
	case slices.Contains(secrets.CertNames, name):
		out += " --alipay-certificates FOLDER"
	}
	switch {
	case name == secrets.RedisPassword:
		out += " --redis-password FILE"
	case name == secrets.ReportSalts:
		out += " --report-key FILE"
	case name == secrets.StaffSecret:
		out += " --staff-client-secret FILE"
	case name == secrets.SignInSecrets:
		out += " --signin-client-secrets FILE"
	case name == secrets.WebhookSecret:
		out += " --webhook"
	case name == secrets.AudienceFrom:
		out += " --audience-from DATE"
	case ofKid && name != secrets.JWTSecret:
		out += " --token-key " + kid
	}
	return out
}

func (s *stored) token(name string) {
	switch v := s.stored(name); {
	case v == "":
	case len(v) < minTokenKey:
		s.fault("%s has %d bytes; who guesses it can act as any shopper: create one of %d bytes or more", name, len(v),
			minTokenKey)
	default:
		s.ok("%s exists", name)
	}
}

// parsed returns what a value says, or nothing if the value is missing or malformed, which it reports.
func parsed[T any](s *stored, name string, parse func(string) (T, error)) (says T, ok bool) {
	v := s.stored(name)
	if v == "" {
		return says, false
	}
	says, err := parse(v)
	if err != nil {
		s.fault("%s is invalid: %v; to replace it: %s --rotate=%s", name, err, s.makes(name), name)
	}
	return says, err == nil
}

// private returns a private key, or nil.
func (s *stored) private(name string) *rsa.PrivateKey {
	key, _ := parsed(s, name, alipay.ParsePrivateKey)
	return key
}

func (s *stored) public(short string) *rsa.PublicKey {
	v := s.stored(short)
	if v == "" {
		return nil
	}
	key, err := alipay.ParsePublicKey(v)
	if err != nil {
		s.fault("%s is invalid: %v", short, err)
		return nil
	}
	return key
}

// certificates checks that the certificates of certificate mode fit the private key and each other, and how long they
// are valid; key says whether the private key is valid.
func (s *stored) certificates(key bool, now time.Time) {
	text := map[string]string{secrets.ShopPrivate: s.all[secrets.ShopPrivate]}
	for _, name := range []string{secrets.AppCert, secrets.AlipayCert, secrets.RootCert} {
		text[name] = s.stored(name)
		key = key && text[name] != ""
	}
	if !key {
		return
	}
	app, theirs, err := alipay.CheckCertificates(text[secrets.ShopPrivate], text[secrets.AppCert],
		text[secrets.AlipayCert], text[secrets.RootCert], now)
	if err != nil {
		s.fault("the certificates below %s are invalid: %v", s.path, err)
		return
	}
	for _, c := range []struct {
		name string
		ends time.Time
	}{{secrets.AppCert, app}, {secrets.AlipayCert, theirs}} {
		if c.ends.Sub(now) < soon {
			s.fault("%s is only valid until %s: get new ones in Alipay's console, then %s --rotate=alipay-certificates",
				c.name, c.ends.Format(time.DateOnly), s.makes(c.name))
		} else {
			s.ok("%s is valid until %s", c.name, c.ends.Format(time.DateOnly))
		}
	}
}

// pair checks that a public key belongs to a private key, which may be nil.
func (s *stored) pair(public, private string, key *rsa.PrivateKey) {
	have := s.public(public)
	switch {
	case have == nil || key == nil:
	case !have.Equal(&key.PublicKey):
		s.fault("%s is not the public key of %s; to create a new pair: seckill keys --path %s --sandbox --rotate=%s",
			public, private, s.path, private)
	default:
		s.ok("%s and %s are a pair", private, public)
	}
}

// Package config reads a function's environment, part by part: each driver reads the part that it needs. In:
// environment variables, and one secret in AWS Secrets Manager that holds all secrets. Out: consistent settings, or an
// error that names every missing, wrong or contradictory setting. It reads no file and never prints a secret.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of settings.
const (
	// shortest hold with fake payments: tests do not wait a quarter of an hour
	MinFakeHold = 5 * time.Second
	MaxAddrs    = 16 // Redis addresses
	MaxKids     = 6  // keys for tokens with a kid

	maxKid       = 64  // characters of a kid
	maxPrefix    = 64  // characters of TABLE_PREFIX
	maxNamespace = 128 // characters of METRICS_NAMESPACE
)

// Base has the settings that all functions share. Package telemetry reads the log level itself.
type Base struct {
	TablePrefix string `env:"TABLE_PREFIX,required,notEmpty"` // stands before the name of every table
	// namespace of the metrics; separates deployments in one account
	Namespace string `env:"METRICS_NAMESPACE" envDefault:"seckill"`
	Version   string `env:"SECKILL_VERSION" envDefault:"dev"` // shown by GET /healthz
	// name or ARN of the secret in AWS Secrets Manager that holds the entries of all …_NAME settings
	Secrets string `env:"SECRETS"`
}

func (b *Base) problems() (out []string) {
	if !plain(b.TablePrefix, maxPrefix) {
		out = append(out, fmt.Sprintf(
			"TABLE_PREFIX is %q, want at most %d letters, digits, underscores, dots and hyphens", b.TablePrefix,
			maxPrefix))
	}
	if !plain(b.Namespace, maxNamespace) {
		out = append(out, fmt.Sprintf(
			"METRICS_NAMESPACE is %q, want at most %d letters, digits, underscores, dots and hyphens", b.Namespace,
			maxNamespace))
	}
	return out
}

func plain(s string, most int) bool {
	return len(s) <= most && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
}

// Redis locates the stock.
type Redis struct {
	// host:port, separated by commas; for a cluster any of its nodes
	Addrs    []string `env:"REDIS_ADDRS,required,notEmpty"`
	Cluster  bool     `env:"REDIS_CLUSTER"`
	TLS      bool     `env:"REDIS_TLS"`
	Username string   `env:"REDIS_USERNAME"`
	Password Source   `envPrefix:"REDIS_PASSWORD"` // a server may have none
}

func (r *Redis) problems() (out []string) {
	for _, a := range r.Addrs {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" {
			out = append(out, fmt.Sprintf("REDIS_ADDRS has %q, want host:port", a))
		}
	}
	if len(r.Addrs) > MaxAddrs {
		out = append(out, fmt.Sprintf("REDIS_ADDRS has %d addresses, want at most %d", len(r.Addrs), MaxAddrs))
	}
	if len(r.Addrs) > 1 && !r.Cluster {
		out = append(out, "REDIS_ADDRS has several addresses, which contradicts REDIS_CLUSTER=false")
	}
	if r.Username != "" && !r.Password.given() {
		out = append(out, "REDIS_USERNAME is set, yet neither REDIS_PASSWORD nor REDIS_PASSWORD_NAME")
	}
	return out
}

// Orders is the orders queue, for a function that sends to it.
type Orders struct {
	URL string `env:"ORDERS_QUEUE_URL,required,notEmpty" url:"http or https"`
}

// OrdersDead is the dead-letter queue of the orders queue, for the function that consumes the orders queue.
type OrdersDead struct {
	URL string `env:"ORDERS_DEAD_LETTER_QUEUE_URL,required,notEmpty" url:"http or https"`
}

// Closings is the closings queue, for a function that sends to it.
type Closings struct {
	URL string `env:"CLOSINGS_QUEUE_URL,required,notEmpty" url:"http or https"`
}

// ClosingsDead is the dead-letter queue of the closings queue, for the function that consumes the closings queue.
type ClosingsDead struct {
	URL string `env:"CLOSINGS_DEAD_LETTER_QUEUE_URL,required,notEmpty" url:"http or https"`
}

const kids = "JWT_KIDS" // names entries only; no variable holds their values

// Tokens holds the keys that verify shoppers' tokens.
type Tokens struct {
	Current Source   `envPrefix:"JWT_SECRET"` // of tokens without a kid; without it such tokens are refused
	Kids    []string `env:"JWT_KIDS"`         // separated by commas; the secret of kid 2027 is the entry jwt-2027
	// as jwtauth.ParseAudienceFrom reads it; if "", tokens without an audience are accepted
	AudienceFrom Source `envPrefix:"JWT_AUDIENCE_FROM"`
}

// ByKid returns the sources of the secrets for tokens with a kid.
func (t *Tokens) ByKid() map[string]Source {
	out := make(map[string]Source, len(t.Kids))
	for _, kid := range t.Kids {
		out[kid] = Source{kids, "", "jwt-" + kid}
	}
	return out
}

func (t *Tokens) problems() (out []string) {
	if !t.Current.given() && len(t.Kids) == 0 {
		out = append(out, "JWT_SECRET_NAME is missing (JWT_SECRET or JWT_KIDS will do)")
	}
	for _, kid := range t.Kids {
		if kid == noKid {
			out = append(out, fmt.Sprintf("JWT_KIDS has %q, which is no kid", kid))
		}
		if kid == "" || !plain(kid, maxKid) {
			out = append(out, fmt.Sprintf(
				"JWT_KIDS has %q, want 1 to %d letters, digits, underscores, dots and hyphens", kid, maxKid))
		}
	}
	if len(t.Kids) > MaxKids {
		out = append(out, fmt.Sprintf("JWT_KIDS has %d keys, want at most %d", len(t.Kids), MaxKids))
	}
	return out
}

// Tickets holds the keys of tickets, which no other purpose has.
type Tickets struct {
	// as jwtauth.TicketKeys writes them: several while one replaces another
	Keys Source `envPrefix:"TICKET_SECRET" want:"one"`
}

// noKid cannot be a kid: the entry jwt-audience-from is a date.
const noKid = "audience-from"

// Settings of secrets that a stack may lack, also where a function is told their names.
const (
	audienceFrom  = "JWT_AUDIENCE_FROM"
	salts         = "REPORT_SALTS"
	clientSecrets = "SIGNIN_CLIENT_SECRETS"
)

// Salts holds the secret of the salts of reports, for the function that shows them to shoppers.
type Salts struct {
	Secret Source `envPrefix:"REPORT_SALTS"` // as package salts writes it; if "", no salts are shown
}

// Commands holds the public keys of the back office, for a function that executes its commands. They are not secret,
// and handled as secrets for simplicity.
type Commands struct {
	Keys Source `envPrefix:"COMMAND_PUBLIC_KEY" want:"one"` // as operator.PublicKeys writes them
}

// CommandKey holds the keys with which the back office signs commands.
type CommandKey struct {
	Keys Source `envPrefix:"COMMAND_KEY" want:"one"` // as operator.Keys writes them
}

// Issuers lists the issuers of OpenID Connect at which shoppers sign in; a shop may have none.
type Issuers struct {
	// issuer|client_id or issuer|client_id|metadata-base, separated by commas
	List []string `env:"SIGNIN_ISSUERS"`
	// as ParseClientSecrets reads them; a client without one is public
	Secrets Source `envPrefix:"SIGNIN_CLIENT_SECRETS"`
}

// Bounds of ClientSecrets: a secret of Apple is a token of some 400 bytes.
const (
	maxClientSecret  = 1 << 10 // bytes
	MaxClientSecrets = 8 << 10 // bytes of all, with their clients
)

// ClientSecrets are the secrets of the shop's clients at shoppers' issuers. Of an Issuer it looks at URL and ClientID.
type ClientSecrets map[Issuer]Secret

// Of returns a client's secret, "" for a public client.
func (c ClientSecrets) Of(client Issuer) string {
	return string(c[Issuer{URL: client.URL, ClientID: client.ClientID}])
}

// ParseClientSecrets reads lines of issuer|client_id|secret; empty lines are ignored. An error names the line and shows
// no text of it.
func ParseClientSecrets(text string) (ClientSecrets, error) {
	if len(text) > MaxClientSecrets {
		return nil, fmt.Errorf("more than %d KiB", MaxClientSecrets>>10)
	}
	out, n := ClientSecrets{}, 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		parts := strings.SplitN(line, "|", 3)
		if len(parts) < 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" || len(parts[2]) > maxClientSecret ||
			strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			return nil, fmt.Errorf("line %d: want issuer|client_id|secret, in ASCII, the secret of at most %d bytes", n,
				maxClientSecret)
		}
		client := Issuer{URL: parts[0], ClientID: parts[1]}
		if out[client] != "" {
			return nil, fmt.Errorf("line %d: this client has a secret already", n)
		}
		out[client] = Secret(parts[2])
	}
	return out, nil
}

// Issuer is one entry of Issuers.
type Issuer struct {
	URL      string // as its tokens have it
	ClientID string // the shop's name at the issuer
	Metadata string // base of the address of its discovery document; "" means URL
}

// Entries returns the issuers in order.
func (i *Issuers) Entries() []Issuer {
	out := make([]Issuer, len(i.List))
	for n, entry := range i.List {
		issuer, rest, _ := strings.Cut(entry, "|")
		client, metadata, _ := strings.Cut(rest, "|")
		out[n] = Issuer{strings.TrimSpace(issuer), client, metadata}
	}
	return out
}

func (i *Issuers) problems() (out []string) {
	if len(i.List) > seckill.MaxIssuers {
		out = append(out, fmt.Sprintf("SIGNIN_ISSUERS has %d issuers, want at most %d", len(i.List),
			seckill.MaxIssuers))
	}
	for n, e := range i.Entries() {
		if e.ClientID == "" || strings.Contains(e.Metadata, "|") ||
			e.Metadata == "" && strings.HasSuffix(i.List[n], "|") {
			out = append(out, fmt.Sprintf(
				"SIGNIN_ISSUERS has %q, want issuer|client_id or issuer|client_id|metadata-base", i.List[n]))
			continue
		}
		out = wantURL(out, "SIGNIN_ISSUERS", e.URL, "http or https")
		if e.Metadata != "" {
			out = wantURL(out, "SIGNIN_ISSUERS", e.Metadata, "http or https")
		}
	}
	return out
}

// CORS says which pages of other origins may read the answers.
type CORS struct {
	// as browsers send it, such as https://shop.example.com; "*" for every origin, "" for none
	Origin string `env:"CORS_ORIGIN"`
}

func (c *CORS) problems() []string {
	if c.Origin == "" || c.Origin == "*" {
		return nil
	}
	u, err := url.Parse(c.Origin)
	if err == nil && u.Hostname() != "" && c.Origin == u.Scheme+"://"+u.Host &&
		strings.Trim(u.Host, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") == "" &&
		!strings.HasSuffix(u.Host, ":") && (u.Scheme == "https" && u.Port() != "443" || u.Scheme == "http" &&
		u.Port() != "80") {
		return nil
	}
	return []string{fmt.Sprintf(
		`CORS_ORIGIN is %q, want "*", or an origin as browsers write it: https://shop.example.com (no path, no capitals, no usual port)`, c.Origin)}
}

// Verifier holds what verifies the payment provider's notifications; it has no key of the shop. Alipay's key is given
// directly or, in certificate mode, as the contents of the PEM files that Alipay provides. None of it is secret; it
// is handled like a secret for simplicity.
type Verifier struct {
	AppID    string `env:"ALIPAY_APP_ID,required,notEmpty"`
	SellerID string `env:"ALIPAY_SELLER_ID,required,notEmpty"`
	Public   Source `envPrefix:"ALIPAY_PUBLIC_KEY"` // Alipay's
	Own      Source `envPrefix:"ALIPAY_CERT"`       // alipayCertPublicKey_RSA2.crt
	Root     Source `envPrefix:"ALIPAY_ROOT_CERT"`  // alipayRootCert.crt
}

// Certificates reports whether the settings select certificate mode.
func (v *Verifier) Certificates() bool { return v.Own.given() }

func (v *Verifier) problems() []string { return trustProblems(v.Public, v.Own, v.Root) }

// Alipay holds the settings of the payment provider.
type Alipay struct {
	Verifier
	Gateway    string `env:"ALIPAY_GATEWAY,required,notEmpty"`    // https, unless Fake
	NotifyURL  string `env:"ALIPAY_NOTIFY_URL,required,notEmpty"` // https, unless Fake
	Private    Source `envPrefix:"ALIPAY_PRIVATE_KEY" want:"one"` // our own
	App        Source `envPrefix:"ALIPAY_APP_CERT"`               // appCertPublicKey_….crt: of our public key
	Fake       bool   `env:"ALIPAY_FAKE"`                         // the gateway may be reached over http
	CashierURL string `env:"CASHIER_URL"`                         // of a fake gateway: where a browser can pay
}

func (a *Alipay) problems() (out []string) {
	out = trustProblems(a.Public, a.App, a.Own, a.Root)
	schemes := "https"
	if a.Fake {
		schemes = "https or http"
	}
	out = wantURL(out, "ALIPAY_GATEWAY", a.Gateway, schemes)
	out = wantURL(out, "ALIPAY_NOTIFY_URL", a.NotifyURL, schemes)
	if a.CashierURL != "" {
		if !a.Fake {
			out = append(out, "CASHIER_URL is set, which contradicts ALIPAY_FAKE=false")
		}
		out = wantURL(out, "CASHIER_URL", a.CashierURL, schemes)
	}
	return out
}

// FakeGateway holds the settings of a sandbox's fake payment provider.
type FakeGateway struct {
	AppID      string `env:"ALIPAY_APP_ID,required,notEmpty"` // the shop's, as in Alipay
	SellerID   string `env:"ALIPAY_SELLER_ID,required,notEmpty"`
	Private    Source `envPrefix:"GATEWAY_PRIVATE_KEY" want:"one"`    // the gateway's own
	ShopPublic Source `envPrefix:"ALIPAY_SHOP_PUBLIC_KEY" want:"one"` // no secret, and handled as one for simplicity
	// public URL of its /gateway.do, under which bills are; "" means the URL of the request
	URL string `env:"ALIPAY_GATEWAY" url:"http or https"`
	// where the cashier's links lead back to; "" means the page before
	ReturnURL string `env:"CASHIER_RETURN_URL" url:"http or https"`
	Faults    string `env:"GATEWAY_FAULTS"` // what goes wrong, as package fakegateway reads it; "" if nothing does
}

func (g *FakeGateway) problems() []string {
	if g.URL != "" && !strings.HasSuffix(g.URL, "/gateway.do") {
		return []string{fmt.Sprintf("ALIPAY_GATEWAY is %q, want an http or https URL that ends in /gateway.do", g.URL)}
	}
	return nil
}

// trustProblems requires either Alipay's public key or all certificates.
func trustProblems(public Source, certs ...Source) (out []string) {
	i := slices.IndexFunc(certs, Source.given)
	if i < 0 {
		return public.problems(true)
	}
	if public.given() {
		out = append(out, fmt.Sprintf("%s and %s are both set, want either the key or certificates", public.Setting,
			certs[i].Setting))
	}
	for _, cert := range certs {
		out = append(out, cert.problems(true)...)
	}
	return out
}

// Alone is what one person of staff may refund without a second person.
type Alone struct {
	Yuan  int `env:"REFUND_ALONE_YUAN"  envDefault:"0"` // of one refund; 0 means any
	Daily int `env:"REFUND_ALONE_DAILY" envDefault:"0"` // refunds a day of one person; 0 means any number
}

// MaxAlone bounds both settings.
const MaxAlone = 1_000_000

func (a *Alone) problems() (out []string) {
	if a.Yuan < 0 || a.Yuan > MaxAlone {
		out = append(out, fmt.Sprintf("REFUND_ALONE_YUAN is %d, want 0 to %d", a.Yuan, MaxAlone))
	}
	if a.Daily < 0 || a.Daily > MaxAlone {
		out = append(out, fmt.Sprintf("REFUND_ALONE_DAILY is %d, want 0 to %d", a.Daily, MaxAlone))
	}
	return out
}

// Limit returns the limits.
func (a *Alone) Limit() seckill.AloneLimit {
	return seckill.AloneLimit{Amount: seckill.Fen(a.Yuan) * 100, PerDay: a.Daily}
}

// Hold is how long an unpaid order keeps its units.
type Hold struct {
	Time time.Duration `env:"HOLD" envDefault:"15m"`
	Fake bool          `env:"ALIPAY_FAKE"` // the payment gateway is the fake one: the hold may be short
}

func (h *Hold) problems() []string {
	shortest := seckill.MinHold
	if h.Fake {
		shortest = MinFakeHold
	}
	if h.Time < shortest || h.Time > seckill.MaxHold {
		return []string{fmt.Sprintf("HOLD is %v, want %v to %v", h.Time, shortest, seckill.MaxHold)}
	}
	return nil
}

// wantURL requires an address with one of the schemes, between which is " or ".
func wantURL(out []string, setting, value, schemes string) []string {
	if u, err := url.Parse(value); err != nil || !slices.Contains(strings.Split(schemes, " or "), u.Scheme) ||
		u.Host == "" {
		out = append(out, fmt.Sprintf("%s is %q, want an absolute %s URL", setting, value, schemes))
	}
	return out
}

// Problems is an error that lists in one sentence everything that is wrong with settings, without secrets.
type Problems []string

// Error implements error.
func (p Problems) Error() string {
	return "settings: " + strings.Join(slices.Compact(slices.Sorted(slices.Values(p))), "; ")
}

// Part reads one part of a function's settings (Redis, Tokens, …) from environment variables. The error is Problems.
func Part[T any](environ map[string]string) (T, error) {
	var s T
	err := read(&s, environ)
	return s, err
}

func read(part any, environ map[string]string) error {
	err := env.ParseWithOptions(part, env.Options{Environment: environ})
	out := Problems(check(reflect.ValueOf(part).Elem()))
	var all env.AggregateError
	switch {
	case errors.As(err, &all):
		for _, e := range all.Errors {
			out = append(out, problem(reflect.TypeOf(part).Elem(), e))
		}
	case err != nil:
		out = Problems{err.Error()}
	default:
		if p, ok := part.(interface{ problems() []string }); ok {
			out = append(out, p.problems()...)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// check returns what is wrong with the sources and URLs of a part, by the tags of their fields. It tells each source
// its setting.
func check(part reflect.Value) (out []string) {
	for i := range part.NumField() {
		field, value := part.Type().Field(i), part.Field(i)
		if source, is := value.Addr().Interface().(*Source); is {
			source.Setting = field.Tag.Get("envPrefix")
			out = append(out, source.problems(field.Tag.Get("want") == "one")...)
			continue
		}
		if value.Kind() == reflect.Struct {
			out = append(out, check(value)...)
		}
		if schemes := field.Tag.Get("url"); schemes != "" && value.String() != "" {
			setting, _, _ := strings.Cut(field.Tag.Get("env"), ",")
			out = wantURL(out, setting, value.String(), schemes)
		}
	}
	return out
}

// problem rewrites an error of the library with the variable's name; the library names the Go field.
func problem(t reflect.Type, err error) string {
	var missing env.VarIsNotSetError
	var empty env.EmptyVarError
	var parse env.ParseError
	switch {
	case errors.As(err, &missing):
		return missing.Key + " is missing"
	case errors.As(err, &empty):
		return empty.Key + " is empty"
	case errors.As(err, &parse):
		if f, ok := t.FieldByName(parse.Name); ok {
			setting, _, _ := strings.Cut(f.Tag.Get("env"), ",")
			return setting + " is not a " + kind(f.Type)
		}
	}
	return err.Error()
}

func kind(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "duration such as 15m"
	case t.Kind() == reflect.Bool:
		return "boolean: true or false"
	default:
		return "list, separated by commas"
	}
}

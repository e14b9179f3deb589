package aws

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/seckill"
)

// Tokens opens the verifier of shoppers' tokens.
func (d *Drivers) Tokens() *jwtauth.Verifier {
	v, err := jwtauth.New(d.tokenKeys(), d.clock)
	d.Fail(err)
	return v
}

func (d *Drivers) tokenKeys() jwtauth.Keys {
	s := Part[config.Tokens](d)
	keys := jwtauth.Keys{Current: d.Secret(s.Current), ByKid: map[string]string{}}
	var err error
	if keys.AudienceFrom, err = jwtauth.ParseAudienceFrom(d.Secret(s.AudienceFrom)); err != nil {
		d.Fail(s.AudienceFrom.Wrong(err))
	}
	for kid, src := range s.ByKid() {
		keys.ByKid[kid] = d.Secret(src)
	}
	return keys
}

// TokenSigner implements app.Drivers.
func (d *Drivers) TokenSigner() seckill.TokenSigner {
	signer, err := jwtauth.NewSigner(d.tokenKeys())
	d.Fail(err)
	return signer
}

// Passes opens the maker and checker of connect passes.
func (d *Drivers) Passes() *jwtauth.Passes { return jwtauth.NewPasses(d.tokenKeys(), d.clock) }

// Push tells pages where to connect; it is nil if the shop pushes nothing.
func (d *Drivers) Push() *httpapi.Push {
	s := Part[config.Push](d)
	if s.URL == "" {
		return nil
	}
	return &httpapi.Push{URL: s.URL, Passes: d.Passes(), IDs: d.ids}
}

// Tickets opens the checker of tickets. When it renews the secrets, it takes new keys within the same event.
func (d *Drivers) Tickets() seckill.TicketChecker {
	s := Part[config.Tickets](d)
	c := &jwtauth.TicketChecker{}
	know := func(text string) error {
		keys, err := ticketKeys(s, text)
		if err != nil {
			return err
		}
		next, err := jwtauth.NewTickets(keys.Secrets(len(keys)), d.clock)
		if err == nil {
			c.Store(next)
		}
		return err
	}
	c.Renew = func() error {
		if err := d.Renew(); err != nil {
			return err
		}
		return know(d.Latest(s.Keys))
	}
	d.Fail(know(d.Secret(s.Keys)))
	return c
}

func ticketKeys(s config.Tickets, text string) (jwtauth.TicketKeys, error) {
	keys, err := jwtauth.ParseTicketKeys(text)
	if err != nil {
		return nil, s.Keys.Wrong(err)
	}
	return keys, nil
}

// Admission implements app.Drivers.
func (d *Drivers) Admission() app.Admission {
	s := Part[config.Tickets](d)
	keys, err := ticketKeys(s, d.Secret(s.Keys))
	if err != nil {
		d.Fail(err)
		return app.Admission{}
	}
	m, err := jwtauth.NewMakers(keys, d.clock)
	d.Fail(err)
	return app.Admission{Tickets: m, Proofs: m.Proofs(), Picker: m, Work: seckill.UsualWork}
}

// Salts opens the salts of reports. The shop goes on without them if their secret is missing or cannot be used.
func (d *Drivers) Salts() httpapi.Salts {
	s := Part[config.Salts](d)
	var secret salts.Secret
	if text := d.Secret(s.Secret); text != "" {
		var err error
		if secret, err = salts.Parse(text); err != nil {
			d.Log.Warn("no salts are shown", "err", s.Secret.Wrong(err))
		}
	}
	return &secret
}

// ReturnPages implements app.Drivers.
func (d *Drivers) ReturnPages() seckill.ReturnPages {
	origin := Part[config.CORS](d).Origin
	p := seckill.ReturnPages{Open: origin == "*"}
	for _, page := range []string{Part[config.Site](d).URL, origin} {
		if page != "" && page != "*" {
			p.Own = append(p.Own, strings.TrimSuffix(page, "/"))
		}
	}
	return p
}

// Issuers opens the issuers at which shoppers sign in. It calls none before a shopper does: a sign-in is worth little
// when the issuer is away, and init must not fail for it.
func (d *Drivers) Issuers() seckill.Issuers {
	s := Part[config.Issuers](d)
	secrets, err := config.ParseClientSecrets(d.Secret(s.Secrets))
	if err != nil {
		d.Fail(s.Secrets.Wrong(err))
	}
	clients := make([]oidc.Client, len(s.List))
	for i, e := range s.Entries() {
		secret := secrets.Of(e)
		clients[i] = oidc.Client{Issuer: e.URL, ClientID: e.ClientID, Metadata: e.Metadata,
			Secret: func() string { return secret }}
	}
	issuers, err := oidc.New(oidc.Options{Clients: clients, Clock: d.clock, Log: d.Log})
	if err != nil {
		d.Fail(fmt.Errorf("settings: SIGNIN_ISSUERS: %w", err))
	}
	return issuers
}

// StaffIssuer implements app.Drivers.
func (d *Drivers) StaffIssuer() seckill.StaffIssuer {
	s := Part[config.Staff](d)
	entry, ok := s.Entry()
	if !ok {
		return nil
	}
	asks, _ := s.Asks() // config has checked it
	secret := d.Secret(s.Client)
	issuer, err := oidc.NewStaff(oidc.StaffOptions{Groups: asks.Groups, Prefix: asks.Prefix, WhoClaim: asks.Who,
		Scope: asks.Scope, ACR: asks.ACR, Options: oidc.Options{Clock: d.clock, Log: d.Log, Clients: []oidc.Client{{
			Issuer: entry.URL, ClientID: entry.ClientID, Metadata: entry.Metadata,
			Secret: func() string { return secret }}}}})
	if err != nil {
		d.Fail(fmt.Errorf("settings: STAFF_ISSUER: %w", err))
	}
	return issuer
}

// StaffClock implements app.Drivers.
func (d *Drivers) StaffClock() seckill.Clock { return d.clock }

// Verifier implements app.Drivers.
func (d *Drivers) Verifier() seckill.Verifier {
	s := Part[config.Verifier](d)
	var v *alipay.Verifier
	var err error
	if s.Certificates() {
		v, err = alipay.NewCertVerifier(s.AppID, s.SellerID, d.Secret(s.Own), d.Secret(s.Root), d.clock)
	} else {
		v, err = alipay.NewVerifier(s.AppID, s.SellerID, d.Secret(s.Public))
	}
	d.Fail(named(err, config.Alipay{Verifier: s}))
	return v
}

// Signer implements app.Drivers.
func (d *Drivers) Signer() seckill.Signer { return d.Pages() }

// Pages signs whatever happens to Alipay's key and certificate: it gets neither.
func (d *Drivers) Pages() seckill.Pages {
	s := Part[config.Alipay](d)
	s.Public, s.Own = config.Source{}, config.Source{}
	signer, err := alipay.NewSigner(d.alipay(s))
	d.Fail(named(err, s))
	return signer
}

func (d *Drivers) alipay(s config.Alipay) alipay.Config {
	return alipay.Config{AppID: s.AppID, SellerID: s.SellerID, PrivateKey: d.Secret(s.Private),
		AlipayPublicKey: d.Secret(s.Public), AppCert: d.Secret(s.App), AlipayCert: d.Secret(s.Own),
		AlipayRootCert: d.Secret(s.Root), Gateway: s.Gateway, NotifyURL: s.NotifyURL, Clock: d.clock}
}

// Provider implements app.Drivers.
func (d *Drivers) Provider() app.Provider {
	if d.provider == nil {
		s := Part[config.Alipay](d)
		client, err := alipay.New(d.alipay(s))
		d.Fail(named(err, s))
		d.provider = client
	}
	return d.provider
}

// named adds the variable that an error of package alipay is about; nil stays nil.
func named(err error, s config.Alipay) error {
	if err == nil {
		return nil
	}
	var wrong *alipay.SettingError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("settings: %w", err)
	}
	return map[alipay.Setting]config.Source{
		alipay.SettingAppID: {Setting: "ALIPAY_APP_ID"}, alipay.SettingSellerID: {Setting: "ALIPAY_SELLER_ID"},
		alipay.SettingGateway: {Setting: "ALIPAY_GATEWAY"}, alipay.SettingNotifyURL: {Setting: "ALIPAY_NOTIFY_URL"},
		alipay.SettingPrivateKey: s.Private, alipay.SettingPublicKey: s.Public,
		alipay.SettingAppCert: s.App, alipay.SettingAlipayCert: s.Own, alipay.SettingRootCert: s.Root,
	}[wrong.Setting].Wrong(wrong.Err)
}

// MetricCertificate is the number of whole days until the first certificate of the payment client expires; negative
// after that.
const MetricCertificate = "alipay_cert_days_left"

const certificateSoon = 30 // days from which on the log says which certificate expires

// CountDays measures at each run how long the certificates of the payment client are still valid.
func (d *Drivers) CountDays(run func(context.Context) error) func(context.Context) error {
	client, _ := d.Provider().(*alipay.Client)
	return func(ctx context.Context) error {
		if at, which := client.CertificatesEnd(); !at.IsZero() {
			days := int(math.Floor(at.Sub(d.clock.Now()).Hours() / 24))
			d.meter.Gauge(MetricCertificate, days)
			if days < certificateSoon {
				d.Log.WarnContext(ctx, "a certificate ends", "certificate", string(which), "at",
					at.UTC().Format(time.RFC3339), "days", days)
			}
		}
		return run(ctx)
	}
}

// Endpoint implements app.Drivers.
func (d *Drivers) Endpoint() seckill.Endpoint {
	s := Part[config.Webhook](d)
	endpoint, err := bus.NewWebhooks(bus.WebhookConfig{URL: s.URL, Secrets: strings.Fields(d.Secret(s.Secrets)),
		Shop: d.base.Namespace, Clock: d.clock})
	if err != nil {
		d.Fail(fmt.Errorf("settings: WEBHOOK_URL or WEBHOOK_SECRET: %w", err))
	}
	return endpoint
}

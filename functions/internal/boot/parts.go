package boot

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/connections"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisconn"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/s3pictures"
	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/seckill"
)

func (b *Boot) rows(tables ...ledger.Table) *dynamoledger.Rows {
	return dynamoledger.New(b.aws, dynamoledger.Options{Prefix: b.base.TablePrefix, Tables: tables})
}

// AWS returns the settings of AWS's clients.
func (b *Boot) AWS() aws.Config { return b.aws }

// Table opens a table that is neither the ledger's nor the items'.
func (b *Boot) Table(t ledger.Table) ledger.Rows { return b.rows(t) }

// Ledger opens the ledger and the items.
func (b *Boot) Ledger() (*ledger.Ledger, seckill.Items) {
	rows := b.rows()
	return ledger.New(rows), rows.Items()
}

// LedgerOnly opens the ledger for a step that does not use items.
func (b *Boot) LedgerOnly() *ledger.Ledger { return ledger.New(b.rows()) }

// Items opens only the items table.
func (b *Boot) Items() seckill.Items { return b.rows().Items() }

// Queue opens a queue; dead is "" for a step that only sends.
func (b *Boot) Queue(url, dead string) *sqsqueue.Queue {
	return sqsqueue.New(sqs.NewFromConfig(b.aws), sqsqueue.Options{URL: url, DeadLetterURL: dead})
}

// Pictures returns the store of items' pictures.
func (b *Boot) Pictures(s config.Pictures) seckill.Pictures {
	return s3pictures.New(b.aws, s.Bucket, b.Clock, b.Log)
}

// Bus opens the event bus.
func (b *Boot) Bus(name string) seckill.Bus {
	return bus.NewBus(eventbridge.NewFromConfig(b.aws), name, b.base.Namespace)
}

// Endpoint opens the shop's endpoint.
func (b *Boot) Endpoint(s config.Webhook) seckill.Endpoint {
	e := &endpoint{}
	Renewed(b, &e.Pointer, func(secrets *config.Secrets) (*bus.Webhooks, error) {
		next, err := bus.NewWebhooks(bus.WebhookConfig{URL: s.URL,
			Secrets: strings.Fields(string(secrets.Of(s.Secrets()))),
			Shop:    b.base.Namespace, Clock: b.Clock})
		if err != nil {
			return nil, fmt.Errorf("settings: WEBHOOK_URL or WEBHOOK_SECRET: %w", err)
		}
		return next, nil
	}, s.Secrets())
	return e
}

// endpoint posts with secrets that may change.
type endpoint struct {
	atomic.Pointer[bus.Webhooks]
}

// Post implements seckill.Endpoint.
func (e *endpoint) Post(ctx context.Context, event *seckill.OrderEvent) error {
	return e.Load().Post(ctx, event)
}

// Secret registers secrets and what to build from them, first at init and whenever one changes.
func (b *Boot) Secret(then func(*config.Secrets) error, sources ...config.Source) {
	b.sources = append(b.sources, sources...)
	b.made = append(b.made, then)
	b.load = func(ctx context.Context) (*config.Secrets, error) {
		client := secretsmanager.NewFromConfig(b.aws, func(o *secretsmanager.Options) { o.Retryer = aws.NopRetryer{} })
		return config.Load(ctx, client, b.Clock, b.base.Secrets, b.sources...)
	}
}

// Renewed builds what depends on secrets, first at init and again when one of them changes. If building fails, the
// previous value stays in use.
func Renewed[T any](b *Boot, to *atomic.Pointer[T], build func(*config.Secrets) (*T, error), sources ...config.Source) {
	b.Secret(func(secrets *config.Secrets) error {
		next, err := build(secrets)
		if err == nil {
			to.Store(next)
		}
		return err
	}, sources...)
}

// Stock opens the stock, and connects to it before the first event.
func (b *Boot) Stock(s config.Redis) *redisstock.Stock {
	r := b.runner(s)
	b.warm = append(b.warm, func(ctx context.Context) {
		if err := r.Load().Ping(ctx); err != nil {
			b.Log.Warn("redis does not answer", "err", err)
		}
	})
	return redisstock.New(r)
}

// StockAndServers opens the stock, and returns a function that asks its servers about themselves. It connects at its
// first use: no instance is kept ready for an operator's stop, and a PING would only add to the wait.
func (b *Boot) StockAndServers(s config.Redis) (*redisstock.Stock, func(context.Context) []seckill.CacheNode) {
	r := b.runner(s)
	return redisstock.New(r), func(ctx context.Context) []seckill.CacheNode { return r.Load().Look(ctx) }
}

func (b *Boot) runner(s config.Redis) *runner {
	r := &runner{}
	var last config.Secret
	b.Secret(func(secrets *config.Secrets) error {
		password := secrets.Of(s.Secret())
		if r.Load() != nil && password == last {
			return nil
		}
		next, err := redisconn.New(redisconn.Options{Addrs: s.Addrs, Cluster: s.Cluster, TLS: s.TLS,
			Username: s.Username, Password: string(password)})
		if err != nil {
			return err
		}
		last = password
		if old := r.Swap(next); old != nil {
			return old.Close() // secrets change between events, when nothing uses it
		}
		return nil
	}, s.Secret())
	return r
}

// runner runs scripts on a Redis whose password may change.
type runner struct {
	atomic.Pointer[redisconn.Runner]
}

// Run implements redisstock.Runner.
func (r *runner) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	return r.Load().Run(ctx, s, keys, args)
}

// Shoppers verifies shoppers' tokens.
type Shoppers interface {
	httpapi.Who
	httpapi.Accounts
	httpapi.Names
}

// Tokens opens the verifier of shoppers' tokens.
func (b *Boot) Tokens(s config.Tokens) Shoppers {
	t := &tokens{}
	Renewed(b, &t.Pointer, func(secrets *config.Secrets) (*jwtauth.Verifier, error) {
		return jwtauth.New(tokenKeys(s, secrets), b.Clock)
	}, tokenSources(s)...)
	return t
}

func tokenSources(s config.Tokens) []config.Source {
	sources := []config.Source{s.Current()}
	for _, src := range s.ByKid() {
		sources = append(sources, src)
	}
	return sources
}

func tokenKeys(s config.Tokens, secrets *config.Secrets) jwtauth.Keys {
	keys := jwtauth.Keys{Current: string(secrets.Of(s.Current())), ByKid: map[string]string{}}
	for kid, src := range s.ByKid() {
		keys.ByKid[kid] = string(secrets.Of(src))
	}
	return keys
}

// tokens is a verifier whose keys may change.
type tokens struct {
	atomic.Pointer[jwtauth.Verifier]
}

// User implements httpapi.Auth.
func (t *tokens) User(token string) (string, error) { return t.Load().User(token) }

// Account implements httpapi.Accounts.
func (t *tokens) Account(token string) (user string, created time.Time, err error) {
	return t.Load().Account(token)
}

// Named implements httpapi.Names.
func (t *tokens) Named(token string) (user, name string, err error) { return t.Load().Named(token) }

// Hash implements httpapi.Who.
func (t *tokens) Hash(text string) string { return t.Load().Hash(text) }

// Passes checks connect passes.
type Passes interface {
	// Check returns what a pass says, or seckill.ErrPass.
	Check(text string) (seckill.Pass, error)
}

// Passes opens the checker of connect passes, which derive from the keys of tokens. Its step never waits for its
// secrets once it has started, because a page waits for it.
func (b *Boot) Passes(s config.Tokens) Passes {
	b.awaited = true
	p := &passes{}
	Renewed(b, &p.Pointer, func(secrets *config.Secrets) (*jwtauth.Passes, error) {
		keys := tokenKeys(s, secrets)
		if _, err := jwtauth.New(keys, b.Clock); err != nil {
			return nil, err
		}
		return jwtauth.NewPasses(keys, b.Clock), nil
	}, tokenSources(s)...)
	return p
}

// Connections opens the table of shoppers' connections.
func (b *Boot) Connections() seckill.Connections {
	return connections.New(b.Table(connections.Table), b.Clock)
}

// Wire opens the way to the connections that a WebSocket API's stage holds.
func (b *Boot) Wire(stage string) seckill.Wire { return wspush.New(b.aws, stage, b.Clock) }

// Push opens the maker of connect passes; nil without an address of push. Passes derive from the keys of tokens.
func (b *Boot) Push(s config.Push, keys config.Tokens) *httpapi.Push {
	if s.URL == "" {
		return nil
	}
	p := &passes{}
	Renewed(b, &p.Pointer, func(secrets *config.Secrets) (*jwtauth.Passes, error) {
		return jwtauth.NewPasses(tokenKeys(keys, secrets), b.Clock), nil
	}, tokenSources(keys)...)
	return &httpapi.Push{URL: s.URL, Passes: p, IDs: b.IDs}
}

// passes makes and checks passes with keys that may change.
type passes struct {
	atomic.Pointer[jwtauth.Passes]
}

// Append implements httpapi.Passes.
func (p *passes) Append(b []byte, user, nonce string) ([]byte, time.Time) {
	return p.Load().Append(b, user, nonce)
}

// Check implements Passes.
func (p *passes) Check(text string) (seckill.Pass, error) { return p.Load().Check(text) }

// Salts opens the salts of reports. The shop goes on without them if their secret is missing or cannot be used.
func (b *Boot) Salts(s config.Salts) httpapi.Salts {
	p := &orderSalts{}
	Renewed(b, &p.Pointer, func(secrets *config.Secrets) (*salts.Secret, error) {
		secret := salts.Secret{}
		if text := secrets.Of(s.Secret()); text != "" {
			var err error
			if secret, err = salts.Parse(string(text)); err != nil {
				b.Log.Warn("no salts are shown", "err", s.Secret().Wrong(err))
			}
		}
		return &secret, nil
	}, s.Secret())
	return p
}

// orderSalts has a secret that may change.
type orderSalts struct {
	atomic.Pointer[salts.Secret]
}

// Of implements httpapi.Salts.
func (p *orderSalts) Of(order string) (salt, verifier string) { return p.Load().Of(order) }

// TokenSigner opens the signer of shoppers' tokens.
func (b *Boot) TokenSigner(s config.Tokens) seckill.TokenSigner {
	t := &tokenSigner{}
	Renewed(b, &t.Pointer, func(secrets *config.Secrets) (*jwtauth.Signer, error) {
		return jwtauth.NewSigner(tokenKeys(s, secrets))
	}, tokenSources(s)...)
	return t
}

// tokenSigner signs with a key that may change.
type tokenSigner struct {
	atomic.Pointer[jwtauth.Signer]
}

// SignToken implements seckill.TokenSigner.
func (t *tokenSigner) SignToken(user, name string, created, expires time.Time) (string, error) {
	return t.Load().SignToken(user, name, created, expires)
}

// Issuers opens the issuers at which shoppers sign in. It calls none before a shopper does: a sign-in is worth little
// when the issuer is away, and init must not fail for it.
func (b *Boot) Issuers(s config.Issuers) seckill.Issuers {
	clients := make([]oidc.Client, len(s.List))
	for i, e := range s.Entries() {
		clients[i] = oidc.Client{Issuer: e.URL, ClientID: e.ClientID, Metadata: e.Metadata}
	}
	issuers, err := oidc.New(oidc.Options{Clients: clients, Clock: b.Clock})
	if err != nil {
		err = fmt.Errorf("settings: SIGNIN_ISSUERS: %w", err)
	}
	b.Secret(func(*config.Secrets) error { return err })
	return issuers
}

// Verifier opens the verifier of the payment provider's notifications.
func (b *Boot) Verifier(s config.Verifier) seckill.Verifier {
	v := &verifier{}
	Renewed(b, &v.Pointer, func(secrets *config.Secrets) (next *alipay.Verifier, err error) {
		if s.Certificates() {
			own, root := string(secrets.Of(s.Own())), string(secrets.Of(s.Root()))
			next, err = alipay.NewCertVerifier(s.AppID, s.SellerID, own, root, b.Clock)
		} else {
			next, err = alipay.NewVerifier(s.AppID, s.SellerID, string(secrets.Of(s.Public())))
		}
		return next, named(err, config.Alipay{Verifier: s})
	}, s.Public(), s.Own(), s.Root())
	return v
}

// verifier verifies with a key, or certificate, that may change.
type verifier struct {
	atomic.Pointer[alipay.Verifier]
}

// Verify implements seckill.Verifier.
func (v *verifier) Verify(form map[string][]string) (seckill.Notification, error) {
	return v.Load().Verify(form)
}

// Provider is everything that functions need of a payment provider.
type Provider interface {
	seckill.Payments
	seckill.Refunds
	seckill.Trades
	seckill.Bills
}

// Signer opens the signer of pay strings and of addresses of the cashier. It gets neither Alipay's key nor its
// certificate, so it signs whatever happens to them.
func (b *Boot) Signer(s config.Alipay) seckill.Pages {
	p := &signer{}
	Renewed(b, &p.Pointer, func(secrets *config.Secrets) (*alipay.Signer, error) {
		c := b.alipay(s, secrets)
		c.AlipayPublicKey, c.AlipayCert = "", ""
		next, err := alipay.NewSigner(c)
		return next, named(err, s)
	}, s.Private(), s.App(), s.Root())
	return p
}

// signer signs with a key that may change.
type signer struct {
	atomic.Pointer[alipay.Signer]
}

// Prepare implements seckill.Signer.
func (p *signer) Prepare(o seckill.Order) (string, error) { return p.Load().Prepare(o) }

// PagePay implements seckill.Pages.
func (p *signer) PagePay(ctx context.Context, o seckill.Order, back string) (string, error) {
	return p.Load().PagePay(ctx, o, back)
}

// WapPay implements seckill.Pages.
func (p *signer) WapPay(ctx context.Context, o seckill.Order, quit, back string) (string, error) {
	return p.Load().WapPay(ctx, o, quit, back)
}

func (b *Boot) alipay(s config.Alipay, secrets *config.Secrets) alipay.Config {
	return alipay.Config{AppID: s.AppID, SellerID: s.SellerID, PrivateKey: string(secrets.Of(s.Private())),
		AlipayPublicKey: string(secrets.Of(s.Public())), AppCert: string(secrets.Of(s.App())),
		AlipayCert:     string(secrets.Of(s.Own())),
		AlipayRootCert: string(secrets.Of(s.Root())), Gateway: s.Gateway, NotifyURL: s.NotifyURL, Clock: b.Clock}
}

// Payments opens the payment provider.
func (b *Boot) Payments(s config.Alipay) Provider {
	p := &payments{}
	Renewed(b, &p.Pointer, func(secrets *config.Secrets) (*alipay.Client, error) {
		next, err := alipay.New(b.alipay(s, secrets))
		return next, named(err, s)
	}, s.Private(), s.Public(), s.App(), s.Own(), s.Root())
	return p
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
		alipay.SettingPrivateKey: s.Private(), alipay.SettingPublicKey: s.Public(),
		alipay.SettingAppCert: s.App(), alipay.SettingAlipayCert: s.Own(), alipay.SettingRootCert: s.Root(),
	}[wrong.Setting].Wrong(wrong.Err)
}

// payments is a client whose keys may change.
type payments struct {
	atomic.Pointer[alipay.Client]
}

// MetricCertificate is the number of whole days until the first certificate of the payment client expires; negative
// after that.
const MetricCertificate = "alipay_cert_days_left"

const certificateSoon = 30 // days from which on the log says which certificate expires

// CountDays measures at each run how long the certificates of a Payments are still valid.
func (b *Boot) CountDays(p Provider, run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if own, ok := p.(*payments); ok {
			if at, which := own.Load().CertificatesEnd(); !at.IsZero() {
				days := int(math.Floor(at.Sub(b.Clock.Now()).Hours() / 24))
				b.Meter.Gauge(MetricCertificate, days)
				if days < certificateSoon {
					b.Log.WarnContext(ctx, "a certificate ends", "certificate", string(which), "at",
						at.UTC().Format(time.RFC3339), "days", days)
				}
			}
		}
		return run(ctx)
	}
}

// Prepare implements seckill.Payments.
func (p *payments) Prepare(o seckill.Order) (string, error) { return p.Load().Prepare(o) }

// Query implements seckill.Payments.
func (p *payments) Query(ctx context.Context, order string) (seckill.Trade, error) {
	return p.Load().Query(ctx, order)
}

// Close implements seckill.Payments.
func (p *payments) Close(ctx context.Context, order string) (seckill.CloseResult, error) {
	return p.Load().Close(ctx, order)
}

// Trade implements seckill.Trades.
func (p *payments) Trade(ctx context.Context, order, tradeNo string) (seckill.Trade, error) {
	return p.Load().Trade(ctx, order, tradeNo)
}

// Refund implements seckill.Refunds.
func (p *payments) Refund(ctx context.Context, r seckill.Refund) (seckill.RefundAnswer, error) {
	return p.Load().Refund(ctx, r)
}

// RefundStatus implements seckill.Refunds.
func (p *payments) RefundStatus(ctx context.Context, r seckill.Refund) (seckill.RefundAnswer, error) {
	return p.Load().RefundStatus(ctx, r)
}

// Bill implements seckill.Bills.
func (p *payments) Bill(ctx context.Context, day string) (seckill.Bill, error) {
	return p.Load().Bill(ctx, day)
}

// Verify implements seckill.Payments.
func (p *payments) Verify(form map[string][]string) (seckill.Notification, error) {
	return p.Load().Verify(form)
}

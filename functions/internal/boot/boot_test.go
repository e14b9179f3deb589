package boot

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/drivertest/alipaytest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

var begin = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// newBoot returns an instance whose secrets are in a fake AWS.
func newBoot(t *testing.T, secrets map[string]string) (*Boot, *memory.Clock, *lambdatest.AWS, *bytes.Buffer) {
	t.Helper()
	fake := lambdatest.NewAWS(t, secrets)
	cfg, err := awsConfig(map[string]string{"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "test",
		"AWS_SECRET_ACCESS_KEY": "test", "AWS_ENDPOINT_URL_SECRETS_MANAGER": fake.URL})
	if err != nil {
		t.Fatal(err)
	}
	clock, log := memory.NewClock(begin), &bytes.Buffer{}
	return &Boot{Clock: clock, Log: slog.New(slog.NewTextHandler(log, nil)), Meter: telemetry.NewMeter(log, clock,
		"test", "test"), base: config.Base{Secrets: lambdatest.Secret}, aws: cfg}, clock, fake, log
}

// A function for which shoppers wait has its connection before its first event. Stage does not: a cold one that must
// stop a sale would also wait for the answer to a PING.
func TestConnectedBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what string
		open func(*Boot, config.Redis)
		want int
	}{
		{"a stock", func(b *Boot, s config.Redis) { b.Stock(s) }, 1},
		{"an operator's", func(b *Boot, s config.Redis) { b.StockAndServers(s) }, 0},
	} {
		b, _, _, _ := newBoot(t, map[string]string{"redis": "any"})
		server := redistest.NewFake(t, memory.NewRedis())
		server.RequirePassword("any")
		tt.open(b, config.Redis{Addrs: []string{server.Addr}, PasswordName: "redis"})
		if err := b.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := server.Connections(); got != tt.want {
			t.Errorf("%s: %d connections after init, want %d", tt.what, got, tt.want)
		}
	}
}

func TestRotatedSecretsAreTaken(t *testing.T) {
	t.Parallel()
	b, clock, fake, log := newBoot(t, map[string]string{"jwt": "old", "redis": "old", "jwt-2026": "kid"})
	server := redistest.NewFake(t, memory.NewRedis())
	server.RequirePassword("old")
	stock := b.Stock(config.Redis{Addrs: []string{server.Addr}, PasswordName: "redis"})
	auth := b.Tokens(config.Tokens{KeyName: "jwt", Kids: []string{"2026"}})
	if err := b.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	event := b.each(func(context.Context, []byte) ([]byte, error) { return nil, nil })
	check := func(when, valid, invalid string) {
		t.Helper()
		if _, err := event(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for secret, want := range map[string]bool{valid: true, invalid: false} {
			token, err := jwtauth.Sign(secret, "1001", clock.Now().Add(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := auth.User(token); (err == nil) != want {
				t.Errorf("%s: a token signed with %q: %v, want accepted %v", when, secret, err, want)
			}
		}
		if _, err := stock.Level(t.Context(), "1"); !errors.Is(err, seckill.ErrNotInstalled) {
			t.Errorf("%s: redis: %v, want an answer", when, err)
		}
	}
	check("at first", "old", "new")
	fake.SetSecret("jwt", "new")
	check("changed, not yet read again", "old", "new")
	fake.SetSecret("redis", "new")
	server.RequirePassword("new")
	server.Drop()
	taken := func() bool {
		token, err := jwtauth.Sign("new", "1001", clock.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		_, err = auth.User(token)
		return err == nil
	}
	refreshUntil(t, b, clock, taken)
	check("read again", "new", "old")
	fake.SetSecret("jwt", "") // a mistake by an operator
	refreshUntil(t, b, clock, func() bool { return strings.Contains(log.String(), "secrets stay as they were") })
	check("empty", "new", "old")
	if !strings.Contains(log.String(), "secrets stay as they were") || strings.Contains(log.String(), `"new"`) {
		t.Errorf("log: %s", log)
	}
}

// Orders show salts once the stack has their secret, and only then; a wrong one stops nothing and is not in the log.
func TestSaltsMayBeMissing(t *testing.T) {
	t.Parallel()
	b, clock, fake, log := newBoot(t, map[string]string{"jwt": "any"})
	tokens, shown := b.Tokens(config.Tokens{KeyName: "jwt"}), b.Salts(config.Salts{TextName: "report-salts"})
	if err := b.open(t.Context()); err != nil || tokens.Hash("x") == "" {
		t.Fatal(err)
	}
	is := func(want string) func() bool {
		return func() bool {
			salt, _ := shown.Of("o1")
			return salt == want
		}
	}
	if !is("")() {
		t.Error("a salt without a secret")
	}
	secret := salts.Derive("private", "shop.example+1a2b3c4d+AbCd")
	want, _ := secret.Of("o1")
	fake.SetSecret("report-salts", secret.Text())
	refreshUntil(t, b, clock, is(want))
	fake.SetSecret("report-salts", "shop.example wrong-secret")
	refreshUntil(t, b, clock, is(""))
	if !strings.Contains(log.String(), `REPORT_SALTS_NAME names the secret`) ||
		strings.Contains(log.String(), "wrong-secret") {
		t.Errorf("log: %s", log)
	}
}

// Signin signs with the secret that buy and shop verify with, also after it was rotated.
func TestRotatedSecretSigns(t *testing.T) {
	t.Parallel()
	b, clock, fake, _ := newBoot(t, map[string]string{"jwt": "old", "jwt-2026": "kid"})
	tokens := config.Tokens{KeyName: "jwt", Kids: []string{"2026"}}
	signer, issuers := b.TokenSigner(tokens), b.Issuers(config.Issuers{})
	if err := b.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	signedWith := func(secret string) bool {
		token, err := signer.SignToken("1001", "", time.Time{}, clock.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		v, err := jwtauth.New(jwtauth.Keys{Current: secret}, clock)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.User(token)
		return err == nil
	}
	if !signedWith("old") {
		t.Error("at first: not signed with the current secret")
	}
	fake.SetSecret("jwt", "new")
	refreshUntil(t, b, clock, func() bool { return signedWith("new") })
	if !signedWith("new") {
		t.Error("rotated: not signed with the new secret")
	}
	if list, err := issuers.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("no issuer: %v, %v", list, err)
	}
}

// Lambda freezes an instance after its answer. So a scheduled or queued event ends after the read that it began, and
// the next event has the result, however short both are.
func TestScheduleWaitsForTheReadingOfItsSecrets(t *testing.T) {
	t.Parallel()
	b, clock, fake, _ := newBoot(t, map[string]string{"jwt": "old"})
	auth := b.Tokens(config.Tokens{KeyName: "jwt"})
	if err := b.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	event := b.each(func(context.Context, []byte) ([]byte, error) { return nil, nil })
	fake.SetSecret("jwt", "new")
	clock.Advance(config.RefreshEvery)
	for range 2 {
		if _, err := event(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	token, err := jwtauth.Sign("new", "1001", clock.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := auth.User(token); err != nil {
		t.Errorf("after two events: %v, want the new secret in use", err)
	}
}

// After Alipay changes its key, notifications are soon verified with the new key only.
func TestRotatedPublicKeyIsTaken(t *testing.T) {
	t.Parallel()
	const app, seller, order = "2021000000000001", "2088000000000001", "oabcdefghijklmnopqrstuvwxyz"
	var public, certs [2]string
	var root string
	var notifications [2]url.Values // each signed with the key of the same index
	for i, pair := range pairs() {
		g, err := fakegateway.New(fakegateway.Options{Clock: memory.NewClock(begin), AppID: app, SellerID: seller,
			MerchantPublicKey: pair.Public, PrivateKey: pair.Private})
		if err != nil {
			t.Fatal(err)
		}
		files := alipaytest.Make(t, pair, pair, begin.AddDate(-1, 0, 0), begin.AddDate(1, 0, 0))
		public[i], certs[i], root = pair.Public, files.Alipay, files.Root
		if notifications[i], err = g.NotificationForm("1", fakegateway.Trade{TradeNo: "1", OutTradeNo: order, Amount: 1,
			Status: fakegateway.StatusSuccess, Created: begin, Paid: begin}, begin); err != nil {
			t.Fatal(err)
		}
	}
	for mode, c := range map[string]struct {
		settings config.Verifier
		theirs   [2]string // the values of the entry theirs
	}{
		"public key":   {config.Verifier{PublicKeyName: "theirs"}, public},
		"certificates": {config.Verifier{CertName: "theirs", RootCertName: "root"}, certs},
	} {
		b, clock, fake, _ := newBoot(t, map[string]string{"theirs": c.theirs[0], "root": root})
		c.settings.AppID, c.settings.SellerID = app, seller
		v := b.Verifier(c.settings)
		if err := b.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		check := func(when string, want, other url.Values) {
			t.Helper()
			if n, err := v.Verify(want); err != nil || n.Order != order {
				t.Errorf("%s, %s: %+v, %v", mode, when, n, err)
			}
			if _, err := v.Verify(other); !errors.Is(err, seckill.Refuse(seckill.CodeForged)) {
				t.Errorf("%s, %s: the other key's notification: %v, want %s", mode, when, err, seckill.CodeForged)
			}
		}
		check("at first", notifications[0], notifications[1])
		fake.SetSecret("theirs", c.theirs[1])
		taken := func() bool {
			_, err := v.Verify(notifications[1])
			return err == nil
		}
		refreshUntil(t, b, clock, taken)
		check("changed", notifications[1], notifications[0])
	}
}

// pairs returns two key pairs; generating one takes at least a tenth of a second.
var pairs = sync.OnceValue(func() (out [2]fakegateway.KeyPair) {
	for i := range out {
		var err error
		if out[i], err = fakegateway.GenerateKeys(); err != nil {
			panic(err)
		}
	}
	return out
})

// refreshUntil lets time pass and rereads the secrets until the change is applied.
func refreshUntil(t *testing.T, b *Boot, clock *memory.Clock, taken func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !taken() && time.Now().Before(end); {
		clock.Advance(config.RefreshEvery)
		b.refresh()
		time.Sleep(time.Millisecond)
	}
}

// In certificate mode a new private key of ours comes with a certificate. Between the changes of these two entries
// the client stays unchanged.
func TestRotatedKeyIsTakenWithItsCertificate(t *testing.T) {
	t.Parallel()
	var certs [2]alipaytest.Certificates
	for i, pair := range pairs() {
		certs[i] = alipaytest.Make(t, pair, pairs()[1-i], begin.AddDate(-1, 0, 0), begin.AddDate(1, 0, 0))
	}
	b, clock, fake, log := newBoot(t, map[string]string{"private": pairs()[0].Private, "app": certs[0].App,
		"alipay": certs[0].Alipay, "root": certs[0].Root})
	p := b.Payments(config.Alipay{Verifier: config.Verifier{AppID: "2021000000000001", SellerID: "2088000000000001",
		CertName: "alipay", RootCertName: "root"},
		PrivateKeyName: "private", AppCertName: "app", Gateway: "https://gateway.example/gateway.do",
		NotifyURL: "https://shop.example/notify"})
	if err := b.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	signed := func() string { // signs with the number of the certificate
		text, err := p.Prepare(seckill.Order{ID: "oabcdefghijklmnopqrstuvwxyz", Amount: 1, Title: "t", Placed: begin,
			PayBy: begin.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		form, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		return form.Get("app_cert_sn")
	}
	var numbers [2]string
	for i, c := range certs {
		var err error
		if numbers[i], err = alipay.AppCertSN(c.App); err != nil {
			t.Fatal(err)
		}
	}
	if got := signed(); got != numbers[0] {
		t.Errorf("at first: app_cert_sn %q, want %q", got, numbers[0])
	}
	fake.SetSecret("private", pairs()[1].Private)
	refreshUntil(t, b, clock, func() bool { return strings.Contains(log.String(), "it is not the private key's") })
	if got := signed(); got != numbers[0] || !strings.Contains(log.String(), "secrets stay as they were") {
		t.Errorf("key without its certificate: app_cert_sn %q, want %q; log %s", got, numbers[0], log)
	}
	fake.SetSecret("app", certs[1].App)
	fake.SetSecret("alipay", certs[1].Alipay)
	refreshUntil(t, b, clock, func() bool { return signed() == numbers[1] })
	if got := signed(); got != numbers[1] {
		t.Errorf("changed: app_cert_sn %q, want %q", got, numbers[1])
	}
}

func TestEndpointsAndMissingAWSSettings(t *testing.T) {
	t.Parallel()
	given := map[string]string{"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key",
		"AWS_ENDPOINT_URL": "http://all", "AWS_ENDPOINT_URL_SQS": "http://sqs"}
	cfg, err := awsConfig(given)
	if err != nil || *cfg.BaseEndpoint != "http://all" {
		t.Fatalf("%v, %v", cfg.BaseEndpoint, err)
	}
	for service, want := range map[string]string{"SQS": "http://sqs", "DynamoDB": ""} {
		if got, found, _ := endpoints(given).GetServiceBaseEndpoint(t.Context(), service); got != want ||
			found != (want != "") {
			t.Errorf("%s: %q, want %q", service, got, want)
		}
	}
	_, err = awsConfig(map[string]string{"AWS_REGION": "eu-west-1"})
	if err == nil || err.Error() != "settings: AWS_ACCESS_KEY_ID is missing; AWS_SECRET_ACCESS_KEY is missing" {
		t.Error(err)
	}
}

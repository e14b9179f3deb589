package aws

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/alipaytest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

var begin = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// newDrivers returns the drivers of an instance whose secrets are in a fake AWS.
func newDrivers(t *testing.T, secrets, environ map[string]string) (*Drivers, *memory.Clock, *lambdatest.AWS,
	*bytes.Buffer) {
	t.Helper()
	fake := lambdatest.NewAWS(t, secrets)
	cfg, err := awsConfig(map[string]string{"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "test",
		"AWS_SECRET_ACCESS_KEY": "test", "AWS_ENDPOINT_URL_SECRETS_MANAGER": fake.URL})
	must.OK(t, err)
	clock, log := memory.NewClock(begin), &bytes.Buffer{}
	return &Drivers{clock: clock, Log: slog.New(slog.NewTextHandler(log, nil)), meter: telemetry.NewMeter(log, clock,
		"test", "test"), base: config.Base{Secrets: lambdatest.Secret}, sdk: cfg, environ: environ}, clock, fake, log
}

// opened serves a step that only opens ports. What open returns is called at each event: it keeps the ports of the step
// that serves.
func opened(t *testing.T, d *Drivers, open func(*Drivers) func()) *running {
	t.Helper()
	r, err := serve(t.Context(), d, func(d *Drivers) apigw.Handler {
		keep := open(d)
		return func(context.Context, []byte) ([]byte, error) { keep(); return nil, nil }
	})
	if err == nil {
		_, err = r.handle(t.Context(), nil)
	}
	must.OK(t, err)
	return r
}

// A function for which shoppers wait has its connection before its first event. Stage does not: a cold instance that
// must stop a sale would also wait for the answer to a PING.
func TestConnectedBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what string
		open func(*Drivers) seckill.Stock
		want int
	}{
		{"a stock", func(d *Drivers) seckill.Stock { d.Stock(); return d.Stock() }, 1},
		{"an operator's", (*Drivers).LazyStock, 0},
	} {
		server := redistest.NewFake(t, memory.NewRedis())
		server.RequirePassword("any")
		d, _, _, _ := newDrivers(t, map[string]string{"redis": "any"}, map[string]string{"REDIS_ADDRS": server.Addr,
			"REDIS_PASSWORD_NAME": "redis"})
		opened(t, d, func(d *Drivers) func() { tt.open(d); return func() {} })
		must.Equal(t, tt.want, server.Connections(), tt.what, "connections after init")
	}
}

func TestRotatedSecretsAreTaken(t *testing.T) {
	t.Parallel()
	server := redistest.NewFake(t, memory.NewRedis())
	server.RequirePassword("old")
	d, clock, fake, log := newDrivers(t, map[string]string{"jwt": "old", "redis": "old", "jwt-2026": "kid"},
		map[string]string{"REDIS_ADDRS": server.Addr, "REDIS_PASSWORD_NAME": "redis", "JWT_SECRET_NAME": "jwt",
			"JWT_KIDS": "2026"})
	var stock seckill.Stock
	var auth *jwtauth.Verifier
	r := opened(t, d, func(d *Drivers) func() {
		s, a := d.Stock(), d.Tokens()
		return func() { stock, auth = s, a }
	})
	check := func(when, valid, invalid string) {
		t.Helper()
		must.Get(r.handle(t.Context(), nil))
		for secret, want := range map[string]bool{valid: true, invalid: false} {
			token := must.Get(jwtauth.Sign(secret, "1001", clock.Now().Add(time.Minute)))
			if _, err := auth.User(token); (err == nil) != want {
				t.Errorf("%s: a token signed with %q: %v, want accepted %v", when, secret, err, want)
			}
		}
		must.Is(t, seckill.ErrNotInstalled, must.Err(stock.Level(t.Context(), "1")), when, "redis")
	}
	check("at first", "old", "new")
	fake.SetSecret("jwt", "new")
	check("changed, not yet read again", "old", "new")
	fake.SetSecret("redis", "new")
	server.RequirePassword("new")
	server.Drop()
	taken := func() bool {
		token := must.Get(jwtauth.Sign("new", "1001", clock.Now().Add(time.Minute)))
		_, err := auth.User(token)
		return err == nil
	}
	refreshUntil(t, r, clock, taken)
	check("read again", "new", "old")
	fake.SetSecret("jwt", "") // a mistake by an operator: the step is not built
	refreshUntil(t, r, clock, func() bool { return strings.Contains(log.String(), "secrets stay as they were") })
	check("empty", "new", "old")
	if !strings.Contains(log.String(), "secrets stay as they were") || strings.Contains(log.String(), `"new"`) {
		t.Errorf("log: %s", log)
	}
}

// Orders show salts once the stack has their secret, and only then; a wrong one stops nothing and is not in the log.
func TestSaltsMayBeMissing(t *testing.T) {
	t.Parallel()
	d, clock, fake, log := newDrivers(t, map[string]string{"jwt": "any"}, map[string]string{"JWT_SECRET_NAME": "jwt",
		"REPORT_SALTS_NAME": "report-salts"})
	var tokens *jwtauth.Verifier
	var shown httpapi.Salts
	r := opened(t, d, func(d *Drivers) func() {
		t, s := d.Tokens(), d.Salts()
		return func() { tokens, shown = t, s }
	})
	if tokens.Hash("x") == "" {
		t.Error("no token can be hashed")
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
	refreshUntil(t, r, clock, is(want))
	fake.SetSecret("report-salts", "shop.example wrong-secret")
	refreshUntil(t, r, clock, is(""))
	if !strings.Contains(log.String(), `REPORT_SALTS_NAME names the secret`) ||
		strings.Contains(log.String(), "wrong-secret") {
		t.Errorf("log: %s", log)
	}
}

// TestAudienceFrom: from the date of its entry on, a token that does not say whom it is for is refused; the entry may
// be missing. A wrong one changes nothing, and is not in the log.
func TestAudienceFrom(t *testing.T) {
	t.Parallel()
	d, clock, fake, log := newDrivers(t, map[string]string{"jwt": "any"}, map[string]string{"JWT_SECRET_NAME": "jwt",
		"JWT_AUDIENCE_FROM_NAME": "jwt-audience-from"})
	var tokens *jwtauth.Verifier
	r := opened(t, d, func(d *Drivers) func() {
		v := d.Tokens()
		return func() { tokens = v }
	})
	reads := func(claims string) error {
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": 42, "sub": "1",
			"exp": clock.Now().Add(time.Minute).Unix()})
		if claims != "" {
			token.Claims.(jwt.MapClaims)["aud"] = claims
		}
		_, err := tokens.User(must.Get(token.SignedString([]byte("any"))))
		return err
	}
	must.OK(t, reads(""))
	fake.SetSecret("jwt-audience-from", begin.Format(time.DateOnly))
	refreshUntil(t, r, clock, func() bool { return reads("") != nil })
	must.Equal(t, seckill.TokenAudience, seckill.AsError(reads("")).Token, "without an audience")
	must.OK(t, reads("seckill"))
	fake.SetSecret("jwt-audience-from", "wrong-date")
	refreshUntil(t, r, clock, func() bool { return strings.Contains(log.String(), "secrets stay as they were") })
	must.Equal(t, seckill.TokenAudience, seckill.AsError(reads("")).Token, "after a wrong date")
	if !strings.Contains(log.String(), "JWT_AUDIENCE_FROM_NAME names the secret") ||
		strings.Contains(log.String(), "wrong-date") {
		t.Errorf("log: %s", log)
	}
}

// Signin signs with the secret that the functions buy and shop verify with, also after it was rotated.
func TestRotatedSecretSigns(t *testing.T) {
	t.Parallel()
	d, clock, fake, _ := newDrivers(t, map[string]string{"jwt": "old", "jwt-2026": "kid"},
		map[string]string{"JWT_SECRET_NAME": "jwt", "JWT_KIDS": "2026"})
	var signer seckill.TokenSigner
	var issuers seckill.Issuers
	r := opened(t, d, func(d *Drivers) func() {
		s, i := d.TokenSigner(), d.Issuers()
		return func() { signer, issuers = s, i }
	})
	signedWith := func(secret string) bool {
		token := must.Get(signer.SignToken(seckill.Claims{User: "1001", Expires: clock.Now().Add(time.Minute)}))
		v := must.Get(jwtauth.New(jwtauth.Keys{Current: secret}, clock))
		_, err := v.User(token)
		return err == nil
	}
	if !signedWith("old") {
		t.Error("at first: not signed with the current secret")
	}
	fake.SetSecret("jwt", "new")
	refreshUntil(t, r, clock, func() bool { return signedWith("new") })
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
	d, clock, fake, _ := newDrivers(t, map[string]string{"jwt": "old"}, map[string]string{"JWT_SECRET_NAME": "jwt"})
	var auth *jwtauth.Verifier
	r := opened(t, d, func(d *Drivers) func() {
		a := d.Tokens()
		return func() { auth = a }
	})
	fake.SetSecret("jwt", "new")
	clock.Advance(config.RefreshEvery)
	for range 2 {
		must.Get(r.handle(t.Context(), nil))
	}
	token := must.Get(jwtauth.Sign("new", "1001", clock.Now().Add(time.Minute)))
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
		must.OK(t, err)
		files := alipaytest.Make(t, pair, pair, begin.AddDate(-1, 0, 0), begin.AddDate(1, 0, 0))
		public[i], certs[i], root = pair.Public, files.Alipay, files.Root
		if notifications[i], err = g.NotificationForm("1", fakegateway.Trade{TradeNo: "1", OutTradeNo: order, Amount: 1,
			Status: fakegateway.StatusSuccess, Created: begin, Paid: begin}, begin); err != nil {
			t.Fatal(err)
		}
	}
	for mode, c := range map[string]struct {
		settings map[string]string
		theirs   [2]string // the values of the entry theirs
	}{
		"public key":   {map[string]string{"ALIPAY_PUBLIC_KEY_NAME": "theirs"}, public},
		"certificates": {map[string]string{"ALIPAY_CERT_NAME": "theirs", "ALIPAY_ROOT_CERT_NAME": "root"}, certs},
	} {
		c.settings["ALIPAY_APP_ID"], c.settings["ALIPAY_SELLER_ID"] = app, seller
		d, clock, fake, _ := newDrivers(t, map[string]string{"theirs": c.theirs[0], "root": root}, c.settings)
		var v seckill.Verifier
		r := opened(t, d, func(d *Drivers) func() {
			next := d.Verifier()
			return func() { v = next }
		})
		check := func(when string, want, other url.Values) {
			t.Helper()
			must.Equal(t, order, must.Get(v.Verify(want)).Order, mode, when)
			must.Is(t, seckill.Refuse(seckill.CodeForged), must.Err(v.Verify(other)), mode, when,
				"the other key's notification", seckill.CodeForged)
		}
		check("at first", notifications[0], notifications[1])
		fake.SetSecret("theirs", c.theirs[1])
		taken := func() bool {
			_, err := v.Verify(notifications[1])
			return err == nil
		}
		refreshUntil(t, r, clock, taken)
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
func refreshUntil(t *testing.T, r *running, clock *memory.Clock, taken func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !taken() && time.Now().Before(end); {
		clock.Advance(config.RefreshEvery)
		must.Get(r.handle(t.Context(), nil))
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
	d, clock, fake, log := newDrivers(t, map[string]string{"private": pairs()[0].Private, "app": certs[0].App,
		"alipay": certs[0].Alipay, "root": certs[0].Root}, map[string]string{"ALIPAY_APP_ID": "2021000000000001",
		"ALIPAY_SELLER_ID": "2088000000000001", "ALIPAY_CERT_NAME": "alipay", "ALIPAY_ROOT_CERT_NAME": "root",
		"ALIPAY_PRIVATE_KEY_NAME": "private", "ALIPAY_APP_CERT_NAME": "app",
		"ALIPAY_GATEWAY": "https://gateway.example/gateway.do", "ALIPAY_NOTIFY_URL": "https://shop.example/notify"})
	r := opened(t, d, func(d *Drivers) func() { d.Provider(); return func() {} })
	signed := func() string { // signs with the number of the certificate
		text := must.Get(r.drivers.provider.Prepare(drivertest.Order("1", "7", begin, 1)))
		return must.Get(url.ParseQuery(text)).Get("app_cert_sn")
	}
	var numbers [2]string
	for i, c := range certs {
		var err error
		if numbers[i], err = alipay.AppCertSN(c.App); err != nil {
			t.Fatal(err)
		}
	}
	must.Equal(t, numbers[0], signed(), "at first: app_cert_sn")
	fake.SetSecret("private", pairs()[1].Private)
	refreshUntil(t, r, clock, func() bool { return strings.Contains(log.String(), "it is not the private key's") })
	if got := signed(); got != numbers[0] || !strings.Contains(log.String(), "secrets stay as they were") {
		t.Errorf("key without its certificate: app_cert_sn %q, want %q; log %s", got, numbers[0], log)
	}
	fake.SetSecret("app", certs[1].App)
	fake.SetSecret("alipay", certs[1].Alipay)
	refreshUntil(t, r, clock, func() bool { return signed() == numbers[1] })
	must.Equal(t, numbers[1], signed(), "changed: app_cert_sn")
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

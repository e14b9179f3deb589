package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"seckill/functions/lambdatest"
	"seckill/shared/adapter/alipay/fakegateway"
	"seckill/shared/adapter/config"
	"seckill/shared/adapter/jwtauth"
	"seckill/shared/adapter/memory"
	"seckill/shared/adapter/redisconn/redistest"
	"seckill/shared/adapter/telemetry"
	"seckill/shared/seckill"
)

var begin = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// newBoot is an instance whose secrets are in a fake of AWS.
func newBoot(t *testing.T, params map[string]string) (*Boot, *memory.Clock, *lambdatest.AWS, *bytes.Buffer) {
	t.Helper()
	fake := lambdatest.NewAWS(t, params)
	cfg, err := awsConfig(map[string]string{"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_ENDPOINT_URL_SSM": fake.URL})
	if err != nil {
		t.Fatal(err)
	}
	clock, log := memory.NewClock(begin), &bytes.Buffer{}
	return &Boot{Clock: clock, Log: slog.New(slog.NewTextHandler(log, nil)), Meter: telemetry.NewMeter(log, clock, "test", "test"), aws: cfg}, clock, fake, log
}

func TestRotatedSecretsAreTaken(t *testing.T) {
	t.Parallel()
	b, clock, fake, log := newBoot(t, map[string]string{"/jwt": "old", "/redis": "old", "/kid": "kid"})
	server := redistest.NewFake(t, memory.NewRedis())
	server.RequirePassword("old")
	stock := b.Stock(config.Redis{Addrs: []string{server.Addr}, PasswordParam: "/redis"})
	auth := b.Tokens(config.Tokens{KeyParam: "/jwt", KidParams: map[string]string{"2026": "/kid"}})
	if err := b.init(t.Context()); err != nil {
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
	fake.SetParam("/jwt", "new")
	check("changed, not yet read again", "old", "new")
	fake.SetParam("/redis", "new")
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
	for end := time.Now().Add(time.Minute); !taken() && time.Now().Before(end); { // a reading that takes a second, on a busy machine, is given up
		clock.Advance(config.RefreshEvery)
		if _, err := event(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	check("read again", "new", "old")
	fake.SetParam("/jwt", "") // a blunder
	clock.Advance(config.RefreshEvery)
	check("empty", "new", "old")
	if !strings.Contains(log.String(), "secrets stay as they were") || strings.Contains(log.String(), `"new"`) {
		t.Errorf("log: %s", log)
	}
}

// Alipay changes its key: notices are checked with the new one soon, and with nothing else.
func TestRotatedPublicKeyIsTaken(t *testing.T) {
	t.Parallel()
	const app, seller, order = "2021000000000001", "2088000000000001", "oabcdefghijklmnopqrstuvwxyz"
	var public [2]string
	var notices [2]url.Values // each signed with the key beside it
	for i := range notices {
		pair, err := fakegateway.GenerateKeys()
		if err != nil {
			t.Fatal(err)
		}
		g, err := fakegateway.New(fakegateway.Options{Clock: memory.NewClock(begin), AppID: app, SellerID: seller, MerchantPublicKey: pair.Public, PrivateKey: pair.Private})
		if err != nil {
			t.Fatal(err)
		}
		public[i] = pair.Public
		if notices[i], err = g.NotifyForm("1", fakegateway.Trade{TradeNo: "1", OutTradeNo: order, Amount: 1, Status: fakegateway.StatusSuccess, Created: begin, Paid: begin}, begin); err != nil {
			t.Fatal(err)
		}
	}
	b, clock, fake, _ := newBoot(t, map[string]string{"/public": public[0]})
	v := b.Verifier(config.Verifier{AppID: app, SellerID: seller, PublicKeyParam: "/public"})
	if err := b.init(t.Context()); err != nil {
		t.Fatal(err)
	}
	check := func(when string, want, other url.Values) {
		t.Helper()
		if n, err := v.Verify(want); err != nil || n.Order != order {
			t.Errorf("%s: %+v, %v", when, n, err)
		}
		if _, err := v.Verify(other); !errors.Is(err, seckill.Refuse(seckill.CodeForged)) {
			t.Errorf("%s: the other key's notice: %v, want %s", when, err, seckill.CodeForged)
		}
	}
	check("at first", notices[0], notices[1])
	fake.SetParam("/public", public[1])
	taken := func() bool {
		_, err := v.Verify(notices[1])
		return err == nil
	}
	for end := time.Now().Add(time.Minute); !taken() && time.Now().Before(end); { // a reading that takes a second, on a busy machine, is given up
		clock.Advance(config.RefreshEvery)
		b.refresh(t.Context())
	}
	check("changed", notices[1], notices[0])
}

func TestOnlyWhatIsCertainlyWrongEndsInit(t *testing.T) {
	t.Parallel()
	missing := errors.New("table seckill-items is missing")
	outage := fmt.Errorf("describe table: %w", &smithy.OperationError{ServiceID: "DynamoDB", Err: errors.New("no answer")})
	for name, c := range map[string]struct {
		err, want error
		lines     int
	}{
		"nothing":    {nil, nil, 0},
		"missing":    {missing, missing, 0},
		"outage":     {outage, nil, 1},
		"both":       {errors.Join(outage, missing), missing, 1},
		"two faults": {errors.Join(outage, errors.Join(outage)), nil, 2},
	} {
		b, _, _, log := newBoot(t, nil)
		b.checks = append(b.checks, func(context.Context) error { return c.err })
		err := b.init(t.Context())
		if c.want == nil && err != nil || c.want != nil && (!errors.Is(err, c.want) || errors.Is(err, outage)) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if n := strings.Count(log.String(), "init could not look"); n != c.lines {
			t.Errorf("%s: %d log lines, want %d: %s", name, n, c.lines, log)
		}
	}
}

func TestEndpointsAndMissingAWSSettings(t *testing.T) {
	t.Parallel()
	given := map[string]string{"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_ENDPOINT_URL": "http://all", "AWS_ENDPOINT_URL_SQS": "http://sqs"}
	cfg, err := awsConfig(given)
	if err != nil || *cfg.BaseEndpoint != "http://all" {
		t.Fatalf("%v, %v", cfg.BaseEndpoint, err)
	}
	for service, want := range map[string]string{"SQS": "http://sqs", "DynamoDB": ""} {
		if got, found, _ := endpoints(given).GetServiceBaseEndpoint(t.Context(), service); got != want || found != (want != "") {
			t.Errorf("%s: %q, want %q", service, got, want)
		}
	}
	_, err = awsConfig(map[string]string{"AWS_REGION": "eu-west-1"})
	if err == nil || err.Error() != "settings: AWS_ACCESS_KEY_ID is missing; AWS_SECRET_ACCESS_KEY is missing" {
		t.Error(err)
	}
}

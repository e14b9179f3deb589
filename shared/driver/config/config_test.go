package config_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// full has every setting that a function may have, as a template sets it.
var full = map[string]string{
	"TABLE_PREFIX": "seckill-", "REDIS_ADDRS": "127.0.0.1:6379", "REDIS_TLS": "true",
	"REDIS_PASSWORD_NAME": "/seckill/redis", "REDIS_USERNAME": "app",
	"ORDERS_QUEUE_URL":               "https://sqs.eu-central-1.amazonaws.com/1/orders",
	"ORDERS_DEAD_LETTER_QUEUE_URL":   "https://sqs.eu-central-1.amazonaws.com/1/orders-dead",
	"CLOSINGS_QUEUE_URL":             "https://sqs.eu-central-1.amazonaws.com/1/closings",
	"CLOSINGS_DEAD_LETTER_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/1/closings-dead",
	"JWT_SECRET_NAME":                "/seckill/jwt", "JWT_KIDS": "2026,2027",
	"JWT_AUDIENCE_FROM_NAME": "jwt-audience-from", "SECRETS": "/seckill/test/all",
	"ALIPAY_APP_ID": "2021000000000001", "ALIPAY_SELLER_ID": "2088000000000001",
	"ALIPAY_GATEWAY":          "https://openapi.alipay.com/gateway.do",
	"ALIPAY_NOTIFY_URL":       "https://shop.example.com/seckill/alipay/notify",
	"ALIPAY_PRIVATE_KEY_NAME": "/seckill/alipay/private", "ALIPAY_PUBLIC_KEY_NAME": "/seckill/alipay/public",
	"HOLD": "20m", "METRICS_NAMESPACE": "seckill-test",
	"GATEWAY_PRIVATE_KEY_NAME":    "/seckill/gateway/private",
	"ALIPAY_SHOP_PUBLIC_KEY_NAME": "/seckill/alipay/shop-public", "CASHIER_RETURN_URL": "https://shop.example.com/",
	"PUBLIC_URL": "https://shop.example.com/live", "CONNECTIONS_URL": "https://x.example.com/live",
	"EVENT_BUS": "seckill", "TICKET_SECRET_NAME": "ticket-secret",
	"REPORT_SALTS_NAME": "report-salts", "SIGNIN_CLIENT_SECRETS_NAME": "signin-client-secrets",
	"COMMAND_KEY_NAME": "command-key", "COMMAND_PUBLIC_KEY_NAME": "command-public-key",
}

func part[T any](environ map[string]string) error {
	_, err := config.Part[T](environ)
	return err
}

// parts has the parts of settings that the tests read.
var parts = map[string]func(map[string]string) error{
	"base": part[config.Base], "redis": part[config.Redis], "orders": part[config.Orders],
	"orders' dead letters": part[config.OrdersDead], "closings": part[config.Closings],
	"closings' dead letters": part[config.ClosingsDead], "tokens": part[config.Tokens],
	"tickets": part[config.Tickets], "cors": part[config.CORS], "issuers": part[config.Issuers],
	"staff": part[config.Staff], "alone": part[config.Alone], "hold": part[config.Hold],
	"alipay": part[config.Alipay], "verifier": part[config.Verifier], "page": part[config.Page],
	"site":   part[config.Site],
	"pushes": part[config.Pushes], "websocket": part[config.WebSocket], "push": part[config.Push],
	"gateway": part[config.FakeGateway], "commands": part[config.Commands], "command key": part[config.CommandKey],
	"webhook": part[config.Webhook], "addresses": part[config.Addresses], "bus": part[config.Bus],
	"contact": part[config.Contact],
}

func TestWrongAndContradictorySettings(t *testing.T) {
	for name, c := range map[string]struct {
		part string
		set  map[string]string
		want string // "" if accepted
	}{
		"prefix":       {"base", map[string]string{"TABLE_PREFIX": "a b"}, `TABLE_PREFIX is "a b"`},
		"empty prefix": {"base", map[string]string{"TABLE_PREFIX": ""}, "TABLE_PREFIX is empty"},
		"namespace":    {"base", map[string]string{"METRICS_NAMESPACE": "a b"}, `METRICS_NAMESPACE is "a b"`},
		"no port": {"redis", map[string]string{"REDIS_ADDRS": "redis"},
			`REDIS_ADDRS has "redis", want host:port`},
		"boolean": {"redis", map[string]string{"REDIS_TLS": "perhaps"}, "REDIS_TLS is not a boolean"},
		"several, no cluster": {"redis", map[string]string{"REDIS_ADDRS": "a:1,b:2"},
			"contradicts REDIS_CLUSTER=false"},
		"several, cluster": {"redis", map[string]string{"REDIS_ADDRS": "a:1,b:2", "REDIS_CLUSTER": "true"}, ""},
		"two passwords": {"redis", map[string]string{"REDIS_PASSWORD": "x"},
			"REDIS_PASSWORD and REDIS_PASSWORD_NAME are both set"},
		"user, no password": {"redis", map[string]string{"REDIS_PASSWORD_NAME": ""}, "REDIS_USERNAME is set"},
		"queue": {"orders", map[string]string{"ORDERS_QUEUE_URL": "orders"},
			`ORDERS_QUEUE_URL is "orders"`},
		"dead-letter queue": {"orders' dead letters", map[string]string{"ORDERS_DEAD_LETTER_QUEUE_URL": "x"},
			`ORDERS_DEAD_LETTER_QUEUE_URL is "x"`},
		"two token secrets": {"tokens", map[string]string{"JWT_SECRET": "s"},
			"JWT_SECRET and JWT_SECRET_NAME are both set"},
		"empty kid": {"tokens", map[string]string{"JWT_KIDS": "2026,"},
			`JWT_KIDS has "", want 1 to 64 letters`},
		"kid with a sign": {"tokens", map[string]string{"JWT_KIDS": "2026=x"},
			`JWT_KIDS has "2026=x", want 1 to 64 letters`},
		"kid of the date": {"tokens", map[string]string{"JWT_KIDS": "audience-from"},
			`JWT_KIDS has "audience-from", which is no kid`},
		"two dates": {"tokens", map[string]string{"JWT_AUDIENCE_FROM": "2027-01-31"},
			"JWT_AUDIENCE_FROM and JWT_AUDIENCE_FROM_NAME are both set"},
		"no issuer": {"issuers", map[string]string{"SIGNIN_ISSUERS": ""}, ""},
		"issuers": {"issuers", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com|shop,https://a.example.com|app," +
			"https://b.example.com/pool|shop|http://127.0.0.1:4566/pool"}, ""},
		"issuer, no client": {"issuers", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com"},
			`SIGNIN_ISSUERS has "https://a.example.com", want issuer|client_id`},
		"issuer, empty client": {"issuers", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com||https://b.example.com"},
			`SIGNIN_ISSUERS has "https://a.example.com||https://b.example.com", want`},
		"issuer, empty metadata": {"issuers", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com|shop|"},
			`SIGNIN_ISSUERS has "https://a.example.com|shop|", want`},
		"issuer, four parts": {"issuers", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com|shop|https://b|c"},
			"SIGNIN_ISSUERS has"},
		"issuer, no URL": {"issuers", map[string]string{"SIGNIN_ISSUERS": "a.example.com|shop"},
			`SIGNIN_ISSUERS is "a.example.com", want an absolute http or https URL`},
		"metadata, no URL": {"issuers", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com|shop|ftp://b"},
			`SIGNIN_ISSUERS is "ftp://b", want`},
		"eleven issuers": {"issuers", map[string]string{"SIGNIN_ISSUERS": strings.Repeat(",https://a.example.com|shop",
			11)[1:]}, "SIGNIN_ISSUERS has 11 issuers, want at most 10"},
		"two secrets of clients": {"issuers", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com|shop",
			"SIGNIN_CLIENT_SECRETS": "b"}, "SIGNIN_CLIENT_SECRETS and SIGNIN_CLIENT_SECRETS_NAME are both set"},
		"no issuer of staff": {"staff", map[string]string{"STAFF_ISSUER": ""}, ""},
		"an issuer of staff": {"staff", map[string]string{"STAFF_ISSUER": "https://a.example.com|staff",
			"STAFF_CLIENT_SECRET_NAME": "staff-client-secret"}, ""},
		"an issuer of staff, no client": {"staff", map[string]string{"STAFF_ISSUER": "https://a.example.com"},
			`STAFF_ISSUER has "https://a.example.com", want issuer|client_id`},
		"two secrets of staff": {"staff", map[string]string{"STAFF_CLIENT_SECRET_NAME": "a",
			"STAFF_CLIENT_SECRET": "b"}, "STAFF_CLIENT_SECRET and STAFF_CLIENT_SECRET_NAME are both set"},
		"a contact": {"contact", map[string]string{"CONTACT": " 客服 help@example.com\n"}, ""},
		"a contact of two lines": {"contact", map[string]string{"CONTACT": "a\nb"},
			`CONTACT is "a\nb", want up to 200 characters on one line`},
		"a contact that turns around": {"contact", map[string]string{"CONTACT": "a\u202eb"}, "CONTACT is "},
		"a long contact": {"contact", map[string]string{"CONTACT": strings.Repeat("客", 201)},
			"CONTACT is "},
		"claims of staff": {"staff", map[string]string{"STAFF_CLAIMS": "groups|shop/|email"},
			`STAFF_CLAIMS is "groups|shop/|email", want groups' claim|prefix|person's claim|scopes, and |acr or not`},
		"claims of staff with acr": {"staff", map[string]string{"STAFF_CLAIMS": "groups||sub|openid|mfa"}, ""},
		"six claims of staff": {"staff", map[string]string{"STAFF_CLAIMS": "groups||sub|openid|mfa|x"},
			`STAFF_CLAIMS is "groups||sub|openid|mfa|x", want`},
		"refunds alone": {"alone", map[string]string{"REFUND_ALONE_YUAN": "-1"},
			"REFUND_ALONE_YUAN is -1, want 0 to 1000000"},
		"refunds alone, a day": {"alone", map[string]string{"REFUND_ALONE_DAILY": "-1"},
			"REFUND_ALONE_DAILY is -1, want 0 to 1000000"},
		"kids":             {"tokens", map[string]string{"JWT_KIDS": "a,b,c,d,e,f,g"}, "JWT_KIDS has 7 keys"},
		"hold":             {"hold", map[string]string{"HOLD": "soon"}, "HOLD is not a duration"},
		"short hold":       {"hold", map[string]string{"HOLD": "10s"}, "HOLD is 10s, want 2m0s to 24h0m0s"},
		"short hold, fake": {"hold", map[string]string{"HOLD": "10s", "ALIPAY_FAKE": "true"}, ""},
		"too short, fake":  {"hold", map[string]string{"HOLD": "1s", "ALIPAY_FAKE": "true"}, "HOLD is 1s"},
		"long hold":        {"hold", map[string]string{"HOLD": "25h"}, "HOLD is 25h"},
		"plain gateway": {"alipay", map[string]string{"ALIPAY_GATEWAY": "http://gateway.example.com"},
			"want an absolute https URL"},
		"plain gateway, fake": {"alipay", map[string]string{"ALIPAY_GATEWAY": "http://gateway.example.com",
			"ALIPAY_FAKE": "true"}, ""},
		"notify URL": {"alipay", map[string]string{"ALIPAY_NOTIFY_URL": "/notify"}, "ALIPAY_NOTIFY_URL"},
		"plain gateway, refund": {"alipay", map[string]string{"ALIPAY_GATEWAY": "http://gateway.example.com"},
			"want an absolute https URL"},
		"cashier": {"alipay", map[string]string{"CASHIER_URL": "https://fake.example.com/cashier"},
			"contradicts ALIPAY_FAKE=false"},
		"plain page":       {"page", map[string]string{"PUBLIC_URL": "http://shop.example.com"}, "want an absolute https"},
		"plain page, fake": {"page", map[string]string{"PUBLIC_URL": "http://localhost:1", "ALIPAY_FAKE": "true"}, ""},
		"page with a query": {"page", map[string]string{"PUBLIC_URL": "https://shop.example.com/?x=1"},
			"without ? and #"},
		"page too long": {"page", map[string]string{"PUBLIC_URL": "https://shop.example.com/" +
			strings.Repeat("x", 200)}, "want at most 200 characters"},
		"public key twice": {"verifier", map[string]string{"ALIPAY_PUBLIC_KEY": "x"},
			"ALIPAY_PUBLIC_KEY and ALIPAY_PUBLIC_KEY_NAME are both set"},
		"root, no certificate": {"verifier", map[string]string{"ALIPAY_PUBLIC_KEY_NAME": "",
			"ALIPAY_ROOT_CERT_NAME": "/root"}, "settings: ALIPAY_CERT_NAME is missing (ALIPAY_CERT will do)"},
		"certificate, no root": {"verifier", map[string]string{"ALIPAY_PUBLIC_KEY_NAME": "", "ALIPAY_CERT": "x"},
			"settings: ALIPAY_ROOT_CERT_NAME is missing (ALIPAY_ROOT_CERT will do)"},
		// notify does not know it
		"certificate, app's": {"verifier", map[string]string{"ALIPAY_APP_CERT_NAME": "/app"}, ""},
		"key and certificates": {"verifier", map[string]string{"ALIPAY_CERT_NAME": "/c",
			"ALIPAY_ROOT_CERT_NAME": "/root"}, "settings: ALIPAY_PUBLIC_KEY and ALIPAY_CERT are both set, want either"},
		"key and root": {"verifier", map[string]string{"ALIPAY_ROOT_CERT": "x"},
			"settings: ALIPAY_CERT_NAME is missing (ALIPAY_CERT will do); ALIPAY_PUBLIC_KEY and ALIPAY_ROOT_CERT are " +
				"both set"},
		"certificate twice": {"verifier", map[string]string{"ALIPAY_PUBLIC_KEY_NAME": "", "ALIPAY_CERT": "x",
			"ALIPAY_CERT_NAME": "/c", "ALIPAY_ROOT_CERT": "x"},
			"settings: ALIPAY_CERT and ALIPAY_CERT_NAME are both set"},
		"private key twice": {"alipay", map[string]string{"ALIPAY_PRIVATE_KEY": "x"},
			"ALIPAY_PRIVATE_KEY and ALIPAY_PRIVATE_KEY_NAME are both set"},
		"nothing is pushed": {"pushes", map[string]string{"CONNECTIONS_URL": ""}, ""},
		"connections by wss": {"pushes", map[string]string{"CONNECTIONS_URL": "wss://a.example.com/live"},
			`CONNECTIONS_URL is "wss://a.example.com/live", want an absolute https or http URL`},
		"no WebSocket API":   {"websocket", map[string]string{"CONNECTIONS_URL": "live"}, `CONNECTIONS_URL is "live"`},
		"push":               {"push", map[string]string{"PUSH_URL": "wss://a.example.com/live"}, ""},
		"push, this machine": {"push", map[string]string{"PUSH_URL": "ws://127.0.0.1:4566/live"}, ""},
		"push by https": {"push", map[string]string{"PUSH_URL": "https://a.example.com"},
			`PUSH_URL is "https://a.example.com", want an absolute wss or ws URL`},
		"origin":             {"cors", map[string]string{"CORS_ORIGIN": "https://shop.example.com"}, ""},
		"origin, any":        {"cors", map[string]string{"CORS_ORIGIN": "*"}, ""},
		"origin with a port": {"cors", map[string]string{"CORS_ORIGIN": "http://localhost:8100"}, ""},
		"origin of numbers":  {"cors", map[string]string{"CORS_ORIGIN": "http://[::1]:8100"}, ""},
		"gateway's key twice": {"gateway", map[string]string{"GATEWAY_PRIVATE_KEY": "x"},
			"GATEWAY_PRIVATE_KEY and GATEWAY_PRIVATE_KEY_NAME are both set"},
		"gateway's own URL": {"gateway", map[string]string{"ALIPAY_GATEWAY": "/gateway.do"},
			`ALIPAY_GATEWAY is "/gateway.do", want an absolute http or https URL`},
		"gateway elsewhere": {"gateway", map[string]string{"ALIPAY_GATEWAY": "https://gateway.example.com/"},
			"want an http or https URL that ends in /gateway.do"},
		"gateway over http": {"gateway", map[string]string{"ALIPAY_GATEWAY": "http://127.0.0.1/gateway.do"}, ""},
		"way back": {"gateway", map[string]string{"CASHIER_RETURN_URL": "javascript:alert(1)"},
			"CASHIER_RETURN_URL"},
		"no way back":     {"gateway", map[string]string{"CASHIER_RETURN_URL": ""}, ""},
		"empty kids":      {"tokens", map[string]string{"JWT_KIDS": ""}, ""},
		"empty namespace": {"base", map[string]string{"METRICS_NAMESPACE": ""}, ""},
		"empty booleans":  {"redis", map[string]string{"REDIS_TLS": "", "REDIS_CLUSTER": ""}, ""},
		"several at once": {"redis", map[string]string{"REDIS_ADDRS": "x,y"},
			`REDIS_ADDRS has "x", want host:port; REDIS_ADDRS has "y", want host:port; REDIS_ADDRS has several`},
	} {
		environ := maps.Clone(full)
		maps.Copy(environ, c.set)
		err := parts[c.part](environ)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %s with %v: %v, want %q", name, c.part, c.set, err, c.want)
		}
	}
}

// A value that no browser sends as its origin would block the storefront without any message.
func TestOriginsThatNoBrowserSends(t *testing.T) {
	for _, origin := range []string{
		"shop.example.com", "https://", "https://shop.example.com/", "https://shop.example.com/app",
		"https://shop.example.com?", "https://shop.example.com#x", "https://a.example,https://b.example",
		"https://a.example https://b.example", "https://*.example.com", "https://me@shop.example.com",
		"HTTPS://shop.example.com", "https://Shop.example.com", "https://shop.example.com:443",
		"http://shop.example.com:80", "https://shop.example.com:", "https://:8100", "https://商店.example",
		"ftp://shop.example.com", "null", "https://shop.example.com\r\nSet-Cookie: a=b", " *",
	} {
		environ := maps.Clone(full)
		environ["CORS_ORIGIN"] = origin
		if err := parts["cors"](environ); err == nil || !strings.Contains(err.Error(), "CORS_ORIGIN is ") ||
			strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("the origin %q: %v, want one line with the setting's name", origin, err)
		}
	}
}

// Certificate mode needs all three certificates and no public key.
func TestAlipaysKeyComesInOneOfTwoWays(t *testing.T) {
	names := []string{"ALIPAY_APP_CERT_NAME", "ALIPAY_CERT_NAME", "ALIPAY_ROOT_CERT_NAME"}
	for mask := range 1 << len(names) {
		for _, key := range []bool{false, true} {
			environ := maps.Clone(full)
			var want []string
			if !key {
				delete(environ, "ALIPAY_PUBLIC_KEY_NAME")
			}
			for i, name := range names {
				if mask&(1<<i) != 0 {
					environ[name] = "/certificate"
				} else if mask != 0 {
					want = append(want, name+" is missing")
				}
			}
			switch {
			case mask == 0 && !key:
				want = append(want, "ALIPAY_PUBLIC_KEY_NAME is missing")
			case mask != 0 && key:
				want = append(want, "are both set, want either the key or certificates")
			}
			err := parts["alipay"](environ)
			if (err != nil) != (len(want) > 0) || err != nil && strings.Count(err.Error(), "; ") != len(want)-1 {
				t.Errorf("certificates %03b, key %v: %v, want %q", mask, key, err, want)
			}
			for _, w := range want {
				if err != nil && !strings.Contains(err.Error(), w) {
					t.Errorf("certificates %03b, key %v: %v, want %q", mask, key, err, w)
				}
			}
		}
	}
}

func TestErrorsShowNoSecret(t *testing.T) {
	environ := maps.Clone(full)
	maps.Copy(environ, map[string]string{"JWT_SECRET": "tell-nobody", "REDIS_PASSWORD": "tell-nobody",
		"ALIPAY_PRIVATE_KEY": "tell-nobody"})
	for _, name := range []string{"tokens", "redis", "alipay"} {
		if err := parts[name](environ); err == nil || strings.Contains(err.Error(), "tell-nobody") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	environ := maps.Clone(full)
	delete(environ, "HOLD")
	delete(environ, "METRICS_NAMESPACE")
	hold := must.Get(config.Part[config.Hold](environ))
	must.Equal(t, 15*time.Minute, hold.Time)
	base := must.Get(config.Part[config.Base](environ))
	must.Equal(t, "seckill", base.Namespace)
	for name, read := range parts {
		if err := read(full); err != nil && name != "webhook" { // the only variable that full lacks
			t.Errorf("%s with every setting: %v", name, err)
		}
	}
}

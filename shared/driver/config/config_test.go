package config_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/config"
)

// full has every setting that a function may have, as a template sets it.
var full = map[string]string{
	"TABLE_PREFIX": "seckill-", "REDIS_ADDRS": "127.0.0.1:6379", "REDIS_TLS": "true",
	"REDIS_PASSWORD_NAME": "/seckill/redis", "REDIS_USERNAME": "app",
	"ORDERS_QUEUE_URL":               "https://sqs.eu-central-1.amazonaws.com/1/orders",
	"ORDERS_DEAD_LETTER_QUEUE_URL":   "https://sqs.eu-central-1.amazonaws.com/1/orders-dead",
	"CLOSINGS_QUEUE_URL":             "https://sqs.eu-central-1.amazonaws.com/1/closings",
	"CLOSINGS_DEAD_LETTER_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/1/closings-dead",
	"JWT_SECRET_NAME":                "/seckill/jwt", "JWT_KIDS": "2026,2027", "SECRETS": "/seckill/test/all",
	"ALIPAY_APP_ID": "2021000000000001", "ALIPAY_SELLER_ID": "2088000000000001",
	"ALIPAY_GATEWAY":          "https://openapi.alipay.com/gateway.do",
	"ALIPAY_NOTIFY_URL":       "https://shop.example.com/seckill/alipay/notify",
	"ALIPAY_PRIVATE_KEY_NAME": "/seckill/alipay/private", "ALIPAY_PUBLIC_KEY_NAME": "/seckill/alipay/public",
	"HOLD": "20m", "METRICS_NAMESPACE": "seckill-test",
	"GATEWAY_PRIVATE_KEY_NAME":    "/seckill/gateway/private",
	"ALIPAY_SHOP_PUBLIC_KEY_NAME": "/seckill/alipay/shop-public", "CASHIER_RETURN_URL": "https://shop.example.com/",
	"PUBLIC_URL": "https://shop.example.com/live", "CONNECTIONS_URL": "https://x.example.com/live",
	"EVENT_BUS": "seckill", "TICKET_SECRET_NAME": "ticket-secret",
	"REPORT_SALTS_NAME": "report-salts",
	"COMMAND_KEY_NAME":  "command-key", "COMMAND_PUBLIC_KEY_NAME": "command-public-key",
}

func read[T any](environ map[string]string) error {
	_, err := config.Read[T](environ)
	return err
}

var functions = map[string]func(map[string]string) error{
	"buy": read[config.Buy], "consume": read[config.Consume], "notify": read[config.Notify],
	"expire": read[config.Expire],
	"refund": read[config.Refund], "stage": read[config.Stage], "repair": read[config.Repair],
	"shop": read[config.Shop], "pay": read[config.Pay], "gateway": read[config.Gateway],
	"signin": read[config.Signin], "connect": read[config.Connect],
	"tell": read[config.Tell], "admit": read[config.Admit],
	"admin": read[config.Admin], "acts": read[config.Acts],
}

// needs lists the settings without which a function does not start.
var needs = map[string][]string{
	"buy":   {"TABLE_PREFIX", "REDIS_ADDRS", "ORDERS_QUEUE_URL", "JWT_SECRET_NAME", "TICKET_SECRET_NAME"},
	"admit": {"TABLE_PREFIX", "JWT_SECRET_NAME", "TICKET_SECRET_NAME"},
	"consume": {"TABLE_PREFIX", "REDIS_ADDRS", "ORDERS_QUEUE_URL", "ORDERS_DEAD_LETTER_QUEUE_URL",
		"CLOSINGS_QUEUE_URL"},
	"notify": {"TABLE_PREFIX", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_PUBLIC_KEY_NAME"},
	"expire": {"TABLE_PREFIX", "ORDERS_QUEUE_URL", "CLOSINGS_QUEUE_URL", "CLOSINGS_DEAD_LETTER_QUEUE_URL",
		"ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_GATEWAY",
		"ALIPAY_NOTIFY_URL", "ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME"},
	"refund": {"TABLE_PREFIX", "ORDERS_QUEUE_URL", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_GATEWAY",
		"ALIPAY_NOTIFY_URL", "ALIPAY_PRIVATE_KEY_NAME",
		"ALIPAY_PUBLIC_KEY_NAME", "COMMAND_PUBLIC_KEY_NAME"},
	"stage":  {"TABLE_PREFIX", "REDIS_ADDRS", "COMMAND_PUBLIC_KEY_NAME"},
	"repair": {"TABLE_PREFIX", "REDIS_ADDRS", "ORDERS_QUEUE_URL", "COMMAND_PUBLIC_KEY_NAME"},
	"acts":   {"TABLE_PREFIX", "COMMAND_PUBLIC_KEY_NAME"},
	"admin": {"TABLE_PREFIX", "COMMAND_KEY_NAME", "PUBLIC_URL", "ORDERS_QUEUE_URL",
		"ORDERS_DEAD_LETTER_QUEUE_URL", "CLOSINGS_QUEUE_URL", "CLOSINGS_DEAD_LETTER_QUEUE_URL"},
	"tell": {"TABLE_PREFIX", "EVENT_BUS", "COMMAND_PUBLIC_KEY_NAME"}, "signin": {"TABLE_PREFIX", "JWT_SECRET_NAME"},
	"connect": {"TABLE_PREFIX", "JWT_SECRET_NAME", "CONNECTIONS_URL"},
	"shop": {"TABLE_PREFIX", "REDIS_ADDRS", "CLOSINGS_QUEUE_URL", "JWT_SECRET_NAME", "ALIPAY_APP_ID",
		"ALIPAY_SELLER_ID", "ALIPAY_GATEWAY",
		"ALIPAY_NOTIFY_URL", "ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME"},
	"pay": {"TABLE_PREFIX", "JWT_SECRET_NAME", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_GATEWAY",
		"ALIPAY_NOTIFY_URL", "ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME", "PUBLIC_URL"},
	"gateway": {"TABLE_PREFIX", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "GATEWAY_PRIVATE_KEY_NAME",
		"ALIPAY_SHOP_PUBLIC_KEY_NAME"},
}

func TestEachFunctionNamesTheSettingThatIsMissing(t *testing.T) {
	for name, read := range functions {
		if err := read(full); err != nil {
			t.Errorf("%s with every setting: %v", name, err)
		}
		for setting := range full {
			less := maps.Clone(full)
			delete(less, setting)
			if setting == "JWT_SECRET_NAME" {
				delete(less, "JWT_KIDS") // one of the two is enough
			}
			if setting == "REDIS_PASSWORD_NAME" {
				delete(less, "REDIS_USERNAME")
			}
			err := read(less)
			needed := slices.Contains(needs[name], setting)
			if needed != (err != nil) {
				t.Errorf("%s without %s: %v, needed %v", name, setting, err, needed)
			}
			if err != nil && (!strings.Contains(err.Error(), setting+" is missing") ||
				strings.Contains(err.Error(), "\n")) {
				t.Errorf("%s without %s: %q, want one line with its name", name, setting, err)
			}
		}
	}
}

func TestWrongAndContradictorySettings(t *testing.T) {
	for name, c := range map[string]struct {
		function string
		set      map[string]string
		want     string // "": accepted
	}{
		"prefix":       {"stage", map[string]string{"TABLE_PREFIX": "a b"}, `TABLE_PREFIX is "a b"`},
		"empty prefix": {"stage", map[string]string{"TABLE_PREFIX": ""}, "TABLE_PREFIX is empty"},
		"namespace":    {"stage", map[string]string{"METRICS_NAMESPACE": "a b"}, `METRICS_NAMESPACE is "a b"`},
		"no port": {"stage", map[string]string{"REDIS_ADDRS": "redis"},
			`REDIS_ADDRS has "redis", want host:port`},
		"boolean": {"stage", map[string]string{"REDIS_TLS": "perhaps"}, "REDIS_TLS is not a boolean"},
		"several, no cluster": {"stage", map[string]string{"REDIS_ADDRS": "a:1,b:2"},
			"contradicts REDIS_CLUSTER=false"},
		"several, cluster": {"stage", map[string]string{"REDIS_ADDRS": "a:1,b:2", "REDIS_CLUSTER": "true"}, ""},
		"two passwords": {"stage", map[string]string{"REDIS_PASSWORD": "x"},
			"REDIS_PASSWORD and REDIS_PASSWORD_NAME are both set"},
		"user, no password": {"stage", map[string]string{"REDIS_PASSWORD_NAME": ""}, "REDIS_USERNAME is set"},
		"queue": {"buy", map[string]string{"ORDERS_QUEUE_URL": "orders"},
			`ORDERS_QUEUE_URL is "orders"`},
		"dead-letter queue": {"consume", map[string]string{"ORDERS_DEAD_LETTER_QUEUE_URL": "x"},
			`ORDERS_DEAD_LETTER_QUEUE_URL is "x"`},
		"two token secrets": {"buy", map[string]string{"JWT_SECRET": "s"},
			"JWT_SECRET and JWT_SECRET_NAME are both set"},
		"empty kid": {"buy", map[string]string{"JWT_KIDS": "2026,"},
			`JWT_KIDS has "", want 1 to 64 letters`},
		"kid with a sign": {"buy", map[string]string{"JWT_KIDS": "2026=x"},
			`JWT_KIDS has "2026=x", want 1 to 64 letters`},
		"no issuer": {"signin", map[string]string{"SIGNIN_ISSUERS": ""}, ""},
		"issuers": {"signin", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com|shop,https://a.example.com|app," +
			"https://b.example.com/pool|shop|http://127.0.0.1:4566/pool"}, ""},
		"issuer, no client": {"signin", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com"},
			`SIGNIN_ISSUERS has "https://a.example.com", want issuer|client_id`},
		"issuer, empty client": {"signin", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com||https://b.example.com"},
			`SIGNIN_ISSUERS has "https://a.example.com||https://b.example.com", want`},
		"issuer, empty metadata": {"signin", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com|shop|"},
			`SIGNIN_ISSUERS has "https://a.example.com|shop|", want`},
		"issuer, four parts": {"signin", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com|shop|https://b|c"},
			"SIGNIN_ISSUERS has"},
		"issuer, no URL": {"signin", map[string]string{"SIGNIN_ISSUERS": "a.example.com|shop"},
			`SIGNIN_ISSUERS is "a.example.com", want an absolute http or https URL`},
		"metadata, no URL": {"signin", map[string]string{"SIGNIN_ISSUERS": "https://a.example.com|shop|ftp://b"},
			`SIGNIN_ISSUERS is "ftp://b", want`},
		"eleven issuers": {"signin", map[string]string{"SIGNIN_ISSUERS": strings.Repeat(",https://a.example.com|shop",
			11)[1:]}, "SIGNIN_ISSUERS has 11 issuers, want at most 10"},
		"no issuer of staff": {"admin", map[string]string{"STAFF_ISSUER": ""}, ""},
		"an issuer of staff": {"admin", map[string]string{"STAFF_ISSUER": "https://a.example.com|staff",
			"STAFF_CLIENT_SECRET_NAME": "staff-client-secret"}, ""},
		"an issuer of staff, no client": {"admin", map[string]string{"STAFF_ISSUER": "https://a.example.com"},
			`STAFF_ISSUER has "https://a.example.com", want issuer|client_id`},
		"two secrets of staff": {"admin", map[string]string{"STAFF_CLIENT_SECRET_NAME": "a",
			"STAFF_CLIENT_SECRET": "b"},
			"STAFF_CLIENT_SECRET and STAFF_CLIENT_SECRET_NAME are both set"},
		"claims of staff": {"admin", map[string]string{"STAFF_CLAIMS": "groups|shop/|email"},
			`STAFF_CLAIMS is "groups|shop/|email", want groups' claim|prefix|person's claim|scopes`},
		"refunds alone": {"refund", map[string]string{"REFUND_ALONE_YUAN": "-1"},
			"REFUND_ALONE_YUAN is -1, want 0 to 1000000"},
		"refunds alone, a day": {"refund", map[string]string{"REFUND_ALONE_DAILY": "-1"},
			"REFUND_ALONE_DAILY is -1, want 0 to 1000000"},
		"kids":             {"buy", map[string]string{"JWT_KIDS": "a,b,c,d,e,f,g"}, "JWT_KIDS has 7 keys"},
		"hold":             {"consume", map[string]string{"HOLD": "soon"}, "HOLD is not a duration"},
		"short hold":       {"consume", map[string]string{"HOLD": "10s"}, "HOLD is 10s, want 2m0s to 24h0m0s"},
		"short hold, fake": {"consume", map[string]string{"HOLD": "10s", "ALIPAY_FAKE": "true"}, ""},
		"too short, fake":  {"consume", map[string]string{"HOLD": "1s", "ALIPAY_FAKE": "true"}, "HOLD is 1s"},
		"long hold":        {"consume", map[string]string{"HOLD": "25h"}, "HOLD is 25h"},
		"plain gateway": {"expire", map[string]string{"ALIPAY_GATEWAY": "http://gateway.example.com"},
			"want an absolute https URL"},
		"plain gateway, fake": {"expire", map[string]string{"ALIPAY_GATEWAY": "http://gateway.example.com",
			"ALIPAY_FAKE": "true"}, ""},
		"notify URL": {"expire", map[string]string{"ALIPAY_NOTIFY_URL": "/notify"}, "ALIPAY_NOTIFY_URL"},
		"plain gateway, refund": {"refund", map[string]string{"ALIPAY_GATEWAY": "http://gateway.example.com"},
			"want an absolute https URL"},
		"cashier": {"shop", map[string]string{"CASHIER_URL": "https://fake.example.com/cashier"},
			"contradicts ALIPAY_FAKE=false"},
		"plain page":       {"pay", map[string]string{"PUBLIC_URL": "http://shop.example.com"}, "want an absolute https"},
		"plain page, fake": {"pay", map[string]string{"PUBLIC_URL": "http://localhost:1", "ALIPAY_FAKE": "true"}, ""},
		"page with a query": {"pay", map[string]string{"PUBLIC_URL": "https://shop.example.com/?x=1"},
			"without ? and #"},
		"page too long": {"pay", map[string]string{"PUBLIC_URL": "https://shop.example.com/" +
			strings.Repeat("x", 200)}, "want at most 200 characters"},
		"public key twice": {"notify", map[string]string{"ALIPAY_PUBLIC_KEY": "x"},
			"ALIPAY_PUBLIC_KEY and ALIPAY_PUBLIC_KEY_NAME are both set"},
		"root, no certificate": {"notify", map[string]string{"ALIPAY_PUBLIC_KEY_NAME": "",
			"ALIPAY_ROOT_CERT_NAME": "/root"}, "settings: ALIPAY_CERT_NAME is missing (ALIPAY_CERT will do)"},
		"certificate, no root": {"notify", map[string]string{"ALIPAY_PUBLIC_KEY_NAME": "", "ALIPAY_CERT": "x"},
			"settings: ALIPAY_ROOT_CERT_NAME is missing (ALIPAY_ROOT_CERT will do)"},
		// notify does not know it
		"certificate, app's": {"notify", map[string]string{"ALIPAY_APP_CERT_NAME": "/app"}, ""},
		"key and certificates": {"notify", map[string]string{"ALIPAY_CERT_NAME": "/c",
			"ALIPAY_ROOT_CERT_NAME": "/root"}, "settings: ALIPAY_PUBLIC_KEY and ALIPAY_CERT are both set, want either"},
		"key and root": {"notify", map[string]string{"ALIPAY_ROOT_CERT": "x"},
			"settings: ALIPAY_CERT_NAME is missing (ALIPAY_CERT will do); ALIPAY_PUBLIC_KEY and ALIPAY_ROOT_CERT are " +
				"both set"},
		"certificate twice": {"notify", map[string]string{"ALIPAY_PUBLIC_KEY_NAME": "", "ALIPAY_CERT": "x",
			"ALIPAY_CERT_NAME": "/c", "ALIPAY_ROOT_CERT": "x"},
			"settings: ALIPAY_CERT and ALIPAY_CERT_NAME are both set"},
		"private key twice": {"expire", map[string]string{"ALIPAY_PRIVATE_KEY": "x"},
			"ALIPAY_PRIVATE_KEY and ALIPAY_PRIVATE_KEY_NAME are both set"},
		"nothing is pushed": {"tell", map[string]string{"CONNECTIONS_URL": ""}, ""},
		"connections by wss": {"tell", map[string]string{"CONNECTIONS_URL": "wss://a.example.com/live"},
			`CONNECTIONS_URL is "wss://a.example.com/live", want an absolute https or http URL`},
		"no door":            {"connect", map[string]string{"CONNECTIONS_URL": "live"}, `CONNECTIONS_URL is "live"`},
		"push":               {"buy", map[string]string{"PUSH_URL": "wss://a.example.com/live"}, ""},
		"push, this machine": {"shop", map[string]string{"PUSH_URL": "ws://127.0.0.1:4566/live"}, ""},
		"push by https": {"shop", map[string]string{"PUSH_URL": "https://a.example.com"},
			`PUSH_URL is "https://a.example.com", want an absolute wss or ws URL`},
		"origin":             {"buy", map[string]string{"CORS_ORIGIN": "https://shop.example.com"}, ""},
		"origin, any":        {"shop", map[string]string{"CORS_ORIGIN": "*"}, ""},
		"origin with a port": {"shop", map[string]string{"CORS_ORIGIN": "http://localhost:8100"}, ""},
		"origin of numbers":  {"shop", map[string]string{"CORS_ORIGIN": "http://[::1]:8100"}, ""},
		"gateway's key twice": {"gateway", map[string]string{"GATEWAY_PRIVATE_KEY": "x"},
			"GATEWAY_PRIVATE_KEY and GATEWAY_PRIVATE_KEY_NAME are both set"},
		"gateway's own URL": {"gateway", map[string]string{"ALIPAY_GATEWAY": "/gateway.do"},
			`ALIPAY_GATEWAY is "/gateway.do", want an absolute http or https URL`},
		"gateway elsewhere": {"gateway", map[string]string{"ALIPAY_GATEWAY": "https://gateway.example.com/"},
			"want an http or https URL that ends in /gateway.do"},
		"gateway over http": {"gateway", map[string]string{"ALIPAY_GATEWAY": "http://127.0.0.1/gateway.do"}, ""},
		"way back": {"gateway", map[string]string{"CASHIER_RETURN_URL": "javascript:alert(1)"},
			"CASHIER_RETURN_URL"},
		"no way back": {"gateway", map[string]string{"CASHIER_RETURN_URL": ""}, ""},
		"empty optional": {"buy", map[string]string{"JWT_KIDS": "", "REDIS_TLS": "", "METRICS_NAMESPACE": "",
			"REDIS_CLUSTER": ""}, ""},
		"several at once": {"buy", map[string]string{"REDIS_ADDRS": "x", "ORDERS_QUEUE_URL": "y"}, "REDIS_ADDRS"},
	} {
		environ := maps.Clone(full)
		maps.Copy(environ, c.set)
		err := functions[c.function](environ)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %s with %v: %v, want %q", name, c.function, c.set, err, c.want)
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
		for _, name := range []string{"buy", "shop"} {
			environ := maps.Clone(full)
			environ["CORS_ORIGIN"] = origin
			if err := functions[name](environ); err == nil || !strings.Contains(err.Error(), "CORS_ORIGIN is ") ||
				strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("%s with the origin %q: %v, want one line with the setting's name", name, origin, err)
			}
		}
	}
}

// Certificate mode needs all three certificates and no public key.
func TestAlipaysKeyComesInOneOfTwoWays(t *testing.T) {
	names := []string{"ALIPAY_APP_CERT_NAME", "ALIPAY_CERT_NAME", "ALIPAY_ROOT_CERT_NAME"}
	for _, function := range []string{"expire", "refund", "shop"} {
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
				err := functions[function](environ)
				if (err != nil) != (len(want) > 0) || err != nil && strings.Count(err.Error(), "; ") != len(want)-1 {
					t.Errorf("%s, certificates %03b, key %v: %v, want %q", function, mask, key, err, want)
				}
				for _, w := range want {
					if err != nil && !strings.Contains(err.Error(), w) {
						t.Errorf("%s, certificates %03b, key %v: %v, want %q", function, mask, key, err, w)
					}
				}
			}
		}
	}
}

func TestErrorsShowNoSecret(t *testing.T) {
	environ := maps.Clone(full)
	maps.Copy(environ, map[string]string{"JWT_SECRET": "tell-nobody", "REDIS_PASSWORD": "tell-nobody",
		"ALIPAY_PRIVATE_KEY": "tell-nobody", "METRICS_NAMESPACE": " "})
	for name, read := range functions {
		if err := read(environ); err == nil || strings.Contains(err.Error(), "tell-nobody") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	environ := maps.Clone(full)
	delete(environ, "HOLD")
	delete(environ, "METRICS_NAMESPACE")
	s, err := config.Read[config.Consume](environ)
	if err != nil || s.Hold.Time != 15*time.Minute || s.Namespace != "seckill" || s.Redis.Cluster || !s.Redis.TLS {
		t.Errorf("%+v, %v", s, err)
	}
}

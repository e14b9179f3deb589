package functions_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/drivertest/alipaytest"
)

// TestBadSettingsEndInitWithTheirName checks that a setting of each part that cannot be used ends init, which names the
// variable, and the secret if there is one, and shows none. What else is wrong is in the tests of packages config and
// alipay.
func TestBadSettingsEndInitWithTheirName(t *testing.T) {
	w := newDeployment(t)
	certified := func(changes ...string) []string { return append(w.certificates(t), changes...) }
	// as if the shop were Alipay
	stranger := alipaytest.Make(t, keys()[1], keys()[0], time.Now().AddDate(0, -1, 0), time.Now().AddDate(0, 1, 0))
	w.aws.SetSecret("stranger/app", stranger.App)
	w.aws.SetSecret("stranger/alipay", stranger.Alipay)
	const private, public = "alipay-private-key", "alipay-public-key"
	const ours, shops = "gateway-private-key", "alipay-shop-public-key"
	cannot := func(variable, name, what string) string {
		return "settings: " + variable + `_NAME names the secret "` + name + `", which cannot be used: ` + what
	}
	for _, c := range []struct {
		step    string
		changes []string
		want    string
	}{
		{"buy", []string{"TABLE_PREFIX", ""}, "settings: TABLE_PREFIX is empty"},
		{"buy", []string{"LOG_LEVEL", "loud"}, "settings: LOG_LEVEL is"},
		{"buy", []string{"AWS_REGION", ""}, "settings: AWS_REGION is missing"},
		{"buy", []string{"SECRETS", ""}, "settings: SECRETS is missing"},
		{"buy", []string{"SECRETS", "/nowhere"}, "settings: cannot read the secret /nowhere"},
		{"buy", []string{"JWT_SECRET_NAME", "nowhere"},
			`settings: JWT_SECRET_NAME names the secret "nowhere", which does not exist`},
		{"buy", []string{"JWT_AUDIENCE_FROM", "soon"}, "settings: JWT_AUDIENCE_FROM: want a date"},
		{"signin", []string{"JWT_AUDIENCE_FROM_NAME", "jwt-secret"}, cannot("JWT_AUDIENCE_FROM", "jwt-secret",
			"want a date")},
		{"buy", []string{"CORS_ORIGIN", storefront + "/"}, "settings: CORS_ORIGIN is"},
		{"consume", []string{"HOLD", "1s"}, "settings: HOLD is 1s"},
		{"stage", []string{"REDIS_ADDRS", "redis"}, `settings: REDIS_ADDRS has "redis", want host:port`},
		{"repair", []string{"ORDERS_QUEUE_URL", "orders"}, "settings: ORDERS_QUEUE_URL is"},
		{"repair", []string{"ADDRESS_RETENTION_DAYS", "29"},
			"settings: ADDRESS_RETENTION_DAYS is 29, want 0, or at least 30"},
		{"signin", []string{"SIGNIN_ISSUERS", "http://id.example.com|shop"}, "settings: SIGNIN_ISSUERS: oidc: issuer"},
		{"signin", []string{"SIGNIN_CLIENT_SECRETS_NAME", "jwt-secret"}, cannot("SIGNIN_CLIENT_SECRETS", "jwt-secret",
			"line 1: want issuer")},
		{"shop", []string{"ALIPAY_FAKE", "false"}, "settings: ALIPAY_GATEWAY is"},
		{"pay", []string{"PUBLIC_URL", ""}, "settings: PUBLIC_URL is empty"},
		{"admin", []string{"COMMAND_KEY_NAME", "jwt-secret"}, cannot("COMMAND_KEY", "jwt-secret",
			"operator: command key 1")},
		{"tell", []string{"COMMAND_PUBLIC_KEY_NAME", "jwt-secret"}, cannot("COMMAND_PUBLIC_KEY", "jwt-secret",
			"operator: command key 1")},

		{"notify", []string{"ALIPAY_PUBLIC_KEY_NAME", private},
			cannot("ALIPAY_PUBLIC_KEY", private, "not a public key")},
		{"notify", []string{"ALIPAY_PUBLIC_KEY_NAME", "", "ALIPAY_PUBLIC_KEY", "x"}, "settings: ALIPAY_PUBLIC_KEY: "},
		{"notify", []string{"ALIPAY_APP_ID", strings.Repeat("2", 33)}, "settings: ALIPAY_APP_ID: want 1 to 32"},
		{"notify", []string{"ALIPAY_SELLER_ID", strings.Repeat("2", 33)}, "settings: ALIPAY_SELLER_ID: want 1 to 32"},
		{"notify", certified("ALIPAY_CERT_NAME", public), cannot("ALIPAY_CERT", public, "not a certificate")},
		{"notify", certified("ALIPAY_ROOT_CERT_NAME", private), cannot("ALIPAY_ROOT_CERT", private, "a private key")},
		// shop only signs: it does not look at Alipay's key
		{"shop", []string{"ALIPAY_PRIVATE_KEY_NAME", public},
			cannot("ALIPAY_PRIVATE_KEY", public, "not a private key")},
		{"shop", certified("ALIPAY_APP_CERT_NAME", "stranger/app"), cannot("ALIPAY_APP_CERT", "stranger/app",
			"it is not the private key's")},
		{"shop", []string{"ALIPAY_NOTIFY_URL", "https://shop.example/" + strings.Repeat("x", 256)},
			"settings: ALIPAY_NOTIFY_URL: want at most 256 characters"},
		{"pay", []string{"ALIPAY_PRIVATE_KEY_NAME", "jwt-secret"}, cannot("ALIPAY_PRIVATE_KEY", "jwt-secret", "")},
		{"expire", []string{"ALIPAY_PUBLIC_KEY_NAME", shops}, cannot("ALIPAY_PUBLIC_KEY", shops,
			"this is the app's own")},
		{"refund", []string{"ALIPAY_PRIVATE_KEY_NAME", public}, cannot("ALIPAY_PRIVATE_KEY", public,
			"not a private key")},
		{"reconcile", certified("ALIPAY_CERT_NAME", "stranger/alipay"), cannot("ALIPAY_CERT", "stranger/alipay",
			"this is the app's own")},
		{"gateway", []string{"GATEWAY_PRIVATE_KEY_NAME", shops}, cannot("GATEWAY_PRIVATE_KEY", shops,
			"not a private key but a public key")},
		{"gateway", []string{"ALIPAY_SHOP_PUBLIC_KEY_NAME", ours}, cannot("ALIPAY_SHOP_PUBLIC_KEY", ours,
			"not a public key but a private key")},
		{"gateway", []string{"CASHIER_RETURN_URL", "/"}, "settings: CASHIER_RETURN_URL"},
		{"gateway", []string{"ALIPAY_GATEWAY", "http://api.example/"}, `settings: ALIPAY_GATEWAY is`},
		{"gateway", []string{"GATEWAY_FAULTS", "none=1"}, "settings: GATEWAY_FAULTS"},
	} {
		text := w.start(t, c.step, c.changes...).InitError()
		var said struct{ ErrorMessage, ErrorType string }
		if err := json.Unmarshal([]byte(text), &said); err != nil || !strings.HasPrefix(said.ErrorMessage, c.want) ||
			said.ErrorType != "Runtime.InitFailed" {
			t.Errorf("%s with %q: %s, want %s", c.step, c.changes, text, c.want)
		}
		for name, value := range secrets() {
			for line := range strings.Lines(value) {
				if strings.Contains(text, strings.TrimSpace(line)) {
					t.Errorf("%s with %q: shows %s", c.step, c.changes, name)
				}
			}
		}
	}
}

// needs has the settings without which a function does not start, beside AWS's and the table prefix.
var needs = map[string][]string{
	"buy":     {"REDIS_ADDRS", "ORDERS_QUEUE_URL", "JWT_SECRET_NAME", "TICKET_SECRET_NAME"},
	"admit":   {"JWT_SECRET_NAME", "TICKET_SECRET_NAME"},
	"consume": {"REDIS_ADDRS", "ORDERS_QUEUE_URL", "ORDERS_DEAD_LETTER_QUEUE_URL", "CLOSINGS_QUEUE_URL"},
	"notify":  {"ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_PUBLIC_KEY_NAME"},
	"expire": {"ORDERS_QUEUE_URL", "CLOSINGS_QUEUE_URL", "CLOSINGS_DEAD_LETTER_QUEUE_URL", "ALIPAY_APP_ID",
		"ALIPAY_SELLER_ID", "ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL", "ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME"},
	"refund": {"ORDERS_QUEUE_URL", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL",
		"ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME", "COMMAND_PUBLIC_KEY_NAME"},
	"reconcile": {"ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL",
		"ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME", "COMMAND_PUBLIC_KEY_NAME"},
	"stage":  {"REDIS_ADDRS", "COMMAND_PUBLIC_KEY_NAME"},
	"repair": {"REDIS_ADDRS", "ORDERS_QUEUE_URL", "COMMAND_PUBLIC_KEY_NAME"},
	"acts":   {"COMMAND_PUBLIC_KEY_NAME"},
	"admin": {"COMMAND_KEY_NAME", "PUBLIC_URL", "ORDERS_QUEUE_URL", "ORDERS_DEAD_LETTER_QUEUE_URL",
		"CLOSINGS_QUEUE_URL", "CLOSINGS_DEAD_LETTER_QUEUE_URL"},
	"tell":    {"EVENT_BUS", "COMMAND_PUBLIC_KEY_NAME"},
	"deliver": {"WEBHOOK_URL", "WEBHOOK_SECRET_NAME", "COMMAND_PUBLIC_KEY_NAME"},
	"signin":  {"JWT_SECRET_NAME"},
	"connect": {"JWT_SECRET_NAME", "CONNECTIONS_URL"},
	"shop": {"REDIS_ADDRS", "CLOSINGS_QUEUE_URL", "JWT_SECRET_NAME", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID",
		"ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL", "ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME"},
	"pay": {"JWT_SECRET_NAME", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL",
		"ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME", "PUBLIC_URL"},
	"gateway": {"ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "GATEWAY_PRIVATE_KEY_NAME", "ALIPAY_SHOP_PUBLIC_KEY_NAME"},
}

// A function starts with what it needs and nothing else. Without it, init names all that is missing, in one line.
func TestEachFunctionNamesTheSettingsThatAreMissing(t *testing.T) {
	w := newDeployment(t)
	always := []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "SECRETS",
		"ALIPAY_FAKE", "REDIS_PASSWORD_NAME"}
	for _, step := range append(steps, "gateway") {
		needed := append(needs[step], "TABLE_PREFIX")
		only := map[string]string{"GATEWAY_PRIVATE_KEY_NAME": "gateway-private-key",
			"ALIPAY_SHOP_PUBLIC_KEY_NAME": "alipay-shop-public-key"}
		for name, value := range w.environ {
			if slices.Contains(always, name) || slices.Contains(needed, name) {
				only[name] = value
			}
		}
		lambdatest.Start(t, binary(t, step), only).Ready()
		for _, secrets := range []bool{true, false} { // a part names its secrets once the rest is there
			less := maps.Clone(only)
			maps.DeleteFunc(less, func(name, _ string) bool {
				return strings.HasSuffix(name, "_NAME") == secrets && slices.Contains(needed, name)
			})
			if len(less) == len(only) {
				continue
			}
			msg := lambdatest.Start(t, binary(t, step), less).InitError()
			for name := range only {
				if less[name] == "" && !strings.Contains(msg, name+" is missing") || strings.Contains(msg, `\n`) {
					t.Errorf("%s without %s: %s, want one line with its name", step, name, msg)
				}
			}
		}
	}
}

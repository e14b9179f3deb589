package functions_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/alipaytest"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// A key that is missing, of another kind, or not part of the pair ends init, which names the variable, and the
// parameter if there is one.
func TestBadKeysEndInitWithTheirName(t *testing.T) {
	w := newDeployment(t)
	certified := w.certificates(t)
	// as if the shop were Alipay
	stranger := alipaytest.Make(t, keys()[1], keys()[0], time.Now().AddDate(0, -1, 0), time.Now().AddDate(0, 1, 0))
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.OK(t, err)
	pemOf := func(kind string, der []byte, err error) string {
		must.OK(t, err)
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	der, err := x509.MarshalPKCS8PrivateKey(curve)
	ecPrivate := pemOf("PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(&curve.PublicKey)
	ecPublic := pemOf("PUBLIC KEY", der, err)
	for name, text := range map[string]string{"ec/private": ecPrivate, "ec/public": ecPublic,
		"stranger/app": stranger.App, "stranger/alipay": stranger.Alipay} {
		w.aws.SetSecret(name, text)
	}
	const private, public = "alipay-private-key", "alipay-public-key"
	cannot := func(variable, param, what string) string {
		return "settings: " + variable + `_NAME names the secret "` + param + `", which cannot be used: ` + what
	}
	absent := func(variable string) string {
		return "settings: " + variable + `_NAME names the secret "nowhere", which does not exist`
	}
	type bad struct {
		changes []string
		want    string
	}
	verifies := []bad{
		{[]string{"ALIPAY_PUBLIC_KEY_NAME", ""}, "settings: ALIPAY_PUBLIC_KEY_NAME is missing"},
		{[]string{"ALIPAY_PUBLIC_KEY_NAME", "nowhere"}, absent("ALIPAY_PUBLIC_KEY")},
		{[]string{"ALIPAY_PUBLIC_KEY_NAME", private}, cannot("ALIPAY_PUBLIC_KEY", private,
			"not a public key but a private key")},
		{[]string{"ALIPAY_PUBLIC_KEY_NAME", "ec/public"}, cannot("ALIPAY_PUBLIC_KEY", "ec/public", "not an RSA key")},
		{[]string{"ALIPAY_PUBLIC_KEY_NAME", "stranger/alipay"}, cannot("ALIPAY_PUBLIC_KEY", "stranger/alipay",
			"not one whole PEM block")},
		{[]string{"ALIPAY_PUBLIC_KEY_NAME", "stranger/app"}, cannot("ALIPAY_PUBLIC_KEY", "stranger/app",
			"not a public key but a certificate")},
		{[]string{"ALIPAY_PUBLIC_KEY_NAME", "", "ALIPAY_PUBLIC_KEY", ecPublic},
			"settings: ALIPAY_PUBLIC_KEY: not an RSA key"},
		{[]string{"ALIPAY_APP_ID", strings.Repeat("2", 33)}, "settings: ALIPAY_APP_ID: want 1 to 32 characters"},
		{[]string{"ALIPAY_SELLER_ID", strings.Repeat("2", 33)}, "settings: ALIPAY_SELLER_ID: want 1 to 32 characters"},
		{append(slices.Clone(certified), "ALIPAY_CERT_NAME", ""), "settings: ALIPAY_CERT_NAME is missing"},
		{append(slices.Clone(certified), "ALIPAY_CERT_NAME", "nowhere"), absent("ALIPAY_CERT")},
		{append(slices.Clone(certified), "ALIPAY_CERT_NAME", public), cannot("ALIPAY_CERT", public,
			"not a certificate")},
		{append(slices.Clone(certified), "ALIPAY_ROOT_CERT_NAME", private), cannot("ALIPAY_ROOT_CERT", private,
			"a private key stands where a certificate belongs")},
		{append(slices.Clone(certified), "ALIPAY_ROOT_CERT_NAME", "stranger/app"),
			cannot("ALIPAY_CERT", "ALIPAY_CERT_NAME", "not under Alipay's root certificate")},
	}
	signs := []bad{
		{[]string{"ALIPAY_PRIVATE_KEY_NAME", ""}, "settings: ALIPAY_PRIVATE_KEY_NAME is missing"},
		{[]string{"ALIPAY_PRIVATE_KEY_NAME", "nowhere"}, absent("ALIPAY_PRIVATE_KEY")},
		{[]string{"ALIPAY_PRIVATE_KEY_NAME", public}, cannot("ALIPAY_PRIVATE_KEY", public,
			"not a private key but a public key")},
		{[]string{"ALIPAY_PRIVATE_KEY_NAME", "ec/private"}, cannot("ALIPAY_PRIVATE_KEY", "ec/private",
			"not an RSA key")},
		{[]string{"ALIPAY_PRIVATE_KEY_NAME", "stranger/app"}, cannot("ALIPAY_PRIVATE_KEY", "stranger/app",
			"not a private key but a certificate")},
		{[]string{"ALIPAY_PRIVATE_KEY_NAME", "", "ALIPAY_PRIVATE_KEY", ecPrivate},
			"settings: ALIPAY_PRIVATE_KEY: not an RSA key"},
		{append(slices.Clone(certified), "ALIPAY_APP_CERT_NAME", ""), "settings: ALIPAY_APP_CERT_NAME is missing"},
		{append(slices.Clone(certified), "ALIPAY_APP_CERT_NAME", "stranger/app"),
			cannot("ALIPAY_APP_CERT", "stranger/app", "it is not the private key's")},
		{[]string{"ALIPAY_NOTIFY_URL", "https://shop.example/" + strings.Repeat("x", 256)},
			"settings: ALIPAY_NOTIFY_URL: want at most 256 characters"},
	}
	calls := []bad{ // shop signs whatever happens to Alipay's key
		{[]string{"ALIPAY_PUBLIC_KEY_NAME", "alipay-shop-public-key"},
			cannot("ALIPAY_PUBLIC_KEY", "alipay-shop-public-key", "this is the app's own")},
		{append(slices.Clone(certified), "ALIPAY_CERT_NAME", "stranger/alipay"),
			cannot("ALIPAY_CERT", "stranger/alipay", "this is the app's own")},
	}
	const ours, shops = "gateway-private-key", "alipay-shop-public-key"
	for step, all := range map[string][]bad{
		"notify": verifies, "shop": signs, "expire": append(calls, verifies[0], signs[0]), "refund": calls[:1],
		"reconcile": calls[1:],
		"gateway": {
			{[]string{"GATEWAY_PRIVATE_KEY_NAME", shops}, cannot("GATEWAY_PRIVATE_KEY", shops,
				"not a private key but a public key")},
			{[]string{"ALIPAY_SHOP_PUBLIC_KEY_NAME", ours}, cannot("ALIPAY_SHOP_PUBLIC_KEY", ours,
				"not a public key but a private key")},
		},
	} {
		for _, c := range all {
			changes := c.changes
			if step == "gateway" {
				changes = append([]string{"GATEWAY_PRIVATE_KEY_NAME", ours, "ALIPAY_SHOP_PUBLIC_KEY_NAME", shops},
					changes...)
			}
			text := w.start(t, step, changes...).InitError()
			var said struct{ ErrorMessage string }
			if err := json.Unmarshal([]byte(text), &said); err != nil || !strings.HasPrefix(said.ErrorMessage, c.want) {
				t.Errorf("%s with %q: %s, want %s", step, c.changes, text, c.want)
			}
			for _, secret := range []string{keys()[0].Private, keys()[1].Private, ecPrivate} {
				if strings.Contains(text, strings.Split(secret, "\n")[1]) {
					t.Errorf("%s with %q shows a private key: %s", step, c.changes, text)
				}
			}
		}
	}
}

package alipay_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
)

func TestPrepareSignsWhatAlipayWants(t *testing.T) {
	c := client(t, nil, &clock{start})
	got := must.Get(c.Prepare(order()))
	form := must.Get(url.ParseQuery(got))
	const content = `app_id=2021000000000001&biz_content={"out_trade_no":"oabcdefghijklmnopqrstuvwxyz","total_amount":"88.80",` +
		`"subject":"红色外套 Red coat","product_code":"QUICK_MSECURITY_PAY","time_expire":"2026-01-01 20:15:00",` +
		`"seller_id":"2088000000000001"}&charset=utf-8&format=JSON&method=alipay.trade.app.pay` +
		`&notify_url=https://shop.example/seckill/alipay/notify&sign_type=RSA2&timestamp=2026-01-01 20:00:00&version=1.0`
	// This check uses none of the package's helpers: the content is the literal above, and the signature must match
	// it.
	block, _ := pem.Decode([]byte(shopKeys().Public))
	key := must.Get(x509.ParsePKIXPublicKey(block.Bytes))
	sig := must.Get(base64.StdEncoding.DecodeString(form.Get("sign")))
	sum := sha256.Sum256([]byte(content))
	if err := rsa.VerifyPKCS1v15(key.(*rsa.PublicKey), crypto.SHA256, sum[:], sig); err != nil {
		t.Errorf("order string %s\nis not signed over %s", got, content)
	}
	must.Equal(t, content, alipay.SignContent(form, "sign"), "order string holds")
	if at := strings.LastIndex(got, "&sign="); at < 0 || strings.Contains(got[at+1:], "&") ||
		strings.ContainsAny(got, "+ ") {
		t.Errorf("order string %s: want the signature last, and blanks as %%20", got)
	}
}

func TestSubject(t *testing.T) {
	for in, want := range map[string]string{
		"红色外套":                         "红色外套",
		" a/b=c&d ":                    "abcd",
		"a\nb\x00c\u0085":              "abc",
		`<b>"quoted"</b> + 100%`:       `<b>"quoted"<b> + 100%`,
		"/=&":                          "",
		"bad\xffbyte":                  "badbyte",
		strings.Repeat("秒", 300):       strings.Repeat("秒", 256),
		strings.Repeat("x", 256) + "/": strings.Repeat("x", 256),
	} {
		must.Equal(t, want, alipay.Subject(in), "Subject", in)
	}
}

func TestPrepareWithATitleOfForbiddenCharactersOnly(t *testing.T) {
	o := order()
	o.Title = "/=&"
	got := must.Get(client(t, nil, &clock{start}).Prepare(o))
	form := must.Get(url.ParseQuery(got))
	var biz struct {
		Subject string `json:"subject"`
	}
	if err := json.Unmarshal([]byte(form.Get("biz_content")), &biz); err != nil || biz.Subject != orderID {
		t.Errorf("subject %q, %v; want the order's id", biz.Subject, err)
	}
}

func TestKeysInEveryForm(t *testing.T) {
	private, public := shopKeys().Private, shopKeys().Public
	block, _ := pem.Decode([]byte(private))
	parsed := must.Get(x509.ParsePKCS8PrivateKey(block.Bytes))
	key := parsed.(*rsa.PrivateKey)
	pkcs1 := x509.MarshalPKCS1PrivateKey(key)
	pkcs1Public := x509.MarshalPKCS1PublicKey(&key.PublicKey)
	publicBlock, _ := pem.Decode([]byte(public))
	bare := func(der []byte) string { return base64.StdEncoding.EncodeToString(der) }
	for name, text := range map[string]string{
		"PKCS #8 PEM":                  private,
		"PKCS #8 base64":               bare(block.Bytes),
		"PKCS #1 PEM":                  string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: pkcs1})),
		"PKCS #1 base64":               bare(pkcs1),
		"base64 in lines with a break": " " + bare(pkcs1)[:64] + "\r\n" + bare(pkcs1)[64:] + "\n",
		"PEM with blank lines around":  "\n\n" + private + "\n",
	} {
		if got, err := alipay.ParsePrivateKey(text); err != nil || !got.Equal(key) {
			t.Errorf("private key as %s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"PKIX PEM":       public,
		"PKIX base64":    bare(publicBlock.Bytes),
		"PKCS #1 PEM":    string(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: pkcs1Public})),
		"PKCS #1 base64": bare(pkcs1Public),
	} {
		if got, err := alipay.ParsePublicKey(text); err != nil || !got.Equal(&key.PublicKey) {
			t.Errorf("public key as %s: %v", name, err)
		}
	}
}

func TestNewNamesTheWrongSetting(t *testing.T) {
	short := must.Get(rsa.GenerateKey(rand.Reader, 1024))
	curve := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	curveDER := must.Get(x509.MarshalPKCS8PrivateKey(curve))
	sec1 := must.Get(x509.MarshalECPrivateKey(curve))
	curvePublic := must.Get(x509.MarshalPKIXPublicKey(&curve.PublicKey))
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	good := config(nil, &clock{start})
	half := good.PrivateKey[:len(good.PrivateKey)/2]
	for name, c := range map[string]struct {
		change func(*alipay.Config)
		want   string
	}{
		"no app id":      {set(appNumber, ""), "app id"},
		"no seller id":   {set(seller, ""), "seller id"},
		"no private key": {set(private, " "), "alipay: private key: empty"},
		"half a PEM":     {set(private, half), "alipay: private key: not one whole PEM block"},
		"two PEM blocks": {set(private, good.PrivateKey+good.PrivateKey),
			"alipay: private key: not one whole PEM block"},
		"not base64": {set(private, "secret!"), "alipay: private key: neither PEM nor base64"},
		"public as private": {set(private, shopKeys().Public),
			"alipay: private key: not a private key but a public key: give the app's private key"},
		"certificate as private": {set(private, certs().app.pem()),
			"alipay: private key: not a private key but a certificate: give the app's private key"},
		"encrypted": {set(private, block("ENCRYPTED PRIVATE KEY", []byte("secret"))),
			"alipay: private key: encrypted: take the password off"},
		"nonsense": {set(private, block("PRIVATE KEY", []byte("secret"))),
			"alipay: private key: not a private key in PKCS #8 or PKCS #1: copy the app's private key whole"},
		"elliptic, SEC 1": {set(private, block("EC PRIVATE KEY", sec1)), "alipay: private key: not an RSA key"},
		"elliptic": {set(private, base64.StdEncoding.EncodeToString(curveDER)),
			"alipay: private key: not an RSA key: make an RSA key pair of 2048 bits"},
		"short key": {set(private, base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(short))),
			"alipay: private key: a key of 1024 bits: want at least 2048: make an RSA key pair"},
		"no public key": {set(public, ""), "Alipay's public key: empty"},
		"private as public": {set(public, gatewayKeys().Private),
			"Alipay's public key: not a public key but a private key: copy Alipay's from the app's settings page"},
		"certificate as public": {set(public, certs().alipay.pem()),
			"Alipay's public key: not a public key but a certificate: set it as Alipay's certificate"},
		"nonsense as public": {set(public, "c2VjcmV0"),
			"Alipay's public key: not a public key in PKIX or PKCS #1: copy Alipay's"},
		"elliptic public": {set(public, block("PUBLIC KEY", curvePublic)),
			"Alipay's public key: not an RSA key: copy Alipay's"},
		"our own public": {set(public, shopKeys().Public),
			"Alipay's public key: this is the app's own: copy Alipay's from the app's settings page"},
		"short public": {set(public, base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PublicKey(&short.PublicKey))),
			"Alipay's public key: a key of 1024 bits"},
		"no gateway":          {set(gatewayURL, ""), "gateway"},
		"gateway of a scheme": {set(gatewayURL, "ftp://gateway.example"), "gateway"},
		"relative notify URL": {set(notify, "/notify"), "notify URL"},
		"long notify URL":     {set(notify, good.NotifyURL+strings.Repeat("x", 256)), "notify URL"},
		"no clock":            {func(c *alipay.Config) { c.Clock = nil }, "clock"},
	} {
		conf := config(nil, &clock{start})
		c.change(&conf)
		refusedByNew(t, name, conf, c.want)
	}
}

func BenchmarkPrepare(b *testing.B) {
	c, o := client(b, nil, &clock{start}), order()
	b.ReportAllocs()
	for b.Loop() {
		must.Get(c.Prepare(o))
	}
}

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

// asPasted returns the forms in which people paste base64 or PEM text, by way of editors, pages and settings.
func asPasted(text string) map[string]string {
	lines := func(end string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", end) }
	utf16le := []byte{0xff, 0xfe}
	utf16be := []byte{0xfe, 0xff}
	for _, r := range lines("\r\n") {
		utf16le = append(utf16le, byte(r), 0)
		utf16be = append(utf16be, 0, byte(r))
	}
	return map[string]string{
		"as it is":              text,
		"Windows line ends":     lines("\r\n"),
		"old Mac line ends":     lines("\r"),
		"one line":              lines(" "),
		"without line ends":     lines(""),
		`\n written out`:        lines(`\n`),
		`\n in a JSON of JSON`:  lines(`\\n`),
		`\r\n written out`:      lines(`\r\n`) + `\r\n`,
		"lines continued":       lines("\\\n"),
		"blanks at line ends":   lines(" \t\n") + " ",
		"indented":              "  " + lines("\n  "),
		"empty lines between":   "\n\n" + lines("\n\n") + "\n\n",
		"a byte-order mark":     "\ufeff" + text,
		"UTF-16 of Windows":     string(utf16le),
		"UTF-16, other order":   string(utf16be),
		"zero-width characters": "\u200b" + lines("\u200b\n") + "\u2060\u200d",
		"no-break spaces":       lines("\u00a0\n\u00a0"),
		"wide spaces":           lines("\u3000\n"),
		"double quotes":         `"` + lines("\n") + `"`,
		"single quotes, comma":  "'" + lines("\n") + "',\n",
		"quotes of Word":        "“" + lines("\n") + "”",
		"quotes of a JSON":      `"` + strings.ReplaceAll(lines(`\n`), "/", `\/`) + `",`,
		"NUL at the end":        text + "\x00",
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
	forms := func(label string, der []byte) map[string]string {
		bare := base64.StdEncoding.EncodeToString(der)
		block := string(pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der}))
		return map[string]string{
			"PEM": block, "base64": bare, "base64 in lines": bare[:64] + "\n" + bare[64:],
			"base64, = lost":          strings.TrimRight(bare, "="),
			"PEM, one line of base64": "-----BEGIN " + label + "-----\n" + bare + "\n-----END " + label + "-----\n",
			"PEM, fewer dashes":       strings.ReplaceAll(block, "-----", "---"),
			"PEM after other text":    "Bag Attributes\n    localKeyID: 01\n" + block,
		}
	}
	for label, der := range map[string][]byte{"PRIVATE KEY": block.Bytes, "RSA PRIVATE KEY": pkcs1,
		"RSA PRIVATE KEY ": block.Bytes} {
		for form, text := range forms(strings.TrimSpace(label), der) {
			for how, text := range asPasted(text) {
				if got, err := alipay.ParsePrivateKey(text); err != nil || !got.Equal(key) {
					t.Errorf("private key as %s, %s, %s: %v", label, form, how, err)
				}
			}
		}
	}
	for label, der := range map[string][]byte{"PUBLIC KEY": publicBlock.Bytes, "RSA PUBLIC KEY": pkcs1Public,
		"RSA PUBLIC KEY ": publicBlock.Bytes} {
		for form, text := range forms(strings.TrimSpace(label), der) {
			for how, text := range asPasted(text) {
				if got, err := alipay.ParsePublicKey(text); err != nil || !got.Equal(&key.PublicKey) {
					t.Errorf("public key as %s, %s, %s: %v", label, form, how, err)
				}
			}
		}
	}
	for how, text := range asPasted(certs().app.pem()) {
		must.Equal(t, must.Get(alipay.AppCertSN(certs().app.pem())), must.Get(alipay.AppCertSN(text)), how)
	}
}

// TestKeysThatAreNot checks that what is no key, or is damaged, is refused with its cause, and that none of it is read
// as another key.
func TestKeysThatAreNot(t *testing.T) {
	private, public := shopKeys().Private, shopKeys().Public
	key := must.Get(alipay.ParsePrivateKey(private))
	request := must.Get(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key))
	for how, text := range asPasted(public) {
		if _, err := alipay.ParsePrivateKey(text); err == nil ||
			!strings.Contains(err.Error(), "not a private key but a public key") {
			t.Errorf("a public key as private, %s: %v", how, err)
		}
	}
	for how, text := range asPasted(private) {
		if _, err := alipay.ParsePublicKey(text); err == nil ||
			!strings.Contains(err.Error(), "not a public key but a private key") {
			t.Errorf("a private key as public, %s: %v", how, err)
		}
	}
	for text, want := range map[string]string{
		"": "empty", " \ufeff\"\" ": "empty",
		base64.StdEncoding.EncodeToString(request): "not a private key but a certificate request",
		"Proc-Type":  "neither PEM nor base64",
		"https://x/": "neither PEM nor base64", "私钥": "neither PEM nor base64", url.QueryEscape(private): "neither PEM nor base64",
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n" +
			"-----END RSA PRIVATE KEY-----": "encrypted",
		private + "x": "not one whole PEM block", private + public: "not one whole PEM block",
		private[:len(private)-30]:             "not one whole PEM block",
		strings.Replace(private, "M", "!", 1): "a PEM block that is not base64",
		strings.Replace(private, strings.Split(private, "\n")[3]+"\n", "", 1): "" +
			"not a private key in PKCS #8 or PKCS #1",
		private[:300] + private[301:]: "",
	} {
		got, err := alipay.ParsePrivateKey(text)
		if err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
		if err != nil && len(text) > 100 && strings.Contains(err.Error(), text[50:60]) {
			t.Errorf("the error holds key material: %v", err)
		}
	}
	body := []byte(private)
	for i := 30; i < len(body)-30; i += 7 {
		changed := string(body[:i]) + string(body[i]^1) + string(body[i+1:])
		if got, err := alipay.ParsePrivateKey(changed); err == nil && !got.Equal(key) {
			t.Errorf("byte %d changed: read as another key", i)
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

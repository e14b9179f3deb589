package alipay_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/md5"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// issuer is a certificate authority for tests.
type issuer struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func rsaKey(pair fakegateway.KeyPair) *rsa.PrivateKey {
	key, err := alipay.ParsePrivateKey(pair.Private)
	if err != nil {
		panic(err)
	}
	return key
}

// issue makes a certificate signed by by, or self-signed if by is nil. Its serial number exceeds 64 bits, as is
// usual.
func issue(by *issuer, name string, serial int64, key crypto.Signer, from, until time.Time, ca bool) *issuer {
	number := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 120), big.NewInt(serial))
	template := &x509.Certificate{SerialNumber: number, NotBefore: from, NotAfter: until, IsCA: ca,
		BasicConstraintsValid: ca, Subject: pkix.Name{Country: []string{"CN"}, Organization: []string{"Test Financial"},
			OrganizationalUnit: []string{"Certification Authority"}, CommonName: name}}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		panic(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return &issuer{cert, key}
}

func (i *issuer) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw}))
}

// sm2 returns a certificate that Go cannot parse, like one of Alipay's roots: a P-256 certificate whose curve's name
// is changed to SM2's.
func sm2() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	ec := issue(nil, "ROOTCA", 5, key, start, start.AddDate(1, 0, 0), true)
	p256, sm2 := []byte{6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7}, []byte{6, 8, 0x2a, 0x81, 0x1c, 0xcf, 0x55, 1,
		0x82, 0x2d}
	der := bytes.Replace(ec.cert.Raw, p256, sm2, 1)
	if _, err := x509.ParseCertificate(der); err == nil {
		panic("Go reads SM2 now")
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// certs is a set of certificates like Alipay's. The root file has one certificate of another kind and two with RSA;
// the app's certificate is under the second root, Alipay's under an authority under the first.
var certs = sync.OnceValue(func() (c struct{ root, middle, app, alipay, ec *issuer }) {
	until := start.AddDate(1, 0, 0)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	c.ec = issue(nil, "Test CA E1", 1, curve, start, until, true)
	c.root = issue(nil, "Test CA R1", 2, rsaKey(strangerKeys()), start, until, true)
	c.middle = issue(c.root, "Test CA Class 2 R1", 3, rsaKey(middleKeys()), start, until, true)
	c.app = issue(c.root, "2088000000000001-2021000000000001", 4, rsaKey(shopKeys()), start, until, false)
	c.alipay = issue(c.middle, "支付宝(中国)网络技术有限公司", 5, rsaKey(gatewayKeys()), start, until, false)
	return c
})

// middleKeys lacks the public key in PEM, because no test needs it.
var middleKeys = sync.OnceValue(func() fakegateway.KeyPair {
	b, err := os.ReadFile("testdata/test-only-stranger-private.pem")
	if err != nil {
		panic(err)
	}
	return fakegateway.KeyPair{Private: string(b)}
})

func certConfig(h http.Handler) alipay.Config {
	conf, c := config(h, &clock{start.Add(time.Hour)}), certs()
	conf.AlipayPublicKey = ""
	conf.AppCert, conf.AlipayCert = c.app.pem(), c.alipay.pem()+c.middle.pem()
	conf.AlipayRootCert = sm2() + "\n" + c.root.pem() + "\n" + c.ec.pem() + c.middle.pem()
	return conf
}

func certClient(t *testing.T, h http.Handler) *alipay.Client {
	return must.Get(alipay.New(certConfig(h)))
}

// wantSN computes the number without the package's own helpers.
func wantSN(issuerCN string, i *issuer) string {
	sum := md5.Sum([]byte("CN=" + issuerCN + ",OU=Certification Authority,O=Test Financial,C=CN" +
		i.cert.SerialNumber.String()))
	return hex.EncodeToString(sum[:])
}

func TestCertificateNumbers(t *testing.T) {
	c := certs()
	must.Equal(t, wantSN("Test CA R1", c.app), must.Get(alipay.AppCertSN(c.app.pem())), "app_cert_sn")
	must.Equal(t, wantSN("Test CA Class 2 R1", c.alipay), must.Get(alipay.AppCertSN(c.alipay.pem()+c.middle.pem())),
		"alipay_cert_sn")
	want := wantSN("Test CA R1", c.root) + "_" + wantSN("Test CA R1", c.middle)
	must.Equal(t, want, must.Get(alipay.RootCertSN(certConfig(nil).AlipayRootCert)), "alipay_root_cert_sn")
}

func TestCertificateModeSendsItsNumbers(t *testing.T) {
	var asked url.Values
	c := certClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		asked = r.PostForm
		w.WriteHeader(http.StatusTeapot)
	}))
	if _, err := c.Query(context.Background(), orderID); err == nil {
		t.Error("no error")
	}
	prepared := must.Get(c.Prepare(order()))
	inApp := must.Get(url.ParseQuery(prepared))
	page := must.Get(c.PagePay(t.Context(), order(), ""))
	key := must.Get(alipay.ParsePublicKey(shopKeys().Public))
	root, _ := alipay.RootCertSN(certConfig(nil).AlipayRootCert)
	for name, form := range map[string]url.Values{"query": asked, "order string": inApp, "address": sent(t, page)} {
		if form.Get("app_cert_sn") != wantSN("Test CA R1", certs().app) || form.Get("alipay_root_cert_sn") != root {
			t.Errorf("%s has app_cert_sn %q, alipay_root_cert_sn %q", name, form.Get("app_cert_sn"),
				form.Get("alipay_root_cert_sn"))
		}
		if err := alipay.CheckSign(key, []byte(alipay.SignContent(form, "sign")), form.Get("sign")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if plain, err := client(t, nil, &clock{start}).Prepare(order()); err != nil || strings.Contains(plain, "cert_sn") {
		t.Errorf("without certificates: %v: %s", err, plain)
	}
}

func TestCertificateModeChecksAnswersAndNotifications(t *testing.T) {
	ours := wantSN("Test CA Class 2 R1", certs().alipay)
	good := envelope(t, paidNode)
	with := func(sn string) string {
		return strings.Replace(good, `{"alipay`, `{"alipay_cert_sn":`+sn+`,"alipay`, 1)
	}
	for name, tc := range map[string]struct {
		body string
		ok   bool
	}{
		"our number":   {with(`"` + ours + `"`), true},
		"no number":    {good, true},
		"an empty one": {with(`""`), true},
		"another":      {with(`"` + strings.Repeat("0", 32) + `"`), false},
		"no text":      {with(`1`), false},
		"twice": {strings.Replace(with(`"`+ours+`"`), `,"sign"`, `,"alipay_cert_sn":"`+ours+`","sign"`, 1),
			false},
		"a stranger's key": {strings.Replace(with(`"`+ours+`"`), signWith(t, gatewayKeys(), paidNode),
			signWith(t, strangerKeys(), paidNode), 1), false},
	} {
		got, err := certClient(t, answering([]byte(tc.body))).Query(context.Background(), orderID)
		if (err == nil) != tc.ok || tc.ok != (got == paidTrade) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		// Key mode has nothing to compare with: the signature alone decides.
		if name == "another" {
			if _, err := client(t, answering([]byte(tc.body)), &clock{start}).Query(context.Background(),
				orderID); err != nil {
				t.Errorf("%s, key mode: %v", name, err)
			}
		}
	}
	conf := certConfig(nil)
	v := must.Get(alipay.NewCertVerifier(appID, sellerID, conf.AlipayCert, conf.AlipayRootCert, conf.Clock))
	g := gateway(t, &clock{start})
	for sn, ok := range map[string]bool{"": true, ours: true, strings.Repeat("0", 32): false} {
		form := paidForm(t, g)
		if sn != "" {
			form.Set("alipay_cert_sn", sn)
			must.OK(t, g.SignForm(form))
		}
		got, err := verified(t, v, form)
		if ok && (err != nil || got != genuine) || !ok && !refused(err, seckill.CodeForged) {
			t.Errorf("notification with alipay_cert_sn %q: got %+v, %v", sn, got, err)
		}
	}
}

func TestCertificateModeNamesTheWrongSetting(t *testing.T) {
	c, good := certs(), certConfig(nil)
	until := start.AddDate(1, 0, 0)
	short := must.Get(rsa.GenerateKey(rand.Reader, 1024))
	leaf := func(key crypto.Signer, from, until time.Time) string {
		return issue(c.root, "Alipay", 9, key, from, until, false).pem()
	}
	fake := issue(nil, "Test CA R1", 2, rsaKey(middleKeys()), start, until, true)
	const app, own, root = "alipay: app certificate: ", "alipay: Alipay's certificate: ",
		"alipay: Alipay's root certificate: "
	for name, tc := range map[string]struct {
		change func(*alipay.Config)
		want   string
	}{
		"a public key too": {set(public, gatewayKeys().Public),
			"alipay: Alipay's public key: set beside certificates"},
		"no app certificate":    {set(appCert, ""), app + "empty"},
		"not the key's":         {set(private, strangerKeys().Private), app + "it is not the private key's"},
		"Alipay's as the app's": {set(appCert, good.AlipayCert), app + "it is not the private key's"},
		"private key as cert":   {set(appCert, good.PrivateKey), app + "a private key stands where"},
		"public key as cert":    {set(appCert, shopKeys().Public), app + "not a certificate"},
		"half a certificate":    {set(appCert, good.AppCert[:200]), app + "not whole certificates in PEM"},
		"words":                 {set(appCert, "certs/app.crt"), app + "not whole certificates in PEM"},
		"PEM of nonsense": {set(appCert, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
			app + "an unreadable certificate"},
		"no certificate": {set(ownCert, ""), own + "empty"},
		"the app's as Alipay's": {set(ownCert, good.AppCert),
			own + "this is the app's own: give the one named alipayCertPublicKey_RSA2.crt"},
		"the root as Alipay's": {set(ownCert, c.root.pem()), own + "this is a root"},
		"without the middle": {func(conf *alipay.Config) {
			conf.AlipayCert, conf.AlipayRootCert = c.alipay.pem(), c.root.pem()
		}, own + "not under Alipay's root certificate"},
		"under another root": {set(rootCert, fake.pem()), own + "not under Alipay's root certificate"},
		"short key":          {set(ownCert, leaf(short, start, until)), own + "a key of 1024 bits"},
		"elliptic key":       {set(ownCert, leaf(c.ec.key, start, until)), own + "not an RSA key"},
		"elliptic signature": {set(ownCert, c.ec.pem()), own + "no certificate that is signed with RSA"},
		"no root":            {set(rootCert, ""), root + "empty"},
		"roots without RSA":  {set(rootCert, c.ec.pem()+sm2()), root + "no certificate that is signed with RSA"},
		"half a root": {set(rootCert, good.AlipayRootCert[:len(good.AlipayRootCert)-60]),
			root + "not whole certificates"},
		"far too many roots": {set(rootCert, strings.Repeat(c.root.pem(), 40)), root + "more than 32 certificates"},
		"a private key in roots": {set(rootCert, good.AlipayRootCert+good.PrivateKey),
			root + "a private key stands where"},
		"no app id": {set(appNumber, ""), "app id"},
	} {
		conf := certConfig(nil)
		tc.change(&conf)
		refusedByNew(t, name, conf, tc.want)
	}
}

// TestACertificateOfAlipaysThatEnds checks that after Alipay's certificate expires, even in a running client, reading
// answers fails as a fault and not as a forgery, and that no call is sent whose answer could not be read. Signing for
// the app continues.
func TestACertificateOfAlipaysThatEnds(t *testing.T) {
	c := certs()
	until, soon, late := start.AddDate(1, 0, 0), start.AddDate(0, 1, 0), start.AddDate(0, 2, 0)
	leaf := func(from, until time.Time) string {
		return issue(c.root, "Alipay", 9, rsaKey(gatewayKeys()), from, until, false).pem()
	}
	middle := issue(c.root, "Test CA Class 2 R1", 7, rsaKey(middleKeys()), start, soon, true)
	below := issue(middle, "Alipay", 8, rsaKey(gatewayKeys()), start, until, false).pem() + middle.pem()
	g := gateway(t, &clock{start})
	for name, tc := range map[string]struct {
		cert string
		want map[time.Time]string // the expected error at each time; "" if there is none
	}{
		"ended long ago": {leaf(start.AddDate(-1, 0, 0), start.Add(-time.Hour)),
			map[time.Time]string{start: "ended on 2026-01-01"}},
		"ends while it lives": {leaf(start, soon), map[time.Time]string{start.Add(time.Second): "", soon: "",
			soon.Add(time.Second): "ended on 2026-02-01", until.AddDate(9, 0, 0): "ended on 2026-02-01"}},
		"the one above ends":    {below, map[time.Time]string{start.Add(time.Second): "", late: "ended on 2026-02-01"}},
		"begins while it lives": {leaf(soon, until), map[time.Time]string{start: "begins on 2026-02-01", late: ""}},
	} {
		now, asked := &clock{start}, 0
		conf := certConfig(nil)
		conf.AlipayCert, conf.AlipayRootCert, conf.Clock = tc.cert, c.root.pem(), now
		conf.HTTP = &http.Client{Transport: answer(func() { asked++ })}
		client, err := alipay.New(conf)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for at, want := range tc.want {
			now.now, asked = at, 0
			_, callErr := client.Query(context.Background(), orderID)
			_, err := client.Verify(paidForm(t, g))
			if want == "" {
				if err != nil || asked != 1 {
					t.Errorf("%s, %s: %v, asked %d times; want it to work", name, at, err, asked)
				}
				continue
			}
			var refusal *seckill.Error
			if err == nil || errors.As(err, &refusal) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: notify: %v, want a fault that says %q", name, at, err, want)
			}
			if callErr == nil || !strings.Contains(callErr.Error(), want) || asked != 0 {
				t.Errorf("%s, %s: query: %v, asked %d times; want it not asked, and %q", name, at, callErr, asked, want)
			}
		}
		signer, err := alipay.NewSigner(conf)
		if err != nil {
			t.Fatalf("%s: signer: %v", name, err)
		}
		conf.AlipayCert, conf.Clock = certConfig(nil).AlipayCert, &clock{start}
		whole, err := alipay.New(conf)
		must.OK(t, err)
		got, err := signer.Prepare(order())
		want, _ := whole.Prepare(order())
		if err != nil || got != want {
			t.Errorf("%s: signs %q, %v; want %q", name, got, err, want)
		}
	}
	conf := certConfig(nil) // a signer uses only the root file's numbers of Alipay's settings
	conf.AlipayCert, conf.Clock = "nonsense", nil
	if _, err := alipay.NewSigner(conf); err != nil {
		t.Error(err)
	}
	conf = certConfig(nil)
	conf.AppCert = issue(c.root, "app", 9, rsaKey(shopKeys()), start.AddDate(-1, 0, 0), soon, false).pem()
	client, err := alipay.New(conf)
	must.OK(t, err)
	if at, which := client.CertificatesEnd(); !at.Equal(soon) || which != alipay.SettingAppCert {
		t.Errorf("the first to end: %s, %s", which, at)
	}
	conf.AppCert, conf.AlipayCert, conf.AlipayRootCert = certConfig(nil).AppCert, below, c.root.pem()
	if client, err = alipay.New(conf); err != nil {
		t.Fatal(err)
	}
	if at, which := client.CertificatesEnd(); !at.Equal(soon) || which != alipay.SettingAlipayCert {
		t.Errorf("the first to end: %s, %s", which, at)
	}
}

// answer is a transport that calls the function for each request and fails it.
type answer func()

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	a()
	return nil, errors.New("no answer")
}

func TestCheckCertificates(t *testing.T) {
	c, conf := certs(), certConfig(nil)
	now, until := start.Add(time.Hour), start.AddDate(1, 0, 0)
	app, theirs, err := alipay.CheckCertificates(conf.PrivateKey, conf.AppCert, conf.AlipayCert, conf.AlipayRootCert,
		now)
	if err != nil || !app.Equal(until) || !theirs.Equal(until) {
		t.Errorf("good until %v and %v, %v; want %v", app, theirs, err, until)
	}
	soon := start.AddDate(0, 1, 0)
	short := issue(c.root, "Test CA Class 2 R1", 7, rsaKey(middleKeys()), start, soon, true)
	long := issue(short, "Alipay", 8, rsaKey(gatewayKeys()), start, until, false)
	if _, theirs, err = alipay.CheckCertificates(conf.PrivateKey, conf.AppCert, long.pem()+short.pem(), c.root.pem(),
		now); err != nil || !theirs.Equal(soon) {
		t.Errorf("the one above ends sooner: good until %v, %v; want %v", theirs, err, soon)
	}
	ends := func(name string, key fakegateway.KeyPair, from, until time.Time) string {
		return issue(c.root, name, 9, rsaKey(key), from, until, false).pem()
	}
	for name, tc := range map[string]struct {
		change func(*alipay.Config)
		now    time.Time
		want   string
	}{
		"no private key": {set(private, ""), now, "alipay: private key: empty"},
		"not the key's": {set(private, strangerKeys().Private), now,
			"alipay: app certificate: it is not the private key's"},
		"app's ended": {set(appCert, ends("app", shopKeys(), start, soon)), soon.Add(time.Second),
			"alipay: app certificate: it ended on 2026-02-01: have"},
		"app's not begun": {set(appCert, ends("app", shopKeys(), soon, until)), now,
			"alipay: app certificate: it begins on 2026-02-01"},
		"Alipay's ended": {set(ownCert, ends("Alipay", gatewayKeys(), start, soon)), soon.Add(time.Second),
			"alipay: Alipay's certificate: it ended on 2026-02-01"},
		"the app's as Alipay's": {set(ownCert, conf.AppCert), now,
			"alipay: Alipay's certificate: this is the app's own"},
	} {
		conf := certConfig(nil)
		tc.change(&conf)
		_, _, err := alipay.CheckCertificates(conf.PrivateKey, conf.AppCert, conf.AlipayCert, conf.AlipayRootCert,
			tc.now)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want it to say %q", name, err, tc.want)
		}
	}
}

package alipay_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	appID     = "2021000000000001"
	sellerID  = "2088000000000001"
	notifyURL = "https://shop.example/seckill/alipay/notify"
	orderID   = "oabcdefghijklmnopqrstuvwxyz"
	otherID   = "obbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// Generating key pairs takes long, so all tests share these.
var shopKeys, gatewayKeys, strangerKeys = onceKeys(), onceKeys(), onceKeys()

func onceKeys() func() fakegateway.KeyPair {
	return sync.OnceValue(func() fakegateway.KeyPair {
		pair, err := fakegateway.GenerateKeys()
		if err != nil {
			panic(err)
		}
		return pair
	})
}

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// transport connects a client to a handler without a network.
type transport struct{ http.Handler }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t.ServeHTTP(w, r)
	return w.Result(), nil
}

func answering(body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, bytes.NewReader(body)) })
}

// keyless returns the settings common to all clients here, without keys.
func keyless(h http.Handler, c *clock) alipay.Config {
	return alipay.Config{AppID: appID, SellerID: sellerID, Gateway: "https://gateway.example/gateway.do",
		NotifyURL: notifyURL, HTTP: &http.Client{Transport: transport{h}}, Clock: c}
}

func config(h http.Handler, c *clock) alipay.Config {
	conf := keyless(h, c)
	conf.PrivateKey, conf.AlipayPublicKey = shopKeys().Private, gatewayKeys().Public
	return conf
}

func client(t testing.TB, h http.Handler, c *clock) *alipay.Client {
	return must.Get(alipay.New(config(h, c)))
}

func gateway(t testing.TB, c *clock) *fakegateway.Gateway {
	t.Helper()
	g, err := fakegateway.New(fakegateway.Options{Clock: c, AppID: appID, SellerID: sellerID,
		MerchantPublicKey: shopKeys().Public, PrivateKey: gatewayKeys().Private})
	must.OK(t, err)
	return g
}

func order() seckill.Order {
	return seckill.Order{ID: orderID, Amount: 88_80, Title: "红色外套 Red coat", State: seckill.PendingPayment,
		Placed: start, PayBy: start.Add(15 * time.Minute)}
}

// paidForm returns a genuine notification: order() was paid.
func paidForm(t testing.TB, g *fakegateway.Gateway) url.Values {
	t.Helper()
	form, err := g.NotificationForm("2026010100222200000000000000001",
		fakegateway.Trade{TradeNo: "2026010122001000000000000001",
			OutTradeNo: orderID, Subject: "红色外套 Red coat", Amount: 88_80, Status: fakegateway.StatusSuccess,
			Created: start, Expires: start.Add(15 * time.Minute), Paid: start.Add(time.Minute)}, start.Add(time.Minute))
	must.OK(t, err)
	return form
}

// verified verifies a form and checks that Raw equals the form. It returns the notification with an empty Raw.
func verified(t *testing.T, v seckill.Verifier, form url.Values) (seckill.Notification, error) {
	t.Helper()
	n, err := v.Verify(form)
	if err == nil && n.Raw != form.Encode() {
		t.Errorf("Raw is %q, want %q", n.Raw, form.Encode())
	}
	n.Raw = ""
	return n, err
}

// field is one of a client's settings.
type field func(*alipay.Config) *string

// Fields by which tests name the wrong setting.
var (
	appNumber  field = func(c *alipay.Config) *string { return &c.AppID }
	seller     field = func(c *alipay.Config) *string { return &c.SellerID }
	private    field = func(c *alipay.Config) *string { return &c.PrivateKey }
	public     field = func(c *alipay.Config) *string { return &c.AlipayPublicKey }
	appCert    field = func(c *alipay.Config) *string { return &c.AppCert }
	ownCert    field = func(c *alipay.Config) *string { return &c.AlipayCert }
	rootCert   field = func(c *alipay.Config) *string { return &c.AlipayRootCert }
	gatewayURL field = func(c *alipay.Config) *string { return &c.Gateway }
	notify     field = func(c *alipay.Config) *string { return &c.NotifyURL }
)

func set(f field, value string) func(*alipay.Config) {
	return func(c *alipay.Config) { *f(c) = value }
}

// refusedByNew checks that New names what is wrong with the settings, and shows nothing of a key.
func refusedByNew(t *testing.T, name string, conf alipay.Config, want string) {
	t.Helper()
	_, err := alipay.New(conf)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want it to say %q", name, err, want)
		return
	}
	for _, text := range []string{conf.PrivateKey, conf.AlipayPublicKey, conf.AppCert, conf.AlipayCert,
		conf.AlipayRootCert} {
		// look for each line of a PEM; for bare base64, for its beginning
		for line := range strings.Lines(text) {
			if s := strings.TrimSpace(line); s != "" && strings.Contains(err.Error(), s[:min(12, len(s))]) {
				t.Errorf("%s: the error holds key material: %v", name, err)
			}
		}
	}
}

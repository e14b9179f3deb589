package alipay_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
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
		NotifyURL: notifyURL,
		HTTP:      &http.Client{Transport: transport{h}}, Clock: c}
}

func config(h http.Handler, c *clock) alipay.Config {
	conf := keyless(h, c)
	conf.PrivateKey, conf.AlipayPublicKey = shopKeys().Private, gatewayKeys().Public
	return conf
}

func client(t testing.TB, h http.Handler, c *clock) *alipay.Client {
	t.Helper()
	cl, err := alipay.New(config(h, c))
	must.OK(t, err)
	return cl
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

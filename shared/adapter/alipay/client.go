// Package alipay is the payment provider (seckill.Payments) in Alipay's open platform: it signs order strings, asks for
// trades and closes them, and reads notifies. In: orders and notify forms. Out: signed strings, the state of a trade, an
// authentic notice. It talks to Alipay's gateway and to nothing else, and repeats nothing: the caller does.
//
// Rules are from Alipay's documentation: "app支付接口2.0" (alipay.trade.app.pay), "统一收单交易查询" (alipay.trade.query),
// "统一收单交易关闭接口" (alipay.trade.close), "异步通知说明" and "自行实现签名/验签".
package alipay

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"seckill/shared/seckill"
)

// Limits.
const (
	CallTimeout    = 5 * time.Second // a whole call, connecting and reading included, when Config.HTTP sets no Timeout
	MaxResponse    = 1 << 20         // bytes of an answer
	MaxSubject     = 256             // characters of subject
	maxURL         = 256             // characters of notify_url and return_url
	maxQuitURL     = 400             // characters of quit_url
	maxCredentials = 32              // characters of app_id and of seller_id
)

// TimeLayout is how Alipay writes times, all of them in Zone.
const TimeLayout = "2006-01-02 15:04:05"

// Zone is Alipay's time zone: fixed, so that no time zone database is needed.
var Zone = time.FixedZone("UTC+8", 8*60*60)

// Names of the calls.
const (
	MethodPay         = "alipay.trade.app.pay"
	MethodPagePay     = "alipay.trade.page.pay"
	MethodWapPay      = "alipay.trade.wap.pay"
	MethodQuery       = "alipay.trade.query"
	MethodClose       = "alipay.trade.close"
	MethodRefund      = "alipay.trade.refund"
	MethodRefundQuery = "alipay.trade.fastpay.refund.query"
	MethodBill        = "alipay.data.dataservice.bill.downloadurl.query"
)

// Config is what a client has to know. HTTP may be nil; the rest is required.
type Config struct {
	AppID           string
	SellerID        string        // the seller's Alipay user id, 2088…
	PrivateKey      string        // ours: PKCS #8 or PKCS #1, PEM or base64, 2048 bits or more
	AlipayPublicKey string        // Alipay's, not our own: PKIX or PKCS #1, PEM or base64
	Gateway         string        // absolute URL of gateway.do
	NotifyURL       string        // absolute URL of our notify endpoint, at most 256 characters
	HTTP            *http.Client  // nil: one that keeps to CallTimeout and follows no redirect
	Clock           seckill.Clock // dates the calls
}

// Client implements seckill.Payments. It is safe for concurrent use.
type Client struct {
	*Verifier
	gateway, notifyURL string
	key                *rsa.PrivateKey
	http, download     *http.Client
	clock              seckill.Clock
}

var _ seckill.Payments = (*Client)(nil)

// New checks the settings. The error names the setting that is wrong and never contains a key.
func New(c Config) (*Client, error) {
	verifier, err := NewVerifier(c.AppID, c.SellerID, c.AlipayPublicKey)
	if err != nil {
		return nil, err
	}
	key, err := ParsePrivateKey(c.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("alipay: private key: %w", err)
	}
	if verifier.alipay.Equal(&key.PublicKey) {
		return nil, errors.New("alipay: Alipay's public key: this is the app's own; copy Alipay's from the app's settings page")
	}
	if err := errors.Join(checkURL("gateway", c.Gateway, maxURL), checkURL("notify URL", c.NotifyURL, maxURL)); err != nil {
		return nil, err
	}
	if c.Clock == nil {
		return nil, errors.New("alipay: no clock")
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: CallTimeout, CheckRedirect: noRedirect}
	}
	return &Client{Verifier: verifier, gateway: c.Gateway, notifyURL: c.NotifyURL, key: key, http: c.HTTP,
		download: &http.Client{Transport: c.HTTP.Transport, CheckRedirect: noRedirect}, clock: c.Clock}, nil
}

// checkURL checks an address that a browser or Alipay is to open.
func checkURL(name, address string, most int) error {
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("alipay: %s: want an absolute http or https URL", name)
	}
	if len(address) > most {
		return fmt.Errorf("alipay: %s: want at most %d characters", name, most)
	}
	return nil
}

// noRedirect: a signed call goes to the configured gateway or nowhere, a download to the address that Alipay signed.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

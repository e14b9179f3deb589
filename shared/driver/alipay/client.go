// Package alipay is the adapter for Alipay's open platform (seckill.Payments, Refunds, Bills): it signs order strings
// and payment pages, queries, closes and refunds trades, and reads notifications and bills. In: orders, refunds, days
// and notification forms. Out: signed strings, the state of a trade or a refund, an authentic notification, a day's
// movements. It connects only to Alipay's gateway and to the bill URLs that the gateway returns. It never retries:
// the caller does.
//
// Its rules come from Alipay's documentation: "app支付接口2.0" (alipay.trade.app.pay), "统一收单下单并支付页面接口"
// (alipay.trade.page.pay), "手机网站支付接口2.0" (alipay.trade.wap.pay), "统一收单交易查询" (alipay.trade.query), "统一收单交易关闭接口"
// (alipay.trade.close), "统一收单交易退款接口" (alipay.trade.refund), "统一收单交易退款查询" (alipay.trade.fastpay.refund.query),
// "查询对账单下载地址" (alipay.data.dataservice.bill.downloadurl.query), "异步通知说明", "自行实现签名/验签" and "公钥证书签名方式".
package alipay

import (
	"cmp"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits.
const (
	// for a whole call, including connecting and reading, if Config.HTTP has no Timeout
	CallTimeout    = 5 * time.Second
	MaxResponse    = 1 << 20 // bytes of an answer
	MaxSubject     = 256     // characters of subject
	maxURL         = 256     // characters of notify_url and return_url
	maxQuitURL     = 400     // characters of quit_url
	maxCredentials = 32      // characters of app_id and of seller_id
)

// TimeLayout is Alipay's format of times. All are in seckill.Zone.
const TimeLayout = "2006-01-02 15:04:05"

// Method names of the calls.
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

// Config holds a client's settings. HTTP may be nil. Alipay's key is given either by AlipayPublicKey or, in
// certificate mode, by the three certificates: the contents of the PEM files that Alipay provides. All other fields
// are required.
type Config struct {
	AppID           string
	SellerID        string // the seller's Alipay user id, 2088…
	PrivateKey      string // the app's private key: PKCS #8 or PKCS #1, PEM or base64, 2048 bits or more
	AlipayPublicKey string // Alipay's public key, not the app's: PKIX or PKCS #1, PEM or base64
	AppCert         string // appCertPublicKey_….crt
	// alipayCertPublicKey_RSA2.crt, the whole file: after the first certificate it has those up to
	// the root
	AlipayCert     string
	AlipayRootCert string        // alipayRootCert.crt
	Gateway        string        // absolute URL of gateway.do
	NotifyURL      string        // absolute URL of our notify endpoint, at most 256 characters
	HTTP           *http.Client  // nil means a client with CallTimeout that follows no redirects
	Clock          seckill.Clock // timestamps the calls
}

// Setting is the name of a Config field in errors.
type Setting string

// The settings that may be invalid.
const (
	SettingAppID      Setting = "app id"
	SettingSellerID   Setting = "seller id"
	SettingPrivateKey Setting = "private key"
	SettingPublicKey  Setting = "Alipay's public key"
	SettingAppCert    Setting = "app certificate"
	SettingAlipayCert Setting = "Alipay's certificate"
	SettingRootCert   Setting = "Alipay's root certificate"
	SettingGateway    Setting = "gateway"
	SettingNotifyURL  Setting = "notify URL"
)

// SettingError describes an invalid setting. It never contains a key.
type SettingError struct {
	Setting Setting
	Err     error
}

// Error implements error.
func (e *SettingError) Error() string { return fmt.Sprintf("alipay: %s: %v", e.Setting, e.Err) }

// Unwrap returns the cause.
func (e *SettingError) Unwrap() error { return e.Err }

// Signer implements seckill.Pages: it signs the strings and addresses with which shoppers pay. Of Alipay's settings it
// needs only the numbers of the root certificates. It is safe for concurrent use.
type Signer struct {
	app, seller        string
	gateway, notifyURL string
	key                *rsa.PrivateKey
	appSN, rootSN      string    // certificate mode: app_cert_sn, alipay_root_cert_sn
	appEnds            time.Time // certificate mode: when the app's certificate expires
}

// Client implements seckill.Payments, Refunds and Bills. It is safe for concurrent use.
type Client struct {
	*Signer
	*Verifier
	http, download *http.Client
	clock          seckill.Clock
}

var (
	_ seckill.Payments = (*Client)(nil)
	_ seckill.Pages    = (*Signer)(nil)
)

// NewSigner checks the settings except AlipayPublicKey, AlipayCert, HTTP and Clock, which a signer does not need. The
// error is a SettingError. Alipay itself checks whether the app's certificate is still valid.
func NewSigner(c Config) (*Signer, error) {
	if err := checkIDs(c.AppID, c.SellerID); err != nil {
		return nil, err
	}
	key, err := ParsePrivateKey(c.PrivateKey)
	if err != nil {
		return nil, &SettingError{SettingPrivateKey, err}
	}
	s := &Signer{app: c.AppID, seller: c.SellerID, gateway: c.Gateway, notifyURL: c.NotifyURL, key: key}
	if c.certificates() {
		own, err := pairedCert(c.AppCert, key)
		if err != nil {
			return nil, err
		}
		s.appEnds = own.NotAfter
		if s.appSN, err = certSN(own); err != nil {
			return nil, &SettingError{SettingAppCert, err}
		}
		if s.rootSN, err = RootCertSN(c.AlipayRootCert); err != nil {
			return nil, &SettingError{SettingRootCert, err}
		}
	}
	if err := cmp.Or(checkURL(SettingGateway, c.Gateway, maxURL), checkURL(SettingNotifyURL, c.NotifyURL,
		maxURL)); err != nil {
		return nil, err
	}
	return s, nil
}

// certificates reports whether the settings select certificate mode.
func (c *Config) certificates() bool { return c.AppCert+c.AlipayCert+c.AlipayRootCert != "" }

// New checks the settings. The error is a SettingError that says what to do, or reports a missing clock. An expired
// certificate of Alipay's is not an error of New: calls and the verification of notifications fail from its expiry
// on, and signing continues.
func New(c Config) (*Client, error) {
	if c.Clock == nil {
		return nil, errors.New("alipay: no clock")
	}
	signer, err := NewSigner(c)
	if err != nil {
		return nil, err
	}
	client := &Client{Signer: signer, http: c.HTTP, clock: c.Clock}
	switch {
	case !c.certificates():
		client.Verifier, err = NewVerifier(c.AppID, c.SellerID, c.AlipayPublicKey)
	case c.AlipayPublicKey != "":
		err = &SettingError{SettingPublicKey,
			errors.New("set beside certificates: Alipay's certificate has it; leave one of them out")}
	default:
		client.Verifier, err = NewCertVerifier(c.AppID, c.SellerID, c.AlipayCert, c.AlipayRootCert, c.Clock)
	}
	if err != nil {
		return nil, err
	}
	if client.alipay.Equal(&signer.key.PublicKey) {
		if c.AlipayPublicKey == "" {
			return nil, &SettingError{SettingAlipayCert, errOwnCert}
		}
		return nil, &SettingError{SettingPublicKey, errors.New("this is the app's own: " + adviceCopy)}
	}
	if client.http == nil {
		client.http = &http.Client{Timeout: CallTimeout, CheckRedirect: noRedirect}
	}
	client.download = &http.Client{Transport: client.http.Transport, CheckRedirect: noRedirect}
	return client, nil
}

// CertificatesEnd returns when the first certificate expires, the app's own or one between Alipay's and the root, and
// which one; the zero time without certificates.
func (c *Client) CertificatesEnd() (time.Time, Setting) {
	if c.alipaySN == "" {
		return time.Time{}, ""
	}
	if c.appEnds.Before(c.ends) {
		return c.appEnds, SettingAppCert
	}
	return c.ends, SettingAlipayCert
}

// checkURL checks a URL that a browser or Alipay will open.
func checkURL(name Setting, address string, most int) error {
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return &SettingError{name, errors.New("want an absolute http or https URL")}
	}
	if len(address) > most {
		return &SettingError{name, fmt.Errorf("want at most %d characters", most)}
	}
	return nil
}

// noRedirect refuses redirects: a signed call must reach only the configured gateway, and a download only the URL
// that Alipay signed.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Package alipay is the payment provider (seckill.Payments) in Alipay's open platform: it signs order strings, asks for
// trades and closes them, and reads notifies. In: orders and notify forms. Out: signed strings, the state of a trade, an
// authentic notice. It talks to Alipay's gateway and to nothing else, and repeats nothing: the caller does.
//
// Rules are from Alipay's documentation: "app支付接口2.0" (alipay.trade.app.pay), "统一收单交易查询" (alipay.trade.query),
// "统一收单交易关闭接口" (alipay.trade.close), "异步通知说明" and "自行实现签名/验签".
package alipay

import (
	"bytes"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"seckill/shared/seckill"
)

// Limits.
const (
	CallTimeout    = 5 * time.Second // a whole call, connecting and reading included, when Config.HTTP sets no Timeout
	MaxResponse    = 1 << 20         // bytes of an answer
	MaxSubject     = 256             // characters of subject
	maxNotifyURL   = 256             // characters of notify_url
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
	for _, f := range []struct{ name, value string }{{"gateway", c.Gateway}, {"notify URL", c.NotifyURL}} {
		if u, err := url.Parse(f.value); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("alipay: %s: want an absolute http or https URL", f.name)
		}
	}
	if len(c.NotifyURL) > maxNotifyURL {
		return nil, fmt.Errorf("alipay: notify URL: want at most %d characters", maxNotifyURL)
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

// noRedirect: a signed call goes to the configured gateway or nowhere, a download to the address that Alipay signed.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// payContent is the biz_content of alipay.trade.app.pay.
type payContent struct {
	OutTradeNo  string `json:"out_trade_no"`
	TotalAmount string `json:"total_amount"`
	Subject     string `json:"subject"`
	ProductCode string `json:"product_code"`
	TimeExpire  string `json:"time_expire"`
	SellerID    string `json:"seller_id"`
}

// Prepare signs the order string of alipay.trade.app.pay. It depends on the order and the settings only, so it is the
// same bytes each time. An order that Alipay would refuse is an error: a wrong id, an amount outside 0.01..MaxFen, no
// placing time, no end of the hold.
func (c *Client) Prepare(o seckill.Order) (string, error) {
	switch {
	case !seckill.ValidOrderID(o.ID):
		return "", fmt.Errorf("alipay: prepare: not an order id: %.40q", o.ID)
	case o.Amount < 1 || o.Amount > seckill.MaxFen:
		return "", fmt.Errorf("alipay: prepare %s: amount %s yuan: want 0.01 to %s", o.ID, o.Amount.Yuan(), seckill.MaxFen.Yuan())
	case o.Placed.IsZero() || !o.PayBy.After(o.Placed):
		return "", fmt.Errorf("alipay: prepare %s: placed %s, to be paid by %s", o.ID, o.Placed, o.PayBy)
	}
	subject := Subject(o.Title)
	if subject == "" {
		subject = o.ID // mandatory, and the shopper recognises the order by it
	}
	params := c.params(MethodPay, o.Placed, payContent{OutTradeNo: o.ID, TotalAmount: o.Amount.Yuan(), Subject: subject,
		ProductCode: "QUICK_MSECURITY_PAY", TimeExpire: o.PayBy.In(Zone).Format(TimeLayout), SellerID: c.sellerID})
	params.Set("notify_url", c.notifyURL)
	return SignedQuery(c.key, params)
}

// SignedQuery signs a request's parameters and writes them URL-encoded, sorted, the signature last. Blanks become %20,
// which every decoder reads alike, where some leave a "+" as it is.
func SignedQuery(key *rsa.PrivateKey, params url.Values) (string, error) {
	sign, err := Sign(key, SignContent(params, "sign"))
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(params.Encode()+"&sign="+url.QueryEscape(sign), "+", "%20"), nil
}

// params gives the parameters that every call has.
func (c *Client) params(method string, at time.Time, content any) url.Values {
	var biz bytes.Buffer
	enc := json.NewEncoder(&biz)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(content); err != nil {
		panic(err) // structs of strings always marshal
	}
	return url.Values{
		"app_id":      {c.appID},
		"method":      {method},
		"format":      {"JSON"},
		"charset":     {"utf-8"},
		"sign_type":   {"RSA2"},
		"timestamp":   {at.In(Zone).Format(TimeLayout)},
		"version":     {"1.0"},
		"biz_content": {strings.TrimSuffix(biz.String(), "\n")},
	}
}

// Subject makes a title fit for subject: without /, = and & (alipay.trade.app.pay forbids them) and control characters,
// blanks trimmed, at most MaxSubject characters. It may become empty.
func Subject(title string) string {
	s := strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '/' || r == '=' || r == '&' || r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, title))
	if r := []rune(s); len(r) > MaxSubject {
		s = string(r[:MaxSubject])
	}
	return s
}

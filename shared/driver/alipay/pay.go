package alipay

import (
	"bytes"
	"context"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/seckill"
)

// payContent is the biz_content of the three calls that pay.
type payContent struct {
	OutTradeNo  string `json:"out_trade_no"`
	TotalAmount string `json:"total_amount"`
	Subject     string `json:"subject"`
	ProductCode string `json:"product_code"`
	TimeExpire  string `json:"time_expire"`
	SellerID    string `json:"seller_id,omitempty"` // the page for computers takes none: it is the app's own seller
	QuitURL     string `json:"quit_url,omitempty"`
}

// Prepare signs the order string of alipay.trade.app.pay. It depends only on the order and the settings, so its bytes
// never change. It returns an error for an order that Alipay would refuse: a wrong id, an amount outside
// 0.01..MaxFen, no placing time, no end of the hold.
func (c *Signer) Prepare(o seckill.Order) (string, error) {
	params, err := c.payment(MethodPay, o, payContent{ProductCode: "QUICK_MSECURITY_PAY", SellerID: c.seller})
	if err != nil {
		return "", err
	}
	return SignedQuery(c.key, params)
}

// PagePay signs the address of alipay.trade.page.pay, the cashier for computers, by the rules of Prepare. returnURL is
// where Alipay sends the browser after payment: absolute, at most 256 characters, may be empty. No network.
func (c *Signer) PagePay(_ context.Context, o seckill.Order, returnURL string) (string, error) {
	return c.address(MethodPagePay, o, payContent{ProductCode: "FAST_INSTANT_TRADE_PAY"}, returnURL)
}

// WapPay signs the address of alipay.trade.wap.pay, the cashier for phone browsers, like PagePay. quitURL is where
// Alipay sends a shopper who gives up: absolute, at most 400 characters.
func (c *Signer) WapPay(_ context.Context, o seckill.Order, quitURL, returnURL string) (string, error) {
	if err := checkURL("quit URL", quitURL, maxQuitURL); err != nil {
		return "", err
	}
	return c.address(MethodWapPay, o, payContent{ProductCode: "QUICK_WAP_WAY", SellerID: c.seller, QuitURL: quitURL},
		returnURL)
}

// address signs a payment for a browser, which opens it with GET.
func (c *Signer) address(method string, o seckill.Order, content payContent, returnURL string) (string, error) {
	params, err := c.payment(method, o, content)
	if err != nil {
		return "", err
	}
	if returnURL != "" {
		if err := checkURL("return URL", returnURL, maxURL); err != nil {
			return "", err
		}
		params.Set("return_url", returnURL)
	}
	query, err := SignedQuery(c.key, params)
	if err != nil {
		return "", err
	}
	separator := "?"
	if strings.Contains(c.gateway, "?") {
		separator = "&"
	}
	return c.gateway + separator + query, nil
}

// payment returns the unsigned parameters of a call that pays.
func (c *Signer) payment(method string, o seckill.Order, content payContent) (url.Values, error) {
	switch {
	case !seckill.ValidOrderID(o.ID):
		return nil, fmt.Errorf("alipay: prepare: not an order id: %.40q", o.ID)
	case o.Amount < 1 || o.Amount > seckill.MaxFen:
		return nil, fmt.Errorf("alipay: prepare %s: amount %s yuan: want 0.01 to %s", o.ID, o.Amount.Yuan(),
			seckill.MaxFen.Yuan())
	case o.Placed.IsZero() || !o.PayBy.After(o.Placed):
		return nil, fmt.Errorf("alipay: prepare %s: placed %s, to be paid by %s", o.ID, o.Placed, o.PayBy)
	}
	content.OutTradeNo, content.TotalAmount, content.Subject = o.ID, o.Amount.Yuan(), Subject(o.Title)
	if content.Subject == "" {
		content.Subject = o.ID // mandatory; the order id is what the shopper recognises
	}
	content.TimeExpire = o.PayBy.In(seckill.Zone).Format(TimeLayout)
	params := c.params(method, o.Placed, content)
	params.Set("notify_url", c.notifyURL)
	return params, nil
}

// SignedQuery signs a request's parameters and returns them URL-encoded and sorted, with the signature last.
func SignedQuery(key *rsa.PrivateKey, params url.Values) (string, error) {
	sign, err := Sign(key, SignContent(params, "sign"))
	if err != nil {
		return "", err
	}
	return escaped(params) + "&" + escaped(url.Values{"sign": {sign}}), nil
}

// escaped returns parameters URL-encoded and sorted. It writes blanks as %20, which every decoder reads alike; some
// leave a "+" unchanged.
func escaped(params url.Values) string { return strings.ReplaceAll(params.Encode(), "+", "%20") }

// params returns the parameters common to all calls.
func (c *Signer) params(method string, at time.Time, content any) url.Values {
	var biz bytes.Buffer
	enc := json.NewEncoder(&biz)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(content); err != nil {
		panic(err) // cannot happen: structs of strings always marshal
	}
	params := url.Values{
		"app_id":      {c.app},
		"method":      {method},
		"format":      {"JSON"},
		"charset":     {"utf-8"},
		"sign_type":   {"RSA2"},
		"timestamp":   {at.In(seckill.Zone).Format(TimeLayout)},
		"version":     {"1.0"},
		"biz_content": {strings.TrimSuffix(biz.String(), "\n")},
	}
	if c.appSN != "" {
		params.Set("app_cert_sn", c.appSN)
		params.Set("alipay_root_cert_sn", c.rootSN)
	}
	return params
}

// Subject makes a title valid as a subject: without /, = and & (alipay.trade.app.pay forbids them) and control
// characters, trimmed, at most MaxSubject characters. The result may be empty.
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

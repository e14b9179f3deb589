package alipay

import (
	"bytes"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"html"
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

// Page is Alipay's cashier for a browser, in two forms that open the same trade.
type Page struct {
	URL  string // URL to open
	Form string // HTML form with one button that POSTs it, for what is too long for a URL
}

// PagePay signs alipay.trade.page.pay, the cashier for computers, by the rules of Prepare. returnURL is where Alipay
// sends the browser after payment: absolute, at most 256 characters, may be empty. A visit there proves nothing: only
// Query and notifications prove a payment.
func (c *Signer) PagePay(o seckill.Order, returnURL string) (Page, error) {
	return c.page(MethodPagePay, o, payContent{ProductCode: "FAST_INSTANT_TRADE_PAY"}, returnURL)
}

// WapPay signs alipay.trade.wap.pay, the cashier for phone browsers, like PagePay. quitURL is where Alipay sends a
// shopper who gives up: absolute, at most 400 characters.
func (c *Signer) WapPay(o seckill.Order, quitURL, returnURL string) (Page, error) {
	if err := checkURL("quit URL", quitURL, maxQuitURL); err != nil {
		return Page{}, err
	}
	return c.page(MethodWapPay, o, payContent{ProductCode: "QUICK_WAP_WAY", SellerID: c.seller, QuitURL: quitURL},
		returnURL)
}

// page signs a payment for a browser. The form's action URL contains the parameters that Alipay wants there, the
// charset above all.
func (c *Signer) page(method string, o seckill.Order, content payContent, returnURL string) (Page, error) {
	params, err := c.payment(method, o, content)
	if err != nil {
		return Page{}, err
	}
	if returnURL != "" {
		if err := checkURL("return URL", returnURL, maxURL); err != nil {
			return Page{}, err
		}
		params.Set("return_url", returnURL)
	}
	sign, err := Sign(c.key, SignContent(params))
	if err != nil {
		return Page{}, err
	}
	params.Set("sign", sign)
	address := c.gateway + "?"
	if strings.Contains(c.gateway, "?") {
		address = c.gateway + "&"
	}
	p := Page{URL: address + escaped(params)}
	biz := params.Get("biz_content")
	params.Del("biz_content")
	p.Form =
		fmt.Sprintf(
			`<form method="post" action="%s" accept-charset="utf-8"><input type="hidden" name="biz_content" value="%s">`+
				`<button type="submit">支付宝 Alipay</button></form>`, html.EscapeString(address+escaped(params)),
			html.EscapeString(biz))
	return p, nil
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

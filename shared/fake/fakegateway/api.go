package fakegateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/seckill"
)

// node is the signed part of an answer.
type node struct {
	Code         string `json:"code"`
	Message      string `json:"msg"`
	SubCode      string `json:"sub_code,omitempty"`
	SubMessage   string `json:"sub_msg,omitempty"`
	BillURL      string `json:"bill_download_url,omitempty"`
	BuyerID      string `json:"buyer_user_id,omitempty"`
	FundChange   string `json:"fund_change,omitempty"`
	GmtRefundPay string `json:"gmt_refund_pay,omitempty"`
	OutRequestNo string `json:"out_request_no,omitempty"`
	OutTradeNo   string `json:"out_trade_no,omitempty"`
	RefundAmount string `json:"refund_amount,omitempty"`
	RefundFee    string `json:"refund_fee,omitempty"`
	RefundStatus string `json:"refund_status,omitempty"`
	SendPayDate  string `json:"send_pay_date,omitempty"`
	TotalAmount  string `json:"total_amount,omitempty"`
	TradeNo      string `json:"trade_no,omitempty"`
	TradeStatus  Status `json:"trade_status,omitempty"`
}

func success() node { return node{Code: "10000", Message: "Success"} }

// about returns an answer about a trade.
func (g *Gateway) about(r *Record) node {
	n := success()
	n.OutTradeNo, n.TradeNo, n.BuyerID = r.OutTradeNo, r.TradeNo, buyerID
	return n
}

// content has all fields that the calls' biz_content may have.
type content struct {
	OutTradeNo   string      `json:"out_trade_no"`
	TradeNo      string      `json:"trade_no"`
	RefundAmount json.Number `json:"refund_amount"` // "88.80" or 88.80, as Alipay's samples have it
	OutRequestNo string      `json:"out_request_no"`
	BillType     string      `json:"bill_type"`
	BillDate     string      `json:"bill_date"`
}

// read decodes a call's biz_content. ErrContent.
func (c *content) read(biz, method string) error {
	if json.Unmarshal([]byte(biz), c) != nil {
		return ErrContent
	}
	if method == alipay.MethodBill {
		return nil
	}
	for _, f := range []struct {
		value string
		must  bool
	}{{c.TradeNo, false}, {c.OutTradeNo, c.TradeNo == ""}} {
		if (f.must || f.value != "") && !validNo(f.value) {
			return ErrContent
		}
	}
	if c.OutRequestNo != "" && !validNo(strings.ReplaceAll(c.OutRequestNo, "-", "_")) {
		return ErrContent
	}
	return nil
}

// callQuery implements alipay.trade.query.
func (g *Gateway) callQuery(ctx context.Context, c *content) (node, error) {
	r, err := g.find(ctx, c.TradeNo, c.OutTradeNo)
	if err != nil {
		return node{}, err
	}
	n := g.about(&r)
	n.TradeStatus, n.TotalAmount = r.Status, r.Amount.Yuan()
	if !r.Paid.IsZero() {
		n.SendPayDate = stamp(r.Paid)
	}
	return n, nil
}

// note logs a fault of the store. Refusals are not logged: they are answers to the shop.
func (g *Gateway) note(ctx context.Context, err error) {
	if errors.Is(err, ErrUnavailable) {
		g.opt.Log.WarnContext(ctx, "trades cannot be reached", "err", err)
	}
}

func refusalNode(err error, outTradeNo string) node {
	var r *Refusal
	if !errors.As(err, &r) {
		panic(err) // the gateway refuses only with *Refusal values
	}
	messages := map[string]string{"20000": "Service Currently Unavailable", "40002": "Invalid Arguments",
		"40004": "Business Failed"}
	return node{Code: r.Code, Message: messages[r.Code], SubCode: r.SubCode, SubMessage: r.Message,
		OutTradeNo: outTradeNo}
}

// answer writes {name: node, "sign": …}. The signature covers the node's bytes as written.
func (g *Gateway) answer(w http.ResponseWriter, name string, n node) {
	raw, err := json.Marshal(n)
	if err != nil {
		panic(err) // cannot happen: strings always marshal
	}
	sign, err := alipay.Sign(g.key, string(raw))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	// If this fails, the client has disconnected.
	_, _ = w.Write([]byte(`{"` + name + `":` + string(raw) + `,"sign":"` + sign + `"}`))
}

// authentic checks the shop's signature of these parameters. ErrForm, ErrAppID, ErrSignType, ErrSignature.
func (g *Gateway) authentic(form url.Values) error {
	for _, values := range form {
		if len(values) != 1 {
			return ErrForm
		}
	}
	switch {
	case form.Get("app_id") != g.opt.AppID:
		return ErrAppID
	case form.Get("sign_type") != "RSA2":
		return ErrSignType
	case !strings.EqualFold(form.Get("charset"), "utf-8"), form.Get("version") != "1.0":
		return ErrForm
	}
	if _, err := time.ParseInLocation(alipay.TimeLayout, form.Get("timestamp"), seckill.Zone); err != nil {
		return ErrForm
	}
	if alipay.CheckSign(g.merchant, []byte(alipay.SignContent(form, "sign")), form.Get("sign")) != nil {
		return ErrSignature
	}
	return nil
}

// products maps each call that pays to the product_code that it may have. Alipay's page on wap.pay says QUICK_WAP_WAY;
// its PHP demo and SDKs for other languages send QUICK_WAP_PAY, which works as well.
var products = map[string][]string{alipay.MethodPay: {"QUICK_MSECURITY_PAY"},
	alipay.MethodPagePay: {"FAST_INSTANT_TRADE_PAY"}, alipay.MethodWapPay: {"QUICK_WAP_WAY", "QUICK_WAP_PAY"}}

// readOrderString checks an order string of alipay.trade.app.pay and returns the trade that it describes.
func (g *Gateway) readOrderString(s string) (Record, error) {
	if len(s) > maxOrderString {
		return Record{}, ErrForm
	}
	form, err := url.ParseQuery(s)
	if err != nil {
		return Record{}, ErrForm
	}
	return g.readOrder(form)
}

// readOrder is readOrderString for decoded parameters and for the calls that pay on the web.
func (g *Gateway) readOrder(form url.Values) (Record, error) {
	if err := g.authentic(form); err != nil {
		return Record{}, err
	}
	allowed := products[form.Get("method")]
	if allowed == nil {
		return Record{}, ErrMethod
	}
	var content struct {
		OutTradeNo  string      `json:"out_trade_no"`
		TotalAmount json.Number `json:"total_amount"` // "88.80" or 88.80, as SDKs have it
		Subject     string      `json:"subject"`
		ProductCode string      `json:"product_code"`
		TimeExpire  string      `json:"time_expire"`
		SellerID    string      `json:"seller_id"`
	}
	if json.Unmarshal([]byte(form.Get("biz_content")), &content) != nil {
		return Record{}, ErrContent
	}
	amount, badAmount := seckill.ParseYuan(string(content.TotalAmount))
	expires, badTime := expiry(content.TimeExpire, form.Get("timestamp"))
	notifyURL, badURL := url.Parse(form.Get("notify_url"))
	switch {
	case badAmount != nil || amount < 1, badTime != nil, badURL != nil || notifyURL.Host == "",
		!validNo(content.OutTradeNo),
		content.Subject == "" || strings.ContainsAny(content.Subject, "/=&"),
		utf8.RuneCountInString(content.Subject) > alipay.MaxSubject,
		!slices.Contains(allowed, content.ProductCode),
		content.SellerID != "" && content.SellerID != g.opt.SellerID: // optional in page.pay and wap.pay
		return Record{}, ErrContent
	}
	return Record{Trade: Trade{OutTradeNo: content.OutTradeNo, Subject: content.Subject, Amount: amount,
		Expires: expires.UTC()},
		NotifyURL: form.Get("notify_url")}, nil
}

// longestWait is how long Alipay lets a trade wait whose call says nothing about it.
const longestWait = 15 * 24 * time.Hour

// expiry returns when a trade expires: at its time_expire, else longestWait after the call's timestamp.
func expiry(timeExpire, timestamp string) (time.Time, error) {
	if timeExpire != "" {
		return time.ParseInLocation(alipay.TimeLayout, timeExpire, seckill.Zone)
	}
	at, err := time.ParseInLocation(alipay.TimeLayout, timestamp, seckill.Zone)
	return at.Add(longestWait), err
}

// validNo reports whether Alipay would accept s as out_trade_no: 1 to 64 ASCII letters, digits and underscores. Of an
// out_request_no its pages say only that it has at most 64 characters; shops send UUIDs, with hyphens.
func validNo(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' {
			return false
		}
	}
	return true
}

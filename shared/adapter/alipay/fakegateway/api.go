package fakegateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"seckill/shared/adapter/alipay"
	"seckill/shared/seckill"
)

// node is the signed part of an answer of alipay.trade.query and alipay.trade.close.
type node struct {
	Code        string `json:"code"`
	Message     string `json:"msg"`
	SubCode     string `json:"sub_code,omitempty"`
	SubMessage  string `json:"sub_msg,omitempty"`
	BuyerID     string `json:"buyer_user_id,omitempty"`
	OutTradeNo  string `json:"out_trade_no,omitempty"`
	SendPayDate string `json:"send_pay_date,omitempty"`
	TotalAmount string `json:"total_amount,omitempty"`
	TradeNo     string `json:"trade_no,omitempty"`
	TradeStatus Status `json:"trade_status,omitempty"`
}

// serveCall answers /gateway.do. Parameters may come in the address, in a form, or some in each, as Alipay takes them.
func (g *Gateway) serveCall(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	if err := r.ParseForm(); err != nil {
		g.answer(w, "error_response", refusalNode(ErrForm, ""))
		return
	}
	method := r.Form.Get("method")
	if method != alipay.MethodQuery && method != alipay.MethodClose {
		g.answer(w, "error_response", refusalNode(ErrMethod, ""))
		return
	}
	g.answer(w, strings.ReplaceAll(method, ".", "_")+"_response", g.call(r.Context(), method, r.Form))
}

// call carries out a query or a close.
func (g *Gateway) call(ctx context.Context, method string, form url.Values) node {
	if err := g.authentic(form); err != nil {
		return refusalNode(err, "")
	}
	var content struct {
		OutTradeNo string `json:"out_trade_no"`
	}
	if json.Unmarshal([]byte(form.Get("biz_content")), &content) != nil || !validOutTradeNo(content.OutTradeNo) {
		return refusalNode(ErrContent, "")
	}
	if method == alipay.MethodClose {
		t, err := g.closeTrade(ctx, content.OutTradeNo)
		if err != nil {
			g.note(ctx, err)
			return refusalNode(err, content.OutTradeNo)
		}
		return node{Code: "10000", Message: "Success", OutTradeNo: t.OutTradeNo, TradeNo: t.TradeNo}
	}
	t, err := g.load(ctx, content.OutTradeNo)
	if err != nil {
		g.note(ctx, err)
		return refusalNode(err, content.OutTradeNo)
	}
	n := node{Code: "10000", Message: "Success", OutTradeNo: t.OutTradeNo, TradeNo: t.TradeNo, TradeStatus: t.Status,
		TotalAmount: t.Amount.Yuan(), BuyerID: buyerID}
	if !t.Paid.IsZero() {
		n.SendPayDate = t.Paid.In(alipay.Zone).Format(alipay.TimeLayout)
	}
	return n
}

// note logs a fault of the store; refusals are the shop's business.
func (g *Gateway) note(ctx context.Context, err error) {
	if errors.Is(err, ErrUnavailable) {
		g.opt.Log.WarnContext(ctx, "trades cannot be reached", "err", err)
	}
}

func refusalNode(err error, outTradeNo string) node {
	var r *Refusal
	if !errors.As(err, &r) {
		panic(err) // the gateway refuses by these only
	}
	messages := map[string]string{"20000": "Service Currently Unavailable", "40002": "Invalid Arguments", "40004": "Business Failed"}
	return node{Code: r.Code, Message: messages[r.Code], SubCode: r.SubCode, SubMessage: r.Message, OutTradeNo: outTradeNo}
}

// answer writes {name: node, "sign": …}, the signature being over the node's bytes as written.
func (g *Gateway) answer(w http.ResponseWriter, name string, n node) {
	raw, err := json.Marshal(n)
	if err != nil {
		panic(err) // strings always marshal
	}
	sign, err := alipay.Sign(g.key, string(raw))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	// The client is gone if this fails, and nobody is left to be told.
	_, _ = w.Write([]byte(`{"` + name + `":` + string(raw) + `,"sign":"` + sign + `"}`))
}

// authentic checks that the shop signed these parameters. ErrForm, ErrAppID, ErrSignType, ErrSignature.
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
	if _, err := time.ParseInLocation(alipay.TimeLayout, form.Get("timestamp"), alipay.Zone); err != nil {
		return ErrForm
	}
	if alipay.CheckSign(g.merchant, []byte(alipay.SignContent(form, "sign")), form.Get("sign")) != nil {
		return ErrSignature
	}
	return nil
}

// readOrderString checks an order string of alipay.trade.app.pay and reads the trade that it asks for.
func (g *Gateway) readOrderString(s string) (Record, error) {
	if len(s) > maxOrderString {
		return Record{}, ErrForm
	}
	form, err := url.ParseQuery(s)
	if err != nil {
		return Record{}, ErrForm
	}
	if err := g.authentic(form); err != nil {
		return Record{}, err
	}
	if form.Get("method") != alipay.MethodPay {
		return Record{}, ErrMethod
	}
	var content struct {
		OutTradeNo  string `json:"out_trade_no"`
		TotalAmount string `json:"total_amount"`
		Subject     string `json:"subject"`
		ProductCode string `json:"product_code"`
		TimeExpire  string `json:"time_expire"`
		SellerID    string `json:"seller_id"`
	}
	if json.Unmarshal([]byte(form.Get("biz_content")), &content) != nil {
		return Record{}, ErrContent
	}
	amount, badAmount := seckill.ParseYuan(content.TotalAmount)
	expires, badTime := time.ParseInLocation(alipay.TimeLayout, content.TimeExpire, alipay.Zone)
	notifyURL, badURL := url.Parse(form.Get("notify_url"))
	switch {
	case badAmount != nil || amount < 1, badTime != nil, badURL != nil || notifyURL.Host == "",
		!validOutTradeNo(content.OutTradeNo),
		content.Subject == "" || strings.ContainsAny(content.Subject, "/=&"),
		utf8.RuneCountInString(content.Subject) > alipay.MaxSubject,
		content.ProductCode != "QUICK_MSECURITY_PAY",
		content.SellerID != g.opt.SellerID:
		return Record{}, ErrContent
	}
	return Record{Trade: Trade{OutTradeNo: content.OutTradeNo, Subject: content.Subject, Amount: amount, Expires: expires.UTC()},
		NotifyURL: form.Get("notify_url")}, nil
}

// validOutTradeNo says whether Alipay would take s as out_trade_no: 1 to 64 ASCII letters, digits and underscores.
func validOutTradeNo(s string) bool {
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

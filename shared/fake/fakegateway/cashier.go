package fakegateway

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
)

//go:embed cashier.html
var cashierHTML string

var cashierPage = template.Must(template.New("cashier").Parse(cashierHTML))

// view is the data of the page.
type view struct {
	Lang, Nonce string
	Words       words
	Kind        string // wait, paid, refunded, expired, closed, busy, wrong
	Title, Note string
	Known       bool // Trade is set
	Trade       Trade
	Amount      string
	LeftSeconds int64
	Token       string
	Return      string     // URL to return to; "" for the previous page
	OtherLang   string     // URL of the page in the other language; "" if no link can open it
	Carried     url.Values // the ways, as the page's form carries them to the click
}

// ways are the web addresses that a call which pays in a browser names.
type ways struct {
	method     string // alipay.MethodPagePay, alipay.MethodWapPay; "" for an app's order string
	back, quit string // "" if the call names no such address
}

// waysOf reads the ways of an authentic call, or of the form on the cashier's page. Both have the same names.
func waysOf(form url.Values) (w ways) {
	if m := form.Get("method"); m != alipay.MethodPagePay && m != alipay.MethodWapPay {
		return ways{}
	}
	w.method = form.Get("method")
	var content struct {
		QuitURL string `json:"quit_url"`
	}
	_ = json.Unmarshal([]byte(form.Get("biz_content")), &content) // the form on the page has no such field
	for to, address := range map[*string]string{&w.back: form.Get("return_url"), &w.quit: content.QuitURL} {
		if u, err := url.Parse(address); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			*to = address
		}
	}
	return w
}

// returned returns where the cashier's page leads back to after a payment: return_url with Alipay's parameters, which
// it signs. The shop's own parameters in return_url are not signed. "" if there is no return_url.
func (g *Gateway) returned(w ways, t *Trade) string {
	if w.back == "" {
		return ""
	}
	form := url.Values{"charset": {"utf-8"}, "out_trade_no": {t.OutTradeNo}, "method": {w.method + ".return"},
		"total_amount": {t.Amount.Yuan()}, "trade_no": {t.TradeNo}, "auth_app_id": {g.opt.AppID}, "version": {"1.0"},
		"app_id": {g.opt.AppID}, "sign_type": {"RSA2"}, "seller_id": {g.opt.SellerID},
		"timestamp": {stamp(g.opt.Clock.Now())}}
	if err := g.SignForm(form); err != nil {
		panic(err) // cannot happen: the key has signed before
	}
	return joined(w.back, form.Encode())
}

// joined appends parameters to an address, before its fragment.
func joined(address, query string) string {
	address, fragment, marked := strings.Cut(address, "#")
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	address += separator + query
	if marked {
		address += "#" + fragment
	}
	return address
}

// words are the page's texts in one language.
type words struct {
	Cashier, Label, Amount, Subject, OrderNo, TradeNo, TimeLeft, Pay, Cancel, Back, Other, TimeUp string
	Wait, Paid, Refunded, Expired, Closed, Busy, Wrong                                            page
}

type page struct{ Title, Note string }

var languages = map[string]words{
	"zh": {
		Cashier: "测试收银台", Label: "仅供测试，不会产生真实扣款", Amount: "应付金额", Subject: "商品", OrderNo: "订单号", TradeNo: "交易号",
		TimeLeft: "剩余支付时间", Pay: "确认付款", Cancel: "取消", Back: "返回商店", Other: "English", TimeUp: "支付时间已过",
		Wait:     page{"请确认付款", "付款前请核对商品和金额。"},
		Paid:     page{"支付成功", "商店会在几秒内收到通知。"},
		Refunded: page{"已全额退款", "这笔付款已全部退回。"},
		Expired:  page{"支付已过期", "付款时间已过，未扣款。该订单不能再支付，请返回商店重新下单。"},
		Closed:   page{"交易已关闭", "商店已关闭这笔交易，未扣款，不能再支付。"},
		Busy:     page{"收银台暂时无法应答", "请稍后重新打开收银台，查看是否已付款。"},
		Wrong:    page{"无法打开收银台", "支付信息有误或不完整，未扣款。请返回商店重新打开。"},
	},
	"en": {
		Cashier: "Test cashier", Label: "For testing only: no real money moves", Amount: "Amount due", Subject: "Item",
		OrderNo: "Order",
		TradeNo: "Trade", TimeLeft: "Time left to pay", Pay: "Pay now", Cancel: "Cancel", Back: "Back to the shop",
		Other:    "中文",
		TimeUp:   "The time to pay is over",
		Wait:     page{"Confirm your payment", "Check the item and the amount before you pay."},
		Paid:     page{"Payment successful", "The shop will hear of it within seconds."},
		Refunded: page{"Refunded in full", "All of this payment went back."},
		Expired: page{"This payment has expired",
			"The time to pay is over and nothing was charged. This order can no longer be paid; go back to the shop " +
				"to order again."},
		Closed: page{"This payment is closed",
			"The shop closed it. Nothing was charged, and it can no longer be paid."},
		Busy: page{"The cashier is busy", "Open it again in a moment to see whether this is paid."},
		Wrong: page{"The cashier cannot be opened",
			"The payment details are wrong or incomplete. Nothing was charged. Go back to the shop and try again."},
	},
}

// serveCashier opens the cashier. The query is an order string, optionally with lang=zh or lang=en added.
func (g *Gateway) serveCashier(w http.ResponseWriter, r *http.Request) {
	orderString, lang := splitLang(r.URL.RawQuery)
	if languages[lang].Cashier == "" {
		lang = acceptedLang(r.Header.Get("Accept-Language"))
	}
	form, err := url.ParseQuery(orderString)
	if err != nil || len(orderString) > maxOrderString {
		form = nil // which is not an authentic order
	}
	g.showCashier(w, r, form, lang, "?"+orderString+"&lang="+map[string]string{"zh": "en", "en": "zh"}[lang])
}

// showCashier opens the cashier for a signed call, or shows why the call is wrong. otherLang is the URL of the page in
// the other language.
func (g *Gateway) showCashier(w http.ResponseWriter, r *http.Request, form url.Values, lang, otherLang string) {
	if lang == "" {
		lang = acceptedLang(r.Header.Get("Accept-Language"))
	}
	t, to := Record{}, ways{}
	want, err := g.readOrder(form)
	if err == nil {
		to = waysOf(form)
		t, err = g.open(r.Context(), want)
	}
	g.note(r.Context(), err)
	v := g.view(t, to, err, lang)
	v.OtherLang = otherLang
	render(w, v, err)
}

// servePay handles the click on "pay". The token proves that the request comes from the cashier's page and names one
// of the order's trades.
func (g *Gateway) servePay(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	lang := r.PostFormValue("lang")
	if languages[lang].Cashier == "" {
		lang = acceptedLang(r.Header.Get("Accept-Language"))
	}
	ctx, to := r.Context(), ways{}
	t, err := g.byToken(ctx, r.PostFormValue("out_trade_no"), r.PostFormValue("token"))
	if err == nil {
		to = waysOf(r.PostForm)
		err = g.pay(ctx, t.Key())
		if err == nil {
			if g.opt.AtOnce {
				_, _, failed := g.attempt(ctx, t.Key())
				g.note(ctx, failed)
			}
			err = ErrPaid // the page says "paid" after a second click as after the first
		}
	}
	g.note(ctx, err)
	render(w, g.view(t, to, err, lang), err)
}

// byToken returns the order's trade with that token. ErrForm, ErrUnavailable.
func (g *Gateway) byToken(ctx context.Context, outTradeNo, token string) (Record, error) {
	if !validNo(outTradeNo) {
		return Record{}, ErrForm
	}
	trades, err := g.ofOrder(ctx, outTradeNo)
	if err != nil {
		return Record{}, err
	}
	for _, t := range trades {
		if subtle.ConstantTimeCompare([]byte(t.Token), []byte(token)) == 1 {
			return t, nil
		}
	}
	return Record{}, ErrForm
}

// view chooses the page for a trade: err is why it cannot be paid, nil if it can.
func (g *Gateway) view(t Record, to ways, err error, lang string) view {
	text := languages[lang]
	v := view{Lang: lang, Words: text, Nonce: rand.Text(), Return: cmp.Or(to.quit, g.returnURL(t.OutTradeNo)),
		Carried: url.Values{}}
	if to.method == alipay.MethodPagePay {
		v.Return = "" // it has no quit_url: shoppers who give up go back in the browser
	}
	var p page
	switch {
	case err == nil:
		v.Kind, p = "wait", text.Wait
		v.LeftSeconds = int64(t.Lapses.Sub(g.opt.Clock.Now()) / time.Second)
		v.Token = t.Token
		if to.back != "" {
			v.Carried = url.Values{"method": {to.method}, "return_url": {to.back}}
		}
	case errors.Is(err, ErrPaid):
		v.Kind, p = "paid", text.Paid
		v.Return = cmp.Or(g.returned(to, &t.Trade), v.Return)
	case errors.Is(err, ErrClosed) && !t.Paid.IsZero():
		v.Kind, p = "refunded", text.Refunded
	case errors.Is(err, ErrExpired):
		v.Kind, p = "expired", text.Expired
	case errors.Is(err, ErrClosed):
		v.Kind, p = "closed", text.Closed
	case errors.Is(err, ErrUnavailable):
		v.Kind, p = "busy", text.Busy
	default:
		v.Kind, p = "wrong", text.Wrong
	}
	v.Title, v.Note = p.Title, p.Note
	if v.Kind != "wrong" && v.Kind != "busy" {
		v.Known, v.Trade, v.Amount = true, t.Trade, grouped(t.Amount.Yuan())
	}
	return v
}

// grouped separates the thousands of an amount in yuan: "2,899.00".
func grouped(yuan string) string {
	for i := len(yuan) - len("000.00"); i > 0; i -= 3 {
		yuan = yuan[:i] + "," + yuan[i:]
	}
	return yuan
}

// pageStatus maps each kind of page to its HTTP status.
var pageStatus = map[string]int{"wait": http.StatusOK, "paid": http.StatusOK, "refunded": http.StatusOK,
	"expired": http.StatusGone,
	"closed":  http.StatusGone, "busy": http.StatusServiceUnavailable, "wrong": http.StatusBadRequest}

func render(w http.ResponseWriter, v view, cause error) {
	var page bytes.Buffer
	if err := cashierPage.Execute(&page, v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", v.Lang)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+v.Nonce+"'; script-src 'nonce-"+v.Nonce+
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	var refusal *Refusal
	if errors.As(cause, &refusal) {
		h.Set("X-Sub-Code", refusal.SubCode) // for people who test a shop against this gateway
	}
	w.WriteHeader(pageStatus[v.Kind])
	_, _ = w.Write(page.Bytes()) // if this fails, the browser has disconnected
}

// splitLang removes lang=… from a query: it belongs to the page, not to the order string.
func splitLang(rawQuery string) (orderString, lang string) {
	var kept []string
	for _, p := range strings.Split(rawQuery, "&") {
		if l, ok := strings.CutPrefix(p, "lang="); ok {
			lang = l
			continue
		}
		kept = append(kept, p)
	}
	return strings.Join(kept, "&"), lang
}

// acceptedLang chooses Chinese or English by Accept-Language; Chinese if it names neither.
func acceptedLang(header string) string {
	best, bestQ := "zh", 0.0
	for _, part := range strings.Split(header, ",") {
		tag, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		q := 1.0
		if v, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			var err error
			if q, err = strconv.ParseFloat(v, 64); err != nil {
				continue
			}
		}
		lang, _, _ := strings.Cut(strings.ToLower(tag), "-")
		if languages[lang].Cashier != "" && q > bestQ {
			best, bestQ = lang, q
		}
	}
	return best
}

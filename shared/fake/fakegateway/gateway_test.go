package fakegateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	appID    = "2021000000000001"
	sellerID = "2088000000000001"
	orderID  = "oabcdefghijklmnopqrstuvwxyz"
)

var (
	shopKeys    = sync.OnceValue(newKeys)
	gatewayKeys = sync.OnceValue(newKeys)
	start       = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

func newKeys() fakegateway.KeyPair {
	pair, err := fakegateway.GenerateKeys()
	if err != nil {
		panic(err)
	}
	return pair
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// shop answers notifications as configured and checks what it receives.
type shop struct {
	client *alipay.Client
	status int
	answer string
	got    []url.Values
	onCall func()
}

func (s *shop) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	s.got = append(s.got, form)
	if s.onCall != nil {
		s.onCall()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: s.status, Body: io.NopCloser(strings.NewReader(s.answer)), Request: r}, nil
}

// system returns a gateway and a shop on one clock.
func system(t *testing.T, change func(*fakegateway.Options)) (*fakegateway.Gateway, *shop, *clock) {
	t.Helper()
	c := &clock{now: start}
	s := &shop{status: http.StatusOK, answer: "success"}
	o := fakegateway.Options{Clock: c, AppID: appID, SellerID: sellerID, MerchantPublicKey: shopKeys().Public,
		PrivateKey: gatewayKeys().Private, HTTP: &http.Client{Transport: s}}
	if change != nil {
		change(&o)
	}
	g, err := fakegateway.New(o)
	must.OK(t, err)
	s.client, err = alipay.New(alipay.Config{AppID: appID, SellerID: sellerID, PrivateKey: shopKeys().Private,
		AlipayPublicKey: g.PublicKey(), Gateway: "https://gateway.example/gateway.do",
		NotifyURL: "https://shop.example/seckill/alipay/notify", Clock: c})
	must.OK(t, err)
	return g, s, c
}

func order(n int) seckill.Order {
	id := orderID
	if n > 0 {
		id = fmt.Sprintf("o%026s", strings.NewReplacer("0", "a", "1", "b", "8", "c", "9",
			"d").Replace(fmt.Sprintf("%026d", n)))
	}
	return seckill.Order{ID: id, Amount: 88_80, Title: "红色外套 <Red> coat", Placed: start,
		PayBy: start.Add(15 * time.Minute)}
}

func prepare(t *testing.T, s *shop, o seckill.Order) string { return must.Get(s.client.Prepare(o)) }

// resign changes an order string and signs it again with the shop's key.
func resign(t *testing.T, orderString string, change func(form url.Values, biz map[string]string)) string {
	t.Helper()
	form := must.Get(url.ParseQuery(orderString))
	biz := map[string]string{}
	must.OK(t, json.Unmarshal([]byte(form.Get("biz_content")), &biz))
	form.Del("sign")
	change(form, biz)
	content := must.Get(json.Marshal(biz))
	form.Set("biz_content", string(content))
	return signed(t, form)
}

// signed returns parameters with the shop's signature.
func signed(t *testing.T, form url.Values) string {
	t.Helper()
	key := must.Get(alipay.ParsePrivateKey(shopKeys().Private))
	return must.Get(alipay.SignedQuery(key, form))
}

// open opens the cashier of an order.
func open(t *testing.T, g *fakegateway.Gateway, s *shop, o seckill.Order) {
	t.Helper()
	must.Get(g.Open(prepare(t, s, o)))
}

func TestATradeExistsOnceTheCashierIsOpened(t *testing.T) {
	g, s, c := system(t, nil)
	str := prepare(t, s, order(0))
	if err := g.Pay(orderID); !errors.Is(err, fakegateway.ErrNoTrade) || len(g.Trades()) != 0 {
		t.Fatalf("before: pay gives %v with trades %v, want ErrNoTrade and none", err, g.Trades())
	}
	c.set(start.Add(time.Minute))
	no := must.Get(g.Open(str))
	again := must.Get(g.Open(str))
	must.Equal(t, no, again, "opened again")
	want := []fakegateway.Trade{{TradeNo: no, OutTradeNo: orderID, Subject: "红色外套 <Red> coat", Amount: 88_80,
		Status: fakegateway.StatusWait, Created: start.Add(time.Minute), Expires: start.Add(15 * time.Minute)}}
	if diff := cmp.Diff(want, g.Trades()); diff != "" || len(no) != 28 {
		t.Errorf("trades (-want +got), trade number %q:\n%s", no, diff)
	}
	c.set(start.Add(2 * time.Minute))
	must.OK(t, g.Pay(orderID))
	want[0].Status, want[0].Paid = fakegateway.StatusSuccess, start.Add(2*time.Minute)
	must.Equal(t, want, g.Trades(), "paid")
	must.Is(t, fakegateway.ErrPaid, g.Pay(orderID), "paid twice")
	must.Is(t, fakegateway.ErrPaid, must.Err(g.Open(str)), "opened when paid")
}

func TestTimeExpire(t *testing.T) {
	for name, tc := range map[string]struct {
		grace, open, pay time.Duration // open and pay are times after placing; the trade expires at 15 min
		wantOpen         error
		wantPay          error
	}{
		"in time":                     {0, time.Minute, 15*time.Minute - 1, nil, nil},
		"opened in time, paid at end": {0, time.Minute, 15 * time.Minute, nil, fakegateway.ErrExpired},
		"opened at the end": {0, 15 * time.Minute, 15 * time.Minute, fakegateway.ErrExpired,
			fakegateway.ErrNoTrade},
		"grace, opened in time": {time.Minute, time.Minute, 16*time.Minute - 1, nil, nil},
		"grace is over":         {time.Minute, time.Minute, 16 * time.Minute, nil, fakegateway.ErrExpired},
		"grace does not open a new one": {time.Minute, 15 * time.Minute, 15 * time.Minute, fakegateway.ErrExpired,
			fakegateway.ErrNoTrade},
	} {
		g, s, c := system(t, func(o *fakegateway.Options) { o.LateGrace = tc.grace })
		str := prepare(t, s, order(0))
		c.set(start.Add(tc.open))
		must.Is(t, tc.wantOpen, must.Err(g.Open(str)), name, "open gives")
		c.set(start.Add(tc.pay))
		must.Is(t, tc.wantPay, g.Pay(orderID), name, "pay gives")
		for _, tr := range g.Trades() {
			must.Equal(t, tc.wantPay != nil, tr.Status == fakegateway.StatusClosed, name, "the trade ends as",
				tr.Status)
		}
	}
}

func TestOpenChecksTheOrderString(t *testing.T) {
	g, s, _ := system(t, nil)
	good := prepare(t, s, order(0))
	set := func(name, value string) string {
		return resign(t, good, func(f url.Values, _ map[string]string) { f.Set(name, value) })
	}
	biz := func(name, value string) string {
		return resign(t, good, func(_ url.Values, b map[string]string) { b[name] = value })
	}
	for name, tc := range map[string]struct {
		in   string
		want error
	}{
		"empty":                {"", fakegateway.ErrAppID},
		"no form":              {"%zz", fakegateway.ErrForm},
		"too long":             {good + strings.Repeat("x", 16<<10), fakegateway.ErrForm},
		"tampered amount":      {strings.Replace(good, "88.80", "00.01", 1), fakegateway.ErrSignature},
		"tampered notify URL":  {strings.Replace(good, "shop.example", "evil.example", 1), fakegateway.ErrSignature},
		"no signature":         {good[:strings.Index(good, "&sign=")], fakegateway.ErrSignature},
		"one more":             {good + "&body=x", fakegateway.ErrSignature},
		"one twice":            {good + "&app_id=" + appID, fakegateway.ErrForm},
		"other app":            {set("app_id", "2021000000000002"), fakegateway.ErrAppID},
		"other method":         {set("method", alipay.MethodQuery), fakegateway.ErrMethod},
		"RSA":                  {set("sign_type", "RSA"), fakegateway.ErrSignType},
		"charset":              {set("charset", "GBK"), fakegateway.ErrForm},
		"version":              {set("version", "2.0"), fakegateway.ErrForm},
		"timestamp":            {set("timestamp", "2026-01-01T20:00:00"), fakegateway.ErrForm},
		"relative notify URL":  {set("notify_url", "/notify"), fakegateway.ErrContent},
		"amount of 3 decimals": {biz("total_amount", "88.880"), fakegateway.ErrContent},
		"amount 0":             {biz("total_amount", "0.00"), fakegateway.ErrContent},
		"no subject":           {biz("subject", ""), fakegateway.ErrContent},
		"forbidden in subject": {biz("subject", "a/b"), fakegateway.ErrContent},
		"long subject":         {biz("subject", strings.Repeat("秒", 257)), fakegateway.ErrContent},
		"product":              {biz("product_code", "FAST_INSTANT_TRADE_PAY"), fakegateway.ErrContent},
		"time without seconds": {biz("time_expire", "2026-01-01 20:15"), fakegateway.ErrContent},
		"other seller":         {biz("seller_id", "2088000000000009"), fakegateway.ErrContent},
		"out_trade_no":         {biz("out_trade_no", "a-b"), fakegateway.ErrContent},
		"long out_trade_no":    {biz("out_trade_no", strings.Repeat("a", 65)), fakegateway.ErrContent},
	} {
		must.Is(t, tc.want, must.Err(g.Open(tc.in)), name)
	}
	if trades := g.Trades(); len(trades) != 0 {
		t.Fatalf("refused strings made trades: %v", trades)
	}
	must.Get(g.Open(good))
	must.Is(t, fakegateway.ErrInconsistent, must.Err(g.Open(biz("total_amount", "1.00"))),
		"the same order with another amount")
}

func TestTradesAreBounded(t *testing.T) {
	g, s, c := system(t, func(o *fakegateway.Options) { o.MaxTrades = 3 })
	open := func(n int, placed time.Time) error {
		o := order(n)
		o.Placed, o.PayBy = placed, placed.Add(15*time.Minute)
		_, err := g.Open(prepare(t, s, o))
		return err
	}
	for n := 1; n <= 3; n++ {
		must.OK(t, open(n, start))
	}
	must.OK(t, g.Pay(order(2).ID))
	must.Is(t, fakegateway.ErrFull, open(4, start), "full of open and paid trades")
	c.set(start.Add(15 * time.Minute))
	must.OK(t, open(4, c.Now()))
	var left []string
	for _, tr := range g.Trades() {
		left = append(left, tr.OutTradeNo)
	}
	if want := []string{order(2).ID, order(3).ID, order(4).ID}; !cmp.Equal(left, want) {
		t.Errorf("kept %v, want %v: the oldest closed one goes, the paid one stays", left, want)
	}
}

func TestCallsAreChecked(t *testing.T) {
	g, s, _ := system(t, nil)
	srv := httptest.NewServer(g)
	defer srv.Close()
	open(t, g, s, order(0))
	call := func(change func(url.Values), after func(string) string) string {
		form := callOf(alipay.MethodQuery, `{"out_trade_no":"`+orderID+`"}`)
		change(form)
		resp, err := http.Post(srv.URL+"/gateway.do", "application/x-www-form-urlencoded",
			strings.NewReader(after(signed(t, form))))
		must.OK(t, err)
		defer resp.Body.Close()
		return string(must.Get(io.ReadAll(resp.Body)))
	}
	same := func(s string) string { return s }
	for name, tc := range map[string]struct {
		change func(url.Values)
		after  func(string) string
		want   string
	}{
		"genuine": {func(url.Values) {}, same, `"trade_status":"WAIT_BUYER_PAY"`},
		"tampered": {func(url.Values) {}, func(s string) string {
			return strings.Replace(s, orderID, "x"+orderID[1:], 1)
		}, "isv.invalid-signature"},
		"twice": {func(url.Values) {}, func(s string) string {
			return s + "&app_id=" + appID
		}, "isv.invalid-parameter"},
		"too large": {func(url.Values) {}, func(s string) string {
			return s + "&x=" + strings.Repeat("x", 64<<10)
		}, "isv.invalid-parameter"},
		"other app":    {func(f url.Values) { f.Set("app_id", "1") }, same, "isv.invalid-app-id"},
		"other method": {func(f url.Values) { f.Set("method", "alipay.trade.cancel") }, same, "isv.invalid-method"},
		"no content":   {func(f url.Values) { f.Del("biz_content") }, same, "ACQ.INVALID_PARAMETER"},
		"unknown trade": {func(f url.Values) {
			f.Set("biz_content", `{"out_trade_no":"none"}`)
		}, same, "ACQ.TRADE_NOT_EXIST"},
	} {
		if got := call(tc.change, tc.after); !strings.Contains(got, tc.want) || !strings.Contains(got, `"sign":"`) {
			t.Errorf("%s: got %s, want %s and a signature", name, got, tc.want)
		}
	}
}

func TestNewNamesTheWrongSetting(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*fakegateway.Options)
		want   string
	}{
		"no clock":    {func(o *fakegateway.Options) { o.Clock = nil }, "clock"},
		"no seller":   {func(o *fakegateway.Options) { o.SellerID = "" }, "seller id"},
		"no key":      {func(o *fakegateway.Options) { o.MerchantPublicKey = "" }, "merchant's public key: empty"},
		"bad own key": {func(o *fakegateway.Options) { o.PrivateKey = "x" }, "fakegateway: private key"},
		"URL": {func(o *fakegateway.Options) {
			o.URL = "https://api.example/"
		}, "URL that ends in /gateway.do"},
		"URL without a host": {func(o *fakegateway.Options) {
			o.URL = "https:/gateway.do"
		}, "URL that ends in /gateway.do"},
		"return URL": {func(o *fakegateway.Options) { o.ReturnURL = "javascript:alert(1)" },
			"return URL"},
		"negative max":               {func(o *fakegateway.Options) { o.MaxTrades = -1 }, "negative"},
		"finished before it is paid": {func(o *fakegateway.Options) { o.FinishAfter = -1 }, "negative"},
		"a balance beside a store that others share": {func(o *fakegateway.Options) {
			o.Balance, o.Store = new(seckill.Fen), fakegateway.NewMemory(o.Clock, 1)
		}, "balance"},
	} {
		o := fakegateway.Options{Clock: &clock{now: start}, AppID: appID, SellerID: sellerID,
			MerchantPublicKey: shopKeys().Public}
		tc.change(&o)
		if _, err := fakegateway.New(o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want it to say %q", name, err, tc.want)
		}
	}
}

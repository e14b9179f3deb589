package functions_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// gatewayFields maps the settings of a shop's functions to the fake gateway's.
var gatewayFields = map[string]string{"GATEWAY_PRIVATE_KEY_NAME": "gateway-private-key",
	"ALIPAY_SHOP_PUBLIC_KEY_NAME": "alipay-shop-public-key",
	"CASHIER_RETURN_URL":          "https://shop.example/"}

// behind is an http.RoundTripper to a function behind API Gateway.
type behind struct {
	t *testing.T
	f *lambdatest.Function
}

// RoundTrip implements http.RoundTripper. It decodes base64, as a REST API does, for a client that first accepts a
// type that template.yaml lists as binary.
func (b behind) RoundTrip(r *http.Request) (*http.Response, error) {
	a := ask(b.t, b.f, formCall(b.t, r))
	if first, _, _ := strings.Cut(r.Header.Get("Accept"), ","); a.Base64 && first == "application/zip" {
		body, err := base64.StdEncoding.DecodeString(a.Body)
		if err != nil {
			return nil, err
		}
		a.Body = string(body)
	}
	header := http.Header{}
	for name, value := range a.Headers {
		header.Set(name, value)
	}
	return &http.Response{StatusCode: a.Status, Header: header, Body: io.NopCloser(strings.NewReader(a.Body)),
		Request: r}, nil
}

// formCall returns API Gateway's event for a request of a browser or of the payment client.
func formCall(t *testing.T, r *http.Request) []byte {
	t.Helper()
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Fatal(err)
		}
	}
	var e map[string]any
	must.OK(t, json.Unmarshal(call(t, r.Method, r.URL.Path, string(body), ""), &e))
	e["multiValueHeaders"] = map[string][]string{"content-type": {r.Header.Get("Content-Type")},
		"accept-language": {"en"}}
	e["multiValueQueryStringParameters"] = r.URL.Query()
	return must.Get(json.Marshal(e))
}

// notified is a shop's notify URL that records what it receives and answers as the test says.
type notified struct {
	*httptest.Server
	forms  chan url.Values
	answer chan string
}

func newNotified(t *testing.T) *notified {
	n := &notified{forms: make(chan url.Values, 10), answer: make(chan string, 10)}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) ||
			r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		n.forms <- r.PostForm
		_, _ = io.WriteString(w, <-n.answer)
	}))
	t.Cleanup(n.Close)
	return n
}

// shopOf returns a shop's payment client for a gateway.
func shopOf(t *testing.T, notifyURL string, transport http.RoundTripper) *alipay.Client {
	t.Helper()
	return shopAt(t, "http://api.example/gateway.do", notifyURL, transport)
}

func shopAt(t *testing.T, address, notifyURL string, transport http.RoundTripper) *alipay.Client {
	t.Helper()
	client, err := alipay.New(alipay.Config{AppID: appID, SellerID: sellerID, PrivateKey: keys()[0].Private,
		AlipayPublicKey: keys()[1].Public, Gateway: address, NotifyURL: notifyURL, Clock: system.Clock{},
		HTTP: &http.Client{Transport: transport}})
	must.OK(t, err)
	return client
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)
	formAction  = regexp.MustCompile(`<form method="post" action="([^"]*)">`)
)

// payAt opens the cashier at one function and clicks on "pay" at another, as a browser does that uses an API with a
// stage.
func payAt(t *testing.T, opened, paid *lambdatest.Function, orderString string) *http.Response {
	t.Helper()
	at := must.Get(url.Parse("http://api.example/_aws/execute-api/id/stage/cashier?" + orderString))
	inStage := func(f *lambdatest.Function, method string, at *url.URL, form url.Values) *http.Response {
		path, ok := strings.CutPrefix(at.Path, "/_aws/execute-api/id/stage")
		if !ok {
			t.Fatalf("%s leaves the stage", at)
		}
		r := httptest.NewRequest(method, "http://api.example"+path+"?"+at.RawQuery, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return must.Get(behind{t, f}.RoundTrip(r))
	}
	page := inStage(opened, http.MethodGet, at, nil)
	b, _ := io.ReadAll(page.Body) // reading from memory cannot fail
	action := formAction.FindStringSubmatch(string(b))
	if page.StatusCode != http.StatusOK || action == nil ||
		!strings.Contains(string(b), "https://shop.example/?out_trade_no=") {
		t.Fatalf("cashier: status %d\n%s", page.StatusCode, b)
	}
	to := must.Get(at.Parse(action[1]))
	form := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(string(b), -1) {
		form.Set(m[1], m[2])
	}
	return inStage(paid, http.MethodPost, to, form)
}

// checkTrade queries the gateway, as the function expire does.
func checkTrade(t *testing.T, client *alipay.Client, order string, paid bool) {
	t.Helper()
	trade := must.Get(client.Query(t.Context(), order))
	must.Equal(t, paid, trade.State == seckill.TradePaid, "query")
}

// testGateway pays at two instances of one gateway, and checks that the shop is notified once, at once.
func testGateway(t *testing.T, first, second *lambdatest.Function) {
	shop := newNotified(t)
	client := shopOf(t, shop.URL+"/notify?stage=1", behind{t, second})
	o := drivertest.Order("2002", "1001", time.Now(), 1)
	orderString := must.Get(client.Prepare(o))
	shop.answer <- "success"
	answer := payAt(t, first, second, orderString)
	b, _ := io.ReadAll(answer.Body) // reading from memory cannot fail
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(b), "Payment successful") {
		t.Fatalf("pay: status %d\n%s", answer.StatusCode, b)
	}
	select {
	case form := <-shop.forms:
		if n, err := client.Verify(form); err != nil || n.Order != o.ID || n.Amount != o.Amount || !n.Paid {
			t.Errorf("the shop reads %+v, %v", n, err)
		}
	default:
		t.Fatal("the shop was not told within the payment's request")
	}
	checkTrade(t, client, o.ID, true)
	for _, f := range []*lambdatest.Function{first, second} {
		run(t, f, recorded(t, "schedule.json"), "null")
	}
	if len(shop.forms) != 0 {
		t.Error("the shop was told again after it confirmed")
	}
	if result, err := client.Close(t.Context(), o.ID); err != nil || result == seckill.CloseDone {
		t.Errorf("close of a paid trade: %v, %v", result, err)
	}
	if r := ask(t, first, call(t, "GET", "/nowhere", "", "")); r.Status != http.StatusNotFound {
		t.Errorf("another route: %+v", r)
	}
}

// inStage is an API whose paths begin with a stage, which functions do not see.
type inStage struct {
	t    *testing.T
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s inStage) RoundTrip(r *http.Request) (*http.Response, error) {
	path, ok := strings.CutPrefix(r.URL.Path, "/live")
	if !ok {
		s.t.Errorf("%s is outside the stage", r.URL.Path)
	}
	r = r.Clone(r.Context())
	r.URL.Path = path
	return s.next.RoundTrip(r)
}

// paidAt puts a trade of 88.80 yuan, paid at that time, into the gateway's table.
func (w *deployment) paidAt(t *testing.T, paid time.Time) fakegateway.Record {
	t.Helper()
	trades := fakegateway.NewTable(dynamoledger.New(w.config(), dynamoledger.Options{Prefix: w.aws.Prefix,
		Tables: []ledger.Table{fakegateway.Table}}))
	r := fakegateway.Record{N: 1, NotifyURL: "https://shop.example/notify", Token: "t", Lapses: paid.Add(time.Hour),
		Notifications: []fakegateway.Notification{{ID: "n", Attempts: 1}},
		Trade: fakegateway.Trade{OutTradeNo: seckill.KeyedOrderID("2002", "1001", "k"),
			TradeNo: "2026010122001000000000000001", Subject: "红色外套", Amount: 88_80,
			Status: fakegateway.StatusSuccess, Created: paid.Add(-time.Minute), Expires: paid.Add(time.Hour),
			Paid: paid}}
	must.OK(t, trades.Save(t.Context(), r))
	return r
}

// TestGatewayFunctionHasBills requests yesterday's bill from one instance and downloads it from another.
func TestGatewayFunctionHasBills(t *testing.T) {
	w := newDeployment(t)
	paid := time.Now().Add(-24 * time.Hour).Truncate(time.Millisecond)
	record, day := w.paidAt(t, paid), seckill.Day(paid)
	const address = "http://api.example/live/gateway.do"
	calls := w.start(t, "gateway", "ALIPAY_GATEWAY", address)
	downloads := w.start(t, "gateway", "ALIPAY_GATEWAY", address)
	client := shopAt(t, address, "https://shop.example/notify",
		inStage{t, either{behind{t, calls}, behind{t, downloads}}})
	bill, err := client.Bill(t.Context(), day)
	want := []seckill.BillLine{{Order: record.OutTradeNo, TradeNo: record.TradeNo, Amount: 88_80,
		At: paid.Truncate(time.Second).UTC()}}
	if diff := cmp.Diff(want, bill.Lines); err != nil || diff != "" {
		t.Errorf("bill of %s: %v\n%s", day, err, diff)
	}
	must.Is(t, seckill.ErrNoBill, must.Err(client.Bill(t.Context(), seckill.Day(paid.Add(-24*time.Hour)))),
		"a day without payments")
	if r := ask(t, downloads, call(t, "GET", "/bill", "", "")); r.Status != http.StatusForbidden {
		t.Errorf("a bill's address that nobody gave: %+v", r)
	}
}

// either sends downloads and calls to different destinations.
type either struct{ calls, downloads http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (e either) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return e.downloads.RoundTrip(r)
	}
	return e.calls.RoundTrip(r)
}

// TestGatewayFunctionGoesWrong checks that the faults in its setting happen, in answers and in failing calls, and
// that the instance survives.
func TestGatewayFunctionGoesWrong(t *testing.T) {
	w := newDeployment(t)
	order := seckill.KeyedOrderID("2002", "1001", "k")
	busy := w.start(t, "gateway", "GATEWAY_FAULTS", "call-5xx=1")
	if _, err := shopOf(t, "https://shop.example/notify", behind{t, busy}).Query(t.Context(), order); err == nil ||
		!strings.Contains(err.Error(), "502") {
		t.Errorf("call-5xx: %v, want the status 502", err)
	}
	cut := w.start(t, "gateway", "GATEWAY_FAULTS", "call-cut=1")
	var event []byte
	// it has no answer
	_, _ = shopOf(t, "https://shop.example/notify", recording{t, &event}).Query(t.Context(), order)
	for range 2 {
		if out, err := cut.Invoke(event); err == nil || !strings.Contains(err.Error(), "broken off") {
			t.Errorf("call-cut: %s, %v, want a call that fails", out, err)
		}
	}
	if r := ask(t, cut, call(t, "GET", "/nowhere", "", "")); r.Status != http.StatusNotFound {
		t.Errorf("after it: %+v", r)
	}
}

// recording keeps the event of a request and does not answer it.
type recording struct {
	t  *testing.T
	to *[]byte
}

// RoundTrip implements http.RoundTripper.
func (e recording) RoundTrip(r *http.Request) (*http.Response, error) {
	*e.to = formCall(e.t, r)
	return nil, errors.New("recorded")
}

func TestGatewayFunction(t *testing.T) {
	w := newDeployment(t)
	testGateway(t, w.start(t, "gateway"), w.start(t, "gateway"))
}

package alipay_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

func testdata(t testing.TB, name string) string {
	return string(must.Get(os.ReadFile(filepath.Join("testdata", name))))
}

// samples reads a file with at least fewest samples, so that an emptied file cannot pass.
func samples[T any](t testing.TB, name string, fewest int) (out []T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(testdata(t, name)))
	d.DisallowUnknownFields()
	must.OK(t, d.Decode(&out))
	if len(out) < fewest {
		t.Fatalf("%s: %d samples", name, len(out))
	}
	return out
}

// sdkClient returns a client with the samples' keys.
func sdkClient(t testing.TB, h http.Handler) *alipay.Client {
	t.Helper()
	c := keyless(h, &clock{start})
	c.PrivateKey, c.AlipayPublicKey = testdata(t, "test-only-app-private.pem"),
		testdata(t, "test-only-alipay-public.pem")
	return must.Get(alipay.New(c))
}

type sampleOrder struct {
	ID     string    `json:"id"`
	Fen    int64     `json:"fen"`
	Title  string    `json:"title"`
	Placed time.Time `json:"placed"`
	PayBy  time.Time `json:"pay_by"`
}

func (o sampleOrder) order() seckill.Order {
	return seckill.Order{ID: o.ID, Amount: seckill.Fen(o.Fen), Title: o.Title, Placed: o.Placed, PayBy: o.PayBy}
}

type orderSample struct {
	Name        string      `json:"name"`
	Order       sampleOrder `json:"order"`
	OrderString string      `json:"order_string"`
}

// params parses an order string, once as it is and once with canonical JSON in biz_content: two writers may escape a
// character differently.
func params(t *testing.T, orderString string) (form, canonical url.Values) {
	t.Helper()
	form = must.Get(url.ParseQuery(orderString))
	var biz map[string]string
	must.OK(t, json.Unmarshal([]byte(form.Get("biz_content")), &biz))
	b := must.Get(json.Marshal(biz))
	canonical = url.Values{}
	for k, v := range form {
		canonical[k] = v
	}
	canonical.Set("biz_content", string(b))
	return form, canonical
}

func TestOrderStringsAreThoseOfAlipaysSDK(t *testing.T) {
	key := must.Get(alipay.ParsePublicKey(testdata(t, "test-only-app-public.pem")))
	cl := sdkClient(t, nil)
	sameSign := 0
	list := samples[orderSample](t, "order_strings.json", 15)
	for _, s := range list {
		got, err := cl.Prepare(s.Order.order())
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		ours, oursCanonical := params(t, got)
		theirs, theirsCanonical := params(t, s.OrderString)
		if ours.Get("biz_content") == theirs.Get("biz_content") {
			sameSign++ // RSA with PKCS #1 v1.5 is deterministic; the diff below compares the signature
		} else {
			oursCanonical.Del("sign")
			theirsCanonical.Del("sign")
		}
		if diff := cmp.Diff(theirsCanonical, oursCanonical); diff != "" {
			t.Errorf("%s: -SDK +ours\n%s", s.Name, diff)
		}
		if err := alipay.CheckSign(key, []byte(alipay.SignContent(theirs, "sign")), theirs.Get("sign")); err != nil {
			t.Errorf("%s: the SDK's order string: %v", s.Name, err)
		}
		g, err := fakegateway.New(fakegateway.Options{Clock: &clock{s.Order.Placed}, AppID: appID, SellerID: sellerID,
			MerchantPublicKey: testdata(t, "test-only-app-public.pem"),
			PrivateKey:        testdata(t, "test-only-alipay-private.pem")})
		must.OK(t, err)
		first, err := g.Open(s.OrderString)
		if err != nil {
			t.Errorf("%s: the gateway refuses the SDK's order string: %v", s.Name, err)
		}
		must.Equal(t, first, must.Get(g.Open(got)), s.Name, "our order string opens", "the SDK's opened")
	}
	if sameSign < len(list)-1 { // only U+2028 is written differently
		t.Errorf("%d of %d samples have the same biz_content, byte by byte", sameSign, len(list))
	}
}

type notificationSample struct {
	Name string `json:"name"`
	Body string `json:"body"`
	SDK  bool   `json:"sdk"` // the SDK takes it for authentic
	Want struct {
		Code    seckill.Code `json:"code"`
		ID      string       `json:"id"`
		Order   string       `json:"order"`
		TradeNo string       `json:"trade_no"`
		Fen     int64        `json:"fen"`
		Paid    bool         `json:"paid"`
		Back    int64        `json:"back"`
	} `json:"want"`
	Differs string `json:"differs"`
}

func TestNotificationsSignedByAlipaysSDK(t *testing.T) {
	cl := sdkClient(t, nil)
	for _, s := range samples[notificationSample](t, "notifications.json", 28) {
		form := must.Get(url.ParseQuery(s.Body))
		got, err := verified(t, cl, form)
		code := seckill.Code("")
		if err != nil {
			code = seckill.CodeOf(err)
		}
		want := seckill.Notification{ID: s.Want.ID, Order: s.Want.Order, TradeNo: s.Want.TradeNo,
			Amount: seckill.Fen(s.Want.Fen), Paid: s.Want.Paid, Back: seckill.Fen(s.Want.Back)}
		if got != want || code != s.Want.Code {
			t.Errorf("%s: got %+v, %v\nwant %+v, code %q", s.Name, got, err, want, s.Want.Code)
		}
		if authentic := code != seckill.CodeForged; (authentic != s.SDK) != (s.Differs != "") {
			t.Errorf("%s: authentic for us %t, for the SDK %t; a difference on purpose: %q", s.Name, authentic, s.SDK,
				s.Differs)
		}
	}
}

type pageSample struct {
	Name      string      `json:"name"`
	Order     sampleOrder `json:"order"`
	Method    string      `json:"method"`
	QuitURL   string      `json:"quit_url"`
	ReturnURL string      `json:"return_url"`
	Address   string      `json:"address"`
}

// TestPagesAreThoseOfAlipaysSDK compares all parameters except alipay_sdk, in which the SDK names itself.
func TestPagesAreThoseOfAlipaysSDK(t *testing.T) {
	key, err := alipay.ParsePublicKey(testdata(t, "test-only-app-public.pem"))
	must.OK(t, err)
	cl := sdkClient(t, nil)
	for _, s := range samples[pageSample](t, "pages.json", 6) {
		var p string
		if s.Method == alipay.MethodPagePay {
			p, err = cl.PagePay(t.Context(), s.Order.order(), s.ReturnURL)
		} else {
			p, err = cl.WapPay(t.Context(), s.Order.order(), s.QuitURL, s.ReturnURL)
		}
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		_, query, _ := strings.Cut(s.Address, "?")
		theirs, err := url.ParseQuery(query)
		must.OK(t, err)
		if err := alipay.CheckSign(key, []byte(alipay.SignContent(theirs, "sign")), theirs.Get("sign")); err != nil {
			t.Errorf("%s: the SDK's address: %v", s.Name, err)
		}
		ours := sent(t, p)
		for _, form := range []url.Values{theirs, ours} {
			form.Del("sign")
			form.Del("alipay_sdk")
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s: -SDK +ours\n%s", s.Name, diff)
		}
	}
}

type answerSample struct {
	Name    string       `json:"name"`
	Method  string       `json:"method"`
	Body    string       `json:"body"`
	SDK     bool         `json:"sdk"` // the SDK takes it for authentic
	Want    answerResult `json:"want"`
	Differs string       `json:"differs"`
}

// answerResult is what a client reads from an answer.
type answerResult struct {
	Fault      bool                `json:"fault"`
	State      seckill.TradeState  `json:"state"`
	TradeNo    string              `json:"trade_no"`
	Fen        int64               `json:"fen"`
	Close      seckill.CloseResult `json:"close"`
	Refund     seckill.RefundState `json:"refund"`
	RefundCode string              `json:"refund_code"`
	NoBill     bool                `json:"no_bill"`
	Bill       string              `json:"bill"` // where it is asked for
}

// asker returns a function that makes the call to which a body is the answer.
func asker(t testing.TB) func(method, body string) (answerResult, error) {
	var reply, bill string
	cl := sdkClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host != "gateway.example" {
			bill = r.URL.String() // a URL that serves nothing
			return
		}
		_, _ = io.WriteString(w, reply)
	}))
	return func(method, body string) (got answerResult, err error) {
		reply, bill = body, ""
		var trade seckill.Trade
		var refunded seckill.RefundAnswer
		ctx := context.Background()
		switch method {
		case alipay.MethodQuery:
			trade, err = cl.Query(ctx, orderID)
		case alipay.MethodClose:
			got.Close, err = cl.Close(ctx, orderID)
		case alipay.MethodRefund:
			refunded, err = cl.Refund(ctx, refund())
		case alipay.MethodRefundQuery:
			refunded, err = cl.RefundStatus(ctx, refund())
		case alipay.MethodBill:
			_, err = cl.Bill(ctx, billDay)
			got.NoBill = errors.Is(err, seckill.ErrNoBill)
		default:
			t.Fatalf("no such call: %s", method)
		}
		got.State, got.TradeNo, got.Fen, got.Bill = trade.State, trade.TradeNo, int64(trade.Amount), bill
		got.Refund, got.RefundCode = refunded.State, refunded.Code
		got.Fault = err != nil && !got.NoBill && bill == ""
		return got, err
	}
}

func TestAnswersSignedByAlipaysSDK(t *testing.T) {
	ask := asker(t)
	for _, s := range samples[answerSample](t, "answers.json", 50) {
		got, err := ask(s.Method, s.Body)
		if got != s.Want {
			t.Errorf("%s %s: got %+v, %v\nwant %+v", s.Method, s.Name, got, err, s.Want)
		}
		// A fault alone does not tell whether the signature was wrong; its text does.
		authentic := err == nil || !strings.Contains(err.Error(), "signature") &&
			!strings.Contains(err.Error(), "about another")
		if (authentic != s.SDK) != (s.Differs != "") {
			t.Errorf("%s %s: authentic for us %t (%v), for the SDK %t; a difference on purpose: %q", s.Method, s.Name,
				authentic, err, s.SDK, s.Differs)
		}
	}
}

package alipay_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"seckill/shared/adapter/alipay"
	"seckill/shared/adapter/alipay/fakegateway"
	"seckill/shared/seckill"
)

// fewest is how many samples each file has at least: an emptied file must not pass.
const fewest = 15

func testdata(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func samples[T any](t *testing.T, name string) (out []T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(testdata(t, name)))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	if len(out) < fewest {
		t.Fatalf("%s: %d samples", name, len(out))
	}
	return out
}

// sdkClient has the keys of the samples.
func sdkClient(t *testing.T, answer string) *alipay.Client {
	t.Helper()
	c := config(answering([]byte(answer)), &clock{start})
	c.PrivateKey, c.AlipayPublicKey = testdata(t, "test-only-app-private.pem"), testdata(t, "test-only-alipay-public.pem")
	cl, err := alipay.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

type orderSample struct {
	Name  string `json:"name"`
	Order struct {
		ID     string    `json:"id"`
		Fen    int64     `json:"fen"`
		Title  string    `json:"title"`
		Placed time.Time `json:"placed"`
		PayBy  time.Time `json:"pay_by"`
	} `json:"order"`
	OrderString string `json:"order_string"`
}

// params reads an order string. biz_content becomes canonical JSON: two writers may escape a character differently.
func params(t *testing.T, orderString string) (form, canonical url.Values) {
	t.Helper()
	form, err := url.ParseQuery(orderString)
	if err != nil {
		t.Fatal(err)
	}
	var biz map[string]string
	if err := json.Unmarshal([]byte(form.Get("biz_content")), &biz); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(biz)
	if err != nil {
		t.Fatal(err)
	}
	canonical = url.Values{}
	for k, v := range form {
		canonical[k] = v
	}
	canonical.Set("biz_content", string(b))
	return form, canonical
}

func TestOrderStringsAreThoseOfAlipaysSDK(t *testing.T) {
	key, err := alipay.ParsePublicKey(testdata(t, "test-only-app-public.pem"))
	if err != nil {
		t.Fatal(err)
	}
	cl := sdkClient(t, "")
	sameSign := 0
	list := samples[orderSample](t, "order_strings.json")
	for _, s := range list {
		got, err := cl.Prepare(seckill.Order{ID: s.Order.ID, Amount: seckill.Fen(s.Order.Fen), Title: s.Order.Title, Placed: s.Order.Placed,
			PayBy: s.Order.PayBy})
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		ours, oursCanonical := params(t, got)
		theirs, theirsCanonical := params(t, s.OrderString)
		if ours.Get("biz_content") == theirs.Get("biz_content") {
			sameSign++ // RSA with PKCS #1 v1.5 gives one signature: the diff below compares it
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
			MerchantPublicKey: testdata(t, "test-only-app-public.pem"), PrivateKey: testdata(t, "test-only-alipay-private.pem")})
		if err != nil {
			t.Fatal(err)
		}
		first, err := g.Open(s.OrderString)
		if err != nil {
			t.Errorf("%s: the gateway refuses the SDK's order string: %v", s.Name, err)
		}
		if second, err := g.Open(got); err != nil || first != second {
			t.Errorf("%s: our order string opens %s, %v; the SDK's opened %s", s.Name, second, err, first)
		}
	}
	if sameSign < len(list)-1 { // only U+2028 is written differently
		t.Errorf("%d of %d samples have the same biz_content, byte by byte", sameSign, len(list))
	}
}

type notifySample struct {
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
	} `json:"want"`
	Differs string `json:"differs"`
}

func TestNotifiesSignedByAlipaysSDK(t *testing.T) {
	cl := sdkClient(t, "")
	for _, s := range samples[notifySample](t, "notifies.json") {
		form, err := url.ParseQuery(s.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cl.Verify(form)
		code := seckill.Code("")
		if err != nil {
			code = seckill.CodeOf(err)
		}
		want := seckill.Notice{ID: s.Want.ID, Order: s.Want.Order, TradeNo: s.Want.TradeNo, Amount: seckill.Fen(s.Want.Fen), Paid: s.Want.Paid}
		if got != want || code != s.Want.Code {
			t.Errorf("%s: got %+v, %v\nwant %+v, code %q", s.Name, got, err, want, s.Want.Code)
		}
		if authentic := code != seckill.CodeForged; (authentic != s.SDK) != (s.Differs != "") {
			t.Errorf("%s: authentic for us %t, for the SDK %t; a difference on purpose: %q", s.Name, authentic, s.SDK, s.Differs)
		}
	}
}

type answerSample struct {
	Name   string `json:"name"`
	Method string `json:"method"`
	Body   string `json:"body"`
	SDK    bool   `json:"sdk"` // the SDK takes it for authentic
	Want   struct {
		Fault   bool                `json:"fault"`
		State   seckill.TradeState  `json:"state"`
		TradeNo string              `json:"trade_no"`
		Fen     int64               `json:"fen"`
		Close   seckill.CloseResult `json:"close"`
	} `json:"want"`
	Differs string `json:"differs"`
}

func TestAnswersSignedByAlipaysSDK(t *testing.T) {
	for _, s := range samples[answerSample](t, "answers.json") {
		cl := sdkClient(t, s.Body)
		var trade seckill.Trade
		var closed seckill.CloseResult
		var err error
		if s.Method == alipay.MethodQuery {
			trade, err = cl.Query(t.Context(), orderID)
		} else {
			closed, err = cl.Close(t.Context(), orderID)
		}
		want := seckill.Trade{State: s.Want.State, TradeNo: s.Want.TradeNo, Amount: seckill.Fen(s.Want.Fen)}
		if trade != want || closed != s.Want.Close || (err != nil) != s.Want.Fault {
			t.Errorf("%s %s: got %+v %q, %v\nwant %+v %q, fault %t", s.Method, s.Name, trade, closed, err, want, s.Want.Close, s.Want.Fault)
		}
		// A fault does not say by itself whether the signature was at fault; the reason does.
		authentic := err == nil || !strings.Contains(err.Error(), "signature") && !strings.Contains(err.Error(), "about another")
		if (authentic != s.SDK) != (s.Differs != "") {
			t.Errorf("%s %s: authentic for us %t (%v), for the SDK %t; a difference on purpose: %q", s.Method, s.Name, authentic, err, s.SDK, s.Differs)
		}
	}
}

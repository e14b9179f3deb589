package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// The parties in the tables of docs/PAYMENT.md.
const (
	docApp    = "2021000000000001"
	docSeller = "2088000000000001"
)

// docKeys are the shop's and Alipay's keys.
var docKeys = sync.OnceValue(func() (keys struct{ shop, theirs fakegateway.KeyPair }) {
	var errs [2]error
	keys.shop, errs[0] = fakegateway.GenerateKeys()
	keys.theirs, errs[1] = fakegateway.GenerateKeys()
	if err := errors.Join(errs[:]...); err != nil {
		panic(err)
	}
	return keys
})

// docRefund returns the refund that the shop requests.
func docRefund() seckill.Refund {
	order := seckill.KeyedOrderID("1001", "1", "k")
	return seckill.Refund{ID: seckill.RefundID(order, "t1"), Order: order, TradeNo: "t1", Amount: 8888, Reason: "late"}
}

type docCall struct {
	name, method string
	ask          func(*alipay.Client) (string, error)
}

// docCalls are the calls whose answers matter, each with the words for the port's results.
var docCalls = []docCall{
	{"query", alipay.MethodQuery, func(c *alipay.Client) (string, error) {
		t, err := c.Query(ctx, docRefund().Order)
		return word(t.State), err
	}},
	{"close", alipay.MethodClose, func(c *alipay.Client) (string, error) {
		r, err := c.Close(ctx, docRefund().Order)
		return word(r), err
	}},
	{"refund", alipay.MethodRefund, func(c *alipay.Client) (string, error) {
		a, err := c.Refund(ctx, docRefund())
		return word(a.State), err
	}},
	{"status", alipay.MethodRefundQuery, func(c *alipay.Client) (string, error) {
		a, err := c.RefundStatus(ctx, docRefund())
		return word(a.State), err
	}},
}

// docGateway signs notifications as Alipay does, and docVerifier reads them as the function notify does.
var docGateway, docVerifier = sync.OnceValue(func() *fakegateway.Gateway {
	g, err := fakegateway.New(fakegateway.Options{Clock: memory.NewClock(epoch), AppID: docApp, SellerID: docSeller,
		MerchantPublicKey: docKeys().shop.Public,
		PrivateKey:        docKeys().theirs.Private})
	if err != nil {
		panic(err)
	}
	return g
}), sync.OnceValue(func() *alipay.Verifier {
	v, err := alipay.NewVerifier(docApp, docSeller, docKeys().theirs.Public)
	if err != nil {
		panic(err)
	}
	return v
})

// notification is one of Alipay's notifications: that the order's trade t1 is paid, except for the fields set here.
type notification struct {
	id     string // "" means the same for the same trade, status, amount and refund
	trade  string
	status fakegateway.Status
	amount seckill.Fen
	back   seckill.Fen       // amount refunded of it
	change map[string]string // changes of parameters before signing
	tamper map[string]string // changes after signing
}

func (n notification) told(w *World, i *Instance) error {
	i.Notify.Verifier = docVerifier()
	now := w.Clock.Now()
	t := fakegateway.Trade{TradeNo: cmp.Or(n.trade, "t1"), OutTradeNo: w.id("1"), Subject: w.Item.Commodity.Title,
		Amount: cmp.Or(n.amount, 8888),
		Status: cmp.Or(n.status, fakegateway.StatusSuccess), Created: now, Expires: now.Add(Hold)}
	if t.Status != fakegateway.StatusWait && (t.Status != fakegateway.StatusClosed || n.back > 0) {
		t.Paid = now
	}
	if n.back > 0 {
		t.Refunds = []fakegateway.Refund{{RequestNo: "back", Amount: n.back, At: now}}
	}
	form, err := docGateway().NotificationForm(cmp.Or(n.id, fmt.Sprintf("%s-%s-%d-%d", t.TradeNo, t.Status, t.Amount,
		n.back)), t, now)
	if err != nil {
		return err
	}
	for k, v := range n.change {
		form.Set(k, v)
		if err := docGateway().SignForm(form); err != nil {
			return err
		}
	}
	for k, v := range n.tamper {
		form.Set(k, v)
	}
	return i.Notify.Notify(ctx, form)
}

// notifications are all that can arrive. The first of two with the same id is a payment.
var notifications = func() (list []event) {
	add := func(name string, notifications ...notification) {
		var all []func(*World, *Instance) error
		for _, n := range notifications {
			all = append(all, n.told)
		}
		list = append(list, deed(name, func(w *World, i *Instance) (err error) {
			for _, tell := range all {
				err = tell(w, i)
			}
			return err
		}))
	}
	wait, success, finished, closed := fakegateway.StatusWait, fakegateway.StatusSuccess, fakegateway.StatusFinished,
		fakegateway.StatusClosed
	add("`TRADE_SUCCESS`", notification{})
	add("`TRADE_SUCCESS`, delivered twice", notification{}, notification{})
	add("`TRADE_SUCCESS`: a part was refunded", notification{back: 1})
	add("`TRADE_SUCCESS`: a part was refunded, told twice", notification{back: 1}, notification{back: 1})
	add("`TRADE_SUCCESS`: two parts were refunded, told in the other order", notification{back: 3}, notification{back: 1})
	add("`TRADE_FINISHED`", notification{status: finished})
	add("`TRADE_SUCCESS` of a second trade", notification{trade: "t2"})
	add("`TRADE_FINISHED` of a second trade", notification{trade: "t2", status: finished})
	add("`WAIT_BUYER_PAY`", notification{status: wait})
	add("`TRADE_CLOSED` without refund_fee", notification{status: closed})
	add("`TRADE_SUCCESS` with gmt_refund, without refund_fee", notification{change: map[string]string{
		"gmt_refund": "2026-11-11 10:00:00.123"}})
	add("`TRADE_CLOSED`: all of it was refunded", notification{status: closed, back: 8888})
	add("`TRADE_SUCCESS`, then `TRADE_CLOSED` under the same notify_id", notification{id: "n"},
		notification{id: "n", status: closed})
	add("`TRADE_SUCCESS`, then that of a second trade under the same notify_id", notification{id: "n"},
		notification{id: "n", trade: "t2"})
	add("`TRADE_SUCCESS`, then another amount under the same notify_id", notification{id: "n"},
		notification{id: "n", amount: 1})
	for _, s := range []fakegateway.Status{success, finished, wait, closed} {
		add("`"+string(s)+"`, another amount", notification{status: s, amount: 1})
	}
	add("another app_id", notification{change: map[string]string{"app_id": "2021000000000002"}})
	add("another seller_id", notification{change: map[string]string{"seller_id": "2088000000000009"}})
	add("an out_trade_no that is not an order id", notification{change: map[string]string{"out_trade_no": "another"}})
	add("any other trade_status", notification{change: map[string]string{"trade_status": "TRADE_PENDING"}})
	add("a refund_fee that is no amount", notification{back: 1, change: map[string]string{"refund_fee": "1,5"}})
	add("no signature", notification{tamper: map[string]string{"sign": ""}})
	add("changed after it was signed", notification{tamper: map[string]string{"total_amount": "88.89"}})
	return list
}()

// wire is a network with one fixed answer; a nil body means no answer.
type wire struct {
	status int
	body   []byte
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.body == nil {
		return nil, errSilent
	}
	return &http.Response{StatusCode: w.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(w.body)),
		Request: r}, nil
}

// signed returns Alipay's answer to a call: its node, signed with keys.
func signed(t *testing.T, keys fakegateway.KeyPair, method string, node map[string]string) []byte {
	t.Helper()
	text, err := json.Marshal(node)
	if err != nil {
		t.Fatal(err)
	}
	key, err := alipay.ParsePrivateKey(keys.Private)
	if err != nil {
		t.Fatal(err)
	}
	sign, err := alipay.Sign(key, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, `{"%s_response":%s,"sign":"%s"}`, strings.ReplaceAll(method, ".", "_"), text, sign)
}

// heard returns the word for the result of a call: "no answer" if it is inconclusive.
func heard(t *testing.T, call docCall, w wire) string {
	t.Helper()
	c, err := alipay.New(alipay.Config{AppID: docApp, SellerID: docSeller, PrivateKey: docKeys().shop.Private,
		AlipayPublicKey: docKeys().theirs.Public,
		Gateway:         "https://gateway.example/gateway.do", NotifyURL: "https://shop.example/notify",
		HTTP: &http.Client{Transport: w}, Clock: memory.NewClock(epoch)})
	if err != nil {
		t.Fatal(err)
	}
	said, err := call.ask(c)
	if (said == word("")) != (err != nil) {
		t.Fatalf("%s says %s, and %v", call.name, said, err)
	}
	return said
}

// success returns a node that confirms any of the calls, with these changes; "" removes a field.
func success(change map[string]string) map[string]string {
	r := docRefund()
	node := map[string]string{"code": "10000", "msg": "Success", "out_trade_no": r.Order, "trade_no": r.TradeNo,
		"total_amount": r.Amount.Yuan(), "trade_status": "TRADE_SUCCESS",
		"fund_change": "Y", "refund_fee": r.Amount.Yuan(), "out_request_no": r.ID, "refund_amount": r.Amount.Yuan(),
		"refund_status": "REFUND_SUCCESS"}
	maps.Copy(node, change)
	maps.DeleteFunc(node, func(_, v string) bool { return v == "" })
	return node
}

// successes are the contents of an answer with code 10000, by call.
var successes = []struct {
	call, name string
	changes    []map[string]string // each is played, and all have the same name
}{
	{"query", "trade_status `WAIT_BUYER_PAY`", []map[string]string{{"trade_status": "WAIT_BUYER_PAY"}}},
	{"query", "trade_status `TRADE_SUCCESS`", []map[string]string{nil}},
	{"query", "trade_status `TRADE_FINISHED`", []map[string]string{{"trade_status": "TRADE_FINISHED"}}},
	{"query", "trade_status `TRADE_CLOSED`: never paid, or refunded in full",
		[]map[string]string{{"trade_status": "TRADE_CLOSED"}}},
	{"query", "any other trade_status, or none", []map[string]string{{"trade_status": "TRADE_PENDING"},
		{"trade_status": ""}}},
	{"query", "no total_amount, or another order's out_trade_no", []map[string]string{{"total_amount": ""},
		{"out_trade_no": "oanother"}}},
	{"close", "the order's out_trade_no", []map[string]string{nil}},
	{"close", "another order's", []map[string]string{{"out_trade_no": "oanother"}}},
	{"refund", "fund_change `Y`, refund_fee of the whole amount", []map[string]string{nil}},
	{"refund", "fund_change `Y`, refund_fee of less, or none", []map[string]string{{"refund_fee": "0.01"},
		{"refund_fee": ""}}},
	{"refund", "fund_change `N`, or none", []map[string]string{{"fund_change": "N"}, {"fund_change": ""}}},
	{"refund", "another order's out_trade_no, or another trade_no", []map[string]string{{"out_trade_no": "oanother"},
		{"trade_no": "t2"}}},
	{"status", "refund_status `REFUND_SUCCESS`, refund_amount of the whole amount", []map[string]string{nil}},
	{"status", "refund_status `REFUND_SUCCESS`, another refund_amount", []map[string]string{{"refund_amount": "0.01"}}},
	{"status", "any other refund_status", []map[string]string{{"refund_status": "REFUND_FAIL"}}},
	{"status", "no refund_status", []map[string]string{{"refund_status": ""}}},
	{"status", "neither refund_status nor refund_amount nor out_request_no",
		[]map[string]string{{"refund_status": "", "refund_amount": "", "out_request_no": ""}}},
	{"status", "another refund's out_request_no, or another trade_no",
		[]map[string]string{{"out_request_no": "ranother"}, {"trade_no": "t2"}}},
}

// refusals are the refusing codes: about a trade, and of the gateway.
var refusals = [][2]string{
	{"40004", "ACQ.TRADE_NOT_EXIST"}, {"40004", "TRADE_NOT_EXIST"}, {"40004", "ACQ.TRADE_HAS_SUCCESS"},
	{"40004", "ACQ.TRADE_HAS_CLOSE"},
	{"40004", "ACQ.TRADE_STATUS_ERROR"}, {"40004", "ACQ.REASON_TRADE_STATUS_INVALID"},
	{"40004", "ACQ.REASON_ILLEGAL_STATUS"}, {"40004", "ACQ.TRADE_HAS_FINISHED"},
	{"40004", "ACQ.SELLER_BALANCE_NOT_ENOUGH"}, {"40004", "ACQ.REFUND_AMT_NOT_EQUAL_TOTAL"},
	{"40004", "ACQ.DISCORDANT_REPEAT_REQUEST"},
	{"40004", "ACQ.INVALID_PARAMETER"}, {"40004", "ACQ.REFUND_CHARGE_ERROR"}, {"40004", "ACQ.SYSTEM_ERROR"},
	{"40004", "isp.unknow-error"}, {"40004", ""},
	{"20000", "isp.unknow-error"}, {"20000", "ACQ.TRADE_NOT_EXIST"}, {"40002", "isv.invalid-signature"},
	{"40006", "isv.insufficient-isv-permissions"},
}

// alipayTables returns the tables that map each of Alipay's answers to the words of the other tables, as its client
// reads it.
func alipayTables(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n## Alipay's answers\n\n| call | is | code `10000` with | called below |\n|---|---|---|---|\n")
	for _, s := range successes {
		call := docCalls[slices.IndexFunc(docCalls, func(c docCall) bool { return c.name == s.call })]
		called := ""
		for _, change := range s.changes {
			w := heard(t, call, wire{http.StatusOK, signed(t, docKeys().theirs, call.method, success(change))})
			if called != "" && w != called {
				t.Fatalf("%s, %s: %s and %s", s.call, s.name, called, w)
			}
			called = w
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", call.name, call.method, s.name, called)
	}
	rows := newMerged()
	row := func(name string, answer func(docCall) wire) {
		var cells []string
		for _, c := range docCalls {
			cells = append(cells, heard(t, c, answer(c)))
		}
		rows.add(name, strings.Join(cells, " | "))
	}
	for _, r := range refusals {
		row(strings.TrimSuffix("`"+r[0]+"` `"+r[1]+"`", " ``"), func(c docCall) wire {
			return wire{http.StatusOK, signed(t, docKeys().theirs, c.method, map[string]string{"code": r[0],
				"sub_code": r[1]})}
		})
	}
	yes := func(keys fakegateway.KeyPair, c docCall) []byte { return signed(t, keys, c.method, success(nil)) }
	row("HTTP 500", func(c docCall) wire { return wire{http.StatusInternalServerError, yes(docKeys().theirs, c)} })
	row("HTTP 503", func(c docCall) wire { return wire{http.StatusServiceUnavailable, yes(docKeys().theirs, c)} })
	row("nothing in time", func(docCall) wire { return wire{} })
	row("a signature that is not Alipay's", func(c docCall) wire { return wire{http.StatusOK, yes(docKeys().shop, c)} })
	b.WriteString("\n| any other answer |")
	for _, c := range docCalls {
		b.WriteString(" " + c.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(docCalls)) + "\n" + rows.text())
	return b.String()
}

package local_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/adapter/alipay/fakegateway"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// open reads what money is due, refused and unknown, as an operator does.
func (w *shopTest) open() (o operator.OpenMoney) {
	w.t.Helper()
	a := w.call("", "GET", "/_local/payments", nil)
	if err := json.Unmarshal([]byte(a.raw), &o); a.status != 200 || err != nil {
		w.t.Fatalf("%v, %v", a, err)
	}
	return o
}

// words is what an operator's change wants, and more parts.
func words(more ...string) string {
	return `{"who":"ann","why":"broken"` + strings.Join(append([]string{""}, more...), ",") + `}`
}

// TestAnOperatorRefunds an order with restock; the gateway's balance is short, and once it is not, the operator asks
// again.
func TestAnOperatorRefunds(t *testing.T) {
	t.Parallel()
	plan := fakegateway.Faults{Shares: map[fakegateway.Fault]float64{fakegateway.BalanceShort: 1}}
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}, GatewayFaults: plan})
	order, pay := w.bought("1001", "5")
	w.payAtCashier(pay)
	w.awaitState("1001", "5", seckill.Paid)
	w.waitIdle() // the notification is kept after its effect
	route := "/_local/payments/" + order
	if a := w.call("", "GET", route, nil); a.status != 200 || strings.Contains(a.raw, "文三路") ||
		strings.Contains(a.raw, "trade_status") || !strings.Contains(a.raw, `"outcome":"recorded"`) {
		t.Errorf("case: %v", a)
	}
	if a := w.call("", "GET", route+"?raw=1", nil); a.status != 200 || strings.Contains(a.raw, "文三路") ||
		!strings.Contains(a.raw, "trade_status") {
		t.Errorf("case with notifications as they came: %v", a)
	}
	for _, want := range []bool{true, false} {
		if a := w.call("", "POST", route+"/refund", words(`"restock":true`)); a.status != 200 ||
			a.json["changed"] != want || a.text("state") != "refund_due" {
			t.Errorf("refund: %v, want changed %t", a, want)
		}
	}
	w.awaitLeft("5", "1") // sold again
	if o := w.open(); o.Due.Count != 1 || o.Refused.Count != 0 {
		t.Errorf("due: %+v", o)
	}
	w.pass(time.Minute)
	w.eventually("refusal", func() bool { return w.open().Refused.Count == 1 }, func() any { return w.open() })
	if p := w.open().Refused.Payments[0]; p.Order != order || p.Refused != "ACQ.SELLER_BALANCE_NOT_ENOUGH" {
		t.Errorf("refused: %+v", p)
	}
	state := w.call("", "GET", "/_local/state", nil)
	if due, refused := state.json["refunds_due"].([]any), state.json["refunds_refused"].([]any); len(due) != 0 ||
		len(refused) != 1 {
		t.Errorf("state: %v, want one refund, refused", state)
	}
	if a := w.call("", "PUT", "/faults", `{}`); a.status != 200 {
		t.Fatal(a)
	}
	if a := w.call("", "POST", route+"/again", words()); a.status != 200 || fmt.Sprint(a.json["asked"]) != "1" {
		t.Errorf("again: %v", a)
	}
	w.pass(time.Minute)
	w.awaitState("1001", "5", seckill.Refunded)
	if a := w.call("", "GET", route, nil); !strings.Contains(a.raw, "refund by ann: broken") ||
		!strings.Contains(a.raw, "wanted again by ann: broken") {
		t.Errorf("case afterwards: %v", a)
	}
	if o := w.open(); o.Due.Count+o.Refused.Count+o.Unknown.Count != 0 {
		t.Errorf("afterwards: %+v", o)
	}
	w.drained()
}

// TestARefundOfAFinishedTrade is refused for good: its time is over. It waits on the list for a person, and nobody is
// told that the money went.
func TestARefundOfAFinishedTrade(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}})
	order, pay := w.bought("1001", "5")
	w.payAtCashier(pay)
	w.awaitState("1001", "5", seckill.Paid)
	w.waitIdle()
	for range 13 { // weeks: 91 days
		w.pass(local.MaxAdvance)
	}
	if trades := w.Gateway.Trades(); len(trades) != 1 || trades[0].Status != fakegateway.StatusFinished {
		t.Fatalf("after 91 days: %+v, want it finished", trades)
	}
	route := "/_local/payments/" + order
	if a := w.call("", "POST", route+"/refund", words()); a.status != 200 || a.text("state") != "refund_due" {
		t.Fatalf("refund: %v", a)
	}
	w.pass(time.Minute)
	for range 2 { // also after it was asked for again
		w.eventually("refusal", func() bool { return w.open().Refused.Count == 1 }, func() any { return w.open() })
		o := w.open()
		if p := o.Refused.Payments[0]; o.Due.Count+o.Unknown.Count != 0 || p.Order != order ||
			p.Refused != "ACQ.TRADE_HAS_FINISHED" || o.Refused.Amount != p.Amount || p.Amount == 0 {
			t.Errorf("open: %+v", o)
		}
		if a := w.call("", "POST", route+"/again", words()); a.status != 200 || fmt.Sprint(a.json["asked"]) != "1" {
			t.Errorf("again: %v", a)
		}
		w.pass(time.Minute)
	}
	if kept := w.Gateway.Trades()[0].Kept(); kept == 0 {
		t.Error("the gateway gave the money back")
	}
	a := w.call(w.token("1001"), "GET", "/order/"+order, nil, "Accept-Language", "en")
	if want := " yuan go back to you, refund number " + seckill.RefundID(order, w.Gateway.Trades()[0].TradeNo) +
		"."; a.text("state") != "refund_due" || !strings.HasSuffix(a.text("money"), want) {
		t.Errorf("the shopper: %v, want %q", a, want)
	}
	w.drained()
}

// TestAnOperatorAsks about an order of which the gateway says nothing for minutes.
func TestAnOperatorAsks(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Hold: 30 * time.Second, Items: []seckill.Listing{live("5", 1, 1)}})
	order, pay := w.bought("1001", "5")
	if a := w.call("", "GET", "/cashier?"+pay, nil); a.status != 200 {
		t.Fatal(a)
	}
	if a := w.call("", "PUT", "/faults", `{"shares":{"call-cut":1}}`); a.status != 200 {
		t.Fatal(a)
	}
	w.pass(30*time.Second + seckill.Grace + time.Second)
	w.awaitState("1001", "5", seckill.Closing)
	for range 3 {
		w.pass(time.Minute)
	}
	if o := w.open(); o.Unknown.Count != 1 || o.Unknown.Orders[0].Order != order ||
		o.Unknown.Orders[0].End != seckill.Expired || o.Unknown.Amount != o.Unknown.Orders[0].Amount {
		t.Errorf("unknown: %+v", o.Unknown)
	}
	if a := w.call("", "PUT", "/faults", `{}`); a.status != 200 {
		t.Fatal(a)
	}
	if a := w.call("", "POST", "/_local/payments/"+order+"/ask", words()); a.status != 200 ||
		a.json["changed"] != true {
		t.Errorf("ask: %v", a)
	}
	w.pass(time.Minute)
	w.awaitState("1001", "5", seckill.Expired)
	if o := w.open(); o.Unknown.Count != 0 {
		t.Errorf("unknown afterwards: %+v", o.Unknown)
	}
	w.drained()
}

// TestMoneyThatOnlyTheBillKnows: a second trade was paid, and its notification never comes. The bill of the day names
// it, an operator has it recorded, and it goes back.
func TestMoneyThatOnlyTheBillKnows(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}})
	order, pay := w.bought("1001", "5")
	if a := w.call("", "PUT", "/faults", `{"shares":{"two-trades":1}}`); a.status != 200 {
		t.Fatal(a)
	}
	var trades []string
	for range 2 {
		no, err := w.Gateway.Open(pay)
		if err != nil {
			t.Fatal(err)
		}
		trades = append(trades, no)
	}
	if err := w.Gateway.PayTrade(trades[0]); err != nil {
		t.Fatal(err)
	}
	w.awaitState("1001", "5", seckill.Paid)
	if a := w.call("", "PUT", "/faults", `{"shares":{"notification-lost":1}}`); a.status != 200 {
		t.Fatal(a)
	}
	if err := w.Gateway.PayTrade(trades[1]); err != nil {
		t.Fatal(err)
	}
	day := seckill.Day(w.Clock.Now())
	w.pass(36 * time.Hour) // longer than notifications are repeated
	if a := w.call("", "PUT", "/faults", `{}`); a.status != 200 {
		t.Fatal(a)
	}
	r, err := w.Reconcile.Day(t.Context(), day)
	if err != nil || r.Count != 1 || r.Payments != 2 || r.Differences[0].Kind != seckill.PaymentNotHere ||
		r.Differences[0].TradeNo != trades[1] || r.Differences[0].Order != order {
		t.Fatalf("the bill: %+v, %v", r, err)
	}
	route := "/_local/payments/" + order + "/record-trade"
	for _, tt := range []struct {
		body  string
		field string
	}{
		{words(), "trade_no"},
		{words(`"trade_no":"1"`), "trade_no"},
		{words(`"trade_no":"` + strings.Repeat("9", 300) + `"`), "trade_no"},
		{`{"who":"ann","trade_no":"` + trades[1] + `"}`, "why"},
	} {
		if a := w.call("", "POST", route, tt.body); a.status != 422 || a.text("field") != tt.field {
			t.Errorf("%s: %v, want %s refused", tt.body, a, tt.field)
		}
	}
	for _, want := range []bool{true, false} {
		if a := w.call("", "POST", route, words(`"trade_no":"`+trades[1]+`"`)); a.status != 200 ||
			a.json["changed"] != want {
			t.Errorf("record-trade: %v, want changed %t", a, want)
		}
	}
	w.pass(2 * time.Minute)
	a := w.call(w.token("1001"), "GET", "/order/"+order, nil)
	if a.text("state") != "paid" || !strings.Contains(a.text("money"), seckill.RefundID(order, trades[1])) {
		t.Errorf("the order: %v", a)
	}
	if r, err = w.Reconcile.Day(t.Context(), day); err != nil || r.Count != 0 {
		t.Errorf("the bill matched again: %+v, %v", r, err)
	}
	w.drained()
}

// unsigning payments sign nothing.
type unsigning struct{ seckill.Payments }

func (unsigning) Prepare(seckill.Order) (string, error) { return "", errors.New("no key") }

// TestOnlyAnOperatorIsToldWhatAFaultCameOf: a shopper's order cannot be signed, and the gateway answers 502.
func TestOnlyAnOperatorIsToldWhatAFaultCameOf(t *testing.T) {
	t.Parallel()
	w := startChanged(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}}, func(s *local.System) {
		s.Shop.Payments = unsigning{s.Payments}
	})
	bought := w.buy("1001", "5", 1, "")
	if a := w.call("", "PUT", "/faults", `{"shares":{"call-5xx":1}}`); bought.status != 200 || a.status != 200 {
		t.Fatal(bought, a)
	}
	var a answer
	w.eventually("a placed order", func() bool {
		a = w.status("1001", "5")
		return a.status != 200
	}, func() any { return a })
	if a.status != 503 || a.text("code") != "unavailable" || a.text("detail") != "系统繁忙，请稍后重试。" ||
		strings.Contains(a.raw, "no key") {
		t.Errorf("the shopper: %v", a)
	}
	order, day := bought.text("order_id"), seckill.Day(w.Clock.Now().Add(-24*time.Hour))
	for route, want := range map[string]string{
		"payments/" + order + "/record-trade": "alipay: alipay.trade.query " + order + ": HTTP status 502",
		"reconcile/" + day: "alipay: alipay.data.dataservice.bill.downloadurl.query " + day +
			": HTTP status 502",
	} {
		a := w.call("", "POST", "/_local/"+route, words(`"trade_no":"1"`))
		if a.status != 503 || a.text("code") != "unavailable" || a.text("detail") != want ||
			a.json["retry_after_ms"] != json.Number("1000") || a.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %v, want %s", route, a, want)
		}
	}
}

func TestMoneyIsRefusedInProblems(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}})
	order, _ := w.bought("1001", "5")
	nobody := seckill.KeyedOrderID("5", "1001", "none")
	for _, tt := range []struct {
		behaviour, method, path, body string
		status                        int
		code, field                   string
	}{
		{"case of no order", "GET", nobody, "", 404, "order_unknown", ""},
		{"case of no id", "GET", "5", "", 404, "order_unknown", ""},
		{"refund of no order", "POST", nobody + "/refund", words(), 404, "order_unknown", ""},
		{"again of no order", "POST", nobody + "/again", words(), 404, "order_unknown", ""},
		{"asking for no order", "POST", nobody + "/ask", words(), 404, "order_unknown", ""},
		{"refund of an unpaid order", "POST", order + "/refund", words(), 422, "invalid_request", "order"},
		{"asking for one that is not closing", "POST", order + "/ask", words(), 422, "invalid_request", "order"},
		{"nobody", "POST", order + "/refund", `{"why":"x"}`, 422, "invalid_request", "who"},
		{"no reason", "POST", order + "/refund", `{"who":"x"}`, 422, "invalid_request", "why"},
		{"two lines", "POST", order + "/again", `{"who":"x","why":"a\nb"}`, 422, "invalid_request", "why"},
		{"a long reason", "POST", order + "/ask", `{"who":"x","why":"` + strings.Repeat("因", 201) + `"}`, 422,
			"invalid_request", "why"},
		{"again with restock", "POST", order + "/again", words(`"restock":true`), 422, "invalid_request", "restock"},
		{"a part that is not known", "POST", order + "/refund", words(`"amount":1`), 422, "invalid_request", "body"},
		{"no body", "POST", order + "/refund", "", 422, "invalid_request", "body"},
		{"a large body", "POST", order + "/refund", words(`"x":"` + strings.Repeat("x", 5000) + `"`), 422,
			"invalid_request", "body"},
		{"no such command", "POST", order + "/pay", words(), 404, "not_found", ""},
	} {
		a := w.call("", tt.method, "/_local/payments/"+tt.path, tt.body)
		if a.status != tt.status || a.text("code") != tt.code || a.text("field") != tt.field ||
			!strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %v, want %d %s %s", tt.behaviour, a, tt.status, tt.code, tt.field)
		}
	}
	// The longest reason there may be, in the longest way to write it.
	if a := w.call("", "POST", "/_local/payments/"+order+"/again", `{"who":"x","why":"`+strings.Repeat(`\ud83d\ude00`,
		200)+`"}`); a.status != 200 || a.json["changed"] != false {
		t.Errorf("200 characters: %v", a)
	}
	if o, err := w.Ledger.Order(t.Context(), order); err != nil || o.State != seckill.PendingPayment {
		t.Errorf("afterwards %s, %v", o.State, err)
	}
}

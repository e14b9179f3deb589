package local_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// open returns the due, refused and unknown money, as an operator sees it.
func (w *shopTest) open() operator.OpenMoney {
	w.t.Helper()
	o, err := gives[operator.OpenMoney](w, &operator.ListMoney{})
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// TestAnOperatorRefunds refunds an order with restock while the gateway's balance is too low, and retries it later.
func TestAnOperatorRefunds(t *testing.T) {
	t.Parallel()
	plan := fakegateway.Faults{Shares: map[fakegateway.Fault]float64{fakegateway.BalanceShort: 1}}
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}, GatewayFaults: plan})
	order, pay := w.bought("1001", "5")
	w.payAtCashier(pay)
	w.awaitState("1001", "5", seckill.Paid)
	w.waitIdle() // the notification is stored after its effect
	for _, raw := range []bool{false, true} {
		c, err := gives[operator.MoneyCase](w, &operator.ReadCase{Order: order, Raw: raw})
		if text := fmt.Sprint(c); err != nil || strings.Contains(text, "文三路") ||
			strings.Contains(text, "trade_status") != raw || len(c.Notifications) != 1 ||
			c.Notifications[0].Outcome != "recorded" {
			t.Errorf("case, raw %t: %+v, %v", raw, c, err)
		}
	}
	for _, want := range []bool{true, false} {
		c, err := gives[operator.MoneyChange](w, &operator.Refund{Order: order, Why: "broken", Restock: true})
		if err != nil || c.Changed != want || c.State != seckill.RefundOwed {
			t.Errorf("refund: %+v, %v, want changed %t", c, err, want)
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
	again, err := gives[operator.MoneyChange](w, &operator.Again{Order: order, Why: "broken"})
	if err != nil || again.Asked != 1 {
		t.Errorf("again: %+v, %v", again, err)
	}
	w.pass(time.Minute)
	w.awaitState("1001", "5", seckill.Refunded)
	c, err := gives[operator.MoneyCase](w, &operator.ReadCase{Order: order})
	if text := fmt.Sprint(c.History); err != nil || !strings.Contains(text, "refund by ann: broken") ||
		!strings.Contains(text, "wanted again by ann: broken") {
		t.Errorf("case afterwards: %+v, %v", c, err)
	}
	if o := w.open(); o.Due.Count+o.Refused.Count+o.Unknown.Count != 0 {
		t.Errorf("afterwards: %+v", o)
	}
	w.drained()
}

// TestAnOperatorAsks covers an order about which the gateway does not answer for minutes.
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
	if c, err := gives[operator.MoneyChange](w, &operator.Ask{Order: order, Why: "broken"}); err != nil || !c.Changed {
		t.Errorf("ask: %+v, %v", c, err)
	}
	w.pass(time.Minute)
	w.awaitState("1001", "5", seckill.Expired)
	if o := w.open(); o.Unknown.Count != 0 {
		t.Errorf("unknown afterwards: %+v", o.Unknown)
	}
	w.drained()
}

package local_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/local"
	"seckill/shared/adapter/alipay/fakegateway"
	"seckill/shared/adapter/ledger"
	"seckill/shared/seckill"
)

// payAtCashier does what a browser does: it opens the cashier with the pay string and sends the page's form.
func (w *world) payAtCashier(pay string) answer {
	w.t.Helper()
	page := w.call("", "GET", "/cashier?"+pay, nil)
	if page.status != 200 {
		return page
	}
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`).FindAllStringSubmatch(page.raw, -1) {
		form.Set(m[1], m[2])
	}
	action := regexp.MustCompile(`<form method="post" action="([^"]+)">`).FindStringSubmatch(page.raw)
	if action == nil || form.Get("token") == "" {
		w.t.Fatalf("the cashier's page has no form to send: %v", page)
	}
	return w.call("", "POST", "/"+action[1], form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// TestThePayStringComesWithinASecond of the purchase; a busy machine may hold one shopper up.
func TestThePayStringComesWithinASecond(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("5", 9, 1)}})
	took := make([]time.Duration, 9)
	for i := range took {
		began := time.Now()
		w.bought(user(i), "5")
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > time.Second {
		t.Errorf("half of the pay strings took more than %v, want at most 1 s", median)
	}
}

func TestBuyPayPaid(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	order, pay := w.bought("1001", local.DemoLive)
	if again := w.status("1001", local.DemoLive).text("alipay_order"); again != pay {
		t.Errorf("the pay string changed:\n%s\n%s", pay, again)
	}
	if a := w.payAtCashier(pay); a.status != 200 || !strings.Contains(a.raw, "支付成功") {
		t.Fatalf("paying: %v", a)
	}
	s := w.awaitState("1001", local.DemoLive, seckill.Paid)
	if s.text("order_id") != order || s.text("alipay_order") != "" {
		t.Errorf("paid order: %v", s)
	}
	w.awaitLeft(local.DemoLive, "9")
	if a := w.call("", "GET", "/cashier?"+pay, nil); a.status != 200 || !strings.Contains(a.raw, "支付成功") || strings.Contains(a.raw, "<form") {
		t.Errorf("the cashier takes money twice: %v", a)
	}
	w.drained()
	if n := len(w.Rows.Dump(ledger.TablePayments)); n != 1 {
		t.Errorf("%d payments, want 1", n)
	}
}

func TestUnpaidOrderExpiresAndItsUnitIsSoldAgain(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Hold: 30 * time.Second, Items: []seckill.Item{live("5", 1, 1)}})
	order, pay := w.bought("1001", "5")
	if a := w.buy("1002", "5", 1, ""); a.status != 409 || a.text("code") != "sold_out" {
		t.Fatalf("the only unit is held: %v", a)
	}
	w.pass(31 * time.Second) // hold over, grace not
	if s := w.status("1001", "5"); s.text("state") != "pending_payment" || s.text("alipay_order") != "" {
		t.Errorf("after the hold: %v", s)
	}
	if a := w.payAtCashier(pay); a.status != 410 {
		t.Errorf("the cashier after the hold: %v", a)
	}
	w.pass(seckill.Grace)
	if s := w.status("1001", "5"); s.text("state") != "expired" || s.text("order_id") != order {
		t.Errorf("after hold and grace: %v", s)
	}
	w.awaitLeft("5", "1")
	w.drained()

	_, pay = w.bought("1002", "5")
	w.payAtCashier(pay)
	w.awaitState("1002", "5", seckill.Paid)
	w.drained()
}

func TestTheShopperWhoseOrderExpiredMayBuyAgain(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("5", 3, 1)}})
	first, _ := w.bought("1001", "5")
	if a := w.buy("1001", "5", 1, ""); a.status != 409 || a.text("code") != "limit_reached" || a.text("order_id") != first {
		t.Errorf("a second purchase: %v, want limit_reached with %s", a, first)
	}
	w.pass(seckill.DefaultHold + seckill.Grace + time.Second)
	second, _ := w.bought("1001", "5")
	if second == first {
		t.Errorf("both purchases are order %s", first)
	}
	w.drained()
}

func TestSameKeyTwiceIsOneOrder(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("5", 10, 5)}})
	first := w.buy("1001", "5", 2, "cart-1")
	w.awaitState("1001", "5", seckill.PendingPayment)
	second := w.buy("1001", "5", 2, "cart-1")
	if first.status != 200 || second.raw != first.raw {
		t.Errorf("answers %v and %v", first, second)
	}
	if a := w.buy("1001", "5", 1, "cart-1"); a.status != 422 || a.text("code") != "key_reused" {
		t.Errorf("the key with another body: %v", a)
	}
	if a := w.buy("1002", "5", 2, "cart-1"); a.status != 200 || a.text("order_id") == first.text("order_id") {
		t.Errorf("another shopper's key: %v", a)
	}
	w.awaitState("1002", "5", seckill.PendingPayment)
	w.drained()
	if n := len(w.Rows.Dump(ledger.TableOrders)); n != 2 {
		t.Errorf("%d orders, want 2", n)
	}
}

func TestCancelGivesTheUnitBackAndLateMoneyGoesBack(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("5", 1, 1)}})
	order, pay := w.bought("1001", "5")
	if a := w.call(w.token("1002"), "POST", "/order/"+order+"/cancel", nil); a.status != 404 || a.text("code") != "order_unknown" {
		t.Errorf("somebody else cancels: %v", a)
	}
	if a := w.call(w.token("1001"), "POST", "/order/"+order+"/cancel", nil); a.status != 200 || a.text("order_id") != order {
		t.Fatalf("cancel: %v", a)
	}
	w.awaitState("1001", "5", seckill.Cancelled)
	w.awaitLeft("5", "1")
	w.drained()

	// The pay string is still out there, and the cashier had not been opened: its trade can be made and paid.
	if a := w.payAtCashier(pay); a.status != 200 {
		t.Fatalf("late payment: %v", a)
	}
	w.awaitState("1001", "5", seckill.RefundOwed)
	w.drained()
	due, _ := w.call("", "GET", "/_local/state", nil).json["refunds_due"].([]any)
	if len(due) != 1 || due[0].(map[string]any)["order_id"] != order {
		t.Errorf("refunds due: %v, want that of %s", due, order)
	}
	if a := w.call(w.token("1001"), "POST", "/order/"+order+"/cancel", nil); a.status != 409 || a.text("code") != "not_cancellable" {
		t.Errorf("cancel once more: %v", a)
	}

	w.pass(time.Minute)
	w.awaitState("1001", "5", seckill.Refunded)
	a := w.call(w.token("1001"), "GET", "/order/"+order, nil)
	payments, _ := a.json["payments"].([]any)
	if len(payments) != 1 || payments[0].(map[string]any)["state"] != "refunded" {
		t.Errorf("order: %v, want one payment, refunded", a)
	}
	trade := w.Gateway.Trades()[0]
	if trade.Refunded() != trade.Amount || trade.Status != fakegateway.StatusClosed {
		t.Errorf("the gateway's trade: %+v, want all of it refunded", trade)
	}
	if due, _ := w.call("", "GET", "/_local/state", nil).json["refunds_due"].([]any); len(due) != 0 {
		t.Errorf("refunds due: %v, want none", due)
	}
}

func TestMoneyThatArrivesAfterExpiryGoesBack(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("5", 1, 1)}})
	order, pay := w.bought("1001", "5")
	if _, err := w.Gateway.Open(pay); err != nil {
		t.Fatal(err)
	}
	w.pass(seckill.DefaultHold + seckill.Grace + time.Second)
	w.awaitState("1001", "5", seckill.Expired)

	// The provider had closed the trade; all the same an authentic notice of money comes in, twice.
	trade := w.Gateway.Trades()[0]
	trade.Status, trade.Paid = fakegateway.StatusSuccess, w.Clock.Now()
	form, err := w.Gateway.NotifyForm("n1", trade, w.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if a := w.notify(form); a.status != 200 || a.raw != "success" {
			t.Fatalf("late notice: %v", a)
		}
	}
	w.drained()
	a := w.call(w.token("1001"), "GET", "/order/"+order, nil)
	payments, _ := a.json["payments"].([]any)
	if a.text("state") != "refund_due" || len(payments) != 1 || payments[0].(map[string]any)["state"] != "refund_due" {
		t.Errorf("order: %v, want refund_due with one payment", a)
	}
}

func (w *world) notify(form url.Values) answer {
	w.t.Helper()
	return w.call("", "POST", "/seckill/alipay/notify", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func TestForgedNoticesChangeNothing(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("5", 2, 1)}})
	order, pay := w.bought("1001", "5")
	if _, err := w.Gateway.Open(pay); err != nil {
		t.Fatal(err)
	}
	trade := w.Gateway.Trades()[0]
	trade.Status, trade.Paid = fakegateway.StatusSuccess, w.Clock.Now()
	before := w.call(w.token("1001"), "GET", "/order/"+order, nil)
	for _, tt := range []struct {
		behaviour string
		change    func(form url.Values)
		signed    bool // by the gateway, after the change
		code      string
	}{
		{"no signature", func(f url.Values) { f.Del("sign") }, false, "notify_forged"},
		{"amount changed", func(f url.Values) { f.Set("total_amount", "0.01") }, false, "notify_forged"},
		{"order changed", func(f url.Values) { f.Set("out_trade_no", "o"+strings.Repeat("a", 26)) }, false, "notify_forged"},
		{"parameter added", func(f url.Values) { f.Set("refund_fee", "1.00") }, false, "notify_forged"},
		{"another app", func(f url.Values) { f.Set("app_id", "2021000000000009") }, true, "notify_not_ours"},
		{"another seller", func(f url.Values) { f.Set("seller_id", "2088000000000009") }, true, "notify_not_ours"},
		{"unknown order", func(f url.Values) { f.Set("out_trade_no", "o"+strings.Repeat("a", 26)) }, true, "notify_not_ours"},
		{"a fen too little", func(f url.Values) { f.Set("total_amount", "198.99") }, true, "notify_not_ours"},
		{"a fen too much", func(f url.Values) { f.Set("total_amount", "199.01") }, true, "notify_not_ours"},
	} {
		form, err := w.Gateway.NotifyForm("n1", trade, w.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		tt.change(form)
		if tt.signed {
			if err := w.Gateway.SignForm(form); err != nil {
				t.Fatal(err)
			}
		}
		if a := w.notify(form); a.status < 400 || a.status > 499 || a.text("code") != tt.code {
			t.Errorf("%s: got %v, want 4xx %s", tt.behaviour, a, tt.code)
		}
	}
	if a := w.call("", "POST", "/seckill/alipay/notify", "{}"); a.status < 400 || a.status > 499 {
		t.Errorf("JSON instead of a form: %v", a)
	}
	if after := w.call(w.token("1001"), "GET", "/order/"+order, nil); after.raw != before.raw {
		t.Errorf("the order was\n%s\nand is\n%s", before.raw, after.raw)
	}
	if n := len(w.Rows.Dump(ledger.TablePayments)); n != 0 {
		t.Errorf("%d payments, want none", n)
	}
}

func TestPoisonIsParkedAndItsNeighboursGoOn(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("5", 5, 1)}})
	poison := []string{"not json", `{"v":99,"kind":"order"}`, `{"v":1,"kind":"order","order":"x"}`, `{"v":1,"kind":"close","order":"o` + strings.Repeat("a", 26) + `"}`}
	for i, p := range poison {
		if err := w.Orders.SendRaw([]byte(p), 0); err != nil {
			t.Fatal(err)
		}
		w.bought([]string{"1001", "1002", "1003", "1004"}[i], "5")
	}
	if err := w.Closings.SendRaw([]byte("?"), 0); err != nil {
		t.Fatal(err)
	}
	w.drained()
	if o, c := len(w.Orders.Parked()), len(w.Closings.Parked()); o != len(poison) || c != 1 {
		t.Errorf("%d and %d messages parked, want %d and 1", o, c, len(poison))
	}
}

func TestStopRefusesPurchasesAndResumeTakesThemAgain(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("5", 5, 1)}})
	if a := w.call("", "POST", "/_local/items/5/stop", nil); a.status != 200 || a.text("state") != "stopped" {
		t.Fatalf("stop: %v", a)
	}
	if a := w.buy("1001", "5", 1, ""); a.status != 409 || a.text("code") != "stopped" {
		t.Errorf("buy of a stopped item: %v", a)
	}
	w.pass(2 * time.Second) // what instances remember of an item is at most a second old
	if a := w.call("", "GET", "/seckill/ing", nil); strings.Contains(a.raw, `"id":"5"`) {
		t.Errorf("a stopped item is listed: %v", a)
	}
	if a := w.call("", "POST", "/_local/items/5/resume", nil); a.status != 200 || a.text("state") != "online" {
		t.Fatalf("resume: %v", a)
	}
	w.pass(2 * time.Second)
	w.bought("1001", "5")
	w.drained()
}

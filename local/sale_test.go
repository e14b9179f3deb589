package local_test

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// payAtCashier acts like a browser: it opens the cashier with the pay string and submits the page's form.
func (w *shopTest) payAtCashier(pay string) answer {
	w.t.Helper()
	a, err := cashier(w.try, pay)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// cashier opens the cashier's page by a call and sends its form.
func cashier(call func(token, method, path string, body any, headers ...string) (answer, error),
	pay string) (answer, error) {
	page, err := call("", "GET", "/cashier?"+pay, nil)
	if err != nil || page.status != 200 {
		return page, err
	}
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`).FindAllStringSubmatch(
		page.raw, -1) {
		form.Set(m[1], m[2])
	}
	action := regexp.MustCompile(`<form method="post" action="([^"]+)">`).FindStringSubmatch(page.raw)
	if action == nil || form.Get("token") == "" {
		return page, fmt.Errorf("the cashier's page has no form to send: %v", page)
	}
	return call("", "POST", "/"+action[1], form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// TestThePayStringComesWithinASecond of the purchase; a busy machine may delay single shoppers.
func TestThePayStringComesWithinASecond(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 9, 1)}})
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
	if a := w.call("", "GET", "/cashier?"+pay, nil); a.status != 200 || !strings.Contains(a.raw, "支付成功") ||
		strings.Contains(a.raw, "<form") {
		t.Errorf("the cashier takes money twice: %v", a)
	}
	w.drained()
	if n := len(w.Rows.Dump(ledger.TablePayments)); n != 1 {
		t.Errorf("%d payments, want 1", n)
	}
}

// TestSaltOfAnOrder: an order shows its salt to its own shopper, once the sale is over, if the shop has the secret.
func TestSaltOfAnOrder(t *testing.T) {
	t.Parallel()
	for _, secret := range []httpapi.Salts{nil, salts.Secret{}, salts.Derive("private", "shop.example+1a2b3c4d+AbCd")} {
		w := start(t, local.Options{Salts: secret})
		order, pay := w.bought("1001", local.DemoLive)
		w.payAtCashier(pay)
		w.awaitState("1001", local.DemoLive, seckill.Paid)
		if a := w.call(w.token("1001"), "GET", "/order/"+order, nil); a.status != 200 || a.json["report"] != nil {
			t.Errorf("before the end: %v", a)
		}
		w.pass(25 * time.Hour)
		want := map[string]any(nil)
		if s, _ := secret.(salts.Secret); s.Verifier != "" {
			salt, verifier := s.Of(order)
			want = map[string]any{"salt": salt, "verifier": verifier}
		}
		a := w.call(w.token("1001"), "GET", "/order/"+order, nil)
		if got, _ := a.json["report"].(map[string]any); a.status != 200 || !maps.Equal(got, want) {
			t.Errorf("after the end: %v, want %v", a, want)
		}
		for _, other := range []answer{w.call(w.token("1002"), "GET", "/order/"+order, nil),
			w.call("", "GET", "/order/"+order, nil), w.call(w.token("1001"), "GET", "/order/list", nil)} {
			if strings.Contains(other.raw, `"report"`) || want != nil && strings.Contains(other.raw, "AbCd") {
				t.Errorf("shows a salt: %v", other)
			}
		}
	}
}

func TestUnpaidOrderExpiresAndItsUnitIsSoldAgain(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Hold: 30 * time.Second, Items: []seckill.Listing{live("5", 1, 1)}})
	order, pay := w.bought("1001", "5")
	if a := w.buy("1002", "5", 1, ""); a.status != 409 || a.text("code") != "sold_out" {
		t.Fatalf("the only unit is held: %v", a)
	}
	w.pass(31 * time.Second) // the hold is over, the grace is not
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
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 3, 1)}})
	first, _ := w.bought("1001", "5")
	if a := w.buy("1001", "5", 1, ""); a.status != 409 || a.text("code") != "limit_reached" ||
		a.text("order_id") != first {
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
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 10, 5)}})
	first := w.buy("1001", "5", 2, "cart-1")
	w.awaitState("1001", "5", seckill.PendingPayment)
	second := w.buy("1001", "5", 2, "cart-1")
	if first.status != 200 || second.text("order_id") != first.text("order_id") {
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

// TestTwoAddressesAreTwoOrders: each shopper sends one unit to each of two addresses, without a key. There are many
// shoppers, because the second purchase often comes after the placement of the first order.
func TestTwoAddressesAreTwoOrders(t *testing.T) {
	t.Parallel()
	const shoppers = 200
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 2*shoppers, 2)}})
	merged := 0
	for n := range shoppers {
		user := strconv.Itoa(2001 + n)
		token, asked := w.token(user), map[string]string{}
		for _, to := range []string{"A street 1", "B street 2"} {
			a := w.call(token, "POST", "/seckill/buy", map[string]any{"seckill_id": "5", "count": 1, "address": to})
			if a.status != 200 {
				t.Fatalf("shopper %s to %s: %v", user, to, a)
			}
			asked[a.text("order_id")] = to
		}
		if len(asked) == 1 {
			merged++
			continue
		}
		w.waitIdle()
		for id, to := range asked {
			if a := w.call(token, "GET", "/order/"+id, nil); a.text("address") != to {
				t.Errorf("shopper %s: order %s, asked for to %s: %v", user, id, to, a)
			}
		}
	}
	if merged > 0 {
		t.Errorf("%d of %d pairs were answered 200 twice with one order", merged, shoppers)
	}
	w.drained()
}

func TestCancelGivesTheUnitBackAndLateMoneyGoesBack(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}})
	order, pay := w.bought("1001", "5")
	if a := w.call(w.token("1002"), "POST", "/order/"+order+"/cancel", nil); a.status != 404 ||
		a.text("code") != "order_unknown" {
		t.Errorf("somebody else cancels: %v", a)
	}
	if a := w.call(w.token("1001"), "POST", "/order/"+order+"/cancel", nil); a.status != 200 ||
		a.text("order_id") != order {
		t.Fatalf("cancel: %v", a)
	}
	w.awaitState("1001", "5", seckill.Cancelled)
	w.awaitLeft("5", "1")
	w.drained()

	// The pay string still exists, and the cashier has not been opened: its trade can be created and paid.
	if a := w.payAtCashier(pay); a.status != 200 {
		t.Fatalf("late payment: %v", a)
	}
	w.awaitState("1001", "5", seckill.RefundOwed)
	w.drained()
	due, _ := w.call("", "GET", "/_local/state", nil).json["refunds_due"].([]any)
	if len(due) != 1 || due[0].(map[string]any)["order_id"] != order {
		t.Errorf("refunds due: %v, want that of %s", due, order)
	}
	if a := w.call(w.token("1001"), "POST", "/order/"+order+"/cancel", nil); a.status != 409 ||
		a.text("code") != "not_cancellable" {
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
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}})
	order, pay := w.bought("1001", "5")
	if _, err := w.Gateway.Open(pay); err != nil {
		t.Fatal(err)
	}
	w.pass(seckill.DefaultHold + seckill.Grace + time.Second)
	w.awaitState("1001", "5", seckill.Expired)

	// The provider has closed the trade; nevertheless an authentic notification of money arrives, twice.
	trade := w.Gateway.Trades()[0]
	trade.Status, trade.Paid = fakegateway.StatusSuccess, w.Clock.Now()
	form, err := w.Gateway.NotificationForm("n1", trade, w.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if a := w.notify(form); a.status != 200 || a.raw != "success" {
			t.Fatalf("late notification: %v", a)
		}
	}
	if kept := w.Rows.Dump(ledger.TableNotifications); len(kept) != 1 || kept[0]["id"] != form.Get("notify_id") ||
		kept[0]["outcome"] != seckill.NotificationRecorded || kept[0]["raw"] != form.Encode() {
		t.Errorf("kept: %v, want the notification once, as it came", kept)
	}
	w.drained()
	a := w.call(w.token("1001"), "GET", "/order/"+order, nil)
	payments, _ := a.json["payments"].([]any)
	if a.text("state") != "refund_due" || len(payments) != 1 || payments[0].(map[string]any)["state"] != "refund_due" {
		t.Errorf("order: %v, want refund_due with one payment", a)
	}
}

func (w *shopTest) notify(form url.Values) answer {
	w.t.Helper()
	return w.call("", "POST", "/seckill/alipay/notify", form.Encode(), "Content-Type",
		"application/x-www-form-urlencoded")
}

// TestBadNotificationsChangeNothing checks that any invalid notification gets a 4xx and is counted, and that order,
// payments and kept notifications stay unchanged.
func TestBadNotificationsChangeNothing(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 2, 1)}})
	order, pay := w.bought("1001", "5")
	if _, err := w.Gateway.Open(pay); err != nil {
		t.Fatal(err)
	}
	trade := w.Gateway.Trades()[0]
	trade.Status, trade.Paid = fakegateway.StatusSuccess, w.Clock.Now()
	before := w.call(w.token("1001"), "GET", "/order/"+order, nil)
	form := func() url.Values {
		f, err := w.Gateway.NotificationForm("n1", trade, w.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	refused := 0
	bad := func(behaviour, body, kind, code string) {
		t.Helper()
		a := w.call("", "POST", "/seckill/alipay/notify", body, "Content-Type", kind)
		refused++
		if n := w.Meter.Counts()[seckill.EventForged]; a.status < 400 || a.status > 499 || a.text("code") != code ||
			n != refused {
			t.Errorf("%s: got %v, %d refused; want 4xx %s, %d refused", behaviour, a, n, code, refused)
		}
	}
	const kind = "application/x-www-form-urlencoded"
	set := func(name, value string) func(url.Values) { return func(f url.Values) { f.Set(name, value) } }
	other := "o" + strings.Repeat("a", 26)
	for _, tt := range []struct {
		behaviour string
		change    func(form url.Values)
		signed    bool // signed by the gateway after the change
		code      string
	}{
		{"no signature", func(f url.Values) { f.Del("sign") }, false, "notify_forged"},
		{"amount changed", set("total_amount", "0.01"), false, "notify_forged"},
		{"order changed", set("out_trade_no", other), false, "notify_forged"},
		{"parameter added", set("refund_fee", "1.00"), false, "notify_forged"},
		{"id changed, to be kept twice", set("notify_id", "n2"), false, "notify_forged"},
		{"another sign_type", set("sign_type", "RSA"), true, "notify_forged"},
		{"another charset", set("charset", "utf-16"), true, "notify_forged"},
		{"a NUL byte", set("subject", "a\x00b"), true, "notify_forged"},
		{"no id", func(f url.Values) { f.Del("notify_id") }, true, "notify_forged"},
		{"an endless id", set("notify_id", strings.Repeat("n", 129)), true, "notify_forged"},
		{"amount 1e2", set("total_amount", "1e2"), true, "notify_forged"},
		{"amount 199.000", set("total_amount", "199.000"), true, "notify_forged"},
		{"amount -1", set("total_amount", "-1"), true, "notify_forged"},
		{"amount with a blank", set("total_amount", " 199.00"), true, "notify_forged"},
		{"amount in full-width digits", set("total_amount", "１９９.００"), true, "notify_forged"},
		{"another app", set("app_id", "2021000000000009"), true, "notify_not_ours"},
		{"another seller", set("seller_id", "2088000000000009"), true, "notify_not_ours"},
	} {
		f := form()
		tt.change(f)
		if tt.signed {
			if err := w.Gateway.SignForm(f); err != nil {
				t.Fatal(err)
			}
		}
		bad(tt.behaviour, f.Encode(), kind, tt.code)
	}
	good := form().Encode()
	bad("cut off within a parameter", good[:len(good)-30], kind, "notify_forged")
	bad("cut off within an escape", "sign=%E", kind, "invalid_request")
	bad("encoded twice", strings.ReplaceAll(good, "%", "%25"), kind, "notify_forged")
	bad("a parameter twice", good+"&total_amount=199.00", kind, "notify_forged")
	bad("a parameter twice, once empty", good+"&trade_status", kind, "notify_forged")
	bad("a separator of old", strings.Replace(good, "&", ";", 1), kind, "invalid_request")
	bad("1 MiB", good+"&a="+strings.Repeat("x", 1<<20), kind, "body_too_large")
	bad("many parameters", good+strings.Repeat("&a", 101), kind, "notify_forged")
	bad("JSON", "{}", "application/json", "invalid_request")
	bad("nothing", "", kind, "notify_forged")
	if n := len(w.Rows.Dump(ledger.TableNotifications)); n != 0 {
		t.Errorf("%d notifications kept, want none", n)
	}
	// Authentic, but not about an order as it is: kept for investigation.
	odd := []func(url.Values){set("out_trade_no", other), set("total_amount", "198.99"), set("total_amount", "199.01")}
	// also for a status without money
	for _, status := range []string{string(fakegateway.StatusWait), string(fakegateway.StatusClosed)} {
		odd = append(odd, func(f url.Values) { f.Set("trade_status", status); f.Set("total_amount", "0.01") },
			func(f url.Values) { f.Set("trade_status", status); f.Set("out_trade_no", other) })
	}
	for i, change := range odd {
		f := form()
		f.Set("notify_id", fmt.Sprint("odd", i))
		change(f)
		if err := w.Gateway.SignForm(f); err != nil {
			t.Fatal(err)
		}
		bad("not this order's", f.Encode(), kind, "notify_not_ours")
	}
	for _, row := range w.Rows.Dump(ledger.TableNotifications) {
		if row["outcome"] != "notify_not_ours" {
			t.Errorf("kept: %v", row)
		}
	}
	if after := w.call(w.token("1001"), "GET", "/order/"+order, nil); after.raw != before.raw {
		t.Errorf("the order was\n%s\nand is\n%s", before.raw, after.raw)
	}
	if p, n := len(w.Rows.Dump(ledger.TablePayments)), len(w.Rows.Dump(ledger.TableNotifications)); p != 0 ||
		n != len(odd) {
		t.Errorf("%d payments and %d notifications, want none and %d", p, n, len(odd))
	}
}

func TestPoisonIsParkedAndItsNeighboursGoOn(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 5, 1)}})
	poison := []string{"not json", `{"v":99,"kind":"order"}`, `{"v":1,"kind":"order","order":"x"}`,
		`{"v":1,"kind":"close","order":"o` + strings.Repeat("a", 26) + `"}`}
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

func (w *shopTest) setStopped(item string, stopped bool) {
	w.t.Helper()
	it, err := w.operators().SetStopped(w.t.Context(), item, stopped)
	if err != nil || (it.State == seckill.ItemStopped) != stopped {
		w.t.Fatalf("stopped %t: %+v, %v", stopped, it, err)
	}
}

func TestStopRefusesPurchasesAndResumeTakesThemAgain(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 5, 1)}})
	w.setStopped("5", true)
	if a := w.buy("1001", "5", 1, ""); a.status != 409 || a.text("code") != "stopped" {
		t.Errorf("buy of a stopped item: %v", a)
	}
	w.pass(2 * time.Second) // an instance remembers an item for at most a second
	if a := w.call("", "GET", "/seckill/ing", nil); strings.Contains(a.raw, `"id":"5"`) {
		t.Errorf("a stopped item is listed: %v", a)
	}
	w.setStopped("5", false)
	w.pass(2 * time.Second)
	w.bought("1001", "5")
	w.drained()
}

// TestCancelsAreLimited: one shopper buys and cancels until the shop refuses; that order then expires by itself.
func TestCancelsAreLimited(t *testing.T) {
	t.Parallel()
	const most = 5
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 3, 1)}})
	for n := range most {
		order, _ := w.bought("1001", "5")
		for range 2 { // a repetition does not count as a second one
			if a := w.call(w.token("1001"), "POST", "/order/"+order+"/cancel", nil); a.status != 200 {
				t.Fatalf("cancel %d: %v", n+1, a)
			}
		}
		w.awaitState("1001", "5", seckill.Cancelled)
		w.waitIdle()
	}
	order, _ := w.bought("1001", "5")
	a := w.call(w.token("1001"), "POST", "/order/"+order+"/cancel", nil)
	payBy := w.status("1001", "5").text("pay_by")
	if a.status != 409 || a.text("code") != "cancel_limit" || a.text("order_id") != order || payBy == "" ||
		a.text("pay_by") != payBy {
		t.Errorf("cancel %d: %v, want cancel_limit and pay_by %s", most+1, a, payBy)
	}
	if s := w.awaitState("1001", "5", seckill.PendingPayment); s.text("alipay_order") == "" {
		t.Errorf("the order can be paid: %v", s)
	}
	other, _ := w.bought("1002", "5")
	if a := w.call(w.token("1002"), "POST", "/order/"+other+"/cancel", nil); a.status != 200 {
		t.Errorf("another shopper's first cancel: %v", a)
	}
	w.pass(seckill.DefaultHold + seckill.Grace + time.Second)
	w.awaitState("1001", "5", seckill.Expired)
	w.drained()
}

package local_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
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
	action, form, err := contracttest.CashierForm(page.raw)
	if err != nil {
		return page, err
	}
	return call("", "POST", "/"+action, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
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

// TestSaltOfAnOrder: a run with the secret shows an order's salt to its shopper, once the sale is over.
func TestSaltOfAnOrder(t *testing.T) {
	t.Parallel()
	secret := salts.Derive("private", "shop.example+1a2b3c4d+AbCd")
	w := start(t, local.Options{Salts: secret})
	order, _ := w.bought("1001", local.DemoLive)
	w.pass(25 * time.Hour)
	salt, verifier := secret.Of(order)
	a := w.call(w.token("1001"), "GET", "/order/"+order, nil)
	if got, _ := a.json["report"].(map[string]any); !maps.Equal(got, map[string]any{"salt": salt,
		"verifier": verifier}) {
		t.Errorf("after the end: %v, want %s", a, salt)
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

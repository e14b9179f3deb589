package local_test

import (
	"maps"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
)

// payAtCashier acts like a browser: it opens the cashier with the pay string and submits the page's form.
func (w *shopTest) payAtCashier(pay string) contracttest.Answer {
	w.t.Helper()
	a, err := cashier(w.try, pay)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// cashier opens the cashier's page by a call and sends its form.
func cashier(call func(token, method, path string, body any, headers ...string) (contracttest.Answer, error),
	pay string) (contracttest.Answer, error) {
	page, err := call("", "GET", "/cashier?"+pay, nil)
	if err != nil || page.Status != 200 {
		return page, err
	}
	action, form, err := contracttest.CashierForm(page.Raw)
	if err != nil {
		return page, err
	}
	return call("", "POST", "/"+action, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
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
	if got, _ := a.JSON["report"].(map[string]any); !maps.Equal(got, map[string]any{"salt": salt,
		"verifier": verifier}) {
		t.Errorf("after the end: %v, want %s", a, salt)
	}
}

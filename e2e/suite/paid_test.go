//go:build e2e

package suite

import (
	"strings"
	"testing"

	"seckill/shared/adapter/ledger"
	"seckill/shared/seckill"
)

func testBuyPayPaid(t *testing.T, s *stack) {
	report.timed(t, nil)
	sale := s.sell(t, 3, 2)
	p := sale.shopper(t, newShoppers(1))
	order, pay := p.bought(t, 2, "cart")
	a, err := s.pay(t.Context(), pay)
	if err != nil || a.Status != 200 || !strings.Contains(a.Raw, "支付成功") {
		t.Fatalf("paying: %v, %v", a, err)
	}
	status := p.await(t, seckill.Paid)
	if status.Text("order_id") != order || status.Text("alipay_order") != "" {
		t.Errorf("paid order: %v", status)
	}
	a, err = s.Call(t.Context(), "", "GET", "/cashier?"+pay, nil)
	if err != nil || a.Status != 200 || strings.Contains(a.Raw, "<form") {
		t.Errorf("the cashier takes money twice: %v, %v", a, err)
	}
	sale.converged(t)
	rows := sale.mustRows(t)
	if n := len(rows[ledger.TablePayments]); n != 1 {
		t.Errorf("%d payments, want 1", n)
	}
	if cause := rows[ledger.TablePayments][0]["cause"]; cause != "notify" {
		t.Errorf("the ledger learnt of the payment by %q, want the notice", cause)
	}
}

//go:build e2e

package suite

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
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
		t.Errorf("the ledger recorded the payment by %q, want the notification", cause)
	}
}

// An operator refunds a paid order with restock: the next sweep refunds its money, and its unit is sold again. Other
// cases may refund at the same time, so this one looks only at its own order.
func testRefund(t *testing.T, s *stack) {
	report.timed(t, nil)
	sale := s.sell(t, 1, 1)
	p := sale.shopper(t, newShoppers(1))
	order, pay := p.bought(t, 1, "cart")
	if a, err := s.pay(t.Context(), pay); err != nil || a.Status != 200 {
		t.Fatalf("paying: %v, %v", a, err)
	}
	p.await(t, seckill.Paid)
	done, err := operator.Give[operator.MoneyChange](t.Context(), &s.operator,
		&operator.Refund{Order: order, Why: "tried by the suite", Restock: true})
	if err != nil || !done.Changed || done.Due != sale.item.Price {
		t.Fatalf("refund: %+v, %v", done, err)
	}
	if done, err := operator.Give[operator.MoneyChange](t.Context(), &s.operator,
		&operator.Refund{Order: order, Why: "tried by the suite", Restock: true}); err != nil || done.Changed {
		t.Errorf("the same again: %+v, %v", done, err)
	}
	if _, err := operator.Give[operator.OpenMoney](t.Context(), &s.operator, &operator.ListMoney{}); err != nil {
		t.Errorf("open: %v", err)
	}
	s.minute(t, "RefundFunction")
	p.await(t, seckill.Refunded)
	eventually(t, "unit back on sale", func() string {
		if left := sale.left(t); left != "1" {
			return left + " units left"
		}
		return ""
	})
	c, err := operator.Give[operator.MoneyCase](t.Context(), &s.operator, &operator.ReadCase{Order: order})
	if err != nil || len(c.Payments) != 1 || c.Payments[0].State != seckill.RefundDone || len(c.Notifications) == 0 ||
		c.Notifications[0].Outcome != seckill.NotificationRecorded {
		t.Errorf("case: %+v, %v", c, err)
	}
	sale.converged(t)
}

// The schedule's event compares the bills of the last days, which have no lines on a new stack; an operator repeats
// one, and both results are kept.
func testBill(t *testing.T, s *stack) {
	report.timed(t, nil)
	s.minute(t, "ReconcileFunction")
	day := seckill.Day(time.Now().Add(-34 * time.Hour)) // the schedule handles a day 10 hours after its end
	before, err := operator.Give[operator.Reconciled](t.Context(), &s.operator, &operator.ListReconciled{Day: day})
	if err != nil || len(before.Reconciliations) == 0 {
		t.Fatalf("by the schedule: %+v, %v", before, err)
	}
	r, err := operator.Give[seckill.Reconciliation](t.Context(), &s.operator, &operator.Reconcile{Day: day})
	if err != nil || r.Day != day {
		t.Fatalf("by an operator: %+v, %v", r, err)
	}
	all, err := operator.Give[operator.Reconciled](t.Context(), &s.operator, &operator.ListReconciled{Day: day})
	if n := len(all.Reconciliations); err != nil || n < 2 || !all.Reconciliations[n-1].At.Equal(r.At) {
		t.Errorf("kept: %+v, %v; want the operator's last", all, err)
	}
}

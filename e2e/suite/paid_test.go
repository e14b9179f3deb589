package suite

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/seckill"
)

func testBuyPayPaid(t *testing.T, s *stack) {
	report.timed(t, nil)
	sale := s.sell(t, 3, 2)
	p := sale.shopper(t, newShoppers(1))
	order, pay := p.paid(t, 2)
	if status := p.await(t, seckill.Paid); status.Text("order_id") != order || status.Text("alipay_order") != "" {
		t.Errorf("paid order: %v", status)
	}
	a, err := s.Call(t.Context(), "", "GET", "/cashier?"+pay, nil)
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

// Orders are paid by each way to the cashier, which leads back to the shop's page. A paid order has no way any more.
func testWays(t *testing.T, s *stack) {
	report.timed(t, nil)
	sale := s.sell(t, 2, 1)
	for _, kind := range []string{"page", "wap"} {
		p := sale.shopper(t, newShoppers(1))
		order, _ := p.bought(t, 1, "cart")
		way := func() contracttest.Answer {
			a, err := p.Call(t.Context(), p.token, "POST", "/order/"+order+"/payment", map[string]any{"kind": kind})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		a := way()
		u, err := url.Parse(a.Text("url"))
		// The address of a stand-in for AWS is not the one that functions know.
		if a.Status != 200 || err != nil || s.Target == "local" && !strings.HasPrefix(a.Text("url"), s.Base+"/") {
			t.Fatalf("the way by %s: %v, %v", kind, a, err)
		}
		page, err := s.payAt(t.Context(), "/"+path.Base(u.Path)+"?"+u.RawQuery)
		back := goesBack.FindStringSubmatch(page.Raw)
		if err != nil || page.Status != 200 || back == nil || !strings.Contains(back[1], "paid="+order) ||
			!strings.Contains(back[1], "alipay.trade."+kind+".pay.return") {
			t.Errorf("paying by %s: %v, %v", kind, page, err)
		}
		p.await(t, seckill.Paid)
		if a := way(); a.Status != 409 || a.Text("code") != "not_payable" {
			t.Errorf("a paid order: %v", a)
		}
	}
	sale.soldOut(t)
	sale.converged(t)
}

var goesBack = regexp.MustCompile(`id="back" href="([^"]*)"`)

// An operator refunds a paid order with restock: the next sweep refunds its money, and its unit is sold again. Other
// cases may refund at the same time, so this one looks only at its own order.
func testRefund(t *testing.T, s *stack) {
	report.timed(t, nil)
	sale := s.sell(t, 1, 1)
	p := sale.shopper(t, newShoppers(1))
	order, _ := p.paid(t, 1)
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
	sale.awaitLeft(t, "1")
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

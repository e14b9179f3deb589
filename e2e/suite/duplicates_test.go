package suite

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// The same request, the same message and the same notification, several times each: one order, one payment.
func testDuplicates(t *testing.T, s *stack) {
	report.timed(t, nil)
	sale := s.sell(t, 20, 10)
	p := sale.shopper(t, newShoppers(1))

	var wg sync.WaitGroup
	for range s.clients() {
		wg.Go(func() {
			if a, err := p.buy(t.Context(), 2, "cart"); err != nil || a.Status != 200 && !later(a, false) {
				t.Errorf("one of many with a key: %v, %v", a, err)
			}
		})
	}
	wg.Wait()
	order, pay := p.bought(t, 2, "cart")
	if a, err := p.buy(t.Context(), 3, "cart"); err != nil || a.Status != 422 || a.Text("code") != "key_reused" {
		t.Errorf("the key with another body: %v, %v", a, err)
	}
	sale.oneOrder(t, order)

	m := sale.message(t, order)
	for range 3 {
		s.send(t, "OrdersQueueUrl", string(m.Encode()))
	}
	s.drained(t, "OrdersQueueUrl")
	sale.oneOrder(t, order)

	if a, err := s.pay(t.Context(), pay); err != nil || a.Status != 200 {
		t.Fatalf("paying: %v, %v", a, err)
	}
	p.await(t, seckill.Paid)
	notification := s.notification(t, p.order(t, order))
	for range 2 {
		if a := s.notify(t, notification); a.Status != 200 || a.Raw != "success" {
			t.Errorf("the notification again: %v", a)
		}
	}
	if n := len(sale.mustRows(t)[ledger.TablePayments]); n != 1 {
		t.Errorf("%d payments, want 1", n)
	}
	sale.oneOrder(t, order)
	sale.converged(t)
}

// message is the message that had an order placed.
func (s *sale) message(t *testing.T, order string) seckill.Message {
	t.Helper()
	m := seckill.Message{Kind: seckill.MessageOrder}
	for _, row := range s.mustRows(t)[ledger.TableOrders] {
		if row["id"] != order {
			continue
		}
		m.Reservation.Request = seckill.Request{Order: order, Item: s.item.ID, User: row["user"].(string),
			Count: int(row["count"].(int64)), Given: seckill.Given{Address: contracttest.Address},
			Created: time.UnixMilli(row["created"].(int64))}
		for n := range strings.SplitSeq(row["units"].(string), ",") {
			unit, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			m.Reservation.Units = append(m.Reservation.Units, unit)
		}
	}
	if len(m.Reservation.Units) == 0 {
		t.Fatalf("order %s has no row", order)
	}
	return m
}

func (s *sale) oneOrder(t *testing.T, order string) {
	t.Helper()
	r := s.mustRows(t)
	orders, units := r[ledger.TableOrders], len(r[ledger.TableUnits])
	if len(orders) != 1 || orders[0]["id"] != order || orders[0]["count"] != int64(units) {
		t.Errorf("%d orders with %d units, want order %s alone", len(orders), units, order)
	}
}

// notification writes and signs a notification of an order's payment, as the stack's fake gateway does.
func (s *stack) notification(t *testing.T, order contracttest.Answer) url.Values {
	t.Helper()
	payments, _ := order.JSON["payments"].([]any)
	if len(payments) != 1 {
		t.Fatalf("order with %d payments, want one: %v", len(payments), order)
	}
	trade := payments[0].(map[string]any)
	amount, err := seckill.ParseYuan(fmt.Sprint(trade["amount"]))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	form, err := s.gateway(t).NotificationForm("e2e-"+order.Text("id"), fakegateway.Trade{OutTradeNo: order.Text("id"),
		TradeNo: trade["trade_no"].(string), Subject: "e2e", Amount: amount,
		Status: fakegateway.StatusSuccess, Created: now, Paid: now}, now)
	if err != nil {
		t.Fatal(err)
	}
	return form
}

func (s *stack) notify(t *testing.T, form url.Values) contracttest.Answer {
	t.Helper()
	a, err := s.Call(t.Context(), "", "POST", "/seckill/alipay/notify", form.Encode(), "Content-Type",
		"application/x-www-form-urlencoded")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

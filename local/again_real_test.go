//go:build real

package local_test

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

// TestStartedAgainOnTheSameServers checks that what was signed, paid and reserved before a run stopped is valid after
// the next start.
func TestStartedAgainOnTheSameServers(t *testing.T) {
	dynamo := os.Getenv(dynamotest.Variable)
	if dynamo == "" {
		t.Fatal("no servers: run this by e2e/servers/with.sh")
	}
	item := strconv.FormatInt(time.Now().UnixNano(), 10) // the tables survive the test
	opt := local.Options{Addr: ":0", Keys: t.TempDir(), Items: []seckill.Listing{live(item, 10, 1)},
		Servers: local.Servers{Redis: []string{redistest.Start(t).Addr}, DynamoDB: dynamo}}

	w := startKept(t, opt)
	_, unpaid := w.bought("1001", item)
	paid, pay := w.bought("1002", item)
	if a := w.payAtCashier(pay); a.Status != http.StatusOK {
		t.Fatal(a)
	}
	w.awaitState("1002", item, seckill.Paid)
	notification := w.notificationOf(paid)
	w.refund(paid)
	stranded := seckill.Request{Order: seckill.KeyedOrderID(item, "1003", "k"), Item: item, User: "1003", Count: 1,
		Given: seckill.Given{Address: address}, Created: w.Clock.Now()}
	if _, err := w.Stock.Reserve(t.Context(), w.Clock.Now(), stranded, true, seckill.Resend); err != nil {
		t.Fatal(err)
	}
	w.halt()

	began := time.Now()
	w = startKept(t, opt)
	w.awaitState("1003", item, seckill.PendingPayment)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("an order whose message was lost with the queue was placed after %v", took)
	}
	if a := w.payAtCashier(unpaid); a.Status != http.StatusOK {
		t.Errorf("a pay string from before: %d", a.Status)
	} else {
		w.awaitState("1001", item, seckill.Paid)
	}
	if a := w.call("", "POST", "/seckill/alipay/notify", notification, "Content-Type",
		"application/x-www-form-urlencoded"); a.Raw != "success" {
		t.Errorf("a genuine notification from before: %v", a)
	}
	w.Clock.Advance(time.Minute)
	w.awaitState("1002", item, seckill.Refunded)
	if a := w.call("", "GET", "/trades?out_trade_no="+paid, nil); strings.Count(a.Raw, `"status":"TRADE_CLOSED"`) != 1 {
		t.Errorf("the trade from before: %v", a)
	}
}

// notificationOf returns a genuine notification of an order's payment, as the gateway sends it.
func (w *shopTest) notificationOf(order string) string {
	w.t.Helper()
	payments, err := w.Ledger.Payments(w.t.Context(), order)
	if err != nil || len(payments) != 1 {
		w.t.Fatalf("payments %v, %v", payments, err)
	}
	form, err := w.Gateway.NotificationForm("again", fakegateway.Trade{OutTradeNo: order, TradeNo: payments[0].TradeNo,
		Subject: "x",
		Amount:  payments[0].Amount, Status: fakegateway.StatusSuccess, Created: w.Clock.Now(), Paid: w.Clock.Now()},
		w.Clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return form.Encode()
}

// refund requests a payment's refund; the schedule makes it within a minute.
func (w *shopTest) refund(order string) {
	w.t.Helper()
	if _, err := gives[operator.MoneyChange](w, &operator.Refund{Order: order, Why: "broken"}); err != nil {
		w.t.Fatal(err)
	}
}

package functions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// paidTrade places an order whose trade is paid at the gateway but not recorded in the ledger.
func paidTrade(t *testing.T, w *deployment) (*ledger.Ledger, seckill.Order, seckill.Notification) {
	t.Helper()
	o := drivertest.Order("2002", "1001", time.Now(), 1)
	client := shopOf(t, "http://shop.example/notify", nil)
	payString := must.Get(client.Prepare(o))
	n := must.Get(client.Verify(pay(t, w.gateway, payString)))
	l := ledger.New(w.rows)
	must.OK(t, l.Place(t.Context(), o, 1))
	return l, o, n
}

// TestRefundFunction checks that due refunds are made in full and once, however often the function runs, and that
// those which the provider refuses or does not answer are counted and stay due.
func TestRefundFunction(t *testing.T) {
	w := newDeployment(t)
	l, o, n := paidTrade(t, w)
	late := drivertest.Payment(o, n.TradeNo)
	late.State, late.Due = seckill.RefundDue, time.Now()
	must.OK(t, l.RecordPayment(t.Context(), late, seckill.Expired, seckill.RefundOwed))
	sweep := func(plan string, back seckill.Fen, metric, failure string) {
		t.Helper()
		faults := must.Get(fakegateway.ParseFaults(plan))
		must.OK(t, w.gateway.SetFaults(faults))
		f := w.start(t, "refund")
		_, err := f.Invoke(recorded(t, "schedule.json"))
		if failure == "" && err != nil || failure != "" && (err == nil || !strings.Contains(err.Error(), failure)) {
			t.Errorf("%q: %v, want an error with %q", plan, err, failure)
		}
		if !f.Says(metric) {
			t.Errorf("%q: no metric %s:\n%s", plan, metric, f.Output())
		}
		if trades := w.gateway.Trades(); len(trades) != 1 || trades[0].Refunded() != back {
			t.Errorf("%q: %+v, want %s yuan back of one trade", plan, trades, back.Yuan())
		}
	}
	sweep("balance-short=1", 0, `"refunds_refused":1`, "")
	sweep("call-5xx=1", 0, `"unknown_payments":1`, "refund of order "+o.ID)
	for range 2 {
		sweep("", n.Amount, `"refunds_made":1`, "")
	}
}

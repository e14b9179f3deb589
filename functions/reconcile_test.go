package functions_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestReconcileFunction checks that the schedule compares the last days' bills, each once, and counts differences;
// that a run fails while the provider fails, and the next one makes up for it; that an operator can repeat a day and
// list results; and that the log names the operator.
func TestReconcileFunction(t *testing.T) {
	w := newDeployment(t)
	day := seckill.Day(time.Now().Add(-10*time.Hour).AddDate(0, 0, -1)) // the newest day whose bill exists
	noon, err := time.ParseInLocation(time.DateTime, day+" 12:00:00", seckill.Zone)
	must.OK(t, err)
	clock := memory.NewClock(noon)
	w.gateway, err = fakegateway.New(fakegateway.Options{Clock: clock, AppID: appID, SellerID: sellerID,
		MerchantPublicKey: keys()[0].Public, PrivateKey: keys()[1].Private})
	must.OK(t, err)
	server := httptest.NewServer(w.gateway)
	t.Cleanup(server.Close)
	client, l := shopOf(t, "http://shop.example/notify", nil), ledger.New(w.rows)
	bought := func(unit int) seckill.Payment {
		o := drivertest.Order("2002", "1001", noon, unit)
		payString, err := client.Prepare(o)
		must.OK(t, err)
		n, err := client.Verify(pay(t, w.gateway, payString))
		must.OK(t, err)
		must.OK(t, l.Place(t.Context(), o, 2))
		return drivertest.Payment(o, n.TradeNo)
	}
	known, forgotten := bought(1), bought(2)
	must.OK(t, l.RecordPayment(t.Context(), known, seckill.PendingPayment, seckill.Paid))
	clock.Advance(time.Since(noon))
	f := w.start(t, "reconcile", "ALIPAY_GATEWAY", server.URL+"/gateway.do", "LOG_LEVEL", "error")
	operators := staff(f)
	kept := func() []seckill.Reconciliation {
		t.Helper()
		return must.Get(operator.Give[operator.Reconciled](t.Context(), &operators,
			&operator.ListReconciled{Day: day})).Reconciliations
	}
	plan := func(shares map[fakegateway.Fault]float64) {
		t.Helper()
		must.OK(t, w.gateway.SetFaults(fakegateway.Faults{Shares: shares}))
	}

	plan(map[fakegateway.Fault]float64{fakegateway.Call5xx: 1})
	if _, err := f.Invoke(recorded(t, "schedule.json")); err == nil || !strings.Contains(err.Error(), "bill of "+day) ||
		len(kept()) != 0 {
		t.Errorf("while the provider fails: %v, %d kept; want an error about %s", err, len(kept()), day)
	}
	plan(nil)
	for range 2 {
		run(t, f, recorded(t, "schedule.json"), "null")
	}
	want := seckill.Reconciliation{Day: day, Payments: 2, Captured: 2 * known.Amount, Count: 1,
		Differences: []seckill.Difference{{Kind: seckill.PaymentNotHere, Order: forgotten.Order,
			TradeNo: forgotten.TradeNo, There: forgotten.Amount}}}
	when := cmpopts.IgnoreFields(seckill.Reconciliation{}, "At")
	if diff := cmp.Diff([]seckill.Reconciliation{want}, kept(), when); diff != "" {
		t.Errorf("kept by the schedule: want (-), got (+):\n%s", diff)
	}
	if !f.Says(`"bill_differences":1`) {
		t.Errorf("no metric of the difference:\n%s", f.Output())
	}

	if got, err := operator.Give[seckill.Reconciliation](t.Context(), &operators,
		&operator.Reconcile{Day: day}); err != nil || cmp.Diff(want, got, when) != "" || len(kept()) != 2 {
		t.Errorf("matched by an operator: %+v, %v, %d kept", got, err, len(kept()))
	}
	for _, want := range []string{`"command":"reconciled","day":"` + day + `","result":"read"`,
		`"level":"INFO","msg":"operator","who":"` + operators.Who + `","command":"reconcile","day":"` + day +
			`","differences":1,"result":"changed"`} {
		if !f.Says(want) {
			t.Errorf("the function's log has no %s:\n%s", want, f.Output())
		}
	}
	if log := f.Output(); strings.Contains(log, "西湖") {
		t.Errorf("the log has an address:\n%s", log)
	}
}

package local_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// landed returns how often a fault happened by the gateway's own count, as a tester sees it.
func (w *shopTest) landed(f fakegateway.Fault) int {
	w.t.Helper()
	var report fakegateway.FaultReport
	if err := json.Unmarshal([]byte(w.call("", "GET", "/faults", nil).raw), &report); err != nil {
		w.t.Fatal(err)
	}
	return report.Landed[f]
}

func TestFalseNotificationsOfTheGatewayAreNotTaken(t *testing.T) {
	t.Parallel()
	lies := []fakegateway.Fault{fakegateway.NotificationForged, fakegateway.NotificationWrongAmount,
		fakegateway.NotificationOtherApp}
	plan := fakegateway.Faults{Shares: map[fakegateway.Fault]float64{fakegateway.NotificationDuplicated: 1}}
	for _, f := range lies {
		plan.Shares[f] = 1
	}
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 2, 1)}, GatewayFaults: plan})
	order, pay := w.bought("1001", "5")
	w.payAtCashier(pay)
	w.awaitState("1001", "5", seckill.Paid)
	if _, err := w.operators().Refund(t.Context(), order, "broken", false); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Minute)
	w.awaitState("1001", "5", seckill.Refunded)
	w.drained()
	for _, f := range append(lies, fakegateway.NotificationDuplicated) {
		if n := w.landed(f); n != 2 {
			t.Errorf("%s landed %d times, want twice: the payment's notification, and the refund's", f, n)
		}
	}
	if taken := w.Gateway.Faults().Taken; len(taken) != 0 {
		t.Errorf("the shop said success to %v", taken)
	}
	if a := w.call("", "GET", "/trades", nil); a.status != 200 || strings.Count(a.raw, `"status":"TRADE_CLOSED"`) != 1 {
		t.Errorf("trades: %v", a)
	}
}

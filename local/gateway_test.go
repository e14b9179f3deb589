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

// TestAnOrderIsClosedOnceTheGatewayAnswers checks that while connections are cut nothing is decided, and that the
// order closes afterwards.
func TestAnOrderIsClosedOnceTheGatewayAnswers(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Hold: 30 * time.Second, Items: []seckill.Listing{live("5", 1, 1)}})
	_, pay := w.bought("1001", "5")
	if a := w.call("", "GET", "/cashier?"+pay, nil); a.status != 200 {
		t.Fatal(a)
	}
	if a := w.call("", "PUT", "/faults", `{"shares":{"call-cut":1}}`); a.status != 200 {
		t.Fatal(a)
	}
	w.pass(30*time.Second + seckill.Grace + time.Second)
	w.eventually("cut connection", func() bool {
		return w.landed(fakegateway.CallCut) > 0
	}, func() any { return w.status("1001", "5") })
	if s := w.status("1001", "5"); s.text("state") != string(seckill.Closing) {
		t.Errorf("while connections are cut: %v", s)
	}
	if a := w.call("", "PUT", "/faults", `{"shares":{"none":1}}`); a.status != 400 ||
		!strings.Contains(a.raw, "known: notification-lost") {
		t.Errorf("an unknown fault: %v", a)
	}
	if a := w.call("", "PUT", "/faults", `{}`); a.status != 200 {
		t.Fatal(a)
	}
	for range 3 { // the sweep comes each minute
		w.pass(time.Minute)
	}
	w.awaitState("1001", "5", seckill.Expired)
	w.drained()
}

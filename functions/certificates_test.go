package functions_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/alipaytest"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// TestACertificateOfAlipaysThatEnded checks that it keeps no function from starting. shop works as always; functions
// that must verify Alipay's signature report why they cannot, notify with a 503, so that Alipay repeats.
func TestACertificateOfAlipaysThatEnded(t *testing.T) {
	w := newDeployment(t)
	must.OK(t, w.items.Put(t.Context(), live("2002", 3), nil))
	certified := w.certificates(t)
	now := time.Now()
	ended := alipaytest.Make(t, keys()[0], keys()[1], now.AddDate(0, -2, 0), now.Add(-50*time.Hour))
	w.aws.SetSecret("ended", ended.Alipay)
	certified = append(certified, "ALIPAY_CERT_NAME", "ended")

	shop := w.start(t, "shop", certified...)
	if r := ask(t, shop, call(t, "GET", "/seckill/detail/2002", "", "1001")); r.Status != 200 {
		t.Errorf("an item's page: %+v\n%s", r, shop.Output())
	}
	notify := w.start(t, "notify", certified...)
	r := ask(t, notify, call(t, "POST", notifyPath, "out_trade_no=o&sign=x&sign_type=RSA2", ""))
	if r.Status != 503 || r.text("code") != "unavailable" || !notify.Says("Alipay's certificate: it ended on") ||
		strings.Contains(notify.End(), "notifications_refused") {
		t.Errorf("notify: %+v\n%s", r, notify.Output())
	}
	for _, step := range []string{"expire", "refund"} {
		// nothing is due, so nothing fails
		run(t, w.start(t, step, certified...), recorded(t, "schedule.json"), "null")
	}
	reconcile := w.start(t, "reconcile", certified...)
	if _, err := reconcile.Invoke(recorded(t, "schedule.json")); err == nil ||
		!strings.Contains(err.Error(), "it ended on") {
		t.Errorf("reconcile: %v", err)
	}
	if !reconcile.Says(`"alipay_cert_days_left":-3`) || !reconcile.Says(`"msg":"a certificate ends"`) {
		t.Errorf("reconcile says nothing of the days left:\n%s", reconcile.Output())
	}

	fresh := alipaytest.Make(t, keys()[0], keys()[1], now.AddDate(0, -1, 0), now.Add(40*24*time.Hour+time.Hour))
	for param, file := range map[string]string{"ALIPAY_APP_CERT_NAME": fresh.App, "ALIPAY_CERT_NAME": fresh.Alipay} {
		w.aws.SetSecret("fresh/"+param, file)
		certified = append(slices.Clone(certified), param, "fresh/"+param)
	}
	good := w.start(t, "reconcile", certified...)
	_, _ = good.Invoke(recorded(t, "schedule.json"))
	if !good.Says(`"alipay_cert_days_left":40`) || strings.Contains(good.End(), `"msg":"a certificate ends"`) {
		t.Errorf("40 days before the end:\n%s", good.Output())
	}
}

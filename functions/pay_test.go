package functions_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestPay gets every way to the cashier for an open order, goes there, and pays.
func TestPay(t *testing.T) {
	w := newDeployment(t)
	now := time.Now().UTC().Truncate(time.Second)
	o := drivertest.Order("2002", "1001", now, 1)
	closed := o
	closed.ID, closed.State, closed.Units = seckill.KeyedOrderID("2002", "1001", "k2"), seckill.Rejected, nil
	closed.Reason, closed.Address, closed.PayBy = seckill.CodeSoldOut, "", time.Time{}
	rows := ledger.New(w.rows)
	must.OK(t, errors.Join(rows.Place(t.Context(), o, 1), rows.Reject(t.Context(), closed)))
	path := "/order/" + o.ID + "/payment"
	f, certified := w.start(t, "pay"), w.start(t, "pay", w.certificates(t)...)
	for kind, method := range map[string]string{"page": "alipay.trade.page.pay", "wap": "alipay.trade.wap.pay"} {
		for mode, f := range map[string]*lambdatest.Function{"key": f, "certificate": certified} {
			r := ask(t, f, call(t, "POST", path, `{"kind":"`+kind+`"}`, "1001"))
			u, err := url.Parse(r.text("url"))
			if r.Status != 200 || err != nil || r.text("kind") != kind || r.Headers["Cache-Control"] != "no-store" ||
				r.Headers["Access-Control-Allow-Origin"] != storefront {
				t.Fatalf("%s, %s: %+v", kind, mode, r)
			}
			q := u.Query()
			if q.Get("method") != method || q.Get("return_url") != page+"/?paid="+o.ID ||
				q.Get("notify_url") != w.environ["ALIPAY_NOTIFY_URL"] ||
				q.Has("app_cert_sn") != (mode == "certificate") ||
				strings.Contains(q.Get("biz_content"), page+"/?order="+o.ID) != (kind == "wap") {
				t.Errorf("%s, %s: %v", kind, mode, q)
			}
			cashier := must.Get(http.Get(u.String()))
			cashier.Body.Close()
			if cashier.StatusCode != http.StatusOK {
				t.Errorf("%s, %s: the cashier answers %d", kind, mode, cashier.StatusCode)
			}
		}
	}
	for name, c := range map[string]struct {
		path, user, body string
		status           int
		code             string
	}{
		"another's":  {path, "1002", `{"kind":"page"}`, 404, "order_unknown"},
		"no token":   {path, "", `{"kind":"page"}`, 403, "invalid_token"},
		"no kind":    {path, "1001", `{}`, 422, "invalid_request"},
		"unknown":    {"/order/oabcdefghijklmnopqrstuvwxyz/payment", "1001", `{"kind":"page"}`, 404, "order_unknown"},
		"closed":     {"/order/" + closed.ID + "/payment", "1001", `{"kind":"wap"}`, 409, "not_payable"},
		"no route":   {"/order/list", "1001", `{"kind":"page"}`, 404, "not_found"},
		"large body": {path, "1001", strings.Repeat(" ", 2000), 422, "body_too_large"},
	} {
		if r := ask(t, f, call(t, "POST", c.path, c.body, c.user)); r.Status != c.status || r.text("code") != c.code {
			t.Errorf("%s: %+v, want %d %s", name, r, c.status, c.code)
		}
	}
	pay(t, w.gateway, ask(t, f, call(t, "POST", path, `{"kind":"app"}`, "1001")).text("order_string"))
	must.Equal(t, 1, len(w.gateway.Trades()), "three ways opened", "trades")
	if !f.Says(`"cashiers_offered":1`) || strings.Contains(f.Output(), "sign=") {
		t.Errorf("want a metric, and no signed address:\n%s", f.Output())
	}
}

package audit_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const otherVariant = "7008"

// playFamily sells two variants of a limit of 2 that spans both: user 101 buys two of the item, 102 one of each, 103
// two of the other and, in vain, one of the item, 104 two of the other, cancelled, and then two of the item.
func playFamily(t *testing.T) *testSale {
	t.Helper()
	var items []seckill.Listing
	for _, v := range [][2]string{{item, "黑"}, {otherVariant, "白"}} {
		it := local.DemoItems(time.Now(), stock, limit)[1]
		it.ID = v[0]
		it.Variant = seckill.Variant{Family: "70", LimitSpans: true,
			Options: seckill.Options{{Name: "颜色", Value: v[1]}}}
		items = append(items, it)
	}
	sys, err := local.New(local.Options{Addr: ":0", Items: items})
	must.OK(t, err)
	must.OK(t, sys.Start(t.Context()))
	defer func() {
		if err := sys.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := &crowd{System: sys, client: contracttest.Client{URL: sys.URL(), HTTP: &http.Client{Transport: transport,
		Timeout: patience}}}
	buy := func(user, item string, count int) (token, order string) {
		t.Helper()
		token, err := c.Token(user, time.Hour)
		must.OK(t, err)
		a, err := c.client.Call(t.Context(), token, http.MethodPost, "/seckill/buy", map[string]any{
			"seckill_id": item, "count": count, "address": address})
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("%v, %v", a, err)
		}
		must.OK(t, c.WaitIdle(t.Context()))
		return token, a.Text("order_id")
	}
	buy("101", item, 2)
	buy("102", item, 1)
	buy("102", otherVariant, 1)
	buy("103", otherVariant, 2)
	again, err := c.Token("103", time.Hour)
	must.OK(t, err)
	if a, err := c.client.Call(t.Context(), again, http.MethodPost, "/seckill/buy", map[string]any{
		"seckill_id": item, "count": 1, "address": address}); err != nil || a.Text("code") != "limit_reached" {
		t.Errorf("one more of another variant: %v, %v", a, err)
	}
	token, order := buy("104", otherVariant, 2)
	if a, err := c.client.Call(t.Context(), token, http.MethodPost, "/order/"+order+"/cancel", nil); err != nil ||
		a.Status != http.StatusOK {
		t.Fatalf("cancel: %v, %v", a, err)
	}
	must.OK(t, c.WaitIdle(t.Context()))
	buy("104", item, 2)
	w, err := c.look(t.Context(), nil)
	must.OK(t, err)
	return w
}

// TestALimitThatSpans: an audit of one variant counts the units of all, and finds each way in which the family's quota
// is not what the orders say.
func TestALimitThatSpans(t *testing.T) {
	t.Parallel()
	sale := playFamily(t)
	r := sale.audit(t)
	if r.Broken() || !strings.Contains(strings.Join(r.Of("I2").Notes, " "), "spans family 70: 4 users") {
		t.Fatalf("a good sale:\n%s", show(t, r))
	}
	family := func(w *testSale, user string) ledger.Row {
		return w.row(ledger.TableQuotas, 0, func(r ledger.Row) bool {
			return r["user"] == user && r["item"] == "family#70"
		})
	}
	of := func(w *testSale, user, item string) ledger.Row {
		return w.row(ledger.TableOrders, 0, func(r ledger.Row) bool {
			return r["user"] == user && r["item"] == item && r["units"] != nil
		})
	}
	for name, change := range map[string]func(w *testSale){
		"quotas 101/family#70": func(w *testSale) { family(w, "101")["units"] = int64(1) },
		"quotas 103/family#70": func(w *testSale) { delete(family(w, "103"), "orders") },
		"quotas 104/family#70": func(w *testSale) { family(w, "104")["user"] = "105" },
		"quotas 102/family#70": func(w *testSale) { of(w, "102", otherVariant)["units"] = "7,8" },
		"counts over family":   func(w *testSale) { delete(of(w, "101", item), "span") },
		"but the limit is 2": func(w *testSale) {
			o := copyRow(of(w, "103", otherVariant))
			o["id"] = seckill.KeyedOrderID(otherVariant, "103", "again")
			w.add(ledger.TableOrders, o)
			q := family(w, "103")
			q["units"] = int64(4)
			q["orders"] = append(q["orders"].(ledger.Set), text(o, "id")+":2")
		},
	} {
		w := sale.clone()
		change(w)
		r := w.audit(t)
		if !strings.Contains(show(t, r), name) || r.Of("I2").Verdict != audit.Broken {
			t.Errorf("want I2 broken with %q:\n%s", name, show(t, r))
		}
	}
}

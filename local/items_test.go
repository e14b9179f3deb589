package local_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAnOrderKeepsWhatWasBought: an item that gets another title, picture and prices is what it was in the orders that
// have it; an order of an older release shows the item as it is.
func TestAnOrderKeepsWhatWasBought(t *testing.T) {
	t.Parallel()
	sold := live("11", 3, 1)
	sold.Variant = seckill.Variant{Family: "7", Options: seckill.Options{{Name: "颜色", Value: "黑"}}}
	w := start(t, local.Options{Items: []seckill.Listing{sold}})
	ctx := t.Context()
	kept, _ := w.bought("1001", "11")
	old, _ := w.bought("1002", "11")
	it, err := w.Items.Get(ctx, "11")
	must.OK(t, err)
	options := seckill.Options{{Name: "颜色", Value: "黑"}}
	if o, err := w.Ledger.Order(ctx, kept); err != nil || !slices.Equal(o.Options, options) {
		t.Errorf("the ledger keeps %v, %v", o.Options, err)
	}
	was := fmt.Sprintf(`"title":%q,"price":%s,"covers":[%q]`, it.Commodity.Title, it.Commodity.Price.Yuan(), it.Cover)
	price := `"sk_price":` + it.Price.Yuan()
	it.Version, it.Price, it.Commodity.Title, it.Commodity.Price = it.Version+1, 1_00, "钟", 2_00
	it.Variant.Options = seckill.Options{{Name: "颜色", Value: "白"}}
	must.OK(t, w.Items.Put(ctx, it, &seckill.Description{Covers: []string{"/b.svg", "/c.svg"}}))
	is := `"title":"钟","price":2.00,"covers":["/b.svg","/c.svg"]`
	err = w.Rows.Transact(ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableOrders, PK: old},
		Op: ledger.OpUpdate, Remove: []string{"item_version", "list_price", "cover", "options"}}})
	must.OK(t, err)
	w.pass(time.Minute) // stage publishes the list again
	w.eventually("the page has the change", func() bool {
		return strings.Contains(w.call("", "GET", "/seckill/detail/11", nil).Raw, is)
	}, func() any { return w.call("", "GET", "/seckill/detail/11", nil) })
	for _, path := range []string{"/order/" + kept, "/order/list?page=1&size=10"} {
		if a := w.call(w.token("1001"), "GET", path, nil); !strings.Contains(a.Raw, was) ||
			!strings.Contains(a.Raw, price) || !strings.Contains(a.Raw, `"value":"黑"`) ||
			!strings.Contains(a.Raw, `"as_sold":true`) {
			t.Errorf("%s: %v\nwant %s, %s", path, a, was, price)
		}
	}
	if a := w.call(w.token("1002"), "GET", "/order/"+old, nil); !strings.Contains(a.Raw, is) ||
		strings.Contains(a.Raw, "as_sold") {
		t.Errorf("an older order: %v\nwant %s", a, is)
	}
	o, err := gives[operator.Order](w, &operator.ReadOrder{Order: kept})
	if err != nil || o.Title == "钟" || o.Price == 1_00 || o.List == 2_00 || o.Cover != "/pictures/headphones.svg" ||
		o.Options != "颜色=黑" || o.Version != 1 {
		t.Errorf("staff see %+v, %v", o, err)
	}
}

// TestOnlyOperatorsEventsAreCarriedOut checks that the route refuses other events by status and code, and an event
// with an invalid argument by a problem document in its answer.
func TestOnlyOperatorsEventsAreCarriedOut(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("11", 3, 1)}})
	for _, tt := range []struct {
		behaviour, body string
		status          int
		want            string
	}{
		{"empty", "", 422, `"field":"operator"`},
		{"a message", `{"Records":[]}`, 422, `"field":"operator"`},
		{"too large", strings.Repeat(" ", operator.MaxEvent+1), 422, `"code":"body_too_large"`},
		{"no such command", `{"operator":{"command":"pay","who":"ann"}}`, 200, `"field":"command"`},
		{"stock 0", `{"operator":{"command":"add-stock","who":"ann","item":"11","stock":0}}`, 200, `"field":"stock"`},
		{"bad lines", `{"operator":{"command":"import","who":"ann","items":[{"id":"22"},{"id":"x"}]}}`, 200,
			"items.json: element 1 (line 1): title is missing"},
		{"an unknown item", `{"operator":{"command":"stop","who":"ann","item":"999"}}`, 200, `"code":"item_unknown"`},
	} {
		a := w.call("", "POST", "/_local/operator", tt.body)
		problem := strings.HasPrefix(a.Header.Get("Content-Type"), "application/problem+json")
		if a.Status != tt.status || !strings.Contains(a.Raw, tt.want) || problem != (tt.status != http.StatusOK) ||
			!problem && a.JSON["problem"] == nil {
			t.Errorf("%s: %v\nwant %d with %s", tt.behaviour, a, tt.status, tt.want)
		}
	}
	if a := w.call("", "GET", "/seckill/detail/22", nil); a.Status != 404 {
		t.Errorf("an item of a refused file: %v", a)
	}
}

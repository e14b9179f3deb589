package httpapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

func view() shop.View {
	day := time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)
	return shop.View{Left: 9, Item: seckill.Item{
		ID: itemID, Price: 8880, Start: day, End: day.Add(48 * time.Hour), CreateTime: day.Add(-time.Hour), Stock: 10,
		Limit: 1, Buckets: 16,
		Commodity: seckill.Commodity{ID: "7", Title: "茶 & 壶", Price: 10000,
			CreateTime: time.Date(2026, 1, 2, 11, 4, 5, 0, time.FixedZone("", 8*3600))},
	}, Description: seckill.Description{Covers: []string{"https://example.com/a.jpg?x=1&y=2"},
		Detail: `<p class="a">好茶 &amp; 壶</p>`}}
}

const viewJSON = `{"id":"9007199254740993123","sk_price":88.80,"start_time":"2026-11-10T00:00:00Z","end_time":"2026-11-12T00:00:00Z",` +
	`"create_time":"2026-11-09T23:00:00Z","max_sk_count":10,"sk_per_max_count":1,"stock":9,"state":"online",` +
	`"commodity":{"id":"7","title":"茶 & 壶","price":100.00,"covers":["https://example.com/a.jpg?x=1&y=2"],` +
	`"detail":"<p class=\"a\">好茶 &amp; 壶</p>","create_time":"2026-01-02T03:04:05Z"}}`

const payString = "app_id=1&method=alipay.trade.app.pay&sign=a%2Bb"

func orderView() shop.OrderView {
	return shop.OrderView{Item: view(), PayString: payString, Order: seckill.Order{
		ID: orderID, Item: itemID, User: alice, Count: 2, Units: []int{3, 4}, Price: 8880, Amount: 17760,
		Given: seckill.Given{Address: address},
		State: seckill.PendingPayment, Created: now, Placed: now.Add(time.Second), PayBy: now.Add(time.Minute),
		History: []seckill.Change{{State: seckill.PendingPayment, At: now.Add(time.Second), Cause: "not for shoppers"}},
	}}
}

const orderHead = `{"id":"oabcdefghijklmnopqrstuvwxyz","create_time":"2026-11-11T00:00:01Z","status":1,"state":"pending_payment","count":2,` +
	`"amount":177.60,"address":"北京市海淀区中关村大街1号 \"三层\"","seckill_id":"9007199254740993123","seckill":` + viewJSON +
	`,"alipay_order":"app_id=1&method=alipay.trade.app.pay&sign=a%2Bb","pay_by":"2026-11-11T00:01:00Z",` +
	`"history":[{"state":"pending_payment","at":"2026-11-11T00:00:01Z"}]`

func TestAnswersAreTheContracts(t *testing.T) {
	queued := orderView()
	queued.PayString = ""
	queued.Order.State, queued.Order.Placed, queued.Order.PayBy, queued.Order.History = seckill.Queued, time.Time{},
		time.Time{}, nil
	rejected := queued
	rejected.Order.State, rejected.Order.Reason = seckill.Rejected, seckill.CodeSoldOut
	paid := orderView()
	paid.Payments = []seckill.Payment{{TradeNo: "2026", Amount: 17760, State: seckill.Captured, Order: orderID,
		Cause: "notify"}}
	bare := view()
	bare.Description.Covers = nil
	bare.Item.Stopped = true
	grouped := view()
	grouped.Activity = &seckill.ListedActivity{ID: "70", Title: "早场 <b>", Items: []string{itemID}}

	variant := view()
	variant.Item.Variant = seckill.Variant{Family: "70", LimitSpans: true,
		Options: seckill.Options{{Name: "颜色", Value: "黑"}, {Name: "容量", Value: "256 GB"}}}
	apart := variant
	apart.Item.Variant.LimitSpans = false
	const options = `,"variant":{"family":"70",` +
		`"options":[{"name":"颜色","value":"黑"},{"name":"容量","value":"256 GB"}]`

	status := shop.Status{Order: orderID, State: seckill.PendingPayment, PayBy: now, PayString: payString}
	const statusText = `{"alipay_order":"` + payString + `","state":"pending_payment","order_id":"` + orderID +
		`","pay_by":"2026-11-11T00:00:00Z"}`
	const shared = "public, max-age=1, stale-while-revalidate=5, stale-if-error=60"
	cases := []struct {
		name, method, path string
		stubs              stubs
		want, cache        string
	}{
		{"live", "GET", "/seckill/ing", stubs{views: []shop.View{view(), view()}}, `{"seckills":[` + viewJSON + `,` +
			viewJSON + `]}`, shared},
		{"live, none", "GET", "/seckill/ing", stubs{}, `{"seckills":[]}`, shared},
		{"upcoming", "GET", "/seckill/will", stubs{views: []shop.View{view()}}, `{"seckills":[` + viewJSON + `]}`,
			shared},
		{"upcoming, none", "GET", "/seckill/will", stubs{}, `{"seckills":[]}`, shared},
		{"detail", "GET", "/seckill/detail/" + itemID, stubs{views: []shop.View{view()}}, viewJSON,
			shared},
		{"detail, stopped and without covers", "GET", "/seckill/detail/" + itemID, stubs{views: []shop.View{bare}},
			strings.NewReplacer(`"online"`, `"stopped"`, `["https://example.com/a.jpg?x=1&y=2"]`,
				`[]`).Replace(viewJSON), shared},
		{"in an activity", "GET", "/seckill/will", stubs{views: []shop.View{grouped}}, `{"seckills":[` +
			strings.TrimSuffix(viewJSON, "}") + `,"activity":{"id":"70","title":"早场 <b>"}}]}`, shared},
		{"a variant", "GET", "/seckill/detail/" + itemID, stubs{views: []shop.View{apart}},
			strings.TrimSuffix(viewJSON, "}") + options + `}}`, shared},
		{"a variant whose limit spans", "GET", "/seckill/detail/" + itemID, stubs{views: []shop.View{variant}},
			strings.TrimSuffix(viewJSON, "}") + options + `,"limit_spans":true}}`, shared},
		{"no order", "GET", "/seckill/order/" + itemID, stubs{}, `{"alipay_order":"","state":"none"}`, "no-store"},
		{"queued", "GET", "/seckill/order/" + itemID, stubs{status: shop.Status{Order: orderID, State: seckill.Queued,
			RetryAfter: 500 * time.Millisecond}},
			`{"alipay_order":"","state":"queued","order_id":"` + orderID + `","retry_after_ms":500}`, "no-store"},
		{"payable", "GET", "/seckill/order/" + itemID, stubs{status: status}, statusText, "no-store"},
		{"rejected", "GET", "/seckill/order/" + itemID,
			stubs{status: shop.Status{Order: orderID, State: seckill.Rejected, Reason: seckill.CodeSoldOut}},
			`{"alipay_order":"","state":"rejected","order_id":"` + orderID + `","reason":"sold_out"}`, "no-store"},
		{"cancel", "POST", "/order/" + orderID + "/cancel", stubs{status: status}, statusText, "no-store"},
		{"orders", "GET", "/order/list", stubs{orders: []shop.OrderView{orderView()}}, `{"orders":[` + orderHead +
			`}]}`, "no-store"},
		{"orders, none", "GET", "/order/list", stubs{}, `{"orders":[]}`, "no-store"},
		{"order, not paid", "GET", "/order/" + orderID, stubs{orders: []shop.OrderView{orderView()}}, orderHead +
			`,"payments":[],"money":"还没有收到您的付款。如果您已经付款，请稍候，不要再付。"}`, "no-store"},
		{"order, paid", "GET", "/order/" + orderID, stubs{orders: []shop.OrderView{paid}},
			orderHead + `,"payments":[{"trade_no":"2026","amount":177.60,"state":"captured"}],"money":"已付款 177.60 元。"}`,
			"no-store"},
		{"order, queued", "GET", "/order/" + orderID, stubs{orders: []shop.OrderView{queued}}, strings.NewReplacer(
			`"create_time":"2026-11-11T00:00:01Z","status":1,"state":"pending_payment"`,
			`"create_time":"2026-11-11T00:00:00Z","status":7,"state":"queued"`,
			payString, "", `"pay_by":"2026-11-11T00:01:00Z",`, "",
			`{"state":"pending_payment","at":"2026-11-11T00:00:01Z"}`, "",
		).Replace(orderHead) + `,"payments":[],"money":"没有扣款。"}`, "no-store"},
		{"order, rejected", "GET", "/order/" + orderID, stubs{orders: []shop.OrderView{rejected}}, strings.NewReplacer(
			`"create_time":"2026-11-11T00:00:01Z","status":1,"state":"pending_payment"`,
			`"create_time":"2026-11-11T00:00:00Z","status":10,"state":"rejected"`,
			payString, "", `"pay_by":"2026-11-11T00:01:00Z",`, `"reason":"sold_out",`,
			`{"state":"pending_payment","at":"2026-11-11T00:00:01Z"}`, "",
		).Replace(orderHead) + `,"payments":[],"money":"没有扣款。"}`, "no-store"},
		{"stock", "GET", "/seckill/status/1", stubs{views: []shop.View{{Item: view().Item, Left: 3}}},
			`{"left":3,"sold_out":false,"state":"online","now":"2026-11-11T00:00:00Z"}`, shared},
		{"stock, sold out, not certain", "GET", "/seckill/status/1", stubs{views: []shop.View{{Item: view().Item,
			AsOf: time.Date(2026, 11, 10, 23, 59, 58, 0, time.UTC)}}},
			`{"left":0,"sold_out":true,"state":"online","now":"2026-11-11T00:00:00Z","as_of":"2026-11-10T23:59:58Z"}`,
			shared},
		{"time", "GET", "/seckill/time", stubs{}, `{"now":"2026-11-11T00:00:00Z","now_ms":1794355200500}`, "no-store"},
		{"healthz", "GET", "/healthz", stubs{}, `{"status":"ok","version":"1.2.3"}`, "no-store"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h, s := newStubs()
			*s = c.stubs
			w := do(t, h, c.method, c.path, "")
			if diff := cmp.Diff(c.want, w.Body.String()); w.Code != 200 || diff != "" {
				t.Errorf("%s: status %d (-want +got):\n%s", c.path, w.Code, diff)
			}
			if got := w.Header().Get("Cache-Control"); got != c.cache {
				t.Errorf("Cache-Control = %q, want %q", got, c.cache)
			}
			if got := w.Header().Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type = %q, want application/json", got)
			}
		})
	}
}

type fixedSalts struct{}

func (fixedSalts) Of(order string) (salt, verifier string) {
	return strings.Repeat("0a", 16), "shop.example+1a2b3c4d+" + order[:4]
}

func TestOrderShowsItsSaltOnceTheSaleIsOver(t *testing.T) {
	for end, want := range map[time.Time]string{
		now.Add(time.Second): `"}`,
		now: `","report":{"salt":"` + strings.Repeat("0a",
			16) + `","verifier":"shop.example+1a2b3c4d+oabc"}}`} {
		h, s := newStubsWith(Options{Salts: fixedSalts{}})
		v := orderView()
		v.Item.Item.End = end
		s.orders = []shop.OrderView{v}
		if w := do(t, h, "GET", "/order/"+orderID, ""); w.Code != 200 ||
			!strings.HasSuffix(w.Body.String(), "不要再付。"+want) {
			t.Errorf("%v: %d %s", end, w.Code, w.Body)
		}
		if w := do(t, h, "GET", "/order/list", ""); strings.Contains(w.Body.String(), "report") {
			t.Errorf("the list has it: %s", w.Body)
		}
	}
}

func TestHealthzShowsTheCashier(t *testing.T) {
	h, _ := newStubsWith(Options{Version: "dev", CashierURL: "http://localhost:8100/cashier"})
	w := do(t, h, "GET", "/healthz", "")
	if want := `{"status":"ok","version":"dev","cashier_url":"http://localhost:8100/cashier"}`; w.Body.String() != want {
		t.Errorf("healthz = %s, want %s", w.Body, want)
	}
}

// Every state of the table has its number in the contract.
func TestOrderStatusNumbers(t *testing.T) {
	numbers := map[seckill.State]string{
		seckill.PendingPayment: "1", seckill.Closing: "1", seckill.Paid: "2", seckill.Confirmed: "2",
		seckill.Shipped: "3", seckill.Received: "4",
		seckill.Completed: "4", seckill.RefundOwed: "5", seckill.Refunded: "6", seckill.Queued: "7",
		seckill.Expired: "8", seckill.Cancelled: "9",
		seckill.Rejected: "10",
	}
	for _, info := range seckill.States {
		h, s := newStubs()
		v := orderView()
		v.Order.State = info.State
		s.orders = []shop.OrderView{v}
		got := parse(do(t, h, "GET", "/order/"+orderID, "").Body.Bytes())
		if n := at(got, "status"); n == nil || numbers[info.State] == "" || n != jsonNumber(numbers[info.State]) ||
			at(got, "state") != string(info.State) {
			t.Errorf("%s: status %v, state %v; want %s", info.State, n, at(got, "state"), numbers[info.State])
		}
	}
}

func TestUserAndIDsReachTheFlow(t *testing.T) {
	for _, c := range []struct{ method, path, id string }{
		{"GET", "/seckill/order/" + itemID, itemID},
		{"GET", "/order/" + orderID, orderID},
		{"POST", "/order/" + orderID + "/cancel", orderID},
	} {
		h, s := newStubs()
		s.orders = []shop.OrderView{orderView()}
		do(t, h, c.method, c.path, "")
		if s.user != alice || s.id != c.id {
			t.Errorf("%s %s: the flow got user %q and id %q, want %q and %q", c.method, c.path, s.user, s.id, alice,
				c.id)
		}
	}
}

func TestPages(t *testing.T) {
	good := []struct {
		query      string
		page, size int
	}{
		{"", 1, 10}, {"?page=1&size=10", 1, 10}, {"?page=3", 3, 10}, {"?size=1", 1, 1}, {"?size=100", 1, 100},
		{"?page=10000", 10000, 10}, {"?other=x", 1, 10},
	}
	bad := []struct{ query, field string }{
		{"?page=0", "page"}, {"?page=-1", "page"}, {"?page=01", "page"}, {"?page=%2B1", "page"}, {"?page=+1", "page"},
		{"?page=1.0", "page"},
		{"?page=1e0", "page"}, {"?page=", "page"}, {"?page=x", "page"}, {"?page=10001", "page"},
		{"?page=1&page=2", "page"}, {"?page=１", "page"},
		{"?page=99999999999999999999", "page"}, {"?size=0", "size"}, {"?size=101", "size"}, {"?size=", "size"},
		{"?size=1&size=1", "size"},
		{"?page=1;size=2", "query"}, {"?page=%zz", "query"},
	}
	for _, path := range []string{"/seckill/ing", "/seckill/will", "/order/list"} {
		for _, c := range good {
			h, s := newStubs()
			if w := do(t, h, "GET", path+c.query, ""); w.Code != 200 || s.page != [2]int{c.page, c.size} {
				t.Errorf("%s%s: %d, page and size %v; want 200, %d and %d", path, c.query, w.Code, s.page, c.page,
					c.size)
			}
		}
		for _, c := range bad {
			h, s := newStubs()
			if got := want(t, do(t, h, "GET", path+c.query, ""), seckill.CodeInvalid); got["field"] != c.field ||
				s.calls != 0 {
				t.Errorf("%s%s: field %v, %d calls; want %s, none", path, c.query, got["field"], s.calls, c.field)
			}
		}
	}
}

// TestShoppersSeeWhatTheyGave: an order's answer has each text that its shopper gave, under the name that it has
// everywhere. Only staff see the name that the sign-in gave, and the network address; nobody needs the session.
func TestShoppersSeeWhatTheyGave(t *testing.T) {
	untold := []string{"shopper_name", "network_address", "session"}
	given := reflect.TypeFor[seckill.Given]()
	for i := range given.NumField() {
		name, _, _ := strings.Cut(given.Field(i).Tag.Get("json"), ",")
		if slices.Contains(untold, name) {
			continue
		}
		v := shop.OrderView{}
		reflect.ValueOf(&v.Order.Given).Elem().Field(i).SetString("what was given")
		answer, err := json.Marshal(newOrder(&v, time.Now()))
		if err != nil || !strings.Contains(string(answer), `"`+name+`":"what was given"`) {
			t.Errorf("no %s in %s, %v", name, answer, err)
		}
	}
}

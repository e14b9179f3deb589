package local_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/local"
	"seckill/shared/seckill"
)

// fields checks that an object has these fields with these JSON types: "string", "number", "array", "object", "time" (RFC 3339, UTC).
func fields(t *testing.T, what string, got any, want map[string]string) map[string]any {
	t.Helper()
	object, ok := got.(map[string]any)
	if !ok {
		t.Fatalf("%s is %v, want an object", what, got)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		kind := ""
		switch v := object[name].(type) {
		case string:
			kind = "string"
			if _, err := time.Parse("2006-01-02T15:04:05Z", v); err == nil {
				kind = "time"
			}
		case json.Number:
			kind = "number"
		case []any:
			kind = "array"
		case map[string]any:
			kind = "object"
		}
		if kind != want[name] {
			t.Errorf("%s: %s is %v, want a %s", what, name, object[name], want[name])
		}
	}
	return object
}

func checkItem(t *testing.T, what string, got any) map[string]any {
	t.Helper()
	it := fields(t, what, got, map[string]string{"id": "string", "sk_price": "number", "start_time": "time", "end_time": "time",
		"create_time": "time", "max_sk_count": "number", "sk_per_max_count": "number", "stock": "number", "commodity": "object"})
	fields(t, what+" commodity", it["commodity"], map[string]string{"id": "string", "title": "string", "price": "number", "covers": "array",
		"detail": "string", "create_time": "time"})
	return it
}

func ids(list any) []string {
	var out []string
	items, _ := list.([]any)
	for _, it := range items {
		id, _ := it.(map[string]any)["id"].(string)
		out = append(out, id)
	}
	return out
}

func TestContractOfItems(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	ing := w.call("", "GET", "/seckill/ing?page=1&size=10", nil)
	if got := ids(ing.json["seckills"]); ing.status != 200 || !slices.Equal(got, []string{local.DemoLive}) {
		t.Errorf("ing: %v", ing)
	}
	will := w.call("", "GET", "/seckill/will?page=1&size=10", nil)
	if got := ids(will.json["seckills"]); will.status != 200 || !slices.Equal(got, []string{local.DemoUpcoming}) {
		t.Errorf("will: %v", will)
	}
	for _, id := range []string{local.DemoEnded, local.DemoLive, local.DemoUpcoming} {
		a := w.call("", "GET", "/seckill/detail/"+id, nil)
		it := checkItem(t, id, a.json)
		for field, want := range map[string]string{"max_sk_count": "10", "sk_per_max_count": "1", "stock": "10"} {
			if got, _ := it[field].(json.Number); got.String() != want {
				t.Errorf("item %s: %s %v, want %s", id, field, it[field], want)
			}
		}
	}
	if a := w.call("", "GET", "/seckill/ing?page=2&size=10", nil); a.raw != `{"seckills":[]}` {
		t.Errorf("a page beyond the end: %v", a)
	}
	if a := w.call("", "GET", "/seckill/detail/9", nil); a.status != 404 || a.text("detail") == "" {
		t.Errorf("unknown item: %v", a)
	}
	w.pass(10*time.Minute + time.Second) // the upcoming one starts
	if got := ids(w.call("", "GET", "/seckill/ing", nil).json["seckills"]); !slices.Equal(got, []string{local.DemoUpcoming, local.DemoLive}) {
		t.Errorf("after the start: %v, want the newest start first", got)
	}
	w.bought("1001", local.DemoUpcoming)
}

// One item with the largest id that 64 bits have; a float64 would lose its last digits.
const longID = "9223372036854775807"

func TestContractOfOrders(t *testing.T) {
	t.Parallel()
	it := live(longID, 10, 3)
	it.Price = 88_88
	w := start(t, local.Options{Items: []seckill.Item{it}})
	const chinese = "上海市黄浦区人民大道 200 号 “门卫”转交 <b>&</b> 😀"
	for i, id := range []string{longID, `"` + longID + `"`} { // as a bare integer, and as a string
		token := w.token([]string{"9007199254740993", "1002"}[i])
		empty := w.call(token, "GET", "/seckill/order/"+longID, nil)
		if empty.status != 200 || empty.text("alipay_order") != "" || empty.text("state") != "none" {
			t.Errorf("before buying: %v", empty)
		}
		body := `{"seckill_id":` + id + `,"count":3,"address":` + quote(chinese) + `,"unknown":true}`
		a := w.call(token, "POST", "/seckill/buy", body)
		if n, _ := a.json["result"].(json.Number); a.status != 200 || n != "1" || !seckill.ValidOrderID(a.text("order_id")) {
			t.Fatalf("buy: %v", a)
		}
		var s answer
		w.eventually("pay string", func() bool {
			s = w.call(token, "GET", "/seckill/order/"+longID, nil)
			return s.text("alipay_order") != ""
		}, func() any { return s })
		for _, part := range []string{"method=alipay.trade.app.pay", "time_expire", "sign_type=RSA2", "266.64", a.text("order_id")} {
			if !strings.Contains(s.text("alipay_order"), part) {
				t.Errorf("the pay string lacks %s: %s", part, s.text("alipay_order"))
			}
		}
		list, _ := w.call(token, "GET", "/order/list?page=1&size=10", nil).json["orders"].([]any)
		if len(list) != 1 {
			t.Fatalf("my orders: %v, want one", list)
		}
		for _, got := range []any{list[0], w.call(token, "GET", "/order/"+a.text("order_id"), nil).json} {
			o := fields(t, "order", got, map[string]string{"id": "string", "create_time": "time", "status": "number", "count": "number",
				"amount": "number", "address": "string", "seckill": "object", "state": "string"})
			checkItem(t, "order's item", o["seckill"])
			if o["address"] != chinese || o["status"] != json.Number("1") || o["count"] != json.Number("3") || o["amount"] != json.Number("266.64") {
				t.Errorf("order: %v", o)
			}
		}
	}
	w.drained()
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestTokensWithNumberOrStringUserAreTheSameShopper(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{JWTSecret: "another secret"})
	order, _ := w.bought("9007199254740993", local.DemoLive)
	asText := forgeHS256(t, "another secret", `{"iss":"9007199254740993","sub":"1","exp":4102444800}`)
	if a := w.call(asText, "GET", "/order/"+order, nil); a.status != 200 {
		t.Errorf("the same user as a string: %v", a)
	}
	neighbour := forgeHS256(t, "another secret", `{"iss":9007199254740992,"sub":"1","exp":4102444800}`)
	if a := w.call(neighbour, "GET", "/order/"+order, nil); a.status != 404 {
		t.Errorf("the user one digit below: %v", a)
	}
}

func TestPagesAreServedUnderAStrictPolicy(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Version: "v9"})
	for _, path := range []string{"/", "/status", "/app.js", "/pictures/headphones.svg"} {
		a := w.call("", "GET", path, nil)
		policy := a.header.Get("Content-Security-Policy")
		if a.status != 200 || len(a.raw) == 0 || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %d, %d bytes, policy %q", path, a.status, len(a.raw), policy)
		}
		if again := w.call("", "GET", path, nil, "If-None-Match", a.header.Get("ETag")); again.status != http.StatusNotModified {
			t.Errorf("%s asked for again: %d, want 304", path, again.status)
		}
	}
	health := w.call("", "GET", "/healthz", nil)
	if health.text("version") != "v9" || health.text("cashier_url") != "/cashier" {
		t.Errorf("healthz: %v", health)
	}
	clock := w.call("", "GET", "/seckill/time", nil)
	fields(t, "time", clock.json, map[string]string{"now": "time", "now_ms": "number"})
	if a := w.call("", "GET", "/_local/nothing", nil); a.status != 404 || a.text("code") != "not_found" {
		t.Errorf("unknown local route: %v", a)
	}
}

func TestStateShowsTheWholeSystem(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Version: "v9"})
	w.bought("1001", local.DemoLive)
	w.drained()
	a := w.call("", "GET", "/_local/state", nil)
	s := fields(t, "state", a.json, map[string]string{"now": "time", "version": "string", "items": "array", "orders": "object", "queues": "array",
		"refunds_due": "array", "events": "object"})
	item := s["items"].([]any)[1].(map[string]any)
	for field, want := range map[string]any{"id": local.DemoLive, "state": "online", "stock": json.Number("10"), "left": json.Number("9"),
		"held": json.Number("1"), "awaiting": json.Number("0"), "installed": true} {
		if item[field] != want {
			t.Errorf("item's %s is %v, want %v", field, item[field], want)
		}
	}
	if o := s["orders"].(map[string]any); o["pending_payment"] != json.Number("1") || len(o) != 1 {
		t.Errorf("orders: %v", o)
	}
	var names []string
	for _, q := range s["queues"].([]any) {
		row := fields(t, "queue", q, map[string]string{"name": "string", "visible": "number", "in_flight": "number", "delayed": "number", "parked": "number"})
		names = append(names, row["name"].(string))
		if row["name"] == "closings" && row["delayed"] != json.Number("1") {
			t.Errorf("closings: %v, want the order's message delayed", row)
		}
	}
	if !slices.Equal(names, []string{"orders", "closings"}) {
		t.Errorf("queues %v", names)
	}
	if e := s["events"].(map[string]any); e["placed"] != json.Number("1") || e["reserved"] != json.Number("1") {
		t.Errorf("events: %v", e)
	}
}

func TestShoppersHaveTokensThatWork(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	w.pass(24 * time.Hour) // tokens follow the system's clock
	list, _ := w.call("", "GET", "/_local/shoppers", nil).json["shoppers"].([]any)
	if len(list) != len(local.Shoppers) {
		t.Fatalf("%d shoppers, want %d", len(list), len(local.Shoppers))
	}
	for _, sh := range list {
		token, _ := sh.(map[string]any)["token"].(string)
		if a := w.call(token, "GET", "/order/list", nil); a.status != 200 {
			t.Errorf("%v: %v", sh, a)
		}
	}
}

func TestClockMovesAndSchedulesFollow(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	before := w.Clock.Now()
	a := w.call("", "POST", "/_local/clock", `{"advance_seconds":3600}`)
	now, err := time.Parse(time.RFC3339, a.text("now"))
	if err != nil || now.Sub(before) < time.Hour || now.Sub(before) > time.Hour+time.Minute || a.json["advanced_seconds"] != json.Number("3600") {
		t.Errorf("an hour after %v: %v", before, a)
	}
	shown, err := time.Parse(time.RFC3339, w.call("", "GET", "/_local/clock", nil).text("now"))
	if err != nil || shown.Before(now) {
		t.Errorf("the clock shows %v, after %v", shown, now)
	}
}

func TestAddedStockIsSold(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("5", 1, 1)}})
	w.bought("1001", "5")
	if a := w.buy("1002", "5", 1, ""); a.text("code") != "sold_out" {
		t.Fatalf("the second of one: %v", a)
	}
	if a := w.call("", "POST", "/_local/items/5/stock", `{"stock":2}`); a.status != 200 || a.json["left"] != json.Number("1") {
		t.Fatalf("stock: %v", a)
	}
	w.pass(2 * time.Second)
	w.bought("1002", "5")
	w.drained()
	w.soldOnce("5", 2)
}

func TestAPageOfAnotherOriginCannotMoveTheClock(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	a := w.call("", "POST", "/_local/clock", `{"advance_seconds":60}`, "Origin", "https://example.com", "Sec-Fetch-Site", "cross-site")
	if a.status != http.StatusForbidden {
		t.Errorf("got %v, want 403", a)
	}
}

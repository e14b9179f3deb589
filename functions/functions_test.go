package functions_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const done = `{"batchItemFailures":[]}`

func TestRecordedEvents(t *testing.T) {
	w := newDeployment(t)
	ctx := context.Background()
	upcoming := local.DemoItems(time.Now(), 10, 1)[2].Item
	for _, it := range []seckill.Item{live("2002", 10), upcoming} {
		must.OK(t, w.items.Put(ctx, it, nil))
	}
	f := map[string]*lambdatest.Function{}
	for _, step := range steps {
		f[step] = w.start(t, step)
	}
	// notify signs nothing: reading this missing entry would end its init
	f["notify"] = w.start(t, "notify", "ALIPAY_PRIVATE_KEY_NAME", "nowhere")

	if r := ask(t, f["buy"], purchase(t, "2002", "1001")); r.Status != 503 || r.text("code") != "not_ready" ||
		r.Headers["Retry-After"] == "" {
		t.Errorf("a purchase before the stock is there: %+v", r)
	}
	run(t, f["consume"], batch(t, w.aws.Sent("orders")...), done) // the wake message; now the item is installed
	run(t, f["stage"], recorded(t, "schedule.json"), "null")
	run(t, f["repair"], recorded(t, "schedule.json"), "null")

	bought := ask(t, f["buy"], purchase(t, "2002", "1001"))
	if bought.Status != 200 || bought.text("order_id") == "" {
		t.Fatalf("purchase: %+v", bought)
	}
	sent := w.aws.Sent("orders")
	if len(sent) != 1 || !strings.Contains(sent[0], bought.text("order_id")) ||
		!strings.Contains(sent[0], `"trace":"TxQ0HFj6liAEPMA="`) {
		t.Fatalf("orders queue: %q, want the order with the request's id", sent)
	}
	const live = "wss://live.example.com/live" // a repeated purchase, and the order, give passes to a shop that pushes
	if again := ask(t, w.start(t, "buy", "PUSH_URL", live), purchase(t, "2002", "1001")); again.Status != 200 ||
		again.text("order_id") != bought.text("order_id") || !strings.Contains(again.Body, `"push":{"url":"`+live) {
		t.Errorf("purchase, with push: %+v", again)
	}
	shop := w.start(t, "shop", "PUSH_URL", live)
	if r := ask(t, shop, call(t, "POST", "/order/"+bought.text("order_id")+"/push", "", "1001")); r.Status != 200 ||
		r.text("url") != live || !strings.HasPrefix(r.text("pass"), "1001.") {
		t.Errorf("another pass: %+v", r)
	}
	if r := ask(t, shop, call(t, "GET", "/", "", "")); !strings.Contains(r.Headers["Content-Security-Policy"],
		"connect-src 'self' wss://live.example.com;") {
		t.Errorf("the page, with push: %v", r.Headers)
	}
	repeated := w.aws.Sent("orders")
	keeps := w.start(t, "buy", "NETWORK_RETENTION_DAYS", "7")
	ask(t, keeps, purchase(t, "2002", "1003"))
	if kept := w.aws.Sent("orders"); strings.Contains(fmt.Sprint(sent, repeated), "network_address") ||
		len(kept) != 1 || !strings.Contains(kept[0], `"network_address":"203.0.113.7"`) || // the recorded sourceIp
		strings.Contains(keeps.End(), "203.0.113.7") {
		t.Errorf("messages without and with network addresses: %q, %q; the log:\n%s", sent, kept, keeps.Output())
	}
	for name, c := range map[string]struct {
		step, path, body, user string
		status                 int
		code                   string
	}{
		"no token":      {"buy", "/seckill/buy", "{}", "", 403, "invalid_token"},
		"no such route": {"buy", "/nowhere", "{}", "1001", 404, "not_found"},
		"not started": {"buy", "/seckill/buy", `{"seckill_id":"` + upcoming.ID + `","count":1,"address":"x"}`, "1001",
			425, "not_started"},
	} {
		if r := ask(t, f[c.step], call(t, "POST", c.path, c.body, c.user)); r.Status != c.status ||
			r.text("code") != c.code {
			t.Errorf("%s: %+v, want %d %s", name, r, c.status, c.code)
		}
	}

	poison := `{"v":99,"kind":"order"}`
	run(t, f["consume"], batch(t, sent[0], poison), done)
	if parked := w.aws.Sent("orders-dead"); len(parked) != 1 || parked[0] != poison {
		t.Errorf("parked: %q, want the message of a newer version", parked)
	}
	closings := w.aws.Sent("closings")
	if len(closings) != 1 {
		t.Fatalf("closings queue: %q, want one message", closings)
	}

	order := ask(t, f["shop"], call(t, "GET", "/order/"+bought.text("order_id"), "", "1001"))
	if order.Status != 200 || order.text("state") != "pending_payment" || order.text("id") != bought.text("order_id") {
		t.Fatalf("order: %+v", order)
	}
	run(t, f["expire"], batch(t, closings...), done) // early: it is sent again
	must.Equal(t, 1, len(w.aws.Sent("closings")), "closings queue after an early message")
	run(t, f["expire"], recorded(t, "schedule.json"), "null")
	run(t, f["refund"], recorded(t, "schedule.json"), "null")

	form := pay(t, w.gateway, order.text("alipay_order"))
	if r := ask(t, f["notify"], call(t, "POST", notifyPath, form.Encode(), "")); r.Status != 200 ||
		r.Body != "success" {
		t.Errorf("notify: %+v", r)
	}
	certified := w.certificates(t)
	if r := ask(t, w.start(t, "shop", certified...), call(t, "GET", "/order/"+bought.text("order_id"), "",
		"1001")); r.Status != 200 {
		t.Errorf("order, in certificate mode: %+v", r)
	}
	certifiedNotification := w.start(t, "notify", certified...)
	if r := ask(t, certifiedNotification, call(t, "POST", notifyPath, form.Encode(), "")); r.Status != 200 ||
		r.Body != "success" {
		t.Errorf("notify, in certificate mode: %+v", r)
	}
	form.Set("total_amount", "0.01")
	for mode, notify := range map[string]*lambdatest.Function{"key": f["notify"],
		"certificate": certifiedNotification} {
		if r := ask(t, notify, call(t, "POST", notifyPath, form.Encode(), "")); r.Status != 400 ||
			r.text("code") != "notify_forged" {
			t.Errorf("forged notification, in %s mode: %+v", mode, r)
		}
		if !notify.Says(`"msg":"request refused","code":"notify_forged"`) ||
			!notify.Says("does not match: notification for \\\""+bought.text("order_id")) ||
			!notify.Says(`"notifications_refused":1`) {
			t.Errorf("of a forged notification, in %s mode, is said and counted:\n%s", mode, notify.Output())
		}
	}
	const allow = "Access-Control-Allow-Origin"
	for name, c := range map[string]struct {
		r    response
		want string
	}{
		"purchase": {bought, storefront}, "order": {order, storefront},
		"refusal": {ask(t, f["shop"], call(t, "POST", "/order/list", "", "1001")), storefront},
		"notify":  {ask(t, f["notify"], call(t, "POST", notifyPath, form.Encode(), "")), ""},
	} {
		if c.r.Headers[allow] != c.want {
			t.Errorf("%s: %s is %q, want %q", name, allow, c.r.Headers[allow], c.want)
		}
	}
	for step, metric := range map[string]string{"buy": `"reserved":1`, "consume": `"placed":1`, "notify": `"paid":1`,
		"stage": `"cold_starts":1`} {
		if !f[step].Says(metric) {
			t.Errorf("%s wrote no metric %s:\n%s", step, metric, f[step].Output())
		}
	}
	for _, step := range steps {
		if strings.Contains(f[step].Output(), "西湖") || strings.Contains(f[step].Output(), secret) {
			t.Errorf("%s wrote an address or a secret:\n%s", step, f[step].Output())
		}
	}
}

func TestRedisThatDoesNotAnswer(t *testing.T) {
	w := newDeployment(t)
	must.OK(t, w.items.Put(context.Background(), live("2002", 10), nil))
	f := w.start(t, "buy", "REDIS_ADDRS", "127.0.0.1:1") // no server listens there
	f.Ready()
	const purchases = 20
	start := time.Now()
	took := make([]time.Duration, purchases)
	for i := range took {
		at := time.Now()
		if r := ask(t, f, purchase(t, "2002", "1001")); r.Status != 503 || r.text("code") != "unavailable" ||
			r.Headers["Retry-After"] != "1" {
			t.Errorf("%+v, want 503 with Retry-After", r)
		}
		took[i] = time.Since(at)
	}
	slices.Sort(took)
	if median := took[purchases/2]; median > 1200*time.Millisecond { // a busy machine may have delayed single requests
		t.Errorf("half of the answers took more than %v, want at most 1.2 s", median)
	}
	f.Says(`"request failed"`)
	lines, most := strings.Count(f.Output(), `"request failed"`), 1+int(time.Since(start)/time.Second)
	if lines < 1 || lines > most {
		t.Errorf("%d log lines, want 1 to %d: one a second\n%s", lines, most, f.Output())
	}
}

// TestFaultsAreReportedToLambda checks that unfinished work is delivered again or counted as an error, and never
// reported as done.
func TestFaultsAreReportedToLambda(t *testing.T) {
	w := newDeployment(t)
	must.OK(t, w.items.Put(context.Background(), live("2002", 10), nil))
	const nobody = "127.0.0.1:1"
	if out, err := w.start(t, "repair", "REDIS_ADDRS", nobody).Invoke(recorded(t, "schedule.json")); err == nil ||
		!strings.Contains(err.Error(), "item 2002") {
		t.Errorf("repair: %s, %v; want an error that names the item", out, err)
	}
	m := seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{Units: []int{1},
		Request: drivertest.Request("2002", "1001", time.Now())}}
	consume := w.start(t, "consume", "REDIS_ADDRS", nobody)
	run(t, consume, batch(t, string(m.Encode())), `{"batchItemFailures":[{"itemIdentifier":"m0"}]}`)
	if !consume.Says(m.Reservation.Order) {
		t.Errorf("consume: no line names the order:\n%s", consume.Output())
	}
	if out, err := consume.Invoke([]byte(`{"Records":"no list"}`)); err == nil {
		t.Errorf("an event that is none: %s, want an error", out)
	}
}

// TestRedisComesBack checks that an instance recovers by itself after a wrong password or cut connections.
func TestRedisComesBack(t *testing.T) {
	w := newDeployment(t)
	w.loaded(t, live("2002", 10))
	w.redis.RequirePassword("another")
	f := w.start(t, "buy")
	if r := ask(t, f, purchase(t, "2002", "1001")); r.Status != 503 || r.text("code") != "unavailable" {
		t.Errorf("wrong password: %+v", r)
	}
	w.redis.RequirePassword("redis-password")
	if r := ask(t, f, purchase(t, "2002", "1001")); r.Status != 200 {
		t.Errorf("right password again: %+v", r)
	}
	w.redis.Drop()
	w.redis.ForgetScripts()
	if r := ask(t, f, purchase(t, "2002", "1002")); r.Status != 200 {
		t.Errorf("after a restart of the server: %+v", r)
	}
	if strings.Contains(f.Output(), "redis-password") {
		t.Errorf("the password is in the log:\n%s", f.Output())
	}
}

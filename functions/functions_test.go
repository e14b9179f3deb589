package functions_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const done = `{"batchItemFailures":[]}`

func TestBadSettingsEndInitWithTheirName(t *testing.T) {
	w := newDeployment(t)
	for _, c := range []struct {
		step    string
		changes []string
		want    string
	}{
		{"buy", []string{"TABLE_PREFIX", ""}, "TABLE_PREFIX is empty"},
		{"buy", []string{"LOG_LEVEL", "loud"}, "LOG_LEVEL is"},
		{"buy", []string{"AWS_REGION", ""}, "AWS_REGION is missing"},
		{"buy", []string{"SECRETS", ""}, "SECRETS is missing"},
		{"buy", []string{"SECRETS", "/nowhere"}, "cannot read the secret /nowhere"},
		{"buy", []string{"JWT_SECRET_NAME", "nowhere"}, "JWT_SECRET_NAME names the secret"},
		{"consume", []string{"HOLD", "1s"}, "HOLD is 1s"},
		{"consume", []string{"REDIS_ADDRS", "a:1,b:2"}, "contradicts REDIS_CLUSTER=false"},
		{"buy", []string{"CORS_ORIGIN", storefront + "/"}, "CORS_ORIGIN is"},
		{"notify", []string{"ALIPAY_PUBLIC_KEY_NAME", "jwt-secret"}, "ALIPAY_PUBLIC_KEY_NAME names the secret"},
		{"expire", []string{"ALIPAY_GATEWAY", ""}, "ALIPAY_GATEWAY is empty"},
		{"notify", []string{"ALIPAY_ROOT_CERT_NAME", "jwt-secret"}, "ALIPAY_CERT_NAME is missing"},
		{"notify", []string{"ALIPAY_PUBLIC_KEY_NAME", "", "ALIPAY_CERT_NAME", "jwt-secret", "ALIPAY_ROOT_CERT_NAME",
			"jwt-secret"}, "ALIPAY_ROOT_CERT_NAME names the secret"},
		{"stage", []string{"REDIS_ADDRS", "redis"}, "want host:port"},
		{"repair", []string{"ORDERS_QUEUE_URL", "orders"}, "ORDERS_QUEUE_URL is"},
		{"repair", []string{"ADDRESS_RETENTION_DAYS", "29"}, "ADDRESS_RETENTION_DAYS is 29, want 0, or at least 30"},
		{"signin", []string{"SIGNIN_ISSUERS", "https://id.example.com"}, "SIGNIN_ISSUERS has"},
		{"signin", []string{"SIGNIN_ISSUERS", "http://id.example.com|shop"}, "SIGNIN_ISSUERS: oidc: issuer"},
		{"signin", []string{"JWT_SECRET_NAME", "nowhere"}, "JWT_SECRET_NAME names the secret"},
		{"shop", []string{"ALIPAY_FAKE", "false"}, "want an absolute https URL"},
		{"pay", []string{"PUBLIC_URL", ""}, "PUBLIC_URL is empty"},
		{"pay", []string{"ALIPAY_PRIVATE_KEY_NAME", "jwt-secret"}, "ALIPAY_PRIVATE_KEY_NAME names the secret"},
	} {
		msg := w.start(t, c.step, c.changes...).InitError()
		if !strings.Contains(msg, c.want) || !strings.Contains(msg, `"errorType":"Runtime.InitFailed"`) {
			t.Errorf("%s with %v: %s, want %q", c.step, c.changes, msg, c.want)
		}
		for name, value := range secrets() {
			if strings.Contains(msg, value) {
				t.Errorf("%s with %v: shows %s", c.step, c.changes, name)
			}
		}
	}
}

// needs has the settings without which a function does not start, beside AWS's and the table prefix.
var needs = map[string][]string{
	"buy":     {"REDIS_ADDRS", "ORDERS_QUEUE_URL", "JWT_SECRET_NAME", "TICKET_SECRET_NAME"},
	"admit":   {"JWT_SECRET_NAME", "TICKET_SECRET_NAME"},
	"consume": {"REDIS_ADDRS", "ORDERS_QUEUE_URL", "ORDERS_DEAD_LETTER_QUEUE_URL", "CLOSINGS_QUEUE_URL"},
	"notify":  {"ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_PUBLIC_KEY_NAME"},
	"expire": {"ORDERS_QUEUE_URL", "CLOSINGS_QUEUE_URL", "CLOSINGS_DEAD_LETTER_QUEUE_URL", "ALIPAY_APP_ID",
		"ALIPAY_SELLER_ID", "ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL", "ALIPAY_PRIVATE_KEY_NAME",
		"ALIPAY_PUBLIC_KEY_NAME"},
	"refund": {"ORDERS_QUEUE_URL", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL",
		"ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME", "COMMAND_PUBLIC_KEY_NAME"},
	"reconcile": {"ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL",
		"ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME", "COMMAND_PUBLIC_KEY_NAME"},
	"stage":  {"REDIS_ADDRS", "COMMAND_PUBLIC_KEY_NAME"},
	"repair": {"REDIS_ADDRS", "ORDERS_QUEUE_URL", "COMMAND_PUBLIC_KEY_NAME"},
	"acts":   {"COMMAND_PUBLIC_KEY_NAME"},
	"admin": {"COMMAND_KEY_NAME", "PUBLIC_URL", "ORDERS_QUEUE_URL", "ORDERS_DEAD_LETTER_QUEUE_URL",
		"CLOSINGS_QUEUE_URL", "CLOSINGS_DEAD_LETTER_QUEUE_URL"},
	"tell":    {"EVENT_BUS", "COMMAND_PUBLIC_KEY_NAME"},
	"deliver": {"WEBHOOK_URL", "WEBHOOK_SECRET_NAME", "COMMAND_PUBLIC_KEY_NAME"},
	"signin":  {"JWT_SECRET_NAME"},
	"connect": {"JWT_SECRET_NAME", "CONNECTIONS_URL"},
	"shop": {"REDIS_ADDRS", "CLOSINGS_QUEUE_URL", "JWT_SECRET_NAME", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID",
		"ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL", "ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME"},
	"pay": {"JWT_SECRET_NAME", "ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "ALIPAY_GATEWAY", "ALIPAY_NOTIFY_URL",
		"ALIPAY_PRIVATE_KEY_NAME", "ALIPAY_PUBLIC_KEY_NAME", "PUBLIC_URL"},
	"gateway": {"ALIPAY_APP_ID", "ALIPAY_SELLER_ID", "GATEWAY_PRIVATE_KEY_NAME", "ALIPAY_SHOP_PUBLIC_KEY_NAME"},
}

// A function starts with what it needs and nothing else. Without it, init names all that is missing, in one line.
func TestEachFunctionNamesTheSettingsThatAreMissing(t *testing.T) {
	w := newDeployment(t)
	always := []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "SECRETS",
		"ALIPAY_FAKE", "REDIS_PASSWORD_NAME"}
	for _, step := range append(steps, "gateway") {
		needed := append(needs[step], "TABLE_PREFIX")
		only := map[string]string{"GATEWAY_PRIVATE_KEY_NAME": "gateway-private-key",
			"ALIPAY_SHOP_PUBLIC_KEY_NAME": "alipay-shop-public-key"}
		for name, value := range w.environ {
			if slices.Contains(always, name) || slices.Contains(needed, name) {
				only[name] = value
			}
		}
		lambdatest.Start(t, binary(t, step), only).Ready()
		for _, secrets := range []bool{true, false} { // a part names its secrets once the rest is there
			less := maps.Clone(only)
			maps.DeleteFunc(less, func(name, _ string) bool {
				return strings.HasSuffix(name, "_NAME") == secrets && slices.Contains(needed, name)
			})
			if len(less) == len(only) {
				continue
			}
			msg := lambdatest.Start(t, binary(t, step), less).InitError()
			for name := range only {
				if less[name] == "" && !strings.Contains(msg, name+" is missing") || strings.Contains(msg, `\n`) {
					t.Errorf("%s without %s: %s, want one line with its name", step, name, msg)
				}
			}
		}
	}
}

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
	if again := w.aws.Sent("closings"); len(again) != 1 {
		t.Errorf("closings queue after an early message: %q, want it again", again)
	}
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
	if median := took[purchases/2]; median > 1200*time.Millisecond { // a busy machine may have delayed single ones
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
		Request: seckill.Request{
			Order: seckill.KeyedOrderID("2002", "1001", "k"), Item: "2002", User: "1001", Count: 1,
			Given: seckill.Given{Address: address}, Created: time.Now()}}}
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
	must.OK(t, w.items.Put(context.Background(), live("2002", 10), nil))
	run(t, w.start(t, "repair"), recorded(t, "schedule.json"), "null")
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

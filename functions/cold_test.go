package functions_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// small lists the calls to AWS whose quotas are far below the number of instances that an opening starts per second
// (ADR 20).
var small = []string{"GetParameters", "GetParameter", "BatchGetSecretValue", "DescribeTable", "DescribeSecret",
	"GetQueueAttributes", "GetQueueUrl"}

// TestColdStart checks which calls to AWS an instance makes before its first event, and before its first answer.
func TestColdStart(t *testing.T) {
	for _, c := range coldStarts {
		t.Run(c.step, func(t *testing.T) {
			w := newDeployment(t)
			must.OK(t, w.items.Put(context.Background(), live("2002", 10), &shown))
			run(t, w.start(t, "stage"), recorded(t, "schedule.json"), "null") // publishes the list
			if !c.forgotten {
				run(t, w.start(t, "repair"), recorded(t, "schedule.json"), "null")
			}
			w.aws.Sent("orders")
			w.aws.Calls()
			f := w.start(t, c.step, c.changes...)
			f.Ready()
			// on a busy machine the fake answers before the client has finished its request, and the client repeats
			// it
			init := slices.Compact(w.aws.Calls())
			if c.event != nil {
				must.Get(f.Invoke(c.event(t)))
			}
			first := w.aws.Calls()
			if !slices.Equal(init, c.init) || !slices.Equal(first, c.first) {
				t.Errorf("calls %q at init and %q before the first answer, want %q and %q", init, first, c.init,
					c.first)
			}
			for _, call := range append(init, first...) {
				if name, _, _ := strings.Cut(call, " "); slices.Contains(small, name) {
					t.Errorf("%s has a small quota", call)
				}
			}
		})
	}
}

// coldStart is what a function's cold start has to call.
type coldStart struct {
	step        string
	forgotten   bool // Redis does not have the item
	changes     []string
	event       func(*testing.T) []byte // nil means no event
	init, first []string
}

// shown is an item's description.
var shown = seckill.Description{Detail: "<p>x</p>"}

// TestOnlyPagesReadTheCatalog checks that an instance of shop reads the list and a description once, the list's
// version each second, and no item's row.
func TestOnlyPagesReadTheCatalog(t *testing.T) {
	w := newDeployment(t)
	must.OK(t, w.items.Put(context.Background(), live("2002", 10), &shown))
	reads := func() (catalog, items int) {
		for _, call := range w.aws.Calls() {
			switch {
			case strings.HasSuffix(call, " catalog"):
				catalog++
			case strings.HasSuffix(call, " items"):
				items++
			}
		}
		return catalog, items
	}
	run(t, w.start(t, "stage"), recorded(t, "schedule.json"), "null") // publishes the list
	reads()
	buy, consume := w.start(t, "buy"), w.start(t, "consume")
	if r := ask(t, buy, purchase(t, "2002", "1001")); r.Status != 503 {
		t.Errorf("a purchase before the stock is there: %+v", r)
	}
	run(t, consume, batch(t, w.aws.Sent("orders")...), done)
	run(t, w.start(t, "repair"), recorded(t, "schedule.json"), "null")
	if r := ask(t, buy, purchase(t, "2002", "1001")); r.Status != 200 {
		t.Errorf("a purchase: %+v", r)
	}
	run(t, consume, batch(t, w.aws.Sent("orders")...), done)
	if n, _ := reads(); n != 0 {
		t.Errorf("buy, consume and repair read the catalog %d times", n)
	}
	shop := w.start(t, "shop")
	for n := range 3 {
		if r := ask(t, shop, call(t, "GET", "/seckill/detail/2002", "", "")); r.Status != 200 ||
			!strings.Contains(r.Body, "<p>x</p>") {
			t.Errorf("look %d: %+v", n+1, r)
		}
		time.Sleep(seckill.ItemFresh + 10*time.Millisecond)
	}
	if n, items := reads(); n != 5 || items != 0 {
		t.Errorf("shop read the catalog %d times and items' rows %d times in three seconds, want 5 and 0", n, items)
	}
}

var oneSecret = []string{"GetSecretValue"}

var coldStarts = []coldStart{
	{step: "buy", event: func(t *testing.T) []byte {
		return purchase(t, "2002", "1001")
	}, init: oneSecret, first: []string{"GetItem items", "SendMessage"}}, // without a ticket: has the item checks?
	{step: "buy", forgotten: true, event: func(t *testing.T) []byte {
		return purchase(t, "2002", "1001")
	}, init: oneSecret, first: []string{"GetItem items"}},
	{step: "shop", event: get("/seckill/ing"), init: oneSecret, first: []string{"GetItem catalog", "GetItem catalog",
		"GetItem catalog"}},
	{step: "shop", event: get("/seckill/detail/2002"), init: oneSecret,
		// the list's version, the list, the description
		first: []string{"GetItem catalog", "GetItem catalog", "GetItem catalog"}},
	{step: "notify", init: oneSecret},
	{step: "pay", event: func(t *testing.T) []byte {
		return call(t, "POST", "/order/oabcdefghijklmnopqrstuvwxyz/payment", `{"kind":"wap"}`, "1001")
	}, init: oneSecret, first: []string{"GetItem orders"}},
	{step: "signin", event: get("/signin"), changes: []string{"SIGNIN_ISSUERS", ""}, init: oneSecret},
	{step: "stage", init: oneSecret},
	{step: "repair", init: oneSecret},
	{step: "consume", init: oneSecret},
	{step: "consume", changes: []string{"REDIS_PASSWORD_NAME", ""}}, // nothing to read
	{step: "expire", init: oneSecret},
	{step: "refund", init: oneSecret},
	{step: "reconcile", init: oneSecret},
	{step: "gateway", init: oneSecret},
	{step: "tell", init: oneSecret},
	{step: "deliver", init: oneSecret},
	{step: "acts", init: oneSecret},
	{step: "admin", init: oneSecret, event: func(*testing.T) []byte {
		return posted(seckill.RoleAuditor, `{"operator":{"command":"audit","limit":1}}`)
	}, first: []string{"Query office"}},
}

func get(path string) func(*testing.T) []byte {
	return func(t *testing.T) []byte { return call(t, "GET", path, "", "") }
}

// A missing table is reported at its first use, by its whole name; doctor checks in advance.
func TestMissingTableAndQueueAreNamedAtFirstUse(t *testing.T) {
	w := newDeployment(t)
	w.loaded(t, live("2002", 10))
	for want, c := range map[string]struct {
		step, setting, value string
		event                []byte
	}{
		"other-items":          {"shop", "TABLE_PREFIX", "other-", call(t, "GET", "/seckill/detail/2002", "", "")},
		w.aws.Queue("nowhere"): {"buy", "ORDERS_QUEUE_URL", w.aws.Queue("nowhere"), purchase(t, "2002", "1001")},
	} {
		f := w.start(t, c.step, c.setting, c.value)
		if r := ask(t, f, c.event); r.Status != 503 || r.Headers["Retry-After"] == "" {
			t.Errorf("%s: %+v, want 503 with Retry-After", c.step, r)
		}
		if !f.Says(want) {
			t.Errorf("%s does not name %s:\n%s", c.step, want, f.Output())
		}
	}
}

package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/adapter/alipay/fakegateway"
	"github.com/your-org/seckill/shared/adapter/contracttest"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	patience = time.Minute // of a poll, and of a call; the machine may be busy
	pollStep = 5 * time.Millisecond
	address  = "浙江省杭州市西湖区文三路 1 号 3 幢 201 室"
)

// Every system that a test starts is closed by it, and leaves no goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keyPairs are made once: a key takes a tenth of a second and more.
var keyPairs = sync.OnceValue(func() [2]fakegateway.KeyPair {
	var out [2]fakegateway.KeyPair
	for i := range out {
		var err error
		if out[i], err = fakegateway.GenerateKeys(); err != nil {
			panic(err)
		}
	}
	return out
})

// shopTest is a running system and a client of it.
type shopTest struct {
	*local.System
	t    *testing.T
	http *http.Client
}

// start runs a system on a free port until the test ends; then its ledger has to be sound.
func start(t *testing.T, o local.Options) *shopTest {
	t.Helper()
	return startChanged(t, o, func(*local.System) {})
}

// startChanged is start with some parts put in the place of others before anything works.
func startChanged(t *testing.T, o local.Options, change func(*local.System)) *shopTest {
	t.Helper()
	o.Addr, o.ShopKeys, o.GatewayKeys = ":0", keyPairs()[0], keyPairs()[1]
	sys, err := local.New(o)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxConnsPerHost: 64, MaxIdleConnsPerHost: 64}
	w := &shopTest{System: sys, t: t, http: &http.Client{Transport: transport, Timeout: patience}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := sys.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		localtest.Invariants(t, sys, false)
	})
	change(sys)
	if err := sys.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return w
}

// startKept is start with keys, and perhaps servers, that outlive the system.
func startKept(t *testing.T, o local.Options) *shopTest {
	t.Helper()
	sys, err := local.New(o)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	w := &shopTest{System: sys, t: t, http: &http.Client{Transport: transport, Timeout: patience}}
	t.Cleanup(func() { transport.CloseIdleConnections(); w.halt() })
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// halt closes the system before the test ends.
func (w *shopTest) halt() {
	w.t.Helper()
	if err := w.Close(context.Background()); err != nil {
		w.t.Errorf("close: %v", err)
	}
}

// live is an item on sale for a day.
func live(id string, stock, limit int) seckill.Listing {
	it := local.DemoItems(time.Now(), stock, limit)[1]
	it.ID = id
	return it
}

// answer is what a call brought.
type answer struct {
	status int
	header http.Header
	raw    string
	json   map[string]any // nil when the body is no JSON object
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.raw) }

func (a answer) text(field string) string {
	s, _ := a.json[field].(string)
	return s
}

// call makes one request; token "" sends none. A body that is a string goes as it is. Numbers come back as json.Number.
func (w *shopTest) call(token, method, path string, body any, headers ...string) answer {
	w.t.Helper()
	a, err := w.try(token, method, path, body, headers...)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// try is call for other goroutines than the test's own.
func (w *shopTest) try(token, method, path string, body any, headers ...string) (answer, error) {
	c := contracttest.Client{URL: w.URL(), HTTP: w.http}
	a, err := c.Call(context.Background(), token, method, path, body, headers...)
	return answer{status: a.Status, header: a.Header, raw: a.Raw, json: a.JSON}, err
}

// operators is a client of the route that carries out operators' commands.
func (w *shopTest) operators() *operator.Client {
	return &operator.Client{Who: "ann", Call: func(ctx context.Context, event []byte) ([]byte, error) {
		a, err := w.try("", "POST", "/_local/operator", string(event))
		return []byte(a.raw), err
	}}
}

// refusal returns the refusal that an operator's command ended with, a zero one if it did not.
func refusal(err error) (r operator.Refusal) {
	if got := (*operator.Refusal)(nil); errors.As(err, &got) {
		r = *got
	}
	return r
}

func (w *shopTest) token(user string) string {
	w.t.Helper()
	token, err := w.Token(user, 24*time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// buy asks for count units as a user, with a key or without ("").
func (w *shopTest) buy(user, item string, count int, key string) answer {
	w.t.Helper()
	var headers []string
	if key != "" {
		headers = []string{"Idempotency-Key", key}
	}
	return w.call(w.token(user), "POST", "/seckill/buy", map[string]any{"seckill_id": item, "count": count,
		"address": address}, headers...)
}

// bought buys one unit and waits until it is placed, and the stock knows it; it gives the order's id and its pay
// string.
func (w *shopTest) bought(user, item string) (order, pay string) {
	w.t.Helper()
	a := w.buy(user, item, 1, "")
	if a.status != 200 {
		w.t.Fatalf("buy: %v", a)
	}
	s := w.awaitState(user, item, seckill.PendingPayment)
	w.waitIdle() // the ledger answers before consume has told the stock
	return s.text("order_id"), s.text("alipay_order")
}

// status is where the user's newest order of the item is.
func (w *shopTest) status(user, item string) answer {
	w.t.Helper()
	return w.call(w.token(user), "GET", "/seckill/order/"+item, nil)
}

// awaitState waits until the newest order is in a state; one that waits for its payment can be paid then.
func (w *shopTest) awaitState(user, item string, want seckill.State) answer {
	w.t.Helper()
	var a answer
	w.eventually("order "+string(want), func() bool {
		a = w.status(user, item)
		return a.text("state") == string(want) && (want != seckill.PendingPayment || a.text("alipay_order") != "")
	}, func() any { return a })
	return a
}

// left is how many units the item's page shows.
func (w *shopTest) left(item string) string {
	w.t.Helper()
	n, _ := w.call("", "GET", "/seckill/detail/"+item, nil).json["stock"].(json.Number)
	return n.String()
}

// awaitLeft waits until the item's page, which may be a second old, shows the number.
func (w *shopTest) awaitLeft(item, want string) {
	w.t.Helper()
	got := ""
	w.eventually("stock "+want, func() bool {
		got = w.left(item)
		return got == want
	}, func() any { return got })
}

// eventually polls until the condition holds; last is shown when it never does.
func (w *shopTest) eventually(what string, holds func() bool, last func() any) {
	w.t.Helper()
	w.within(patience, what, holds, last)
}

func (w *shopTest) within(limit time.Duration, what string, holds func() bool, last func() any) {
	w.t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(pollStep)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			w.t.Fatalf("no %s within %v; last seen: %v", what, limit, last())
		case <-tick.C:
		}
	}
}

// pass moves the clock over HTTP, as a tester does, and waits until what became due is done.
func (w *shopTest) pass(d time.Duration) {
	w.t.Helper()
	if a := w.call("", "POST", "/_local/clock",
		map[string]any{"advance_seconds": int(d / time.Second)}); a.status != 200 {
		w.t.Fatalf("clock: %v", a)
	}
	w.waitIdle() // the call has waited 5 s at most
}

// earlyInAMinute moves the clock on when a minute is about to end, for tests of what is so until the minute's schedules
// have mended it.
func (w *shopTest) earlyInAMinute() {
	w.t.Helper()
	if s := w.Clock.Now().Second(); s > 10 {
		w.pass(time.Duration(60-s) * time.Second)
	}
}

func (w *shopTest) waitIdle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.WaitIdle(ctx); err != nil {
		w.t.Fatal(err)
	}
}

// drained waits until the system is idle and checks every guarantee.
func (w *shopTest) drained() {
	w.t.Helper()
	w.waitIdle()
	localtest.Invariants(w.t, w.System, true)
}

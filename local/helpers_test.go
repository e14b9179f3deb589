package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	patience = time.Minute // for a poll or a call, on a busy machine
	pollStep = 5 * time.Millisecond
	address  = "浙江省杭州市西湖区文三路 1 号 3 幢 201 室"
)

// Every system that a test starts is closed by it, without leaving a goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keyPairs are generated once: a key takes at least a tenth of a second.
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

// start runs a system on a free port until the test ends; then it checks the ledger's invariants.
func start(t *testing.T, o local.Options) *shopTest {
	t.Helper()
	return startChanged(t, o, func(*local.System) {})
}

// startChanged is start with some parts replaced before the system works.
func startChanged(t *testing.T, o local.Options, change func(*local.System)) *shopTest {
	t.Helper()
	o.Addr, o.ShopKeys, o.GatewayKeys = ":0", keyPairs()[0], keyPairs()[1]
	sys, err := local.New(o)
	must.OK(t, err)
	transport := &http.Transport{MaxConnsPerHost: 64, MaxIdleConnsPerHost: 64}
	w := &shopTest{System: sys, t: t, http: &http.Client{Transport: transport, Timeout: patience}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := sys.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		if sys.Rows != nil { // else its connections are closed
			localtest.Invariants(t, sys, false)
		}
	})
	change(sys)
	must.OK(t, sys.Start(context.Background()))
	return w
}

// startKept is start with keys, and perhaps servers, that survive the system.
func startKept(t *testing.T, o local.Options) *shopTest {
	t.Helper()
	sys, err := local.New(o)
	must.OK(t, err)
	transport := &http.Transport{}
	w := &shopTest{System: sys, t: t, http: &http.Client{Transport: transport, Timeout: patience}}
	t.Cleanup(func() { transport.CloseIdleConnections(); w.halt() })
	must.OK(t, sys.Start(t.Context()))
	return w
}

// halt closes the system before the test ends.
func (w *shopTest) halt() {
	w.t.Helper()
	err := w.Close(context.Background())
	if errors.Is(err, context.DeadlineExceeded) {
		w.t.Log("left for the next run: ", err) // on a slow machine; what is kept is not lost
	} else if err != nil {
		w.t.Errorf("close: %v", err)
	}
}

func user(i int) string { return strconv.Itoa(100_000 + i) }

// live returns an item that is on sale for a day.
func live(id string, stock, limit int) seckill.Listing {
	it := local.DemoItems(time.Now(), stock, limit)[1]
	it.ID = id
	return it
}

// call makes one request, without a token if token is "". It sends a string body unchanged. Numbers are json.Number.
func (w *shopTest) call(token, method, path string, body any, headers ...string) contracttest.Answer {
	w.t.Helper()
	a, err := w.try(token, method, path, body, headers...)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// try is call for goroutines other than the test's own.
func (w *shopTest) try(token, method, path string, body any, headers ...string) (contracttest.Answer, error) {
	c := contracttest.Client{URL: w.URL(), HTTP: w.http}
	return c.Call(context.Background(), token, method, path, body, headers...)
}

// operators returns a client of the route that executes operators' commands.
func (w *shopTest) operators() *operator.Client {
	return &operator.Client{Who: "ann", Call: func(ctx context.Context, event []byte) ([]byte, error) {
		a, err := w.try("", "POST", "/_local/operator", string(event))
		return []byte(a.Raw), err
	}}
}

// gives gives an operator's command, and returns its answer.
func gives[A any](w *shopTest, c operator.Command) (A, error) {
	return operator.Give[A](w.t.Context(), w.operators(), c)
}

// refusal returns the refusal of an operator's command, a zero one if it was not refused.
func refusal(err error) (r operator.Refusal) {
	if got := (*operator.Refusal)(nil); errors.As(err, &got) {
		r = *got
	}
	return r
}

func (w *shopTest) token(user string) string {
	w.t.Helper()
	token, err := w.Token(user, 24*time.Hour)
	must.OK(w.t, err)
	return token
}

// buy requests count units for a user, with a key or without ("").
func (w *shopTest) buy(user, item string, count int, key string) contracttest.Answer {
	w.t.Helper()
	var headers []string
	if key != "" {
		headers = []string{"Idempotency-Key", key}
	}
	return w.call(w.token(user), "POST", "/seckill/buy", map[string]any{"seckill_id": item, "count": count,
		"address": address}, headers...)
}

// bought buys one unit and waits until the order is placed and confirmed in the stock; it returns the order's id and
// pay string.
func (w *shopTest) bought(user, item string) (order, pay string) {
	w.t.Helper()
	a := w.buy(user, item, 1, "")
	if a.Status != 200 {
		w.t.Fatalf("buy: %v", a)
	}
	s := w.awaitState(user, item, seckill.PendingPayment)
	w.waitIdle() // the ledger has the order before consume confirms it to the stock
	return s.Text("order_id"), s.Text("alipay_order")
}

// status returns the state of the user's newest order of the item.
func (w *shopTest) status(user, item string) contracttest.Answer {
	w.t.Helper()
	return w.call(w.token(user), "GET", "/seckill/order/"+item, nil)
}

// awaitState waits until the newest order is in a state; an order in pending_payment must then have a pay string.
func (w *shopTest) awaitState(user, item string, want seckill.State) contracttest.Answer {
	w.t.Helper()
	var a contracttest.Answer
	w.eventually("order "+string(want), func() bool {
		a = w.status(user, item)
		return a.Text("state") == string(want) && (want != seckill.PendingPayment || a.Text("alipay_order") != "")
	}, func() any { return a })
	return a
}

// left returns the number of units left on the item's page.
func (w *shopTest) left(item string) string {
	w.t.Helper()
	n, _ := w.call("", "GET", "/seckill/detail/"+item, nil).JSON["stock"].(json.Number)
	return n.String()
}

// eventually polls until the condition holds, and otherwise fails with the result of last.
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

// pass moves the clock over HTTP, as a tester does, and waits until everything due is done.
func (w *shopTest) pass(d time.Duration) {
	w.t.Helper()
	if a := w.call("", "POST", "/_local/clock",
		map[string]any{"advance_seconds": int(d / time.Second)}); a.Status != 200 {
		w.t.Fatalf("clock: %v", a)
	}
	w.waitIdle() // the call itself waits at most 5 s
}

func (w *shopTest) waitIdle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must.OK(w.t, w.WaitIdle(ctx))
}

// drained waits until the system is idle and checks every guarantee.
func (w *shopTest) drained() {
	w.t.Helper()
	w.waitIdle()
	localtest.Invariants(w.t, w.System, true)
}

package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/seckill"
)

// offer is where a page connects, and its pass.
type offer struct{ url, pass string }

// pageOffer returns where a shopper's page connects.
func (w *shopTest) pageOffer(user string) offer {
	w.t.Helper()
	passes := jwtauth.NewPasses(jwtauth.Keys{Current: local.DefaultSecret}, w.Clock)
	text, _ := passes.Make(user, system.NewIDs(nil).Token())
	return offer{"ws" + strings.TrimPrefix(w.URL(), "http") + "/live", text}
}

// connect opens a page's connection.
func (w *shopTest) connect(o offer) *websocket.Conn {
	w.t.Helper()
	c, status, err := w.dial(o, seckill.PushProtocol, o.pass)
	if err != nil {
		w.t.Fatalf("connect: %d, %v", status, err)
	}
	if c.Subprotocol() != seckill.PushProtocol {
		w.t.Errorf("subprotocol %q", c.Subprotocol())
	}
	return c
}

// dial shakes hands as no browser does.
func (w *shopTest) dial(o offer, protocols ...string) (c *websocket.Conn, status int, err error) {
	w.t.Helper()
	return w.dialFrom(nil, o, protocols...)
}

// dialFrom shakes hands as a page of this origin.
func (w *shopTest) dialFrom(origin []string, o offer, protocols ...string) (c *websocket.Conn, status int, err error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	c, resp, err := websocket.Dial(ctx, o.url, &websocket.DialOptions{HTTPClient: w.http, Subprotocols: protocols,
		HTTPHeader: http.Header{"Origin": origin}})
	if resp != nil {
		status = resp.StatusCode
	}
	if c != nil {
		w.t.Cleanup(func() { _ = c.CloseNow() })
	}
	return c, status, err
}

// hears reads messages until one is of this state.
func (w *shopTest) hears(c *websocket.Conn, order string, want seckill.State) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for {
		_, text, err := c.Read(ctx)
		if err != nil {
			w.t.Fatalf("%s is not heard: %v", want, err)
		}
		var m struct {
			Order string        `json:"order_id"`
			State seckill.State `json:"state"`
		}
		if err := json.Unmarshal(text, &m); err != nil || m.Order != order {
			w.t.Fatalf("heard %s, %v; want order %s", text, err, order)
		}
		if m.State == want {
			return
		}
	}
}

// wantEnd reads until the connection ends and checks how.
func (w *shopTest) wantEnd(c *websocket.Conn, want websocket.StatusCode) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for {
		if _, _, err := c.Read(ctx); err != nil {
			if got := websocket.CloseStatus(err); got != want {
				w.t.Errorf("the connection ended with %d (%v), want %d", got, err, want)
			}
			return
		}
	}
}

// TestWithoutPush: the option takes push away.
func TestWithoutPush(t *testing.T) {
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 5, 1)}, NoPush: true})
	a := w.buy("1001", "7", 1, "")
	if _, ok := a.JSON["push"]; ok || a.Status != http.StatusOK {
		t.Errorf("%v", a)
	}
	w.waitIdle()
	a = w.call(w.token("1001"), "POST", "/order/"+a.Text("order_id")+"/push", nil)
	if a.Text("code") != "not_pushed" {
		t.Errorf("%v", a)
	}
	_, status, err := w.dial(w.pageOffer("1001"), seckill.PushProtocol)
	if err == nil || status != http.StatusNotFound {
		t.Errorf("connect: %d, %v", status, err)
	}
}

// TestPassesThatAreRefused: the handshake of a page without a good pass is refused, and counted.
func TestPassesThatAreRefused(t *testing.T) {
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 5, 1)}})
	used, old := w.pageOffer("1001"), w.pageOffer("1001")
	w.connect(used)
	w.pass(seckill.PassLife)
	fresh := w.pageOffer("1001")
	forged := "1002" + fresh.pass[4:]
	refused := 0
	for name, protocols := range map[string][]string{
		"used": {seckill.PushProtocol, used.pass}, "expired": {seckill.PushProtocol, old.pass},
		"forged":         {seckill.PushProtocol, forged},
		"a token":        {seckill.PushProtocol, w.token("1001")},
		"no pass":        {seckill.PushProtocol},
		"other protocol": {"seckill.v2", fresh.pass}, "the pass alone": {fresh.pass},
		"the pass first": {fresh.pass, seckill.PushProtocol},
		"three":          {seckill.PushProtocol, fresh.pass, "x"},
	} {
		if _, status, err := w.dial(fresh, protocols...); err == nil || status != http.StatusForbidden {
			t.Errorf("%s: %d, %v; want 403", name, status, err)
		}
		refused++
	}
	if n := w.Meter.Refusals()[seckill.Reason(seckill.CodeToken)]; n != refused {
		t.Errorf("%d refusals counted, want %d", n, refused)
	}
	if a := w.call("", "GET", "/live", nil); a.Status != http.StatusUpgradeRequired {
		t.Errorf("without a handshake: %d, want 426", a.Status)
	}
	w.connect(fresh) // no earlier connection has used the pass
}

// TestPagesOfOthersCannotConnect: a handshake from another website is refused, and its pass stays good.
func TestPagesOfOthersCannotConnect(t *testing.T) {
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 5, 1)}})
	o := w.pageOffer("1001")
	for _, c := range []struct {
		origin []string
		status int
	}{
		{[]string{"https://elsewhere.example"}, http.StatusForbidden},
		{[]string{"https://localhost.elsewhere.example"}, http.StatusForbidden},
		{[]string{"null"}, http.StatusForbidden}, {[]string{w.URL(), "null"}, http.StatusForbidden},
		{[]string{w.URL()}, http.StatusSwitchingProtocols},
	} {
		if _, status, err := w.dialFrom(c.origin, o, seckill.PushProtocol, o.pass); status != c.status {
			t.Errorf("a page of %q: %d, %v; want %d", c.origin, status, err, c.status)
		}
	}
	o = w.pageOffer("1001")
	if _, status, err := w.dialFrom([]string{"http://127.0.0.1:1"}, o, seckill.PushProtocol, o.pass); err != nil {
		t.Errorf("a page behind a proxy of this machine: %d, %v", status, err)
	}
}

// TestWhatPagesSend: what a page sends is ignored, unless it is too large.
func TestWhatPagesSend(t *testing.T) {
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 5, 1)}})
	c := w.connect(w.pageOffer("1001"))
	for _, size := range []int{0, 1, 4 << 10} {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", size))); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
	w.hears(c, w.buy("1001", "7", 1, "").Text("order_id"), seckill.PendingPayment)
	large := w.connect(w.pageOffer("1002"))
	wrote := make(chan error, 1)
	go func() { wrote <- large.Write(t.Context(), websocket.MessageBinary, make([]byte, 10<<20)) }()
	w.wantEnd(large, websocket.StatusMessageTooBig)
	<-wrote
	over := w.connect(w.pageOffer("1002"))
	if err := over.Write(t.Context(), websocket.MessageText, make([]byte, 4<<10+1)); err != nil {
		t.Fatal(err)
	}
	w.wantEnd(over, websocket.StatusMessageTooBig)
}

// TestASlowPageIsClosed: a page that does not read is closed, and holds up nothing.
func TestASlowPageIsClosed(t *testing.T) {
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 5, 1)}})
	o := w.pageOffer("1001")
	slow, brisk := w.connect(o), w.connect(w.pageOffer("1001"))
	change := seckill.OrderChange{Order: seckill.Order{ID: "o1", User: "1001", Title: "x",
		History: []seckill.Change{{State: seckill.PendingPayment}}}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for w.Meter.Counts()[seckill.EventPushFailed] == 0 {
		if _, err := w.Push.Changes(ctx, []seckill.OrderChange{change}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := brisk.Read(ctx); err != nil {
			t.Fatalf("the page that reads: %v", err)
		}
	}
	t.Logf("after %d messages", w.Meter.Counts()[seckill.EventPushed])
	w.wantEnd(slow, websocket.StatusPolicyViolation)
	if err := brisk.Ping(brisk.CloseRead(ctx)); err != nil {
		t.Errorf("the page that reads was closed: %v", err)
	}
}

// TestConnectionsEndWithTheSystem: also of a page that does not answer. TestMain checks the goroutines.
func TestConnectionsEndWithTheSystem(t *testing.T) {
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 5, 1)}})
	kind, silent := w.connect(w.pageOffer("1001")), w.connect(w.pageOffer("1002"))
	ended := make(chan error, 1)
	go func() {
		_, _, err := kind.Read(context.Background())
		ended <- err
	}()
	begin := time.Now()
	w.halt()
	if took := time.Since(begin); took > local.MaxClose {
		t.Errorf("close took %v", took)
	}
	if err := <-ended; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the page that answers: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, _, err := silent.Read(ctx); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the page that does not answer: %v", err)
	}
}

package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/your-org/seckill/shared/seckill"
)

// A shopper's pages hear of an order when it is placed and when it is paid. Used and forged passes open nothing, and a
// third page closes the oldest. A connection that ended untold delays neither the pushes to others nor the events.
func testPush(t *testing.T, s *stack) {
	s.needs(t, s.Outputs["PushUrl"] != "", "the stack has no WebSocket API")
	var took time.Duration
	report.timed(t, func() string { return fmt.Sprintf("a placement is heard %v after the request", took) })
	sale := s.sell(t, 5, 3)
	heard, _ := s.listen(t)
	p := sale.shopper(t, newShoppers(1))

	order, offer := p.offered(t, "first")
	oldest := s.connect(t, offer)
	p.await(t, seckill.PendingPayment) // perhaps its row was before the connection, which then does not hear of it
	s.refused(t, "a used pass", offer)
	fresh := p.another(t, order)
	_, rest, _ := strings.Cut(fresh.text, ".")
	s.refused(t, "a forged pass", pass{fresh.url, strconv.FormatInt(p.id+1, 10) + "." + rest})

	second := s.connect(t, fresh)
	asked := time.Now()
	order, _ = p.offered(t, "second")
	second.hears(t, order, seckill.PendingPayment)
	took = time.Since(asked).Round(time.Millisecond)
	oldest.hears(t, order, seckill.PendingPayment)
	third := s.connect(t, p.another(t, order))
	oldest.ends(t)
	if a, err := s.pay(t.Context(), p.await(t, seckill.PendingPayment).Text("alipay_order")); err != nil ||
		a.Status != http.StatusOK {
		t.Fatalf("paying: %v, %v", a, err)
	}
	second.hears(t, order, seckill.Paid)
	third.hears(t, order, seckill.Paid)

	for _, c := range []*page{second, third} {
		if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Errorf("a page leaves: %v", err)
		}
	}
	s.endedUntold(t, strconv.FormatInt(p.id, 10))
	beside := s.connect(t, p.another(t, order))
	order, _ = p.offered(t, "third")
	beside.hears(t, order, seckill.PendingPayment)
	eventually(t, "events of every change", func() string {
		if missing, extra, _ := sale.untold(t, heard); len(missing)+len(extra) > 0 {
			return fmt.Sprintf("%v are not told, %v did not happen", missing, extra)
		}
		return ""
	})
}

// pass is a connect pass, and where a page offers it.
type pass struct{ url, text string }

func passOf(t *testing.T, from map[string]any) (p pass) {
	t.Helper()
	p.url, _ = from["url"].(string)
	if p.text, _ = from["pass"].(string); p.url == "" || p.text == "" {
		t.Fatalf("no pass in %v", from)
	}
	return p
}

// offered makes a purchase that must succeed; it returns the order's id and the answer's pass.
func (p *shopper) offered(t *testing.T, key string) (order string, offer pass) {
	t.Helper()
	a := p.reserved(t, 1, key)
	from, _ := a.JSON["push"].(map[string]any)
	return a.Text("order_id"), passOf(t, from)
}

// another returns another pass for an order of the shopper.
func (p *shopper) another(t *testing.T, order string) pass {
	t.Helper()
	a, err := p.Call(t.Context(), p.token, "POST", "/order/"+order+"/push", nil)
	if err != nil || a.Status != 200 {
		t.Fatalf("another pass: %v, %v", a, err)
	}
	return passOf(t, a.JSON)
}

// page is a page's connection.
type page struct{ *websocket.Conn }

// dial connects as a browser does; status is that of the handshake's answer.
func (s *stack) dial(t *testing.T, offer pass) (c *page, status int, err error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), callTimeout)
	defer stop()
	conn, answer, err := websocket.Dial(ctx, offer.url, &websocket.DialOptions{
		Subprotocols: []string{seckill.PushProtocol, offer.text}}) //nolint:bodyclose // the library closes it
	if answer != nil {
		status = answer.StatusCode
	}
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return &page{conn}, status, err
}

func (s *stack) connect(t *testing.T, offer pass) *page {
	t.Helper()
	c, status, err := s.dial(t, offer)
	if err != nil {
		t.Fatalf("connect: %d, %v", status, err)
	}
	if got := c.Subprotocol(); got != seckill.PushProtocol {
		t.Errorf("subprotocol %q, want %s", got, seckill.PushProtocol)
	}
	return c
}

func (s *stack) refused(t *testing.T, what string, offer pass) {
	t.Helper()
	if _, status, err := s.dial(t, offer); err == nil || status != http.StatusForbidden {
		t.Errorf("%s: %d, %v; want 403", what, status, err)
	}
}

// hears reads until the page is told that an order is in a state.
func (c *page) hears(t *testing.T, order string, want seckill.State) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), callTimeout)
	defer stop()
	for {
		_, text, err := c.Read(ctx)
		if err != nil {
			t.Fatalf("order %s: %s is not heard: %v", order, want, err)
		}
		var m struct {
			Order string        `json:"order_id"`
			State seckill.State `json:"state"`
		}
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("heard %s: %v", text, err)
		}
		if m.Order == order && m.State == want {
			return
		}
	}
}

// ends reads until the connection has ended.
func (c *page) ends(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), callTimeout)
	defer stop()
	for {
		if _, _, err := c.Read(ctx); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the oldest connection stays: %v", err)
			}
			return
		}
	}
}

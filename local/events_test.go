package local_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// consumer takes webhooks on a port of its own. It keeps what it acknowledged, also while it is down.
type consumer struct {
	*testing.T
	addr   string
	server *http.Server

	mu     sync.Mutex
	item   string            // takes no event of another one; "": of all
	fails  int               // percent of posts
	posted map[string]int    // order → sequence of its last post
	kept   map[string]int    // order → events acknowledged
	events map[string]string // event → its body
}

func newConsumer(t *testing.T) *consumer {
	c := &consumer{T: t, posted: map[string]int{}, kept: map[string]int{}, events: map[string]string{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.addr = l.Addr().String()
	l.Close()
	t.Cleanup(c.kill)
	return c
}

func (c *consumer) start() {
	var l net.Listener
	for end := time.Now().Add(patience); l == nil; {
		var err error
		if l, err = net.Listen("tcp", c.addr); err != nil && time.Now().After(end) {
			c.Error(err)
			return
		}
	}
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: patience}
	go func(s *http.Server) { _ = s.Serve(l) }(c.server)
}

// kill closes the port and all connections, also those on which a post is under way.
func (c *consumer) kill() {
	if c.server != nil {
		c.server.Close()
	}
}

func (c *consumer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Webhook-Id")
	order, sequence, err := seckill.ParseEventID(id)
	if c.item != "" && err == nil && seckill.OrderTag(order) != seckill.ItemTag(c.item) {
		return
	}
	body, broken := io.ReadAll(r.Body)
	if broken != nil {
		return // whoever posted it is dead
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || sequence < c.posted[order] || sequence > c.kept[order]+1 {
		c.Errorf("posted %s, %v, after %d; acknowledged are %d", id, err, c.posted[order], c.kept[order])
	}
	c.posted[order] = sequence
	switch n := rand.IntN(100); {
	case n < c.fails/3:
		panic(http.ErrAbortHandler)
	case n < c.fails*2/3:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	c.kept[order], c.events[id] = max(c.kept[order], sequence), string(body)
	if c.fails > 0 && rand.IntN(100) < c.fails/3 {
		panic(http.ErrAbortHandler) // kept, but the shop does not hear of it
	}
}

// heard returns the events that were acknowledged: their bodies, by id.
func (c *consumer) heard() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.events)
}

// all reports whether every entry of every order's history has arrived, and nothing else.
func (c *consumer) all(w *shopTest) bool {
	var orders []seckill.Order
	for _, row := range w.Rows.Dump(ledger.TableOrders) {
		o, err := ledger.OrderChange(nil, row)
		if err != nil {
			c.Fatal(err)
		}
		orders = append(orders, o.Order)
	}
	return differs(orders, c.heard()) == ""
}

// differs compares events, their bodies by id, with the histories of orders; "": they are the same.
func differs(orders []seckill.Order, heard map[string]string) string {
	missing, example := 0, ""
	for i := range orders {
		c := seckill.OrderChange{Order: orders[i]}
		for _, e := range c.Events() {
			switch got, want := heard[e.ID()], string(bus.Encode("seckill", &e)); got {
			case want:
				delete(heard, e.ID())
			case "":
				missing, example = missing+1, e.ID()
			default:
				return fmt.Sprintf("%s was told as %s; what happened is %s", e.ID(), got, want)
			}
		}
	}
	if missing > 0 {
		return fmt.Sprintf("%d changes were not told, such as %s", missing, example)
	}
	for id, body := range heard {
		return fmt.Sprintf("%d events did not happen, such as %s: %s", len(heard), id, body)
	}
	return ""
}

func (c *consumer) failing(percent int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fails = percent
}

// TestEventsOfManyOrders checks that each change of each order reaches a consumer that fails, hangs up and is
// killed at random, in the order of the order's history.
func TestEventsOfManyOrders(t *testing.T) {
	t.Parallel()
	const orders = 200
	c := newConsumer(t)
	c.fails = 20
	w := start(t, local.Options{Items: []seckill.Listing{live("7", orders, 1)}, Events: "http://" + c.addr + "/"})
	c.start()
	ended, restarts := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(restarts)
		for {
			select {
			case <-ended:
				return
			case <-time.After(time.Duration(10+rand.IntN(100)) * time.Millisecond):
				c.kill()
				c.start()
			}
		}
	}()
	var crowd sync.WaitGroup
	for part := range 20 {
		crowd.Go(func() {
			for i := part; i < orders; i += 20 {
				if a := w.buy(user(i), "7", 1, ""); a.status != 200 {
					t.Errorf("shopper %d: %v", i, a)
				}
			}
		})
	}
	crowd.Wait()
	for i := range 20 {
		a := w.awaitState(user(i), "7", seckill.PendingPayment)
		if p := w.payAtCashier(a.text("alipay_order")); p.status != http.StatusOK {
			t.Error(p)
		}
		w.awaitState(user(i), "7", seckill.Paid)
	}
	w.pass(seckill.DefaultHold + 2*time.Minute)
	close(ended)
	<-restarts
	c.failing(0)
	w.eventually("events of every order", func() bool {
		w.Clock.Advance(time.Minute)
		time.Sleep(50 * time.Millisecond)
		return c.all(w)
	}, func() any { return w.Meter.Counts() })
	w.drained()
	if n := w.Meter.Counts(); len(c.kept) != orders || n[seckill.EventGivenUp] != 0 || n[seckill.EventPostFailed] == 0 {
		t.Errorf("%d orders told; %v", len(c.kept), n)
	}
}

// TestEventsInAFile checks that each change is a line, after a line that was cut off, and that an operator tells
// changes again.
func TestEventsInAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(file, []byte(`{"id":"cut`), 0o600); err != nil {
		t.Fatal(err)
	}
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 10, 1)}, Events: file})
	id, pay := w.bought("1001", "7")
	w.payAtCashier(pay)
	w.awaitState("1001", "7", seckill.Paid)
	w.waitIdle()
	if told, err := gives[operator.Told](w, &operator.Tell{Order: id}); err != nil || told.Changes != 2 {
		t.Errorf("tell: %+v, %v", told, err)
	}
	if told, err := gives[operator.Told](w, &operator.Replay{Item: "7", Day: seckill.Day(w.Clock.Now())}); err != nil ||
		told.Changes != 2 {
		t.Errorf("replay: %+v, %v", told, err)
	}
	if out, err := gives[operator.Redelivered](w, &operator.Redeliver{}); err != nil || out.Orders != 0 {
		t.Errorf("redeliver: %+v, %v", out, err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e struct{ ID, Type string }
		if strings.Contains(lines.Text(), "西湖") {
			t.Errorf("an address: %s", lines.Text())
		}
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			got = append(got, strings.TrimPrefix(e.ID, id)+" "+e.Type)
		}
	}
	const once = ".1 order.placed .2 order.paid"
	if s := strings.Join(got, " "); s != once+" "+once+" "+once {
		t.Errorf("got %s, want three times %s", s, once)
	}
}

// TestWithoutEvents checks that a run without a target says so, and still says where to ship.
func TestWithoutEvents(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 10, 1)}})
	id, _ := w.bought("1001", "7")
	_, err := gives[operator.Told](w, &operator.Tell{Order: id})
	if r := refusal(err); !strings.Contains(r.Error(), "--events") {
		t.Errorf("tell: %v, want words about --events", err)
	}
	_, err = gives[operator.Redelivered](w, &operator.Redeliver{})
	if r := refusal(err); !strings.Contains(r.Error(), "--events") {
		t.Errorf("redeliver: %v, want words about --events", err)
	}
	if d, err := gives[operator.Delivery](w, &operator.ReadDelivery{Order: id}); err != nil || d.Address != address {
		t.Errorf("delivery: %+v, %v", d, err)
	}
}

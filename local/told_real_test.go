//go:build real

package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

// consumer takes webhooks on a port of its own. It keeps what it acknowledged, also while it is down.
type consumer struct {
	*testing.T
	addr   string
	server *http.Server

	mu     sync.Mutex
	item   string            // takes no event of another one; "" means every item's
	fails  int               // percent of posts
	posted map[string]int    // order → sequence of its last post
	kept   map[string]int    // order → events acknowledged
	events map[string]string // event → its body
}

func newConsumer(t *testing.T) *consumer {
	c := &consumer{T: t, posted: map[string]int{}, kept: map[string]int{}, events: map[string]string{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
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

// differs compares events, their bodies by id, with the histories of orders. It returns "" if they are the same.
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

// telling is a `seckill run` on real servers that tells what happens, and its shoppers.
type telling struct {
	killable
	item   string
	http   *http.Client
	rows   *dynamoledger.Rows
	served atomic.Int64 // shoppers who are done
}

// tellTo starts a run that tells events to a URL or a file, with as many units of an item of its own. Its queues are
// embedded: on a real one, the messages that a killed run has taken stay hidden for minutes.
func tellTo(t *testing.T, bin, events string, units int) *telling {
	t.Helper()
	dynamo := os.Getenv(dynamotest.Variable)
	if dynamo == "" {
		t.Fatal("no servers: run this by e2e/servers/with.sh")
	}
	dir := t.TempDir()
	w := &telling{item: strconv.FormatInt(time.Now().UnixNano(), 10), // the tables survive the test
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: patience}}
	t.Cleanup(w.http.CloseIdleConnections)
	w.rows = dynamoledger.New(aws.Config{HTTPClient: w.http, Region: "us-east-1", BaseEndpoint: &dynamo,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")},
		dynamoledger.Options{Prefix: "seckill-"})
	items := filepath.Join(dir, "items.json")
	if err := os.WriteFile(items, fmt.Appendf(nil, `[{"id":%q,"title":"茶","price":2,"sk_price":1,"stock":%d,"limit":1,`+
		`"start_time":%q,"end_time":%q}]`, w.item, units, time.Now().Add(-time.Hour).Format(time.RFC3339),
		time.Now().Add(time.Hour).Format(time.RFC3339)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.killable = killable{t: t, bin: bin, args: []string{"run", "--port", "0", "--hold", "20m", "--items", items,
		"--redis", redistest.Start(t).Addr, "--dynamodb", dynamo, "--keys", filepath.Join(dir, "keys"),
		"--events", events}}
	w.start()
	t.Cleanup(func() { w.kill(syscall.SIGTERM) })
	return w
}

// try calls the run, wherever it is at the moment.
func (w *telling) try(token, method, path string, body any, headers ...string) (contracttest.Answer, error) {
	c := contracttest.Client{URL: w.at(), HTTP: w.http}
	return c.Call(context.Background(), token, method, path, body, headers...)
}

// until repeats a call as long as it is not answered, or not as done wants.
func (w *telling) until(done func(contracttest.Answer) bool,
	call func() (contracttest.Answer, error)) contracttest.Answer {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		a, err := call()
		if err == nil && a.Status < 500 && done(a) {
			return a
		}
		if time.Now().After(end) {
			w.t.Errorf("no answer within %v: %v, %v", patience, a, err)
			return a
		}
	}
}

func answered(contracttest.Answer) bool { return true }

// shop makes a shopper buy a unit; of three shoppers one pays, one cancels, one does neither.
func (w *telling) shop(n int) {
	defer w.served.Add(1)
	user := strconv.Itoa(300_000 + n)
	token, err := jwtauth.Sign(local.DefaultSecret, user, time.Now().Add(time.Hour))
	if err != nil {
		w.t.Error(err)
		return
	}
	order := w.until(answered, func() (contracttest.Answer, error) {
		return w.try(token, "POST", "/seckill/buy", map[string]any{"seckill_id": w.item, "count": 1,
			"address": address}, "Idempotency-Key", "k")
	}).Text("order_id")
	if order == "" {
		return // sold out, as far as it knows
	}
	switch n % 3 {
	case 0:
		w.until(func(a contracttest.Answer) bool { return a.Status == 200 }, func() (contracttest.Answer, error) {
			a, err := w.try(token, "GET", "/seckill/order/"+w.item, nil)
			if state := a.Text("state"); err != nil || state == string(seckill.Paid) { // a kill may take the answer
				return a, err
			}
			a, err = cashier(w.try, a.Text("alipay_order"))
			if strings.Contains(a.Raw, `<body class="paid">`) { // before a kill: the shop may hear of it minutes later
				return a, nil
			}
			return a, err
		})
	case 1:
		w.until(func(a contracttest.Answer) bool { return a.Status == 200 }, func() (contracttest.Answer, error) {
			return w.try(token, "POST", "/order/"+order+"/cancel", nil)
		})
	}
}

// sale makes shoppers shop, and kills the run at random moments.
func (w *telling) sale(shoppers, kills int) {
	w.t.Helper()
	var crowd sync.WaitGroup
	for part := range 16 {
		crowd.Go(func() {
			for n := part; n < shoppers; n += 16 {
				w.shop(n)
			}
		})
	}
	for killed := range kills {
		for w.served.Load() < int64((killed+1)*shoppers/(kills+1)) && !w.t.Failed() {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(rand.N(100 * time.Millisecond))
		w.kill(syscall.SIGKILL)
		w.start()
	}
	crowd.Wait()
}

// orders reads all orders from the ledger.
func (w *telling) orders() (out []seckill.Order) {
	w.t.Helper()
	for after := ""; ; {
		page, err := ledger.New(w.rows).OrdersByItem(context.Background(), w.item, after, 500)
		must.OK(w.t, err)
		out = append(out, page.Orders...)
		if after = page.Next; after == "" {
			return out
		}
	}
}

// awaitTold moves the run's clock until no order waits for anything, and what was heard is what happened.
func (w *telling) awaitTold(units int, heard func() map[string]string) {
	w.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if a, err := w.try("", "POST", "/_local/clock", map[string]any{"advance_seconds": 300}); err != nil ||
			a.Status != 200 {
			w.t.Fatal(a, err)
		}
		orders := w.orders()
		wrong, placed, changes := "", 0, 0
		for i := range orders {
			if s := orders[i].State; s == seckill.PendingPayment || s == seckill.Closing {
				wrong = fmt.Sprintf("order %s is %s", orders[i].ID, s)
			}
			if orders[i].State != seckill.Rejected {
				placed++
			}
			changes += len(orders[i].History)
		}
		if wrong == "" {
			wrong = differs(orders, heard())
		}
		if wrong == "" {
			if placed < units {
				w.t.Errorf("%d orders were placed, want %d", placed, units)
			}
			w.t.Logf("%d changes of %d orders", changes, len(orders))
			return
		}
		if time.Now().After(end) {
			w.t.Fatal(wrong)
		}
	}
}

// TestKilledWhileItTells kills `run` at random moments of purchases, payments and cancellations. Each change of each
// order is told all the same, and none that did not happen.
func TestKilledWhileItTells(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "seckill")
	if out, err := exec.Command("go", "build", "-o", bin,
		"github.com/your-org/seckill/cmd/seckill").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// One after the other: a run tells what is due in the ledger, also what another one was told to tell.
	t.Run("webhook", func(t *testing.T) { killedWhileItPosts(t, bin) })
	t.Run("file", func(t *testing.T) { killedWhileItWrites(t, bin) })
}

// killedWhileItPosts has a webhook that fails, hangs up and is killed at random, too. The events of an order arrive one
// after the other.
func killedWhileItPosts(t *testing.T, bin string) {
	const units = 1000
	c := newConsumer(t)
	w := tellTo(t, bin, "http://"+c.addr+"/", units)
	c.item, c.fails = w.item, 20
	c.start()
	over, ended := make(chan struct{}), make(chan int)
	go func() {
		for kills := 0; ; kills++ {
			select {
			case <-over:
				ended <- kills
				return
			case <-time.After(rand.N(time.Second)):
				c.kill()
				c.start()
			}
		}
	}()
	w.sale(units, 8)
	close(over)
	t.Logf("the consumer was killed %d times; %d events arrived in the sale", <-ended, len(c.heard()))
	c.failing(0)
	w.awaitTold(units, c.heard)
}

// killedWhileItWrites has a file, in which a killed run may leave a part of a line.
func killedWhileItWrites(t *testing.T, bin string) {
	const units = 150
	file := filepath.Join(t.TempDir(), "events")
	w := tellTo(t, bin, file, units)
	w.sale(units, 4)
	w.awaitTold(units, func() map[string]string {
		all, err := os.ReadFile(file)
		must.OK(t, err)
		heard := map[string]string{}
		for line := range bytes.SplitSeq(all, []byte("\n")) {
			var e struct {
				ID   string
				Data struct{ Item string }
			}
			if json.Unmarshal(line, &e) == nil && e.Data.Item == w.item {
				heard[e.ID] = string(line)
			}
		}
		return heard
	})
}

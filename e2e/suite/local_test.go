//go:build !e2e

package suite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/demoissuer"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

const patience = time.Minute // how long a poll may take on a busy machine

// stack is the whole system in this process. Each case has its own stack, with its own clock.
type stack struct {
	known
	sys      *local.System
	events   string // the file that has them
	orders   *gate
	closings *gate
	swept    atomic.Bool // expire's schedule finds nothing
	issuer   http.Handler
	staff    map[string][]string // groups by name
}

// TestMain: every system that a case starts is closed by it, without leaving a goroutine. Cases wait most of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(lanes)); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// keys are generated once: a pair takes at least a tenth of a second.
var keys = sync.OnceValue(func() (out [2]fakegateway.KeyPair) {
	for i := range out {
		var err error
		if out[i], err = fakegateway.GenerateKeys(); err != nil {
			panic(err)
		}
	}
	return out
})

// at starts the system that a case runs on.
func at(t *testing.T) *stack {
	t.Helper()
	t.Parallel()
	return start(t, "a secret", keys()[0], keys()[1])
}

func other(t *testing.T) *stack {
	t.Helper()
	return start(t, "a secret", keys()[0], keys()[1])
}

// second starts a system with other secrets.
func (s *stack) second(t *testing.T) *stack {
	t.Helper()
	return start(t, "another secret", keys()[1], keys()[0])
}

func beside(*testing.T) {}

func onlyDeployed(*testing.T) {}

// start runs a system until the test ends; then it checks the ledger's invariants.
func start(t *testing.T, secret string, shop, gateway fakegateway.KeyPair) *stack {
	t.Helper()
	s := &stack{events: filepath.Join(t.TempDir(), "events"), staff: map[string][]string{}}
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.issuer.ServeHTTP(w, r)
	}))
	t.Cleanup(issuer.Close)
	sys, err := local.New(local.Options{Addr: ":0", Hold: maxHold, JWTSecret: secret, Items: []seckill.Listing{},
		ShopKeys: shop, GatewayKeys: gateway, Events: s.events, Version: "e2e",
		Work: seckill.Work{Cost: 10, Tries: 10},
		Staff: oidc.StaffOptions{Groups: oidc.DefaultGroups, Prefix: oidc.DefaultPrefix, WhoClaim: oidc.DefaultWho,
			Scope: oidc.DefaultScope, Options: oidc.Options{
				Clients: []oidc.Client{{Issuer: issuer.URL, ClientID: "office"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.sys, s.secret = sys, secret
	s.description = description{Base: sys.URL(), Redis: "embedded", Limits: "full", Target: "local",
		Outputs: map[string]string{"Hold": maxHold.String(), "PushUrl": "ws" + strings.TrimPrefix(sys.URL(), "http")}}
	var people []demoissuer.Person
	for _, role := range append(seckill.Roles(), "nobody") {
		people = append(people, demoissuer.Person{Name: string(role), User: string(role)})
	}
	if s.issuer, err = demoissuer.New(demoissuer.Options{Issuer: issuer.URL, ClientID: "office", Clock: sys.Clock,
		People: people, Groups: s.staff}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: s.clients()}
	s.Client = &contracttest.Client{URL: s.Base, Observe: report.call,
		HTTP: &http.Client{Timeout: callTimeout, Transport: transport}}
	s.operator = operator.Client{Who: "suite", Call: func(ctx context.Context, event []byte) ([]byte, error) {
		a, err := s.Call(ctx, "", "POST", "/_local/operator", string(event))
		return []byte(a.Raw), err
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		http.DefaultClient.CloseIdleConnections()
		if err := sys.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		localtest.Invariants(t, sys, false)
	})
	s.hook()
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// hook lets cases hold queues and a schedule.
func (s *stack) hook() {
	s.orders, s.closings = &gate{Queue: s.sys.Orders}, &gate{Queue: s.sys.Closings}
	s.sys.Buy.Orders, s.sys.Repair.Orders, s.sys.Expire.Orders = s.orders, s.orders, s.orders
	s.sys.Consume.Closings, s.sys.Shop.Closings, s.sys.Expire.Closings = s.closings, s.closings, s.closings
	s.sys.Expire.Ledger = unswept{s.sys.Ledger, &s.swept}
}

// gate is a queue that can be shut: what is sent meanwhile is in it when it opens.
type gate struct {
	*memory.Queue
	mu   sync.Mutex
	shut bool
	sent []func() error
}

func (g *gate) do(send func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		return send()
	}
	g.sent = append(g.sent, send)
	return nil
}

func (g *gate) Send(ctx context.Context, m seckill.Message, delay time.Duration) error {
	return g.do(func() error { return g.Queue.Send(context.WithoutCancel(ctx), m, delay) })
}

func (g *gate) open(t *testing.T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, send := range g.sent {
		if err := send(); err != nil {
			t.Error(err)
		}
	}
	g.shut, g.sent = false, nil
}

// unswept is a ledger in which expire's schedule finds nothing to do while off is true.
type unswept struct {
	seckill.Ledger
	off *atomic.Bool
}

func (l unswept) DueOrders(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[string], error) {
	if l.off.Load() {
		return seckill.Page[string]{}, nil
	}
	return l.Ledger.DueOrders(ctx, shard, now, after, limit)
}

func (s *stack) queue(name string) *gate {
	if strings.HasPrefix(name, "Orders") || strings.HasPrefix(name, "Consume") {
		return s.orders
	}
	return s.closings
}

// pauseQueue keeps messages from a function until the returned function is called, or the case ends.
func (s *stack) pauseQueue(t *testing.T, function string) (resume func()) {
	t.Helper()
	q := s.queue(function)
	q.mu.Lock()
	q.shut = true
	q.mu.Unlock()
	t.Cleanup(func() { q.open(t) })
	return func() { q.open(t) }
}

// pauseSchedule disables expire's schedule until the case ends.
func (s *stack) pauseSchedule(t *testing.T, _ string) (still func() bool) {
	t.Helper()
	s.swept.Store(true)
	t.Cleanup(func() { s.swept.Store(false) })
	return s.swept.Load
}

// send puts a message on the queue that an output names.
func (s *stack) send(t *testing.T, output, body string) {
	t.Helper()
	q := s.queue(output)
	if err := q.do(func() error { return q.SendRaw([]byte(body), 0) }); err != nil {
		t.Fatal(err)
	}
}

// depth returns a queue's visible messages and those in flight.
func (s *stack) depth(t *testing.T, output string) (visible, inFlight string) {
	t.Helper()
	d, err := s.queue(output).Depth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(d.Visible), strconv.Itoa(d.InFlight)
}

// parked returns the messages in the orders queue's dead-letter queue.
func (s *stack) parked(*testing.T) (bodies []string) {
	for _, m := range s.sys.Orders.Parked() {
		bodies = append(bodies, string(m.Body))
	}
	return bodies
}

// minute runs a step as its schedule does each minute.
func (s *stack) minute(t *testing.T, output string) {
	t.Helper()
	run := map[string]func(context.Context) error{"RepairFunction": s.sys.Repair.Run,
		"RefundFunction": s.sys.Refund.Sweep, "ReconcileFunction": s.sys.Reconcile.Run}[output]
	if err := run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// pass moves the clock, and waits until everything due is done.
func (s *stack) pass(t *testing.T, d time.Duration) {
	t.Helper()
	s.sys.Clock.Advance(d)
	s.idle(t)
}

// advances makes the clock run fast until the case ends.
func (s *stack) advances(t *testing.T) {
	tick, over := time.NewTicker(20*time.Millisecond), make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				s.sys.Clock.Advance(time.Second)
			}
		}
	})
	t.Cleanup(func() {
		tick.Stop()
		close(over)
		done.Wait()
	})
}

func (s *stack) idle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.sys.WaitIdle(ctx); err != nil {
		t.Fatal(err)
	}
}

// balanced waits until the system is idle and checks every guarantee.
func (s *stack) balanced(t *testing.T) {
	t.Helper()
	s.idle(t)
	localtest.Invariants(t, s.sys, true)
}

// table calls each with every row of a table of the ledger.
func (s *stack) table(_ context.Context, name string, each func(*record.Line) error) error {
	for _, row := range s.sys.Rows.Dump(name) {
		if err := each(&record.Line{Table: name, Row: row}); err != nil {
			return err
		}
	}
	return nil
}

// source is what an audit of an item reads.
func (s *stack) source(item string) audit.Source {
	return audit.SourceFunc(func(ctx context.Context, each func(*record.Line) error) error {
		it, err := s.sys.Items.Get(ctx, item)
		if err != nil {
			return err
		}
		return s.sys.Dump(ctx, &it, each)
	})
}

func (s *stack) gateway(*testing.T) *fakegateway.Gateway { return s.sys.Gateway }

// flush makes Redis lose everything.
func (s *stack) flush(context.Context) error {
	s.sys.Redis.Flush()
	return nil
}

// kills says whether a case may kill functions; where nothing can be killed, it runs without.
func (s *stack) kills() bool { return true }

func (s *stack) killOften(*testing.T, string) (stop func() (kills int)) {
	return func() int { return 0 }
}

// listen returns a function that reads all published events: their kinds by id.
func (s *stack) listen(t *testing.T) (heard func() map[string]string, again *int) {
	again = new(int)
	return func() map[string]string {
		text, err := os.ReadFile(s.events)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			var e bus.Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil || strings.Contains(lines.Text(), "address") {
				t.Fatalf("event %s: %v", lines.Text(), err)
			}
			all[e.ID] = e.Type
		}
		return all
	}, again
}

// endedUntold is for stacks whose gateway keeps the connections.
func (s *stack) endedUntold(*testing.T, string) {}

// staffAccounts returns what gives people at the issuer the groups of roles.
func (s *stack) staffAccounts(*testing.T) func(name string, roles ...seckill.Role) {
	return func(name string, roles ...seckill.Role) {
		for _, r := range roles {
			s.staff[name] = append(s.staff[name], "seckill-"+string(r))
		}
	}
}

// atIssuer signs a person in at the issuer's page, and returns where it sends the browser back to.
func (b *staff) atIssuer(page *url.URL, name string) (back *url.URL) {
	b.t.Helper()
	status, text, back := b.send(http.MethodGet, fmt.Sprint(page, "&person=", name), "")
	if back == nil {
		b.t.Fatalf("the issuer's answer: %d %s", status, text)
	}
	return back
}

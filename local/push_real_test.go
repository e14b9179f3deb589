//go:build real

package local_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// Goals for a run with many pages.
const (
	manyPages    = 5000
	manyShoppers = 20_000
	pagesGoal    = 200 << 20 // bytes more than the same run has without them
	pushGoal     = time.Second

	childVariable = "SECKILL_TEST_LIVE_CHILD"
)

// timedWire notes when a push begins: as soon as its row is written.
type timedWire struct {
	seckill.Wire
	mu    sync.Mutex
	began map[string]time.Time // by order
}

func (w *timedWire) Send(ctx context.Context, connection string, e *seckill.OrderEvent) error {
	if e.State == seckill.PendingPayment {
		w.mu.Lock()
		w.began[e.Order] = time.Now()
		w.mu.Unlock()
	}
	return w.Wire.Send(ctx, connection, e)
}

// childReport is what the child says at its end.
type childReport struct {
	RSS, Peak int64
	Placed    int
	Began     map[string]time.Time
}

// TestLiveChild is the other process of TestManyPages: a system until its input ends.
func TestLiveChild(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Skip("started by TestManyPages")
	}
	wire := &timedWire{began: map[string]time.Time{}}
	w := startChanged(t, local.Options{Items: []seckill.Listing{live("7", manyShoppers, 1)}}, func(s *local.System) {
		wire.Wire = s.Push.Wire
		s.Push.Wire = wire
	})
	fmt.Println("URL " + w.URL())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		w.waitIdle()
		u := record.Used()
		wire.mu.Lock()
		report, err := json.Marshal(childReport{u.RSS, u.PeakRSS, w.Meter.Counts()[seckill.EventPlaced], wire.began})
		wire.mu.Unlock()
		must.OK(t, err)
		fmt.Printf("REPORT %s\n", report)
	}
}

// TestManyPages compares a sale to 20,000 shoppers, of whom 5,000 are connected, with a sale without connections.
func TestManyPages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	without, _ := manyPagesSale(t, 0)
	with, delays := manyPagesSale(t, manyPages)
	more := with.Peak - without.Peak
	slices.Sort(delays)
	p99 := delays[len(delays)*99/100]
	t.Logf("%d pages: %d MiB more than %d MiB; push after the row: p50 %v, p99 %v, at most %v", manyPages, more>>20,
		without.Peak>>20, delays[len(delays)/2], p99, delays[len(delays)-1])
	if more > pagesGoal {
		t.Errorf("%d MiB more, want at most %d", more>>20, pagesGoal>>20)
	}
	if p99 > pushGoal {
		t.Errorf("p99 %v, want at most %v", p99, pushGoal)
	}
}

// manyPagesSale runs a sale in a process of its own, and returns what that used and how long after its row each page
// heard of its order.
func manyPagesSale(t *testing.T, pages int) (report childReport, delays []time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestLiveChild$", "-test.v")
	cmd.Env = append(os.Environ(), childVariable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must.OK(t, err)
	out, err := cmd.StdoutPipe()
	must.OK(t, err)
	must.OK(t, cmd.Start())
	lines := bufio.NewReader(out)
	said := func(word string) string {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("the child said no %s: %v", word, err)
			}
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), word+" "); ok {
				return rest
			}
		}
	}
	base := said("URL")
	heard := map[string]time.Time{}
	var mu sync.Mutex
	end := listenAll(t, base, pages, func(order string) {
		mu.Lock()
		defer mu.Unlock()
		if _, again := heard[order]; !again {
			heard[order] = time.Now()
		}
	})
	hammer(t, "127.0.0.1"+base[len("http://localhost"):], purchases(t, sharedSecret{}, "7", manyShoppers), manyShoppers)
	fmt.Fprintln(in, "report")
	must.OK(t, json.Unmarshal([]byte(said("REPORT")), &report))
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		n := len(heard)
		mu.Unlock()
		if n == pages {
			break
		}
	}
	end()
	in.Close()
	_, _ = io.Copy(io.Discard, lines)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child: %v", err)
	}
	if len(heard) != pages || report.Placed != manyShoppers {
		t.Fatalf("%d of %d pages heard of their orders; %d of %d placed", len(heard), pages, report.Placed,
			manyShoppers)
	}
	for order, at := range heard {
		delays = append(delays, at.Sub(report.Began[order]))
	}
	return report, delays
}

// sharedSecret makes tokens of a run in another process.
type sharedSecret struct{}

func (sharedSecret) Token(user string, valid time.Duration) (string, error) {
	return jwtauth.Sign(local.DefaultSecret, user, time.Now().Add(valid))
}

// listenAll connects some shoppers' pages and calls heard for each message with its order, until end is called.
func listenAll(t testing.TB, base string, pages int, heard func(order string)) (end func()) {
	t.Helper()
	passes := jwtauth.NewPasses(jwtauth.Keys{Current: local.DefaultSecret}, system.Clock{})
	ids := system.NewIDs(nil)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var mu sync.Mutex
	var open []*websocket.Conn
	var dialing, listening sync.WaitGroup
	next := make(chan int)
	for range benchConnections {
		dialing.Go(func() {
			for i := range next {
				pass, _ := passes.Make(user(i), ids.Token())
				c, _, err := websocket.Dial(t.Context(), "ws"+base[len("http"):]+"/live", &websocket.DialOptions{
					HTTPClient: client, Subprotocols: []string{seckill.PushProtocol, pass}})
				if err != nil {
					t.Error(err)
					continue
				}
				mu.Lock()
				open = append(open, c)
				mu.Unlock()
				listening.Go(func() {
					for {
						_, text, err := c.Read(context.Background())
						if err != nil {
							return
						}
						var m struct {
							Order string `json:"order_id"`
						}
						if err := json.Unmarshal(text, &m); err != nil {
							t.Error(err)
						}
						heard(m.Order)
					}
				})
			}
		})
	}
	for i := range pages {
		next <- i * (manyShoppers / manyPages)
	}
	close(next)
	dialing.Wait()
	return func() {
		for _, c := range open {
			_ = c.CloseNow()
		}
		listening.Wait()
	}
}

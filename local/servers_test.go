//go:build real

package local_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/redistest"
)

// killable is a `seckill run` process on real servers.
type killable struct {
	t    *testing.T
	bin  string
	args []string
	cmd  *exec.Cmd
	mu   sync.Mutex
	url  string
}

func (k *killable) start() {
	k.t.Helper()
	log, err := os.Create(filepath.Join(k.t.TempDir(), "log"))
	must.OK(k.t, err)
	defer log.Close()
	k.cmd = exec.Command(k.bin, k.args...)
	k.cmd.Stdout, k.cmd.Stderr = log, log
	must.OK(k.t, k.cmd.Start())
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		text, _ := os.ReadFile(log.Name())
		if _, rest, ok := strings.Cut(string(text), "Storefront  "); ok {
			k.mu.Lock()
			k.url, _, _ = strings.Cut(rest, "/\n")
			k.mu.Unlock()
			return
		}
		if time.Now().After(deadline) {
			k.t.Fatalf("it does not start: %s", text)
		}
	}
}

func (k *killable) kill(s syscall.Signal) {
	_ = k.cmd.Process.Signal(s)
	_ = k.cmd.Wait()
}

func (k *killable) at() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.url
}

// TestKilledOnRealServers kills `run` on a real Redis, DynamoDB and SQS at random moments of 500 purchases and
// restarts it; every shopper repeats the request with its key until it is answered. Afterwards the ledger holds what
// was acknowledged, and the stock agrees.
func TestKilledOnRealServers(t *testing.T) {
	const shoppers, stock, kills = 500, 300, 20
	stockServer := redistest.Start(t)
	dynamo, sqs := os.Getenv(dynamotest.Variable), os.Getenv("SECKILL_TEST_SQS")
	if dynamo == "" || sqs == "" {
		t.Fatal("no servers: run this by e2e/servers/with.sh")
	}
	bin := filepath.Join(t.TempDir(), "seckill")
	if out, err := exec.Command("go", "build", "-o", bin,
		"github.com/your-org/seckill/cmd/seckill").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	k := &killable{t: t, bin: bin, args: []string{"run", "--port", "0", "--hold", "24h", "--stock", fmt.Sprint(stock),
		"--redis", stockServer.Addr, "--dynamodb", dynamo, "--sqs", sqs,
		"--keys", t.TempDir()}}
	k.start()
	defer func() { k.kill(syscall.SIGTERM) }()

	ctx, cancel := context.WithTimeout(context.Background(), 12*time.Minute)
	defer cancel()
	defer http.DefaultClient.CloseIdleConnections()
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	orders := map[string]string{} // by user
	slots := make(chan struct{}, 16)
	for n := range shoppers {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			user := fmt.Sprint(50_000 + n)
			token, err := jwtauth.Sign(local.DefaultSecret, user, time.Now().Add(time.Hour))
			if err != nil {
				t.Error(err)
				return
			}
			for ctx.Err() == nil {
				code, order := purchase(ctx, k.at(), token)
				if code == "" { // no answer, or 503: repeat
					time.Sleep(100 * time.Millisecond)
					continue
				}
				mu.Lock()
				answers[code]++
				if order != "" {
					orders[user] = order
				}
				mu.Unlock()
				return
			}
			t.Errorf("shopper %s was never answered", user)
		})
	}
	answered := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range answers {
			n += m
		}
		return n
	}
	for killed := range kills { // spread over the sale, during its work
		for answered() < (killed+1)*shoppers/(kills+1) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(rand.N(20 * time.Millisecond))
		k.kill(syscall.SIGKILL)
		k.start()
	}
	wg.Wait()
	t.Logf("killed %d times; answers %v", kills, answers)
	// A repetition that comes after the item is known to be sold out is refused (ADR 7), so fewer answers than orders
	// are correct.
	if answers["ok"] == 0 {
		t.Errorf("nobody got an order: %v", answers)
	}
	auditServers(t, dynamo, stockServer.Addr, stock, orders)
}

// purchase buys one unit of the live item: "ok" and the order, the code of a refusal, or "" if it must be repeated.
func purchase(ctx context.Context, url, token string) (code, order string) {
	c := contracttest.Client{URL: url, HTTP: http.DefaultClient}
	a, err := c.Call(ctx, token, "POST", "/seckill/buy", map[string]any{"seckill_id": local.DemoLive, "count": 1,
		"address": address}, "Idempotency-Key", "k")
	switch {
	case err != nil || a.Status >= 500:
		return "", ""
	case a.Status == http.StatusOK:
		return "ok", a.Text("order_id")
	}
	return a.Text("code"), ""
}

// auditServers waits until an audit of tables and keys finds nothing broken and every unit sold: after the faults the
// stock agrees with the ledger, at the latest after a drift pass. Then who was promised an order has it, and no other.
func auditServers(t *testing.T, dynamo, redisAddr string, stock int, promised map[string]string) {
	t.Helper()
	ctx := context.Background()
	web := &http.Client{Transport: &http.Transport{}}
	defer web.CloseIdleConnections()
	keys := redis.NewClient(&redis.Options{Addr: redisAddr})
	defer keys.Close()
	sale := &audit.Sale{Item: local.DemoLive, Prefix: "seckill-", Redis: keys,
		DynamoDB: dynamodb.New(dynamodb.Options{HTTPClient: web, Region: "us-east-1", BaseEndpoint: &dynamo,
			Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})}
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Second) {
		report, err := audit.Run(ctx, sale, audit.Options{Item: sale.Item})
		must.OK(t, err)
		var broken []string
		for _, g := range report.Results {
			if g.Verdict == audit.Broken {
				broken = append(broken, fmt.Sprint(g.ID, g.Findings))
			}
		}
		if held := report.Statement.Units.Held; len(broken) == 0 && held == stock {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("after three minutes: %d of %d units sold; broken: %v", held, stock, broken)
		}
	}
	users := map[any]any{}
	if err := audit.ReadTable(ctx, sale.DynamoDB, sale.Prefix, ledger.TableOrders, func(l *record.Line) error {
		if l.Row["item"] == sale.Item {
			if users[l.Row["user"]] != nil {
				t.Errorf("I4 user %s has orders %s and %s", l.Row["user"], users[l.Row["user"]], l.Row["id"])
			}
			users[l.Row["user"]] = l.Row["id"]
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for user, order := range promised {
		if users[user] != order {
			t.Errorf("I11 user %s was promised order %s, the ledger has %q", user, order, users[user])
		}
	}
}

//go:build real

package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisconn"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
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
	if err != nil {
		k.t.Fatal(err)
	}
	defer log.Close()
	k.cmd = exec.Command(k.bin, k.args...)
	k.cmd.Stdout, k.cmd.Stderr = log, log
	if err := k.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
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
	redis := redistest.Start(t)
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
		"--redis", redis.Addr, "--dynamodb", dynamo, "--sqs", sqs,
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
	auditServers(t, dynamo, redis.Addr, stock, orders)
}

// purchase buys one unit of the live item: "ok" and the order, the code of a refusal, or "" if it must be repeated.
func purchase(ctx context.Context, url, token string) (code, order string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/seckill/buy", strings.NewReader(`{"seckill_id":"`+
		local.DemoLive+`","count":1,"address":"杭州市西湖区文三路 1 号"}`))
	if err != nil {
		return "", ""
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Idempotency-Key", "k")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 500 {
		return "", ""
	}
	var answer struct {
		Code  string `json:"code"`
		Order string `json:"order_id"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return "", ""
	}
	if resp.StatusCode == http.StatusOK {
		return "ok", answer.Order
	}
	return answer.Code, ""
}

// auditServers waits until nothing is under way, then compares orders, unit rows, quotas and the stock's units.
func auditServers(t *testing.T, dynamo, redis string, stock int, promised map[string]string) {
	t.Helper()
	ctx := context.Background()
	web := &http.Client{Transport: &http.Transport{}}
	defer web.CloseIdleConnections()
	rows := dynamoledger.New(aws.Config{HTTPClient: web, Region: "us-east-1", BaseEndpoint: &dynamo,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")},
		dynamoledger.Options{Prefix: "seckill-"})
	led := ledger.New(rows)
	run, err := redisconn.New(redisconn.Options{Addrs: []string{redis}})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	st := redisstock.New(run)
	it, err := rows.Items().Get(ctx, local.DemoLive)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Second) {
		l, err := st.Level(ctx, it.ID)
		if err == nil && l.Awaiting == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("L2 after three minutes: %+v, %v", l, err)
		}
	}
	owners := map[int]string{}
	for b := range it.Buckets {
		list, err := led.Units(ctx, it.ID, b)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range list {
			if owners[u.Unit] != "" || u.Unit < 1 || u.Unit > stock {
				t.Errorf("I1 unit %d", u.Unit)
			}
			owners[u.Unit] = u.Order
		}
	}
	users := map[string]string{}
	for after := ""; ; {
		page, err := led.OrdersByItem(ctx, it.ID, after, 200)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Orders {
			if users[o.User] != "" {
				t.Errorf("I4 user %s has orders %s and %s", o.User, users[o.User], o.ID)
			}
			users[o.User] = o.ID
			for _, n := range o.Units {
				if owners[n] != o.ID {
					t.Errorf("I3 order %s lists unit %d, whose row names %q", o.ID, n, owners[n])
				}
				delete(owners, n)
			}
			q, err := led.Quota(ctx, o.User, it.ID)
			if err != nil || q.Units != len(o.Units) || q.Units > it.Limit {
				t.Errorf("I2 user %s: quota %+v, units %v, %v", o.User, q, o.Units, err)
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	for n, o := range owners {
		t.Errorf("I3 unit %d names order %s, which does not list it", n, o)
	}
	for user, order := range promised {
		if users[user] != order {
			t.Errorf("I11 user %s was promised order %s, the ledger has %q", user, order, users[user])
		}
	}
	// Once the faults have ended the stock agrees with the ledger, at the latest after a drift pass.
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Second) {
		held, differ := compare(t, st, led, &it)
		if held == stock && len(differ) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("L3/L4 after three minutes: %d of %d units sold; %v", held, stock, differ)
		}
	}
}

// compare returns how many units the stock holds, and where it differs from the ledger's unit rows.
func compare(t *testing.T, st seckill.Stock, led seckill.Ledger, it *seckill.Item) (held int, differ []string) {
	t.Helper()
	for b := range it.Buckets {
		seen, err := st.Scan(context.Background(), it.ID, b, it.Buckets)
		if err != nil {
			t.Fatal(err)
		}
		list, err := led.Units(context.Background(), it.ID, b)
		if err != nil {
			t.Fatal(err)
		}
		rows := map[int]string{}
		for _, u := range list {
			rows[u.Unit] = u.Order
		}
		for _, s := range seen {
			if s.Holder != rows[s.Unit] || s.Free == (s.Holder != "") {
				differ = append(differ, fmt.Sprintf("number %d: %+v, its row names %q", s.Unit, s, rows[s.Unit]))
			}
			if s.Holder != "" {
				held++
			}
		}
	}
	return held, differ
}

//go:build real

package local_test

import (
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

// TestARunTellsWhatAnEarlierOneDidNot checks that a run on a real ledger tells the changes that an earlier run left
// untold: one order whose delivery was never opened, and one whose endpoint was dead.
func TestARunTellsWhatAnEarlierOneDidNot(t *testing.T) {
	dynamo := os.Getenv("SECKILL_TEST_DYNAMODB")
	if dynamo == "" {
		t.Fatal("no servers: run this by e2e/servers/with.sh")
	}
	item := strconv.FormatInt(time.Now().UnixNano(), 10) // the tables survive the test
	opt := local.Options{Addr: ":0", Keys: t.TempDir(), Items: []seckill.Listing{live(item, 10, 1)},
		Servers: local.Servers{Redis: []string{redistest.Start(t).Addr}, DynamoDB: dynamo}}
	c := newConsumer(t)
	told := func(w *shopTest, orders map[string]int) {
		t.Helper()
		w.eventually("events", func() bool {
			w.Clock.Advance(time.Minute)
			c.mu.Lock()
			defer c.mu.Unlock()
			for id, want := range orders {
				if c.kept[id] != want {
					return false
				}
			}
			return true
		}, func() any { return c.kept })
	}

	w := startKept(t, opt)
	quiet, pay := w.bought("1001", item)
	if a := w.payAtCashier(pay); a.status != http.StatusOK {
		t.Fatal(a)
	}
	w.awaitState("1001", item, seckill.Paid)
	w.halt()

	opt.Events = "http://" + c.addr + "/"
	w = startKept(t, opt)
	dead, _ := w.bought("1002", item)
	w.waitIdle()
	w.halt()
	c.start()

	w = startKept(t, opt)
	told(w, map[string]int{quiet: 2, dead: 1})
}

//go:build real

// Package growth measures the cost of a larger sale: Redis memory per unit, and the time of stage, drift pass and
// rebuild, for stocks of 1,000 to 1,000,000 units sold one by one to as many shoppers. Redis is a real server, the
// ledger the embedded one. It prints a table (make growth).
package growth

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisconn"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/flow/sale/repair"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

var sizes = flag.String("sizes", "1000,10000", "stocks to measure, with commas")

const address = "浙江省杭州市西湖区文三路 1 号 张三 13800000000"

// growingSale is one item on a real Redis and an embedded ledger.
type growingSale struct {
	t      *testing.T
	server *redistest.Server
	stock  *redisstock.Stock
	rows   *memory.Rows
	ledger *ledger.Ledger
	items  *memory.Items
	clock  *memory.Clock
	ids    *system.IDs
	meter  *local.Meter
	stage  *stage.Flow
	repair *repair.Flow
	item   seckill.Item
}

func newGrowingSale(t *testing.T, stock int) *growingSale {
	w := &growingSale{t: t, server: redistest.Start(t), clock: memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0,
		time.UTC)), items: memory.NewItems(), ids: system.NewIDs(nil), meter: local.NewMeter()}
	r, err := redisconn.New(redisconn.Options{Addrs: []string{w.server.Addr}})
	w.must(err)
	t.Cleanup(func() { _ = r.Close() })
	w.stock = redisstock.New(r)
	w.rows = memory.NewRows(memory.RowsOptions{Clock: w.clock})
	w.ledger = ledger.New(w.rows)
	w.item = seckill.Item{ID: "1001", Price: 199_00, Start: w.clock.Now().Add(time.Minute),
		End: w.clock.Now().Add(time.Hour), CreateTime: w.clock.Now(),
		Stock: stock, Limit: 1, Buckets: seckill.BucketsFor(stock), Version: 1, Commodity: seckill.Commodity{ID: "1",
			Title: "手机", Price: 399_00}}
	w.must(w.items.Put(t.Context(), w.item, nil))
	orders := memory.NewQueue(w.clock, memory.QueueOptions{Name: "orders"})
	w.stage = stage.New(stage.Deps{Stock: w.stock, Items: w.items, Clock: w.clock, IDs: w.ids,
		Activities: w.ledger, Blocks: w.ledger})
	w.repair = repair.New(repair.Deps{Stock: w.stock, Ledger: w.ledger, Items: w.items, Orders: orders, Clock: w.clock,
		IDs: w.ids, Meter: w.meter})
	return w
}

func (w *growingSale) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// timed returns the duration of a step.
func (w *growingSale) timed(step func(context.Context) error) time.Duration {
	w.t.Helper()
	begin := time.Now()
	w.must(step(w.t.Context()))
	return time.Since(begin)
}

// used returns the memory that Redis uses for data, in bytes.
func (w *growingSale) used() int {
	w.t.Helper()
	info, _ := w.server.Do(w.t, "INFO", "memory").(string)
	for line := range strings.Lines(info) {
		if n, ok := strings.CutPrefix(line, "used_memory_dataset:"); ok {
			used, err := strconv.Atoi(strings.TrimSpace(n))
			w.must(err)
			return used
		}
	}
	w.t.Fatal("INFO memory names no used_memory_dataset")
	return 0
}

// slowest returns the longest time that one command has blocked the server since the last call, from its slow log.
func (w *growingSale) slowest() (longest time.Duration) {
	w.t.Helper()
	log, _ := w.server.Do(w.t, "SLOWLOG", "GET", -1).([]any)
	for _, e := range log {
		if micros, ok := e.([]any)[2].(int64); ok {
			longest = max(longest, time.Duration(micros)*time.Microsecond)
		}
	}
	w.server.Do(w.t, "SLOWLOG", "RESET")
	return longest
}

// sell reserves and places every unit, one per shopper.
func (w *growingSale) sell() []seckill.Reservation {
	ctx := w.t.Context()
	out := make([]seckill.Reservation, w.item.Stock)
	for i := range out {
		user := strconv.Itoa(1_000_000 + i)
		r := seckill.Request{Order: seckill.KeyedOrderID(w.item.ID, user, "k"), Item: w.item.ID, User: user, Count: 1,
			Given: seckill.Given{Address: address}, Created: w.clock.Now()}
		res, err := w.stock.Reserve(ctx, w.clock.Now(), r, true, 30*time.Second)
		w.must(err)
		if res.Code != seckill.Reserved {
			w.t.Fatalf("shopper %d: %s", i, res.Code)
		}
		out[i] = res.Reservation
	}
	return out
}

func (w *growingSale) place(r *seckill.Reservation) {
	now := w.clock.Now()
	w.must(w.ledger.Place(w.t.Context(), seckill.Order{ID: r.Order, Item: r.Item, User: r.User, Count: r.Count,
		Units: r.Units, Given: seckill.Given{Address: r.Address}, Buckets: w.item.Buckets,
		Amount: w.item.Price, Title: w.item.Commodity.Title, Created: r.Created, Placed: now,
		PayBy: now.Add(15 * time.Minute)}, w.item.Limit))
}

// noise is how many bytes of Redis's data belong to no sale: Redis's own buffers come and go.
const noise = 64 << 10

// TestGrowth sells each stock completely, checks after drift pass and rebuild that stock and ledger agree, and that a
// unit takes no more Redis memory than seckill plan says.
func TestGrowth(t *testing.T) {
	var table strings.Builder
	fmt.Fprintln(&table,
		"| stock = shoppers | stage ms | Redis bytes, all unsold | per queued unit | per placed unit | per returned "+
			"unit | drift pass s | rebuild s | longest script ms |")
	fmt.Fprintln(&table, "|---|---|---|---|---|---|---|---|---|")
	for size := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 || n > seckill.MaxStock {
			t.Fatalf("-sizes %s: want numbers from 1 to %d", *sizes, seckill.MaxStock)
		}
		t.Run(size, func(t *testing.T) { measure(t, n, &table) })
	}
	t.Logf("\n%s", table.String())
}

func measure(t *testing.T, n int, table io.Writer) {
	w := newGrowingSale(t, n)
	w.server.Do(t, "CONFIG", "SET", "slowlog-log-slower-than", 1000, "slowlog-max-len", 100_000)
	staged := w.timed(w.stage.Run)
	whole, _ := w.server.Do(t, "MEMORY", "USAGE", "{"+w.item.ID+"}:item").(int64)
	unsold := w.used()
	w.clock.Advance(2 * time.Minute)
	reservations := w.sell()
	awaiting := w.used()
	for i := range reservations {
		w.place(&reservations[i])
		w.must(w.stock.Confirm(t.Context(), seckill.Verdict{Item: w.item.ID, Order: reservations[i].Order,
			User: reservations[i].User, Units: reservations[i].Units}))
	}
	held := w.used()
	w.slowest()
	drift := w.timed(w.repair.Run)
	longest := w.slowest()
	w.agrees(0)
	w.server.Do(t, "FLUSHALL")
	w.slowest() // frees all keys at once, which our code never does
	rebuild := w.timed(func(ctx context.Context) error { return w.repair.Wake(ctx, seckill.Message{Item: w.item.ID}) })
	longest = max(longest, w.slowest())
	w.agrees(1)
	for i := range reservations {
		r := &reservations[i]
		w.must(w.stock.Return(t.Context(), w.item.ID, r.Order, r.User, r.Units))
	}
	returned := w.used()
	if whole < 1 || whole > plan.BytesInstalled {
		t.Errorf("an item with all its units takes %d bytes in Redis: seckill plan reckons with %d", whole,
			plan.BytesInstalled)
	}
	per := func(what string, bytes, most int) int {
		if bytes > n*most+noise {
			t.Errorf("%s takes %d bytes in Redis for %d units: seckill plan reckons with %d each", what, bytes, n, most)
		}
		return bytes / n
	}
	fmt.Fprintf(table, "| %d | %.1f | %d | %d | %d | %d | %.2f | %.2f | %.1f |\n", n, staged.Seconds()*1e3, whole,
		per("a queued order", awaiting-unsold, plan.BytesAwaiting),
		per("a placed order", held-unsold, plan.BytesConfirmed), per("a returned unit", returned-unsold,
			plan.BytesReturned), drift.Seconds(), rebuild.Seconds(), longest.Seconds()*1e3)
}

// agrees fails the test if a unit is not held as sold, if anything had to be corrected, or if the number of rebuilds
// differs.
func (w *growingSale) agrees(rebuilds int) {
	w.t.Helper()
	l, err := w.stock.Level(w.t.Context(), w.item.ID)
	w.must(err)
	if l.Held != w.item.Stock || l.Left != 0 || l.Awaiting != 0 || l.HighWater != w.item.Stock {
		w.t.Fatalf("the stock has %+v", l)
	}
	if c := w.meter.Counts(); c[seckill.EventDrift] != 0 || c[seckill.EventRebuilt] != rebuilds {
		w.t.Fatalf("counted %v", c)
	}
}

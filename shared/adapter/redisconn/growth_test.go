//go:build real

package redisconn

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"seckill/plan"
	"seckill/shared/adapter/redisconn/redistest"
	"seckill/shared/adapter/redisstock"
	"seckill/shared/seckill"
)

// usedMemory is what a server's data takes, in bytes, as it counts it itself.
func usedMemory(t *testing.T, s *redistest.Server) int64 {
	t.Helper()
	text, _ := s.Do(t, "INFO", "memory").(string)
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "used_memory_dataset:"); ok {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("INFO memory says no used_memory_dataset:\n%s", text)
	return 0
}

// keysMemory is what the item's keys take by MEMORY USAGE, all entries counted.
func keysMemory(t *testing.T, s *redistest.Server, item string) (sum int64) {
	t.Helper()
	for _, k := range []string{"item", "free", "held", "res", "awaiting", "users"} {
		n, _ := s.Do(t, "EXISTS", "{"+item+"}:"+k).(int64)
		if n == 0 {
			continue
		}
		n, _ = s.Do(t, "MEMORY", "USAGE", "{"+item+"}:"+k, "SAMPLES", "0").(int64)
		sum += n
	}
	return sum
}

// TestRealGrowth measures what a unit costs in Redis: unsold, held by an order on its way (awaiting), held by one in the ledger (settled),
// returned. It grows linearly, and no unit takes more than package plan says.
// SECKILL_TEST_GROWTH=6 goes to a million units; it goes to 10,000 otherwise.
func TestRealGrowth(t *testing.T) {
	top := 4
	if v := os.Getenv("SECKILL_TEST_GROWTH"); v != "" {
		var err error
		if top, err = strconv.Atoi(v); err != nil || top < 3 || top > 6 {
			t.Fatalf("SECKILL_TEST_GROWTH=%s: want 3 to 6", v)
		}
	}
	ctx, start := context.Background(), time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	const address = "浙江省杭州市西湖区文三路 398 号东信大厦 1 号楼 1203 室"
	for exp, units := 3, 1000; exp <= top; exp, units = exp+1, units*10 {
		s := redistest.Start(t)
		r := open(t, Options{Addrs: []string{s.Addr}, Timeout: patience}, nil)
		stock := redisstock.New(r)
		it := seckill.Item{ID: "1001", Price: 1, Start: start, End: start.Add(time.Hour), Stock: units, Limit: 1, Buckets: max(16, units/500), Version: 1}
		if err := stock.BuildStart(ctx, start, it.ID, "t"); err != nil {
			t.Fatal(err)
		}
		if err := stock.Install(ctx, it, "t", 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		unsold, base := keysMemory(t, s, it.ID), usedMemory(t, s)
		each := func(f func(request seckill.Request, unit int) error) {
			t.Helper()
			for i := 1; i <= units; i++ {
				user := strconv.Itoa(1_000_000_000 + i)
				q := seckill.Request{Order: seckill.KeyedOrderID(it.ID, user, "k"), Item: it.ID, User: user, Count: 1, Address: address, Created: start}
				if err := f(q, i); err != nil {
					t.Fatal(err)
				}
			}
		}
		per := func() (byKeys, byServer float64) {
			return float64(keysMemory(t, s, it.ID)-unsold) / float64(units), float64(usedMemory(t, s)-base) / float64(units)
		}
		each(func(q seckill.Request, _ int) error {
			res, err := stock.Reserve(ctx, start, q, true, time.Minute)
			if err == nil && res.Code != seckill.Reserved {
				err = fmt.Errorf("reserve: %s", res.Code)
			}
			return err
		})
		awaiting, awaitingUsed := per()
		each(func(q seckill.Request, unit int) error {
			return stock.Settle(ctx, q.Item, q.Order, q.User, []int{unit})
		})
		settled, settledUsed := per()
		each(func(q seckill.Request, unit int) error {
			return stock.Return(ctx, q.Item, q.Order, q.User, []int{unit})
		})
		returned, returnedUsed := per()
		t.Logf("%7d units: unsold %d bytes in all; a unit: awaiting %.0f (by the server's own count %.0f), settled %.0f (%.0f), returned %.0f (%.0f)",
			units, unsold, awaiting, awaitingUsed, settled, settledUsed, returned, returnedUsed)
		for what, bound := range map[string][3]float64{"unsold, all of them": {float64(unsold), float64(unsold), plan.BytesInstalled}, "awaiting": {awaiting, awaitingUsed, plan.BytesAwaiting},
			"settled": {settled, settledUsed, plan.BytesSettled}, "returned": {returned, returnedUsed, plan.BytesReturned}} {
			if most := max(bound[0], bound[1]); most > bound[2] || most < bound[2]/4 {
				t.Errorf("%d units, %s: %.0f bytes, package plan says %.0f at the most", units, what, most, bound[2])
			}
		}
		_ = r.Close()
		s.Kill()
	}
}

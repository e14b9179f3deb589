//go:build real

package redisconn

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	benchConnections = 64
	benchCalls       = 100_000 // per side and round
)

// lastCall records the last script call of a stock.
type lastCall struct {
	*Runner
	script *redisstock.Script
	keys   []string
	args   []string
}

func (l *lastCall) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	l.script, l.keys, l.args = s, keys, args
	return l.Runner.Run(ctx, s, keys, args)
}

// BenchmarkRealReserve sells units one by one to as many users over 64 connections, alternating on one server between
// redisstock and redis-benchmark with the same script and arguments. It reports the median rates and their ratio.
func BenchmarkRealReserve(b *testing.B) {
	s := redistest.Start(b)
	r := open(b, Options{Addrs: []string{s.Addr}}, nil)
	last := &lastCall{Runner: r}
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	it := seckill.Item{ID: "1001", Price: 1, Start: start, End: start.Add(time.Hour), Stock: 1 << 30, Limit: 1,
		Buckets: 16, Version: 1}
	request := func(user string) seckill.Request {
		return seckill.Request{Order: seckill.KeyedOrderID(it.ID, user, "k"), Item: it.ID, User: user, Count: 1,
			Given: seckill.Given{Address: "杭州市西湖区1号"}, Created: start}
	}
	requests := make([]seckill.Request, benchCalls)
	for i := range requests {
		requests[i] = request(fmt.Sprintf("%012d", i))
	}
	stock, ctx := redisstock.New(r), context.Background()
	fresh := func() {
		s.Do(b, "FLUSHALL")
		must.OK(b, stock.BuildStart(ctx, start, it.ID, "t"))
		must.OK(b, stock.Install(ctx, it, "t", 0, 0, 0, 0))
		if res, err := redisstock.New(last).Reserve(ctx, start, request("x"), true, time.Second); err != nil ||
			res.Code != seckill.Reserved {
			b.Fatal(res, err)
		}
	}
	ours := func() float64 {
		var next, bad atomic.Int64
		var wg sync.WaitGroup
		begin := time.Now()
		for range benchConnections {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := next.Add(1) - 1; i < benchCalls; i = next.Add(1) - 1 {
					if res, err := stock.Reserve(ctx, start, requests[i], true, time.Second); err != nil ||
						res.Code != seckill.Reserved {
						bad.Add(1)
					}
				}
			}()
		}
		wg.Wait()
		if bad.Load() > 0 {
			b.Fatalf("%d of %d reservations failed", bad.Load(), benchCalls)
		}
		return benchCalls / time.Since(begin).Seconds()
	}
	theirs := func() float64 {
		host, port, _ := net.SplitHostPort(s.Addr)
		const random = "__rand_int__" // redis-benchmark replaces it by twelve digits
		args := []string{"-h", host, "-p", port, "-c", strconv.Itoa(benchConnections), "-n", strconv.Itoa(benchCalls),
			"-r", "2000000000", "--csv", "EVALSHA", last.script.SHA, strconv.Itoa(len(last.keys))}
		args = append(args, last.keys...)
		for i, a := range last.args {
			switch i {
			case 1: // the order's id, with its usual length
				a = a[:len(a)-len(random)] + random
			case 2: // the user
				a = random
			}
			args = append(args, a)
		}
		out, err := exec.CommandContext(ctx, "redis-benchmark", args...).Output()
		if err != nil {
			b.Fatalf("redis-benchmark: %v (apt-get install redis-tools)", err)
		}
		// The fields are "test","rps" and six latencies; the test's name contains quotes, so count from the end.
		fields := strings.Split(strings.TrimSpace(string(out)), `","`)
		rate, err := strconv.ParseFloat(fields[max(len(fields)-7, 0)], 64)
		if err != nil {
			b.Fatalf("redis-benchmark: %q, %v", out, err)
		}
		return rate
	}
	var mine, his []float64
	for b.Loop() {
		fresh()
		mine = append(mine, ours())
		if l, err := stock.Level(ctx, it.ID); err != nil || l.Held != benchCalls+1 {
			b.Fatalf("held %d, %v; want %d", l.Held, err, benchCalls+1)
		}
		fresh()
		his = append(his, theirs())
		if l, err := stock.Level(ctx, it.ID); err != nil || l.Held < benchCalls*99/100 {
			b.Fatalf("redis-benchmark: held %d, %v; want about %d", l.Held, err, benchCalls+1)
		}
	}
	slices.Sort(mine)
	slices.Sort(his)
	m, h := mine[len(mine)/2], his[len(his)/2]
	b.ReportMetric(m, "reserves/s")
	b.ReportMetric(h, "redis-benchmark/s")
	b.ReportMetric(100*m/h, "%of-redis-benchmark")
}

package memory

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

func TestStock(t *testing.T) {
	drivertest.Stock(t, func(*testing.T) seckill.Stock { return redisstock.New(NewRedis()) })
}

// BenchmarkReserve measures the whole reserve step: arguments, script, table.
func BenchmarkReserve(b *testing.B) {
	ctx := context.Background()
	s := redisstock.New(NewRedis())
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	it := seckill.Item{ID: "1001", Price: 1, Start: start, End: start.Add(time.Hour), Stock: 1 << 30, Limit: 1,
		Buckets: 16, Version: 1}
	must.OK(b, s.BuildStart(ctx, start, it.ID, "t"))
	must.OK(b, s.Install(ctx, it, "t", 0, 0, 0, 0))
	users := make([]seckill.Request, b.N)
	for i := range users {
		u := fmt.Sprint(i)
		users[i] = seckill.Request{Order: seckill.KeyedOrderID(it.ID, u, "k"), Item: it.ID, User: u, Count: 1,
			Given: seckill.Given{Address: "杭州市西湖区1号"}, Created: start}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if res, err := s.Reserve(ctx, start, users[i], true, time.Second); err != nil || res.Code != seckill.Reserved {
			b.Fatal(res, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reserves/s")
}

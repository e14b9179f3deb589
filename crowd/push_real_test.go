//go:build real

package crowd_test

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/crowd"
	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/adapter/redisconn/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

// BenchmarkRealPages compares, in turn in one run, sales of 2,000 units on real servers: to shoppers who leave at once
// ("quiet"), to pages that hear of their orders, and to pages that poll. "of-quiet" is a rate divided by the first one.
func BenchmarkRealPages(b *testing.B) {
	const units = 2000
	redis := redistest.Start(b)
	took, asks, placed := map[string]time.Duration{}, map[string]int{}, map[string]int{}
	for b.Loop() {
		for _, mode := range []string{"quiet", "push", "polls"} {
			items := local.DemoItems(time.Now(), units, 1)[:2]
			items[1].ID = strconv.FormatInt(time.Now().UnixNano(), 10) // servers keep what earlier runs sold
			sys, err := local.New(local.Options{Addr: ":0", Items: items, Servers: local.Servers{
				Redis: []string{redis.Addr}, DynamoDB: os.Getenv("SECKILL_TEST_DYNAMODB")}, Keys: b.TempDir()})
			if err == nil {
				err = sys.Start(b.Context())
			}
			if err != nil {
				b.Fatal(err)
			}
			var began, ended time.Time
			var all sync.WaitGroup
			ctx, stop := context.WithCancel(b.Context())
			all.Go(func() {
				for n := 0; n < units && ctx.Err() == nil; time.Sleep(time.Millisecond) {
					n = sys.Meter.Counts()[seckill.EventPlaced]
					if n > 0 && began.IsZero() {
						began = time.Now()
					}
				}
				ended = time.Now()
				if mode == "quiet" {
					stop() // else the crowd would wait until all orders are closed, as below
				}
			})
			o := options(sys.URL())
			o.Item, o.Shoppers, o.Secret, o.NoPush = items[1].ID, units, local.DefaultSecret, mode == "polls"
			o.Connections, o.Ramp, o.Abandon = 64, 500*time.Millisecond, 1
			o.Watch = func(p crowd.Progress) {
				if p.Placed == units {
					stop()
				}
			}
			if mode == "quiet" {
				o.Patience = 0
			}
			rep, err := crowd.Run(ctx, o)
			if err != nil {
				b.Fatal(err)
			}
			all.Wait()
			stop()
			took[mode] += ended.Sub(began)
			asks[mode] += rep.Push.Polls
			placed[mode] += sys.Meter.Counts()[seckill.EventPlaced]
			if err := sys.Close(context.Background()); err != nil {
				b.Log(err)
			}
		}
	}
	for mode, d := range took {
		rate := float64(placed[mode]) / d.Seconds()
		b.ReportMetric(rate, mode+"/s")
		b.ReportMetric(rate/(float64(placed["quiet"])/took["quiet"].Seconds()), mode+"-of-quiet")
		b.ReportMetric(float64(asks[mode])/float64(placed[mode]), mode+"-asks")
	}
	b.ReportMetric(0, "ns/op")
}

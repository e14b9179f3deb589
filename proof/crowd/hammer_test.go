package crowd_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/crowd"
	"github.com/your-org/seckill/proof/record"
)

// BenchmarkHammered compares what people wait for their purchase (p99) with and without two scripts that send as fast
// as they are answered: one garbage, one purchases with a valid token. Five interleaved pairs; "ratio" is the median
// with scripts divided by that without. Scripts, people and system share this machine, so the ratio has what the
// scripts themselves take of it.
func BenchmarkHammered(b *testing.B) {
	const pairs = 5
	for b.Loop() {
		var p99 [2][]float64
		var sent [2]int64
		var took time.Duration
		for range pairs {
			for with := range 2 {
				ms, n, d := hammered(b, with == 1)
				p99[with] = append(p99[with], ms)
				sent[0] += n[0]
				sent[1] += n[1]
				if with == 1 {
					took += d
				}
			}
		}
		b.Logf("p99 without %v ms, with %v ms", p99[0], p99[1])
		for _, list := range p99 {
			slices.Sort(list)
		}
		b.ReportMetric(p99[0][pairs/2], "p99-ms")
		b.ReportMetric(p99[1][pairs/2], "p99-ms-hammered")
		b.ReportMetric(p99[1][pairs/2]/p99[0][pairs/2], "ratio")
		b.ReportMetric(float64(sent[0])/took.Seconds(), "garbage/s")
		b.ReportMetric(float64(sent[1])/took.Seconds(), "valid/s")
	}
	b.ReportMetric(0, "ns/op")
}

// hammered sends a thousand people within two seconds to a sale of 200 units, and returns the p99 of their purchases
// and what the scripts sent.
func hammered(b *testing.B, scripts bool) (p99 float64, sent [2]int64, took time.Duration) {
	b.Helper()
	sys, err := local.New(local.Options{Addr: ":0", Items: local.DemoItems(time.Now(), 200, 1), Machines: true,
		NoPush: true})
	if err == nil {
		err = sys.Start(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = sys.Close(context.Background()) }()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var all sync.WaitGroup
	var counts [2]atomic.Int64
	if scripts {
		token, err := sys.Token("1001", time.Hour)
		if err != nil {
			b.Fatal(err)
		}
		valid := `{"seckill_id":"` + local.DemoLive + `","count":1,"address":"x"}`
		all.Go(func() { hammer(ctx, sys, 1, "garbage", strings.Repeat("}{", 20), &counts[0]) })
		all.Go(func() { hammer(ctx, sys, 2, token, valid, &counts[1]) })
	}
	o := options(sys.URL())
	o.Shoppers, o.Ramp, o.Secret, o.Key, o.NoPush, o.Connections = 1000, 2*time.Second, local.DefaultSecret, 0, true, 64
	began := time.Now()
	rep, err := crowd.Run(b.Context(), o)
	took = time.Since(began)
	stop()
	all.Wait()
	if err != nil {
		b.Fatal(err)
	}
	for _, a := range rep.Requests.Acts {
		if a.Name == record.ActBuy {
			p99 = a.Latency.P99
		}
	}
	if rep.Count("placed") < 199 || rep.Count("failed") > 0 { // the script may have one
		b.Errorf("%+v", rep.Outcomes)
	}
	return p99, [2]int64{counts[0].Load(), counts[1].Load()}, took
}

// hammer sends the same purchase over one connection from a machine's address until ctx ends.
func hammer(ctx context.Context, sys *local.System, machine int, token, body string, sent *atomic.Int64) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: local.MachineAddr(machine).AsSlice()}}
	request := fmt.Sprintf("POST /seckill/buy HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	for ctx.Err() == nil {
		c, err := dialer.DialContext(ctx, "tcp4", strings.TrimPrefix(sys.URL(), "http://"))
		if err != nil {
			return
		}
		over := context.AfterFunc(ctx, func() { _ = c.Close() })
		in := bufio.NewReader(c)
		for {
			if _, err := c.Write([]byte(request)); err != nil {
				break
			}
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				break
			}
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.Close {
				break
			}
			sent.Add(1)
		}
		over()
		_ = c.Close()
	}
}

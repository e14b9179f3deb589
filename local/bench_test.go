package local_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	benchConnections = 64
	benchShoppers    = 1000
)

// BenchmarkSoldOut alternates in one run between purchases of a sold-out item over loopback connections, and requests
// to a net/http handler that only verifies the same token and answers as many bytes. "ratio" is our time divided by
// the bare handler's.
func BenchmarkSoldOut(b *testing.B) {
	sys, stop := startBench(b, local.Options{Items: []seckill.Listing{live("7", 1, 1)}})
	defer stop()
	requests := purchases(b, sys, "7", benchShoppers)
	auth, err := jwtauth.New(jwtauth.Keys{Current: local.DefaultSecret}, system.Clock{})
	must.OK(b, err)
	answer := bytes.Repeat([]byte("x"), 200)
	bare := &http.Server{ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := auth.User(r.Header.Get("Authorization")[len("Bearer "):]); err != nil {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write(answer)
		})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(b, err)
	go func() { _ = bare.Serve(l) }()
	b.Cleanup(func() { _ = bare.Close() })
	ours := addrOf(sys)
	hammer(b, ours, requests, benchConnections) // sells the unit
	var took [2]time.Duration
	var made uint64
	n := 0
	for b.Loop() {
		const round = 20_000
		before := mallocs()
		took[0] += hammer(b, ours, requests, round)
		made += mallocs() - before
		took[1] += hammer(b, l.Addr().String(), requests, round)
		n += round
	}
	b.ReportMetric(float64(made)/float64(n), "allocs/answer")
	b.ReportMetric(float64(n)/took[0].Seconds(), "answers/s")
	b.ReportMetric(float64(n)/took[1].Seconds(), "bare/s")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}

// startBench starts a system; stop ends it.
func startBench(b *testing.B, o local.Options) (sys *local.System, stop func()) {
	b.Helper()
	o.Addr, o.ShopKeys, o.GatewayKeys = ":0", keyPairs()[0], keyPairs()[1]
	sys, err := local.New(o)
	if err == nil {
		err = sys.Start(b.Context())
	}
	must.OK(b, err)
	return sys, func() {
		if err := sys.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}
}

func addrOf(s *local.System) string { return "127.0.0.1" + s.URL()[len("http://localhost"):] }

// tokens makes access tokens, as a System does.
type tokens interface {
	Token(user string, valid time.Duration) (string, error)
}

// purchases returns the raw requests of n shoppers for one unit of an item each.
func purchases(b testing.TB, s tokens, item string, n int) [][]byte {
	b.Helper()
	out := make([][]byte, n)
	for i := range out {
		token, err := s.Token(user(i), time.Hour)
		must.OK(b, err)
		body := fmt.Sprintf(`{"seckill_id":%q,"count":1,"address":%q}`, item, address)
		out[i] = fmt.Appendf(nil,
			"POST /seckill/buy HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: "+
				"application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	}
	return out
}

// hammer sends n requests over some connections, each of which waits for its answers, and returns the time that took.
func hammer(b testing.TB, addr string, requests [][]byte, n int) time.Duration {
	var next atomic.Int64
	var clients sync.WaitGroup
	begin := time.Now()
	for range benchConnections {
		clients.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				b.Error(err)
				return
			}
			defer c.Close()
			in := bufio.NewReader(c)
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if _, err := c.Write(requests[i%int64(len(requests))]); err != nil {
					b.Error(err)
					return
				}
				if err := skipAnswer(in); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	return time.Since(begin)
}

// mallocs returns the process's number of allocations so far; the clients here make few.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

var lengthHeader = []byte("Content-Length: ")

// skipAnswer reads one answer, whose status is 200 or 409.
func skipAnswer(in *bufio.Reader) error {
	length := -1
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = textproto.TrimBytes(line)
		switch {
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) && !bytes.HasPrefix(line, []byte("HTTP/1.1 409")):
			return fmt.Errorf("answered %s", line)
		case len(line) == 0:
			_, err := in.Discard(length)
			return err
		}
		if v, ok := bytes.CutPrefix(line, lengthHeader); ok {
			if length, err = strconv.Atoi(string(v)); err != nil {
				return err
			}
		}
	}
}

// BenchmarkPlaced sells 20,000 units to as many shoppers and waits until every order is placed: the cost of one
// purchase from its request to its row.
func BenchmarkPlaced(b *testing.B) { benchmarkPlaced(b, 20_000, local.Servers{}) }

func benchmarkPlaced(b *testing.B, n int, servers local.Servers) {
	var took time.Duration
	var made uint64
	for b.Loop() {
		b.StopTimer()
		item := strconv.FormatInt(time.Now().UnixNano(), 10) // servers keep what earlier runs sold
		sys, stop := startBench(b, local.Options{Items: []seckill.Listing{live(item, n, 1)}, Servers: servers})
		requests := purchases(b, sys, item, n)
		b.StartTimer()
		begin, before := time.Now(), mallocs()
		hammer(b, addrOf(sys), requests, n)
		must.OK(b, sys.WaitIdle(b.Context()))
		took += time.Since(begin)
		made += mallocs() - before
		b.StopTimer()
		if placed := sys.Meter.Counts()[seckill.EventPlaced]; placed != n {
			b.Fatalf("%d placed", placed)
		}
		stop()
		b.StartTimer()
	}
	b.ReportMetric(float64(made)/float64(n*b.N), "allocs/order")
	b.ReportMetric(float64(n*b.N)/took.Seconds(), "placed/s")
	b.ReportMetric(0, "ns/op")
}

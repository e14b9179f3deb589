//go:build real

package redisconn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

func open(t testing.TB, o Options, c *tls.Config) *Runner {
	t.Helper()
	r := must.Get(newRunner(o, c, plainDial))
	t.Cleanup(func() { r.Close() })
	return r
}

// tagged gives a Runner its own keys: the conformance cases all use one item and run concurrently. The tag is a
// prefix, so that the cases spread over a cluster's slots.
type tagged struct {
	redisstock.Runner
	tag string
}

func (r tagged) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	own := make([]string, len(keys))
	for i, k := range keys {
		own[i] = "{" + r.tag + k[1:]
	}
	return r.Runner.Run(ctx, s, own, args)
}

func conformance(t *testing.T, r *Runner) {
	drivertest.Stock(t, func(t *testing.T) seckill.Stock { return redisstock.New(tagged{r, t.Name()}) })
}

func TestRealStock(t *testing.T) {
	conformance(t, open(t, Options{Addrs: []string{redistest.Start(t).Addr}, Timeout: patience}, nil))
}

func TestRealStockCluster(t *testing.T) {
	nodes := redistest.StartCluster(t, 3)
	t.Run("cases", func(t *testing.T) {
		conformance(t, open(t, Options{Addrs: []string{nodes[0].Addr}, Cluster: true, Timeout: patience}, nil))
	})
	for i, s := range nodes {
		if n := s.Do(t, "DBSIZE"); n == int64(0) {
			t.Errorf("node %d has no key: the cases did not spread", i)
		}
	}
}

// TestRealStockAsTheCachesUser checks that the permissions in infra/cache.yaml suffice for the stock, on one server
// and on a cluster, and that there are no others.
func TestRealStockAsTheCachesUser(t *testing.T) {
	text, err := os.ReadFile("../../../infra/cache.yaml")
	check(t, err)
	m := regexp.MustCompile(`(?s)UserName: seckill\s+AccessString: "(.*?)"`).FindSubmatch(text)
	if m == nil {
		t.Fatal("infra/cache.yaml has no AccessString of a user seckill")
	}
	rights := append([]string{"ACL", "SETUSER", "seckill", ">secret"}, strings.Fields(string(m[1]))...)
	user := Options{Username: "seckill", Password: "secret", Timeout: patience}
	grant := func(t *testing.T, servers ...*redistest.Server) {
		t.Helper()
		for _, s := range servers {
			words := make([]any, len(rights))
			for i, w := range rights {
				words[i] = w
			}
			s.Do(t, words...)
		}
	}
	t.Run("server", func(t *testing.T) {
		s := redistest.Start(t)
		grant(t, s)
		o := user
		o.Addrs = []string{s.Addr}
		r := open(t, o, nil)
		conformance(t, r)
		check(t, r.Ping(t.Context()))
		if n := r.Look(t.Context()); len(n) != 1 || n[0].Fault+n[0].Refused != "" {
			t.Errorf("%+v", n)
		}
		for _, words := range [][]any{{"FLUSHALL"}, {"KEYS", "*"}, {"DEL", "{a}:x"}, {"CONFIG", "GET", "*"},
			{"SET", "{a}:x", "1"}, {"HGET", "a", "x"}, {"ACL", "LIST"}} {
			if err := r.client.Do(t.Context(), words...).Err(); err == nil ||
				!strings.HasPrefix(err.Error(), "NOPERM") {
				t.Errorf("%v: %v, want NOPERM", words, err)
			}
		}
	})
	t.Run("cluster", func(t *testing.T) {
		nodes := redistest.StartCluster(t, 3)
		grant(t, nodes...)
		o := user
		o.Addrs, o.Cluster = []string{nodes[0].Addr}, true
		conformance(t, open(t, o, nil))
	})
}

func TestRealStockTLSAndPassword(t *testing.T) {
	dir := t.TempDir()
	pool := certificate(t, dir)
	plain := redistest.Start(t) // finds a free port and releases it
	plain.Kill()
	_, port, err := net.SplitHostPort(plain.Addr)
	must.OK(t, err)
	redistest.Start(t, "--port", "0", "--tls-port", port, "--tls-cert-file", filepath.Join(dir, "cert.pem"),
		"--tls-key-file",
		filepath.Join(dir, "key.pem"), "--tls-auth-clients", "no", "--user", "shop", "on", "+@all", "~*", ">secret",
		"--requirepass", "other")
	o := Options{Addrs: []string{"127.0.0.1:" + port}, TLS: true, Username: "shop", Password: "secret",
		Timeout: patience}
	t.Run("cases", func(t *testing.T) {
		conformance(t, open(t, o, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}))
	})
	t.Run("closed while idle", func(t *testing.T) {
		killed(t, o, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})
	})
	ctx := context.Background()
	for name, c := range map[string]struct {
		change func(o *Options)
		pool   *x509.CertPool
		want   string
	}{
		"the default user":   {func(o *Options) { o.Username, o.Password = "", "other" }, pool, ""},
		"wrong password":     {func(o *Options) { o.Password = "other" }, pool, "WRONGPASS"},
		"no password":        {func(o *Options) { o.Username, o.Password = "", "" }, pool, "NOAUTH"},
		"unknown authority":  {func(*Options) {}, x509.NewCertPool(), "unknown authority"},
		"another name":       {func(o *Options) { o.Addrs = []string{"localhost:" + port} }, pool, "localhost"},
		"cluster mode to it": {func(o *Options) { o.Cluster = true }, pool, "cluster support disabled"},
	} {
		o := o
		c.change(&o)
		soon(t, name, func() {
			_, err := open(t, o, &tls.Config{RootCAs: c.pool, MinVersion: tls.VersionTLS12}).Run(ctx, count, keys, nil)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		})
	}
}

// killed closes the connections of one Runner from another Runner, as a server does that closes idle connections.
func killed(t *testing.T, o Options, c *tls.Config) {
	t.Helper()
	ctx, r := context.Background(), open(t, o, c)
	for range 3 {
		if _, err := r.Run(ctx, add, keys, []string{"1"}); err != nil {
			t.Errorf("after idle connections were closed: %v", err)
		}
		check(t, open(t, o, c).client.Do(ctx, "CLIENT", "KILL", "TYPE", "normal").Err())
	}
}

// certificate writes a self-signed certificate for 127.0.0.1 into dir.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redis"},
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der := must.Get(x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key))
	keyDER := must.Get(x509.MarshalPKCS8PrivateKey(key))
	pool := x509.NewCertPool()
	for name, b := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem": {Type: "PRIVATE KEY", Bytes: keyDER}} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600))
	}
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return pool
}

// TestRealOutages checks that a server which is gone, silent, read-only, full or loading is an error within 1.2 s,
// and that calls succeed again after it recovers.
func TestRealOutages(t *testing.T) {
	for _, c := range []struct {
		name       string
		hurt, heal func(t *testing.T, s *redistest.Server)
		want       string // part of the error; "" if the network makes its text
	}{
		{"killed", func(_ *testing.T, s *redistest.Server) {
			s.Kill()
		}, func(t *testing.T, s *redistest.Server) { s.Run(t) }, "refused"},
		{"silent", func(t *testing.T, s *redistest.Server) { check(t, s.Pause()) },
			func(t *testing.T, s *redistest.Server) { check(t, s.Resume()) }, ""},
		{"read-only", func(t *testing.T, s *redistest.Server) { s.Do(t, "REPLICAOF", "127.0.0.1", "1") },
			func(t *testing.T, s *redistest.Server) { s.Do(t, "REPLICAOF", "NO", "ONE") }, "READONLY"},
		{"read-only, without stale data", func(t *testing.T, s *redistest.Server) {
			s.Do(t, "CONFIG", "SET", "replica-serve-stale-data", "no")
			s.Do(t, "REPLICAOF", "127.0.0.1", "1")
		}, func(t *testing.T, s *redistest.Server) { s.Do(t, "REPLICAOF", "NO", "ONE") }, "MASTERDOWN"},
		{"full", func(t *testing.T, s *redistest.Server) { s.Do(t, "CONFIG", "SET", "maxmemory", "1") },
			func(t *testing.T, s *redistest.Server) { s.Do(t, "CONFIG", "SET", "maxmemory", "0") }, "OOM"},
		{"password set", func(t *testing.T, s *redistest.Server) {
			s.Do(t, "CONFIG", "SET", "requirepass", "x")
			// Force a reconnection, as after a failover: open connections keep working.
			c := redis.NewClient(&redis.Options{Addr: s.Addr, Password: "x"})
			defer c.Close()
			check(t, c.Do(context.Background(), "CLIENT", "KILL", "TYPE", "normal").Err())
		}, func(t *testing.T, s *redistest.Server) {
			c := redis.NewClient(&redis.Options{Addr: s.Addr, Password: "x"})
			defer c.Close()
			check(t, c.Do(context.Background(), "CONFIG", "SET", "requirepass", "").Err())
		}, "NOAUTH"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := redistest.Start(t)
			r := open(t, Options{Addrs: []string{s.Addr}}, nil)
			ctx := context.Background()
			must.Get(r.Run(ctx, add, keys, []string{"1"}))
			c.hurt(t, s)
			for range 3 {
				soon(t, c.name, func() {
					v, err := r.Run(ctx, add, keys, []string{"1"})
					if err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("answered %v, %v; want %q", v, err, c.want)
					}
				})
			}
			c.heal(t, s)
			recovered(t, r)
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	must.OK(t, err)
}

// TestRealLoading checks that a server answers LOADING while it reads its file, and runs scripts after it.
func TestRealLoading(t *testing.T) {
	s := redistest.Start(t, "--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024")
	fill := redisstock.NewScript("fill",
		"for i = 1, 3000 do redis.call('HSET', KEYS[1] .. i, 'f', string.rep('x', 100)) end")
	ctx, o := context.Background(), Options{Addrs: []string{s.Addr}, Timeout: patience}
	must.Get(open(t, o, nil).Run(ctx, fill, keys, nil))
	s.Do(t, "SAVE")
	s.Kill()
	s.Run(t)
	r := open(t, o, nil)
	soon(t, "while loading", func() {
		if v, err := r.Run(ctx, add, keys, []string{"1"}); !redis.HasErrorPrefix(err, "LOADING") {
			t.Errorf("while loading: %v, %v", v, err)
		}
	})
	recovered(t, r)
}

// TestRealClusterNodeLost checks that with one of three nodes gone, its items' scripts are errors within 1.2 s and
// the others' run; once the slots have another owner, they run again.
func TestRealClusterNodeLost(t *testing.T) {
	nodes := redistest.StartCluster(t, 3)
	for _, s := range nodes {
		s.Do(t, "CONFIG", "SET", "cluster-require-full-coverage", "no")
	}
	r := open(t, Options{Addrs: []string{nodes[0].Addr, nodes[1].Addr}, Cluster: true, Timeout: patience}, nil)
	ctx := context.Background()
	key := map[int][]string{} // one key per node
	for i := 0; len(key) < 3; i++ {
		k := fmt.Sprintf("{%d}:item", i)
		slot := int(nodes[0].Do(t, "CLUSTER", "KEYSLOT", k).(int64))
		key[slot*3/16384] = []string{k}
	}
	for _, k := range key {
		must.Get(r.Run(ctx, add, k, []string{"1"}))
	}
	lost := nodes[2].Do(t, "CLUSTER", "MYID")
	nodes[2].Kill()
	for range 3 {
		soon(t, "on the lost node", func() {
			if v, err := r.Run(ctx, add, key[2], []string{"1"}); err == nil {
				t.Errorf("on the lost node: %v", v)
			}
		})
		for i := range 2 {
			if _, err := r.Run(ctx, add, key[i], []string{"1"}); err != nil {
				t.Errorf("on node %d: %v", i, err)
			}
		}
	}
	// Like a failover: the survivors agree that the first has the slots now.
	for _, s := range nodes[:2] {
		s.Do(t, "CLUSTER", "FORGET", lost)
	}
	nodes[0].Do(t, "CLUSTER", "ADDSLOTSRANGE", 2*16384/3, 16383)
	for end := time.Now().Add(patience); ; {
		v, err := r.Run(ctx, add, key[2], []string{"1"})
		if err == nil {
			if v != int64(1) {
				t.Errorf("the new owner answers %v, want 1: it has none of the lost node's keys", v)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no answer from the new owner: %v", err)
		}
	}
}

// TestRealClusterMove checks that while a slot moves to another node, under load, no call is lost or executed twice:
// each counts once or is an error, and afterwards the new node has all of them.
func TestRealClusterMove(t *testing.T) {
	nodes := redistest.StartCluster(t, 3)
	r := open(t, Options{Addrs: []string{nodes[0].Addr}, Cluster: true, Timeout: patience}, nil)
	ctx := context.Background()
	slot := nodes[0].Do(t, "CLUSTER", "KEYSLOT", keys[0]).(int64)
	from := nodes[slot*3/16384]
	to := nodes[(slot*3/16384+1)%3]
	fromID, toID := from.Do(t, "CLUSTER", "MYID"), to.Do(t, "CLUSTER", "MYID")

	var mu sync.Mutex
	done, failed := 0, 0
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := r.Run(ctx, add, keys, []string{"1"})
				mu.Lock()
				if err == nil {
					done++
				} else {
					failed++
				}
				mu.Unlock()
			}
		}()
	}
	wait := func(n int) {
		t.Helper()
		mu.Lock()
		want := done + n
		mu.Unlock()
		for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			mu.Lock()
			ok := done >= want
			mu.Unlock()
			if ok {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("no call succeeds any more")
			}
		}
	}
	wait(200)
	to.Do(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", fromID)
	from.Do(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", toID)
	wait(200)
	host, port, err := net.SplitHostPort(to.Addr)
	check(t, err)
	from.Do(t, "MIGRATE", host, port, keys[0], 0, 1000)
	wait(200) // through ASK
	for _, s := range []*redistest.Server{to, from, nodes[0], nodes[1], nodes[2]} {
		s.Do(t, "CLUSTER", "SETSLOT", slot, "NODE", toID)
	}
	wait(200) // through MOVED, then directly
	close(stop)
	wg.Wait()
	v, err := r.Run(ctx, add, keys, []string{"0"})
	check(t, err)
	if v != int64(done) || failed > 0 {
		t.Errorf("%d calls succeeded, %d failed; the counter says %v", done, failed, v)
	}
}

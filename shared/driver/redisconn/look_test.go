package redisconn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/redisconn"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

func TestLook(t *testing.T) {
	t.Parallel()
	const info = "# Server\r\nredis_version:7.2.4\r\n\r\n# " +
		"Memory\r\nused_memory:900\r\nmaxmemory:1000\r\nmaxmemory_policy:noeviction\r\n# " +
		"Stats\r\nevicted_keys:3\r\nrole:master\r\n"
	for _, cluster := range []bool{false, true} {
		f := redistest.NewFake(t, memory.NewRedis())
		f.Owner(f.Addr)
		r := must.Get(redisconn.New(redisconn.Options{Addrs: []string{f.Addr}, Cluster: cluster}))
		t.Cleanup(func() { _ = r.Close() })

		f.SetInfo("")
		n := r.Look(t.Context())
		if len(n) != 1 || n[0].Fault != "" || !strings.Contains(n[0].Refused, "unknown command") ||
			time.Since(n[0].Time).Abs() > time.Minute {
			t.Errorf("cluster %t, INFO refused: %+v", cluster, n)
		}
		f.SetInfo(info)
		n = r.Look(t.Context())
		if len(n) != 1 {
			t.Fatalf("cluster %t: %+v, want one node", cluster, n)
		}
		got := n[0]
		got.Time, got.TookMS = time.Time{}, 0
		if want := (seckill.CacheNode{Address: f.Addr, Version: "7.2.4", Role: "master", Policy: "noeviction",
			Limit: 1000, Used: 900, Evictions: 3}); got != want {
			t.Errorf("cluster %t: %+v\nwant %+v", cluster, got, want)
		}
	}
}

func TestLookAtNothing(t *testing.T) {
	t.Parallel()
	for _, cluster := range []bool{false, true} {
		r, err := redisconn.New(redisconn.Options{Addrs: []string{"127.0.0.1:1"}, Cluster: cluster,
			Timeout: time.Minute})
		must.OK(t, err)
		t.Cleanup(func() { _ = r.Close() })
		if n := r.Look(t.Context()); len(n) != 1 || !strings.Contains(n[0].Fault, "refused") {
			t.Errorf("cluster %t: %+v, want one fault", cluster, n)
		}
	}
}

//go:build real

package redisconn

import (
	"testing"
	"time"

	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRealLook checks that a server reports everything, and of a cluster each master; one that refuses INFO still
// reports the time.
func TestRealLook(t *testing.T) {
	s := redistest.Start(t, "--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru")
	check := func(n seckill.CacheNode, policy string, limit int64) {
		t.Helper()
		if n.Fault != "" || n.Refused != "" || n.Version == "" || n.Role != "master" || n.Policy != policy ||
			n.Limit != limit || n.Used == 0 || time.Since(n.Time).Abs() > time.Minute {
			t.Errorf("%+v, want policy %s, limit %d", n, policy, limit)
		}
	}
	r := open(t, Options{Addrs: []string{s.Addr}, Timeout: patience}, nil)
	if n := r.Look(t.Context()); len(n) != 1 {
		t.Errorf("%+v, want one", n)
	} else {
		check(n[0], "allkeys-lru", 64<<20)
	}
	s.Do(t, "ACL", "SETUSER", "default", "-info")
	if n := r.Look(t.Context()); len(n) != 1 || n[0].Fault != "" || n[0].Refused == "" || n[0].Policy != "" {
		t.Errorf("INFO refused: %+v", n)
	}

	nodes := redistest.StartCluster(t, 3)
	all := open(t, Options{Addrs: []string{nodes[0].Addr}, Cluster: true, Timeout: patience}, nil).Look(t.Context())
	if len(all) != 3 {
		t.Errorf("%+v, want three", all)
	}
	for _, n := range all {
		check(n, "noeviction", 0)
	}
}

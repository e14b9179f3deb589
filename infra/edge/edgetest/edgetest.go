// Package edgetest starts the stand-in for the CDN in tests. In: the API's address and key. Out: the shop's address. It
// runs nginx until the test's end.
package edgetest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/your-org/seckill/infra/edge"
)

// Start starts a stand-in in front of an API, on a free port, and returns its address. It has limits of its floods, if
// any are given.
func Start(t *testing.T, origin, key string, limits ...int) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends at once
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	StartAt(t, l.Addr().String(), origin, key, limits...)
	return "http://" + l.Addr().String()
}

// StartAt starts a stand-in that listens on a host:port. Without nginx it skips the test, except by `make edge`.
func StartAt(t *testing.T, listen, origin, key string, limits ...int) {
	t.Helper()
	if _, err := exec.LookPath("nginx"); err != nil {
		if os.Getenv("SECKILL_TEST_EDGE") != "" {
			t.Fatal(err)
		}
		t.Skip("nginx is missing: apt-get install nginx libnginx-mod-http-js")
	}
	s := edge.StandIn{Listen: listen, Origin: origin, Key: key, Limits: limits,
		Dir: t.TempDir()}
	ctx, cancel := context.WithCancel(context.Background())
	ended, err := s.Start(ctx)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

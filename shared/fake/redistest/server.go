package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// startLimit is how long a server may take to start, on a busy machine.
const startLimit = time.Minute

// Server is a redis-server process on a loopback port.
type Server struct {
	Addr string
	dir  string
	args []string
	cmd  *exec.Cmd
}

// Binary returns the path of redis-server: $REDIS_SERVER, or the one on PATH. Without one it fails the test with one
// line.
func Binary(t testing.TB) string {
	t.Helper()
	name := os.Getenv("REDIS_SERVER")
	if name == "" {
		name = "redis-server"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v: apt-get install redis-server, or set REDIS_SERVER to its path", err)
	}
	return path
}

// Start runs a redis-server with these additional settings ("--requirepass", "x") until the test ends. It starts
// empty and stores nothing on disk.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := &Server{Addr: freeAddr(t), dir: t.TempDir(), args: args}
	s.Run(t)
	t.Cleanup(func() { s.stop(syscall.SIGKILL) })
	return s
}

// Run starts the process, again after Kill, and waits until it accepts connections. Its earlier data are lost.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.Addr)
	args := append([]string{"--port", port, "--bind", host, "--save", "", "--appendonly", "no", "--dir", s.dir,
		"--logfile", filepath.Join(s.dir, "log"), "--loglevel", "warning"}, s.args...)
	s.cmd = exec.CommandContext(context.Background(), Binary(t), args...)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(startLimit); ; {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", s.listening())
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			t.Fatalf("redis-server %v: %v\n%s", s.args, err, log)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// listening returns the address that answers: with --tls-port the plain one is closed.
func (s *Server) listening() string {
	for i, a := range s.args {
		if a == "--tls-port" {
			return net.JoinHostPort("127.0.0.1", s.args[i+1])
		}
	}
	return s.Addr
}

// Kill ends the process at once, like a crash.
func (s *Server) Kill() { s.stop(syscall.SIGKILL) }

// Pause suspends the process until Resume: connections stay open and nothing answers.
func (s *Server) Pause() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume continues a paused process.
func (s *Server) Resume() error { return s.cmd.Process.Signal(syscall.SIGCONT) }

func (s *Server) stop(sig syscall.Signal) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(sig)
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Do runs one command on the server itself, bypassing the Runner under test.
func (s *Server) Do(t testing.TB, words ...any) any {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr, Protocol: 2, DisableIdentity: true})
	defer func() { _ = c.Close() }()
	v, err := c.Do(context.Background(), words...).Result()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return v
}

// StartCluster runs n masters with equal shares of the slots, and waits until each reports a complete cluster.
func StartCluster(t testing.TB, n int) []*Server {
	t.Helper()
	const slots = 16384
	nodes := make([]*Server, n)
	for i := range nodes {
		nodes[i] = Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000")
		nodes[i].Do(t, "CLUSTER", "ADDSLOTSRANGE", i*slots/n, (i+1)*slots/n-1)
		nodes[i].Do(t, "CLUSTER", "SET-CONFIG-EPOCH", i+1)
	}
	for _, s := range nodes[1:] {
		host, port, _ := net.SplitHostPort(nodes[0].Addr)
		s.Do(t, "CLUSTER", "MEET", host, port)
	}
	for end := time.Now().Add(startLimit); ; time.Sleep(20 * time.Millisecond) {
		whole := 0
		for _, s := range nodes {
			info := fmt.Sprint(s.Do(t, "CLUSTER", "INFO"))
			if strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", n)) {
				whole++
			}
		}
		if whole == n {
			return nodes
		}
		if time.Now().After(end) {
			t.Fatalf("cluster of %d nodes: %d see it whole after %s", n, whole, startLimit)
		}
	}
}

// freeAddr returns a free loopback port whose cluster bus port, 10,000 above it, is free, too.
func freeAddr(t testing.TB) string {
	t.Helper()
	for range 100 {
		ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := ln.Addr().(*net.TCPAddr)
		ln.Close()
		if bus, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", addr.Port+
			10000)); err == nil {
			bus.Close()
			return addr.String()
		}
	}
	t.Fatal("no loopback port with a free cluster bus port above it")
	return ""
}

// Package redistest provides tests with Redis servers and connection faults: Fake is a server inside the process,
// Start and StartCluster run real ones (they need redis-server), Faults breaks chosen calls on the wire.
package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/fake/memory"
)

// Fake is a Redis server that speaks RESP2 on a loopback port and runs scripts on an embedded Redis. It knows the
// commands that the client sends for scripts and refuses others by name.
type Fake struct {
	Addr  string
	redis *memory.Redis
	ln    net.Listener

	mu       sync.Mutex
	conns    map[net.Conn]bool
	scripts  map[string]string // source by SHA
	password string
	slots    string // the node that CLUSTER SLOTS names for all slots; "" if it is not a cluster
	move     string // answer to a script that does not follow ASKING; if "", the script runs
	info     string // answer to INFO; if "", the command is unknown
	scriptOf map[string]int
}

// NewFake starts a server on an embedded Redis and stops it with the test. Several on one Redis are nodes that share
// their keys.
func NewFake(t testing.TB, redis *memory.Redis) *Fake {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Fake{Addr: ln.Addr().String(), redis: redis, ln: ln, conns: map[net.Conn]bool{}, scripts: map[string]string{},
		scriptOf: map[string]int{}}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns[c] = true
			f.mu.Unlock()
			wg.Add(1)
			go func() {
				defer wg.Done()
				f.serve(c)
			}()
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		f.Drop()
		wg.Wait()
	})
	return f
}

// Drop closes every connection, like a server that restarts.
func (f *Fake) Drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close()
	}
}

// Connections returns the number of open connections.
func (f *Fake) Connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// RequirePassword makes new connections authenticate with p; "" removes it.
func (f *Fake) RequirePassword(p string) { f.set(func() { f.password = p }) }

// Owner makes the server a cluster node that believes all slots belong to the node at addr.
func (f *Fake) Owner(addr string) { f.set(func() { f.slots = addr }) }

// Redirect answers scripts with this error ("MOVED 1 host:port") unless they follow ASKING; "" runs them.
func (f *Fake) Redirect(answer string) { f.set(func() { f.move = answer }) }

// SetInfo sets the answer to INFO; "" refuses it, as hosted servers may.
func (f *Fake) SetInfo(text string) { f.set(func() { f.info = text }) }

// ForgetScripts has the effect of SCRIPT FLUSH.
func (f *Fake) ForgetScripts() { f.set(func() { clear(f.scripts) }) }

// Ran returns how many scripts ran here, by command: evalsha, eval.
func (f *Fake) Ran(command string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scriptOf[command]
}

func (f *Fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// session is the server's state for one connection.
type session struct{ in, asking bool }

func (f *Fake) serve(c net.Conn) {
	defer func() {
		_ = c.Close()
		f.set(func() { delete(f.conns, c) })
	}()
	rd, s := bufio.NewReader(c), &session{}
	for {
		words, err := readCommand(rd)
		if err != nil {
			return
		}
		var b strings.Builder
		v, err := f.answer(s, words)
		if err != nil {
			fmt.Fprintf(&b, "-%s\r\n", err)
		} else {
			writeReply(&b, v)
		}
		if _, err := io.WriteString(c, b.String()); err != nil {
			return
		}
	}
}

func (f *Fake) answer(s *session, words []string) (any, error) {
	f.mu.Lock()
	password, slots, move, info := f.password, f.slots, f.move, f.info
	f.mu.Unlock()
	name := strings.ToLower(words[0])
	if name == "hello" || name == "auth" {
		return f.greet(s, words, password)
	}
	if password != "" && !s.in {
		return nil, memory.RedisError("NOAUTH Authentication required.")
	}
	asking := s.asking
	s.asking = name == "asking"
	switch name {
	case "ping":
		return status("PONG"), nil
	case "asking":
		return status("OK"), nil
	case "time":
		now := time.Now()
		return []any{strconv.FormatInt(now.Unix(), 10), strconv.Itoa(now.Nanosecond() / 1000)}, nil
	case "cluster":
		if slots == "" {
			return nil, errors.New("ERR This instance has cluster support disabled")
		}
		host, port, _ := net.SplitHostPort(slots)
		n, _ := strconv.ParseInt(port, 10, 64)
		return []any{[]any{int64(0), int64(16383), []any{host, n, "node"}}}, nil
	case "info":
		if info != "" {
			return info, nil
		}
	case "eval", "evalsha":
		if move != "" && !asking {
			return nil, errors.New(move)
		}
		return f.script(name, words[1:])
	}
	return nil, fmt.Errorf("ERR unknown command '%s'", words[0])
}

func (f *Fake) greet(s *session, words []string, password string) (any, error) {
	given := ""
	if i := len(words) - 1; strings.EqualFold(words[0], "auth") || i >= 4 {
		given = words[i]
	}
	if password != "" && given != password {
		if given == "" {
			return nil, memory.RedisError("NOAUTH HELLO must be called with the client already authenticated")
		}
		return nil, memory.RedisError("WRONGPASS invalid username-password pair or user is disabled.")
	}
	s.in = true
	return []any{"server", "redis", "proto", int64(2)}, nil
}

func (f *Fake) script(command string, words []string) (any, error) {
	n, err := strconv.Atoi(words[1])
	if err != nil || n > len(words)-2 {
		return nil, errors.New("ERR value is not an integer or out of range")
	}
	s := redisstock.NewScript("script", words[0])
	f.mu.Lock()
	source, known := f.scripts[words[0]]
	if command == "eval" {
		f.scripts[s.SHA] = s.Source
	} else if known {
		s = redisstock.NewScript("script", source)
	}
	if command == "eval" || known {
		f.scriptOf[command]++
	}
	f.mu.Unlock()
	if command == "evalsha" && !known {
		return nil, memory.RedisError("NOSCRIPT No matching script. Please use EVAL.")
	}
	return f.redis.Run(context.Background(), s, words[2:2+n], words[2+n:])
}

// readCommand reads an array of bulk strings, the only form in which clients send commands.
func readCommand(rd *bufio.Reader) ([]string, error) {
	n, err := readLength(rd, '*')
	if err != nil {
		return nil, err
	}
	words := make([]string, n)
	for i := range words {
		size, err := readLength(rd, '$')
		if err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(rd, b); err != nil {
			return nil, err
		}
		words[i] = string(b[:size])
	}
	return words, nil
}

func readLength(rd *bufio.Reader, kind byte) (int, error) {
	line, err := rd.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("redistest: %q, want %c", line, kind)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

// status is a reply that is a RESP status, not data.
type status string

func writeReply(b *strings.Builder, v any) {
	switch v := v.(type) {
	case int64:
		fmt.Fprintf(b, ":%d\r\n", v)
	case status:
		fmt.Fprintf(b, "+%s\r\n", v)
	case string:
		fmt.Fprintf(b, "$%d\r\n%s\r\n", len(v), v)
	case []any:
		fmt.Fprintf(b, "*%d\r\n", len(v))
		for _, e := range v {
			writeReply(b, e)
		}
	default:
		b.WriteString("$-1\r\n")
	}
}

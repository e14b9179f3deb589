package account

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// OfCache is the limit's name.
const OfCache = "ElastiCache: ECPU"

// Costs in ECPU ("ElastiCache pricing": 1 for a kilobyte of a plain command, more for more processor time).
// scriptECPU is package plan's figure for a purchase: measured on redis-server in relation to a GET, not on
// ElastiCache.
const (
	scriptECPU = 5
	kilobyte   = 1024
)

// Cache is a proxy in front of a Redis: it counts ECPU and delays commands above the limit. AWS says that the service
// "will begin throttling requests" and counts ThrottledCmds, but not what a client sees, and has not published an
// error reply. Delaying is what its other throttles do ("Search write throttling": "delayed, not rejected"). So this
// is a guess, on the lenient side: a client with its own time limit sees a timeout.
//
// It also answers AUTH, so that functions can use a password and the server need not.
type Cache struct {
	Addr string // host:port

	account  *Account
	upstream string
	units    *growing
	latency  atomic.Int64 // additional delay of each answer, in ns
	listener net.Listener
	ctx      context.Context
	end      context.CancelFunc
	wg       sync.WaitGroup
}

// NewCache listens on a free loopback port, in front of a Redis at host:port, until Close.
func (a *Account) NewCache(upstream string) (*Cache, error) {
	c := &Cache{account: a, upstream: upstream, units: newGrowing(a.clock, a.limits.ECPU, CacheGrows)}
	c.ctx, c.end = context.WithCancel(context.Background())
	var err error
	if c.listener, err = (&net.ListenConfig{}).Listen(c.ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	c.Addr = c.listener.Addr().String()
	c.wg.Go(func() {
		for {
			conn, err := c.listener.Accept()
			if err != nil {
				return // closed
			}
			c.wg.Go(func() { c.serve(conn) })
		}
	})
	return c, nil
}

// Slow delays each answer by d from now on, including those under way.
func (c *Cache) Slow(d time.Duration) { c.latency.Store(int64(d)) }

// Close cuts all connections.
func (c *Cache) Close() {
	c.end()
	_ = c.listener.Close()
	c.wg.Wait()
}

func (c *Cache) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(c.ctx, "tcp", c.upstream)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})()
	var both sync.WaitGroup
	both.Go(func() {
		defer cancel()
		c.requests(ctx, client, server)
	})
	both.Go(func() {
		defer cancel()
		c.answers(ctx, client, server)
	})
	both.Wait()
}

// requests forwards commands, each when the cache has units for it.
func (c *Cache) requests(ctx context.Context, client io.Reader, server io.Writer) {
	in := bufio.NewReader(client)
	for {
		words, raw, err := readCommand(in)
		if err != nil {
			return
		}
		wait := c.units.charge(cost(words, len(raw)))
		c.account.counts.add(OfCache, wait == 0)
		if !pause(ctx, wait) {
			return
		}
		switch word := bytes.ToUpper(words[0]); {
		case bytes.Equal(word, []byte("AUTH")):
			raw = []byte("*1\r\n$4\r\nPING\r\n") // its answer is a status, too
		case bytes.Equal(word, []byte("HELLO")) && len(words) > 2:
			raw = fmt.Appendf(nil, "*2\r\n$5\r\nHELLO\r\n$%d\r\n%s\r\n", len(words[1]), words[1])
		}
		if _, err := server.Write(raw); err != nil {
			return
		}
	}
}

// cost returns a command's ECPU.
func cost(words [][]byte, size int) float64 {
	units := float64((size + kilobyte - 1) / kilobyte)
	if word := string(bytes.ToUpper(words[0])); word == "EVALSHA" || word == "EVAL" {
		units = max(units, scriptECPU)
	}
	return units
}

// late is a part of an answer and its arrival time.
type late struct {
	at    time.Time
	bytes []byte
}

// answers forwards answers with the delay set by Slow.
func (c *Cache) answers(ctx context.Context, client io.Writer, server io.Reader) {
	parts := make(chan late, 1024)
	go func() {
		defer close(parts)
		buf := make([]byte, 32<<10)
		for {
			n, err := server.Read(buf)
			if n > 0 {
				select {
				case parts <- late{time.Now(), bytes.Clone(buf[:n])}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range parts {
		if !pause(ctx, time.Until(p.at.Add(time.Duration(c.latency.Load())))) {
			return
		}
		if _, err := client.Write(p.bytes); err != nil {
			return
		}
	}
}

// pause waits; it returns false if ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Limits of a command, far above the largest script with its arguments.
const maxWords, maxWord = 10_000, 4 << 20

var errCommand = errors.New("not a Redis command")

// readCommand reads a command, an array of strings (RESP), and also returns its raw bytes.
func readCommand(in *bufio.Reader) (words [][]byte, raw []byte, err error) {
	n, raw, err := readLength(in, '*', nil)
	if err != nil || n < 1 || n > maxWords {
		return nil, nil, errors.Join(err, errCommand)
	}
	for range n {
		var size int
		if size, raw, err = readLength(in, '$', raw); err != nil || size < 0 || size > maxWord {
			return nil, nil, errors.Join(err, errCommand)
		}
		at := len(raw)
		raw = append(raw, make([]byte, size+2)...)
		if _, err := io.ReadFull(in, raw[at:]); err != nil {
			return nil, nil, err
		}
		words = append(words, bytes.Clone(raw[at:at+size]))
	}
	return words, raw, nil
}

// readLength reads a line such as *3 or $12 and appends it to raw.
func readLength(in *bufio.Reader, first byte, raw []byte) (int, []byte, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return 0, nil, err
	}
	if len(line) < 4 || line[0] != first {
		return 0, nil, errCommand
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(line[1:])))
	return n, append(raw, line...), err
}

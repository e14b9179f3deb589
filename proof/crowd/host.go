package crowd

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// idleFor bounds a connection's idle time. It is shorter than servers' limits, because a request on a connection that
// the server has closed looks like a lost answer.
const idleFor = 30 * time.Second

// host is a connection pool for one server. It uses fasthttp's messages but not its client, which retries requests by
// itself.
type host struct {
	addr   string
	secure *tls.Config // nil means no TLS
	from   net.Addr    // source address; nil means any

	mu   sync.Mutex
	idle []*link // in order of last use
}

// link is a connection with its buffers.
type link struct {
	net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
	used time.Time
}

func newHost(u *url.URL, config *tls.Config) *host {
	h := &host{}
	port := u.Port()
	if u.Scheme == "https" {
		h.secure = &tls.Config{}
		if config != nil {
			h.secure = config.Clone()
		}
		if h.secure.ServerName == "" {
			h.secure.ServerName = u.Hostname()
		}
	}
	if port == "" {
		port = u.Scheme // net.Dial accepts service names
	}
	h.addr = net.JoinHostPort(u.Hostname(), port)
	return h
}

// exchange sends a request and reads its answer. After an error the server may or may not have handled the request.
func (h *host) exchange(req *fasthttp.Request, resp *fasthttp.Response, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	l, err := h.take(deadline)
	if err != nil {
		return err
	}
	if err := l.exchange(req, resp, deadline); err != nil {
		_ = l.Close()
		return err
	}
	if resp.ConnectionClose() {
		_ = l.Close()
		return nil
	}
	l.used = time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle = append(h.idle, l)
	return nil
}

func (l *link) exchange(req *fasthttp.Request, resp *fasthttp.Response, deadline time.Time) error {
	if err := l.SetDeadline(deadline); err != nil {
		return err
	}
	if err := req.Write(l.out); err != nil {
		return err
	}
	if err := l.out.Flush(); err != nil {
		return err
	}
	return resp.ReadLimitBody(l.in, maxAnswer)
}

// take returns an idle connection, or a new connection.
func (h *host) take(deadline time.Time) (*link, error) {
	h.mu.Lock()
	for n := len(h.idle) - 1; n >= 0; n-- {
		l := h.idle[n]
		h.idle = h.idle[:n]
		if time.Since(l.used) < idleFor {
			h.mu.Unlock()
			return l, nil
		}
		_ = l.Close()
	}
	h.mu.Unlock()
	dialer := net.Dialer{Deadline: deadline, LocalAddr: h.from}
	conn, err := dialer.Dial("tcp", h.addr)
	if err != nil {
		return nil, err
	}
	if h.secure != nil {
		secure := tls.Client(conn, h.secure)
		if err = secure.SetDeadline(deadline); err == nil {
			err = secure.HandshakeContext(context.Background()) // SetDeadline bounds it
		}
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		conn = secure
	}
	return &link{conn, bufio.NewReader(conn), bufio.NewWriter(conn), time.Now()}, nil
}

// close closes the idle connections.
func (h *host) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.idle {
		_ = l.Close()
	}
	h.idle = nil
}

const maxAnswer = 4 << 20 // bytes

package redisconn

import (
	"context"
	"crypto/tls"
	"net"
	"syscall"
	"time"
)

// idleLimit is how long a connection may lie unused before it is replaced. The network between a Lambda function and
// its VPC forgets a connection after 350 s, without a word to either end (AWS, "Hyperplane ENI" idle timeout), and a
// frozen instance sends no keep-alives.
const idleLimit = 2 * time.Minute

// dialer opens a connection; tests put faults there.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// dialTLS puts TLS on what next opens; nil means none. The name to verify is the address's.
func dialTLS(t *tls.Config, next dialer) dialer {
	if t == nil {
		return next
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		raw, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		t := t.Clone()
		t.ServerName = host
		c := tls.Client(raw, t)
		if err := c.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, err
		}
		if s, ok := raw.(syscall.Conn); ok {
			return tlsConn{c, s}, nil
		}
		return c, nil
	}
}

// tlsConn shows the socket below TLS, which tls.Conn does not. The pool looks there whether the server has closed a
// connection before a script is sent on it; without that, each connection closed while idle would cost one purchase a
// 503.
type tlsConn struct {
	*tls.Conn
	socket syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (c tlsConn) SyscallConn() (syscall.RawConn, error) { return c.socket.SyscallConn() }

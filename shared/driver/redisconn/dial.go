package redisconn

import (
	"context"
	"crypto/tls"
	"net"
	"syscall"
	"time"
)

// idleLimit is how long a connection may be idle before it is replaced. The network between a Lambda function and its
// VPC silently drops a connection after 350 s (AWS, "Hyperplane ENI" idle timeout), and a frozen instance sends no
// keep-alives.
const idleLimit = 2 * time.Minute

// dialer opens a connection; tests inject faults here.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// dialTLS adds TLS to the connections that next opens; nil adds none. It verifies the host name in the address.
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

// tlsConn exposes the socket below TLS, which tls.Conn does not. The pool uses it to detect that the server has
// closed a connection before it sends a script; otherwise each connection closed while idle would cost one purchase a
// 503.
type tlsConn struct {
	*tls.Conn
	socket syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (c tlsConn) SyscallConn() (syscall.RawConn, error) { return c.socket.SyscallConn() }

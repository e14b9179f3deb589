package redistest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Fault is what happens to one script call on the wire, below the client library.
type Fault struct {
	Name string
	// Answer, if set, replaces the server's answer, and the server never sees the call: "LOADING Redis is loading …".
	Answer string
	// Lost: the call does not reach the server. Late: it reaches it only when RunLate is called, after the client has
	// given up. Otherwise the script runs.
	Lost bool
	Late bool
	// Err is what the client reads after the script has run (io.EOF, ECONNRESET); nil means silence until its own
	// deadline. Half: the client first reads half of the reply.
	Err  error
	Half bool
}

// WireFaults lists the faults in which no complete answer arrives.
func WireFaults() []Fault {
	return []Fault{
		{Name: "cut before sending", Lost: true, Err: syscall.ECONNRESET},
		{Name: "closed before sending", Lost: true, Err: io.EOF},
		{Name: "cut after the script ran", Err: syscall.ECONNRESET},
		{Name: "closed after the script ran", Err: io.EOF},
		{Name: "closed in the middle of the reply", Err: io.EOF, Half: true},
		{Name: "slow: the script ran, the reply comes too late"},
		{Name: "half a reply, then silence", Half: true},
		{Name: "half-closed: nothing arrives, no word of it", Lost: true},
		{Name: "late: the script runs long after the client gave up", Late: true},
	}
}

// Refusals lists answers of a server that did not run the script, except redirects and NOSCRIPT.
func Refusals() []Fault {
	var out []Fault
	for _, a := range []string{
		"LOADING Redis is loading the dataset in memory",
		"READONLY You can't write against a read only replica.",
		"OOM command not allowed when used memory > 'maxmemory'.",
		"CLUSTERDOWN The cluster is down",
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
		"TRYAGAIN Multiple keys request during rehashing of slot",
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
		"NOAUTH Authentication required.",
		"NOPERM User default has no permissions to run the 'evalsha' command",
		"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
		"ERR max number of clients reached",
	} {
		name, _, _ := bytes.Cut([]byte(a), []byte(" "))
		out = append(out, Fault{Name: string(name) + " answered", Answer: a, Lost: true})
	}
	return out
}

// Faults wraps a dialer and breaks the chosen script calls.
type Faults struct {
	next  func(ctx context.Context, network, addr string) (net.Conn, error)
	calls atomic.Int64
	// Instant ends silence at once with the error of an expired deadline, for tests of what follows.
	Instant bool

	mu    sync.Mutex
	armed []Fault
	late  []lateCall
}

type lateCall struct {
	conn net.Conn
	call []byte
}

// NewFaults wraps a dialer.
func NewFaults(next func(ctx context.Context, network, addr string) (net.Conn, error)) *Faults {
	return &Faults{next: next}
}

// Arm sets the faults of the next script calls, one fault per call, and drops earlier faults.
func (f *Faults) Arm(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = faults
}

// Armed reports whether a fault is still waiting for its call.
func (f *Faults) Armed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.armed) > 0
}

func (f *Faults) take() *Fault {
	f.calls.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.armed) == 0 {
		return nil
	}
	first := f.armed[0]
	f.armed = f.armed[1:]
	return &first
}

// Calls returns how many script calls were written to connections, including redirected and repeated ones.
func (f *Faults) Calls() int { return int(f.calls.Load()) }

// RunLate delivers the late calls to the server now and waits until they have run.
func (f *Faults) RunLate() error {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	var errs []error
	for _, l := range late {
		_, err := l.conn.Write(l.call)
		errs = append(errs, err)
		_, err = l.conn.Read(make([]byte, 1))
		errs = append(errs, err, l.conn.Close())
	}
	return errors.Join(errs...)
}

// Dial dials with the wrapped dialer.
func (f *Faults) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := f.next(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &faultConn{Conn: c, faults: f}, nil
}

type faultConn struct {
	net.Conn
	faults *Faults
	fault  *Fault // the current fault
	before int    // bytes before the script's reply
	rest   []byte // what Read returns next
	late   []byte
	limit  time.Time
}

// isScript relies on the client, which sends EVALSHA and EVAL in lower case and one call per write.
func isScript(p []byte) bool {
	return bytes.Contains(p, []byte("\r\nevalsha\r\n")) || bytes.Contains(p, []byte("\r\neval\r\n"))
}

func (c *faultConn) Write(p []byte) (int, error) {
	if !isScript(p) {
		return c.Conn.Write(p)
	}
	c.fault, c.before = c.faults.take(), 0
	if bytes.Contains(p, []byte("\r\nasking\r\n")) {
		c.before = len("+OK\r\n")
	}
	switch {
	case c.fault == nil:
		return c.Conn.Write(p)
	case c.fault.Answer != "":
		c.rest = []byte("-" + c.fault.Answer + "\r\n")
		c.fault = nil
	case c.fault.Late:
		c.late = bytes.Clone(p)
	case c.fault.Lost:
		if c.fault.Err != nil {
			_ = c.Conn.Close()
		}
	default:
		return c.Conn.Write(p)
	}
	return len(p), nil
}

func (c *faultConn) Read(p []byte) (int, error) {
	if len(c.rest) > 0 {
		n := copy(p, c.rest)
		c.rest = c.rest[n:]
		return n, nil
	}
	if c.fault == nil {
		return c.Conn.Read(p)
	}
	f := c.fault
	if !f.Lost && !f.Late { // the first bytes of the script's reply prove that it has run
		b, n := make([]byte, 1<<16), 0
		for n <= c.before {
			more, err := c.Conn.Read(b[n:])
			if err != nil {
				return 0, err
			}
			n += more
		}
		c.fault = &Fault{Lost: true, Err: f.Err}
		if f.Half {
			c.rest = b[:n/2]
			return c.Read(p)
		}
		f = c.fault
	}
	if f.Err != nil {
		return 0, f.Err
	}
	if c.faults.Instant {
		return 0, os.ErrDeadlineExceeded
	}
	silent, other := net.Pipe()
	defer func() { _ = silent.Close() }()
	defer func() { _ = other.Close() }()
	if err := silent.SetReadDeadline(c.limit); err != nil {
		return 0, err
	}
	return silent.Read(p)
}

func (c *faultConn) SetDeadline(t time.Time) error {
	c.limit = t
	return c.Conn.SetDeadline(t)
}

func (c *faultConn) SetReadDeadline(t time.Time) error {
	c.limit = t
	return c.Conn.SetReadDeadline(t)
}

// Close keeps a connection with a late call open for RunLate.
func (c *faultConn) Close() error {
	if c.late == nil {
		return c.Conn.Close()
	}
	c.faults.mu.Lock()
	defer c.faults.mu.Unlock()
	c.faults.late = append(c.faults.late, lateCall{c.Conn, c.late})
	c.late = nil
	return c.Conn.SetDeadline(time.Time{})
}

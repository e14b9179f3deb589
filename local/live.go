package local

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/flow/front/push"
	"github.com/your-org/seckill/shared/seckill"
)

const livePath = "/live"

// Limits of connections.
const (
	maxPages  = 20_000  // at the same time
	maxQueued = 16      // messages that wait for one page
	maxSent   = 4 << 10 // bytes of a message from a page
	writeTime = 5 * time.Second
	leaveTime = 5 * time.Second        // for a page to answer a farewell
	goodbye   = 500 * time.Millisecond // for pages to answer when the system closes
)

// live holds the pages' WebSocket connections, as API Gateway does in a stack.
type live struct {
	flow   *push.Flow
	passes *jwtauth.Passes
	ids    seckill.IDs
	meter  *Meter

	count atomic.Int64 // of pages

	mu      sync.RWMutex
	pages   map[string]*page
	closed  bool
	running sync.WaitGroup // goroutines of pages
}

// page is a connection.
type page struct {
	id   string
	in   *bufio.Reader // set once, before its reader begins
	wire sync.Mutex    // held while a frame is written

	mu      sync.Mutex
	conn    net.Conn // nil until it is open; then it stays
	queue   [][]byte
	writing bool
	ended   bool
	code    ws.StatusCode // why it ended; 0 if the page ended it
	reason  string
}

var (
	_ seckill.Wire = (*live)(nil)

	shakes = ws.HTTPUpgrader{Timeout: writeTime, Protocol: func(p string) bool { return p == seckill.PushProtocol }}

	errSlow    = errors.New("the page reads too slowly")
	errClosing = &seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: time.Second}
	errFull    = &seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: time.Minute}
)

// mayConnect reports whether a handshake is of a page of this server, of this machine under any of its names, as
// behind a CDN's stand-in, or of what is no browser.
func mayConnect(r *http.Request) bool {
	origin := strings.Join(r.Header["Origin"], ",")
	own := seckill.ReturnPages{Own: []string{"http://" + r.Host, "https://" + r.Host}}
	u, err := url.Parse(origin)
	return own.Shows(origin) || err == nil && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

// ServeHTTP opens a connection, if its page may connect and has a good pass.
func (l *live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.WriteHeader(http.StatusUpgradeRequired)
		return
	}
	text, err := wspush.Offered(strings.Join(r.Header["Sec-Websocket-Protocol"], ","))
	if !mayConnect(r) {
		err = seckill.ErrPass
	}
	var pass seckill.Pass
	if err == nil {
		pass, err = l.passes.Check(text)
	}
	id := l.ids.Token()
	if err == nil && l.count.Load() >= maxPages {
		err = errFull
	}
	if err == nil {
		err = l.flow.Connect(r.Context(), pass, id)
	}
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	p := &page{id: id, writing: true} // until it is open, messages wait
	if !l.keep(p) {
		_ = l.flow.Disconnect(r.Context(), id) // memory does not fail
		l.refuse(w, r, errClosing)
		return
	}
	defer l.running.Done()
	l.flow.Opened(r.Context(), pass.User, id) // what it sends waits in p's queue
	conn, buffers, _, err := shakes.Upgrade(r, &thinWriter{w})
	if err != nil {
		if conn != nil {
			_ = conn.Close()
		}
		l.forget(p)
		return
	}
	p.in = buffers.Reader
	l.running.Go(func() {
		defer l.forget(p)
		if p.open(conn) {
			p.write()
		}
		p.drop()
		p.over()
	})
}

// refuse answers 403 to a pass that is not good and to another website, as API Gateway does.
func (l *live) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, seckill.ErrPass) {
		err = seckill.Refuse(seckill.CodeToken)
	}
	l.meter.Refused(seckill.AsError(err).Reason())
	httpapi.Problem(w, r, err)
}

// keep remembers a page before it is open: it may ask for its order at once, and what happens then must reach it. It
// returns false when the system closes; else close waits until the caller calls running.Done.
func (l *live) keep(p *page) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.running.Add(1)
	l.count.Add(1)
	l.pages[p.id] = p
	return true
}

func (l *live) forget(p *page) {
	l.mu.Lock()
	delete(l.pages, p.id)
	l.mu.Unlock()
	l.count.Add(-1)
	_ = l.flow.Disconnect(context.Background(), p.id)
}

// Send implements seckill.Wire. It only queues: who writes an order's row does not wait for pages.
func (l *live) Send(_ context.Context, connection string, e *seckill.OrderEvent) error {
	l.mu.RLock() // until a goroutine that writes has begun: close waits for it
	defer l.mu.RUnlock()
	p := l.pages[connection]
	if p == nil || l.closed {
		return seckill.ErrConnectionGone
	}
	return p.send(l, wspush.Message(e))
}

// Close implements seckill.Wire. It does not wait for the page.
func (l *live) Close(_ context.Context, connection string) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if p := l.pages[connection]; p != nil && !l.closed {
		l.running.Go(func() { p.end(ws.StatusPolicyViolation, "another page took its place") })
	}
	return nil
}

// shut ends all connections. Those whose pages do not answer are cut.
func (l *live) shut() {
	l.mu.Lock()
	l.closed = true
	pages := slices.Collect(maps.Values(l.pages))
	for _, p := range pages {
		l.running.Go(func() { p.end(ws.StatusGoingAway, "the server stops") })
	}
	l.mu.Unlock()
	cut := time.AfterFunc(goodbye, func() {
		for _, p := range pages {
			p.cut()
		}
	})
	defer cut.Stop()
	l.running.Wait()
}

// open gives a page its connection. If the page has ended meanwhile, open tells it why and returns false.
func (p *page) open(conn net.Conn) bool {
	p.mu.Lock()
	p.conn = conn
	_ = conn.SetReadDeadline(time.Now().Add(seckill.ConnectionLife)) // an error ends the reader
	ended := p.ended
	p.mu.Unlock()
	if ended {
		p.bye(p.code, p.reason)
	}
	return !ended
}

// send queues a message. A page that has too many is closed.
func (p *page) send(l *live, message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended:
		return seckill.ErrConnectionGone
	case len(p.queue) == maxQueued:
		l.running.Go(func() { p.end(ws.StatusPolicyViolation, errSlow.Error()) })
		return errSlow
	}
	p.queue = append(p.queue, message)
	if !p.writing {
		p.writing = true
		l.running.Go(p.write)
	}
	return nil
}

// write sends what is queued. A goroutine runs only while there is something: most pages wait for one message.
func (p *page) write() {
	for m := p.next(); m != nil; m = p.next() {
		if err := p.put(ws.NewTextFrame(m)); err != nil {
			p.over() // the reader ends, too
		}
	}
}

// put writes a frame to a page that is open.
func (p *page) put(f ws.Frame) error {
	b, err := ws.CompileFrame(f)
	if err != nil {
		return err // cannot happen: no frame is that large
	}
	p.wire.Lock()
	defer p.wire.Unlock()
	if err := p.conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	_, err = p.conn.Write(b)
	return err
}

// next takes the oldest message. With nil, the caller must stop.
func (p *page) next() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || len(p.queue) == 0 {
		p.queue, p.writing = nil, false
		return nil
	}
	m := p.queue[0]
	p.queue = slices.Delete(p.queue, 0, 1)
	return m
}

// drop reads until the connection ends; nothing that a page sends matters, until it is too large.
func (p *page) drop() {
	state, size := ws.StateServerSide, int64(0) // size is of the message so far
	for {
		h, err := ws.ReadHeader(p.in)
		if err != nil || ws.CheckHeader(h, state) != nil {
			return
		}
		if h.OpCode.IsControl() {
			if p.control(h) != nil {
				return
			}
			continue
		}
		if size += h.Length; size > maxSent {
			p.end(ws.StatusMessageTooBig, "a page has nothing to send")
			// What it still sends is read: else the kernel resets the connection, and the page may not hear why.
		}
		if _, err := io.CopyN(io.Discard, p.in, h.Length); err != nil {
			return
		}
		if h.Fin {
			state, size = state.Clear(ws.StateFragmented), 0
		} else {
			state = state.Set(ws.StateFragmented)
		}
	}
}

// control answers a ping, and the page's farewell, after which it returns io.EOF.
func (p *page) control(h ws.Header) error {
	body := make([]byte, h.Length) // at most 125: CheckHeader
	if _, err := io.ReadFull(p.in, body); err != nil {
		return err
	}
	ws.Cipher(body, h.Mask, 0)
	switch h.OpCode {
	case ws.OpPing:
		return p.put(ws.NewPongFrame(body))
	case ws.OpClose:
		if _, first := p.leave(0, ""); first {
			_ = p.put(ws.NewCloseFrame(body[:min(2, len(body))])) // its own code
		}
		return io.EOF
	}
	return nil
}

// end ends the connection once; a connection that is not open yet ends as soon as it is. The reader waits for the
// page's answer; cut ends the wait.
func (p *page) end(code ws.StatusCode, reason string) {
	if open, first := p.leave(code, reason); first && open {
		p.bye(code, reason)
	}
}

// leave marks a page as ended and drops its queue. It returns whether the page is open, and whether it ends only now.
func (p *page) leave(code ws.StatusCode, reason string) (open, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first = !p.ended; first {
		p.code, p.reason = code, reason
	}
	p.ended, p.queue = true, nil
	return p.conn != nil, first
}

// bye says why a connection ends.
func (p *page) bye(code ws.StatusCode, reason string) {
	if p.put(ws.NewCloseFrame(ws.NewCloseFrameBody(code, reason))) != nil ||
		p.conn.SetReadDeadline(time.Now().Add(leaveTime)) != nil {
		_ = p.conn.Close()
	}
}

// over closes a connection that the page has ended, or that broke: there is nobody to take leave of.
func (p *page) over() {
	_, _ = p.leave(0, "")
	p.cut()
}

func (p *page) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		_ = p.conn.Close()
	}
}

package local

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/your-org/seckill/shared/adapter/httpapi"
	"github.com/your-org/seckill/shared/adapter/jwtauth"
	"github.com/your-org/seckill/shared/adapter/wspush"
	"github.com/your-org/seckill/shared/flow/push"
	"github.com/your-org/seckill/shared/seckill"
)

const livePath = "/live"

// Limits of connections.
const (
	maxPages  = 20_000 // at the same time
	maxQueued = 16     // messages that wait for one page
	maxFrame  = 4 << 10
	writeTime = 5 * time.Second
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
	id string

	mu      sync.Mutex
	conn    *websocket.Conn // nil until it is open, like raw
	raw     net.Conn
	queue   [][]byte
	writing bool
	ended   bool
}

var (
	_ seckill.Wire = (*live)(nil)

	errSlow    = errors.New("the page reads too slowly")
	errClosing = &seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: time.Second}
	errFull    = &seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: time.Minute}
)

// ServeHTTP opens a connection, for a page of any origin: unlike a cookie, a pass is never added by the browser itself.
func (l *live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		_, _ = websocket.Accept(w, r, nil) // answers 426
		return
	}
	text, err := wspush.Offered(strings.Join(r.Header["Sec-Websocket-Protocol"], ","))
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
	thin := &thinWriter{ResponseWriter: w}
	conn, err := websocket.Accept(thin, r, &websocket.AcceptOptions{Subprotocols: []string{seckill.PushProtocol},
		InsecureSkipVerify: true})
	if err != nil {
		l.forget(p)
		return
	}
	conn.SetReadLimit(-1) // drop has its own
	l.running.Go(func() {
		defer l.forget(p)
		if !p.open(conn, thin.conn) {
			_ = conn.Close(websocket.StatusPolicyViolation, "another page took its place")
			return
		}
		l.running.Go(p.write)
		p.drop()
		p.over()
	})
}

// refuse answers 403 to a pass that is not good, as API Gateway does.
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
		l.running.Go(func() { p.end(websocket.StatusPolicyViolation, "another page took its place") })
	}
	return nil
}

// shut ends all connections. Those whose pages do not answer are cut.
func (l *live) shut() {
	l.mu.Lock()
	l.closed = true
	pages := slices.Collect(maps.Values(l.pages))
	for _, p := range pages {
		l.running.Go(func() { p.end(websocket.StatusGoingAway, "the server stops") })
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

// open gives a page its connection. It returns false if the page has ended meanwhile.
func (p *page) open(conn *websocket.Conn, raw net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn, p.raw = conn, raw
	return !p.ended
}

// send queues a message. A page that has too many is closed.
func (p *page) send(l *live, message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended:
		return seckill.ErrConnectionGone
	case len(p.queue) == maxQueued:
		l.running.Go(func() { p.end(websocket.StatusPolicyViolation, errSlow.Error()) })
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
		ctx, cancel := context.WithTimeout(context.Background(), writeTime)
		err := p.conn.Write(ctx, websocket.MessageText, m) // closes the connection if it fails
		cancel()
		if err != nil {
			p.next() // the last: the reader ends, too
			return
		}
	}
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

// drop reads until the connection ends; nothing that a page sends matters.
func (p *page) drop() {
	ctx, cancel := context.WithTimeout(context.Background(), seckill.ConnectionLife)
	defer cancel()
	for {
		_, message, err := p.conn.Reader(ctx)
		if err != nil {
			return
		}
		n, err := io.Copy(io.Discard, io.LimitReader(message, maxFrame+1))
		if err != nil {
			return
		}
		if n > maxFrame {
			p.end(websocket.StatusMessageTooBig, "a page has nothing to send")
			return
		}
	}
}

// end ends the connection once; one that is not open yet ends as soon as it is. It waits some seconds for the page's
// answer; cut ends the wait.
func (p *page) end(code websocket.StatusCode, reason string) {
	p.mu.Lock()
	conn, first := p.conn, !p.ended
	p.ended, p.queue = true, nil
	p.mu.Unlock()
	if first && conn != nil {
		_ = conn.Close(code, reason)
	}
}

// over ends a connection that the page has ended, or that broke: there is nobody to take leave of.
func (p *page) over() {
	p.mu.Lock()
	p.ended, p.queue = true, nil
	p.mu.Unlock()
	_ = p.conn.CloseNow()
}

func (p *page) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.raw != nil {
		_ = p.raw.Close()
	}
}

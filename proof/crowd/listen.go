package crowd

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/your-org/seckill/shared/seckill"
)

// How the storefront's page asks for an order while it is connected (web/src/push.js).
const (
	safetyPoll = time.Minute            // between two requests
	rush       = time.Minute            // from the opening, in which the first request comes late
	patience   = 700 * time.Millisecond // until it: a page that missed its push still shows it within a second
	caughtUp   = 10 * time.Second       // until it: the connection catches up
)

// Limits of what a shopper hears.
const (
	maxHeard   = 16      // messages that wait for a shopper
	maxMessage = 4 << 10 // bytes of one: they have some 130
	hearBuffer = 512     // bytes of a connection's buffer
)

// offer is where a shopper hears of an order, as buy's answer says; the zero value: nowhere.
type offer struct {
	URL       string `json:"url"`
	Pass      string `json:"pass"`
	CatchesUp bool   `json:"catches_up"`
}

// listener is the connection over which a shopper hears what happens to an order. A nil one hears nothing.
type listener struct {
	conn      net.Conn
	order     string
	catchesUp bool
	news      chan seckill.State
	gone      chan struct{} // closed when the connection has ended
}

// hear reads until close, or until the shop ends the connection. in may have frames that came with the handshake.
func (l *listener) hear(in io.Reader, t *tally, answered time.Time) {
	defer close(l.gone)
	frames := wsutil.Reader{Source: in, State: ws.StateClientSide, MaxFrameSize: maxMessage, CheckUTF8: true,
		OnIntermediate: wsutil.ControlFrameHandler(l.conn, ws.StateClientSide)}
	newest := 0 // sequence; a connection that opens while a change is sent gets it twice
	for {
		text, err := next(&frames)
		if err != nil {
			return
		}
		m := parse(text)
		if m.Order != l.order || m.Sequence <= newest {
			continue
		}
		newest = m.Sequence
		if m.State == seckill.PendingPayment || m.State == seckill.Rejected {
			took := time.Since(answered)
			t.change(func(t *tally) { t.push.Outcomes++; t.push.after.add(took) })
		}
		select {
		case l.news <- m.State:
		default: // the shopper has not looked at the others
		}
	}
}

// next returns the next message, and answers pings and a farewell meanwhile.
func next(frames *wsutil.Reader) ([]byte, error) {
	for {
		head, err := frames.NextFrame()
		if err != nil {
			return nil, err
		}
		if !head.OpCode.IsControl() {
			return io.ReadAll(io.LimitReader(frames, maxMessage))
		}
		if err := frames.OnIntermediate(head, frames); err != nil {
			return nil, err
		}
	}
}

// close ends the connection, as a page that is left does.
func (l *listener) close() {
	if l != nil {
		_ = l.conn.Close()
		<-l.gone
	}
}

// patience returns how long a shopper who has just connected asks nothing, with sinceStart since the opening.
func (l *listener) patience(sinceStart time.Duration) time.Duration {
	switch {
	case l == nil:
		return 0
	case l.catchesUp:
		return caughtUp
	case sinceStart < rush:
		return patience
	}
	return 0
}

// hears waits for a message about the order until a moment. It returns "" then, and when the connection has ended; an
// error when ctx ends first.
func (l *listener) hears(ctx context.Context, until time.Time) (seckill.State, error) {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case st := <-l.news:
		return st, nil
	case <-l.gone:
	case <-t.C:
	case <-ctx.Done():
		return "", errLeft
	}
	return "", nil
}

// until waits for a message about the order, or for the next poll: after wait without a connection, and later with
// one. It returns when it happened and what was heard, or an error when ctx ends first.
func (l *listener) until(ctx context.Context, asked time.Time, wait time.Duration) (time.Time, seckill.State, error) {
	if l != nil {
		st, err := l.hears(ctx, asked.Add(max(wait, safetyPoll)))
		if err != nil || st != "" {
			return time.Now(), st, err
		}
	}
	moment := asked.Add(wait)
	if !sleep(ctx, moment) {
		return time.Time{}, "", errLeft
	}
	return moment, "", nil
}

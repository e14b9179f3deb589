package crowd

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/your-org/seckill/proof/record"
)

// client sends requests over a bounded number of connections, one request per connection at a time.
type client struct {
	hosts   map[string]*host // by machine, scheme and host
	slots   chan struct{}    // one element per connection in use
	timeout time.Duration
	journal *record.Writer // may be nil
	tally   *tally
}

func newClient(o *Options, t *tally, j *record.Writer, addresses ...string) (*client, error) {
	c := &client{hosts: map[string]*host{}, slots: make(chan struct{}, o.Connections), timeout: o.Timeout, journal: j,
		tally: t}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		c.hosts[u.Scheme+"://"+u.Host] = newHost(u, o.TLS)
		if o.Bots == nil {
			continue
		}
		for n, from := range o.Bots.Machines {
			h := newHost(u, o.TLS)
			h.from = &net.TCPAddr{IP: from.AsSlice()}
			c.hosts[machineName(n+1)+u.Scheme+"://"+u.Host] = h
		}
	}
	return c, nil
}

// machineName begins the names of hosts as a machine reaches them.
func machineName(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + " "
}

func (c *client) close() {
	for _, h := range c.hosts {
		h.close()
	}
}

// do sends a request when a connection is free. Journal and tally record both request and answer.
func (c *client) do(ctx context.Context, q *ask) answer {
	if ctx.Err() != nil {
		return answer{err: errLeft}
	}
	select {
	case c.slots <- struct{}{}:
	default:
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			return answer{err: errLeft}
		}
	}
	defer func() { <-c.slots }()
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	uri := req.URI()
	if err := uri.Parse(nil, []byte(q.url)); err != nil {
		return answer{err: err}
	}
	to := c.hosts[machineName(q.machine)+string(uri.Scheme())+"://"+string(uri.Host())]
	if to == nil {
		return answer{err: errors.New("neither the sale's nor the cashier's address: " + q.url)}
	}
	fill(req, q)
	note := q.entry
	note.Act = q.act
	var n uint64
	recorded := c.journal != nil && !ofPage(q.act)
	if recorded {
		n = c.journal.Request(note)
	}
	c.tally.sent(q.act)
	err := to.exchange(req, resp, c.timeout)
	a := answer{at: time.Now(), err: err}
	if err == nil {
		read(&a, q.act, resp)
	}
	c.tally.answered(q.act, &a, a.at.Sub(q.moment))
	if recorded {
		c.journal.Answer(noted(note, n, &a, resp))
	}
	return a
}

// noted returns the journal's entry for an answer.
func noted(asked record.Entry, n uint64, a *answer, resp *fasthttp.Response) record.Entry {
	e := record.Entry{Request: n, Shopper: asked.Shopper, User: asked.User, Act: asked.Act, Item: asked.Item,
		Order: a.Order, Status: a.status, Code: a.Code, State: string(a.State)}
	if a.err != nil {
		e.Error = a.err.Error()
		return e
	}
	e.Date = string(resp.Header.Peek(fasthttp.HeaderDate))
	e.Body = record.Hash(resp.Body())
	return e
}

package crowd

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/shared/seckill"
)

const maxAnswer = 4 << 20 // bytes

// errLeft ends what a shopper does when everybody is sent home.
var errLeft = errors.New("sent home")

// ask is a request: of a shopper, at the moment at which the shopper meant to send it.
type ask struct {
	act    string
	moment time.Time
	method string
	url    string
	token  string
	key    string
	kind   string // Content-Type of the body
	body   []byte
	entry  journal.Entry // what the journal knows of it besides
}

// answer is what came back, or that nothing did.
type answer struct {
	status int   // 0: no answer came
	err    error // why not; errLeft: it was never sent
	at     time.Time
	retry  time.Duration // when the server wants to be asked again; 0: it does not say
	code   string        // of a refusal
	order  string
	state  seckill.State
	reason string
	pay    string // what the cashier takes
	payBy  string // until when, of an order that can be paid
	body   []byte // of the time and of a page
}

// later says whether an answer only means that trying again is worth while: nothing is known, or the server says so.
func (a *answer) later() bool {
	return a.status == 0 || a.status == http.StatusTooManyRequests || a.status >= http.StatusInternalServerError
}

// client sends requests over a bounded number of connections, each of which carries one at a time.
type client struct {
	hosts   map[string]*host // by scheme and host
	slots   chan struct{}    // a connection each
	timeout time.Duration
	journal *journal.Writer // may be nil
	tally   *tally
}

func newClient(o *Options, t *tally, j *journal.Writer, addresses ...string) (*client, error) {
	c := &client{hosts: map[string]*host{}, slots: make(chan struct{}, o.Connections), timeout: o.Timeout, journal: j,
		tally: t}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		c.hosts[u.Scheme+"://"+u.Host] = newHost(u, o.TLS)
	}
	return c, nil
}

func (c *client) close() {
	for _, h := range c.hosts {
		h.close()
	}
}

// do sends a request when a connection is free. Of the answer it reads what a shopper looks at.
func (c *client) do(ctx context.Context, q *ask) answer {
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
	to := c.hosts[string(uri.Scheme())+"://"+string(uri.Host())]
	if to == nil {
		return answer{err: errors.New("an address that is not the sale's: " + q.url)}
	}
	fill(req, q)
	note := q.entry
	note.Act = q.act
	var n uint64
	if c.journal != nil {
		n = c.journal.Request(note)
	}
	c.tally.sent(q.act)
	err := to.exchange(req, resp, c.timeout)
	a := answer{at: time.Now(), err: err}
	if err == nil {
		read(&a, q.act, resp)
	}
	c.tally.answered(q.act, &a, a.at.Sub(q.moment))
	if c.journal != nil {
		c.journal.Answer(noted(note, n, &a, resp))
	}
	return a
}

// noted is the journal's line for an answer.
func noted(asked journal.Entry, n uint64, a *answer, resp *fasthttp.Response) journal.Entry {
	e := journal.Entry{Request: n, Shopper: asked.Shopper, User: asked.User, Act: asked.Act, Item: asked.Item,
		Order: a.order, Status: a.status, Code: a.code, State: string(a.state)}
	if a.err != nil {
		e.Error = a.err.Error()
		return e
	}
	e.Date = string(resp.Header.Peek(fasthttp.HeaderDate))
	e.Body = journal.Hash(resp.Body())
	return e
}

func fill(req *fasthttp.Request, q *ask) {
	req.Header.SetMethod(q.method)
	req.Header.Set(fasthttp.HeaderAccept, "application/json")
	req.Header.Set(fasthttp.HeaderAcceptLanguage, "zh-CN")
	if q.token != "" {
		req.Header.Set(fasthttp.HeaderAuthorization, q.token)
	}
	if q.key != "" {
		req.Header.Set("Idempotency-Key", q.key)
	}
	if q.kind != "" {
		req.Header.SetContentType(q.kind)
		req.SetBodyRaw(q.body)
	}
}

func read(a *answer, act string, resp *fasthttp.Response) {
	a.status = resp.StatusCode()
	body := resp.Body()
	if act == journal.ActTime || act == journal.ActPay || act == journal.ActGet {
		a.body = append(a.body, body...)
	}
	if act == journal.ActPay || act == journal.ActTime && a.status == http.StatusOK {
		return
	}
	a.order = field(body, `"order_id"`)
	if a.status == http.StatusOK {
		if act != journal.ActBuy {
			a.state, a.reason, a.pay = seckill.State(field(body, `"state"`)), field(body, `"reason"`),
				field(body, `"alipay_order"`)
			a.retry = time.Duration(number(body, `"retry_after_ms"`)) * time.Millisecond
		}
		if a.pay != "" {
			a.payBy = field(body, `"pay_by"`)
		}
		return
	}
	a.code = field(body, `"code"`)
	a.retry = time.Duration(number(body, `"retry_after_ms"`)) * time.Millisecond
	if a.retry <= 0 {
		seconds, err := strconv.ParseInt(string(resp.Header.Peek(fasthttp.HeaderRetryAfter)), 10, 32)
		if err == nil {
			a.retry = time.Duration(seconds) * time.Second
		}
	}
}

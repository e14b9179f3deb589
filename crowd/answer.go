package crowd

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/shared/seckill"
)

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

const noAnswer = "no_answer"

// word says in one word what an answer is.
func (a *answer) word() string {
	switch {
	case errors.Is(a.err, errLeft):
		return string(brokenOff)
	case a.status == 0:
		return noAnswer
	case a.code != "":
		return a.code
	case a.status == http.StatusOK:
		return string(accepted)
	}
	return "http_" + strconv.Itoa(a.status)
}

// How a shopper's purchase ended; each shopper who came has exactly one of these.
type outcome string

const (
	placed    outcome = "placed"     // an order of theirs has been seen in the ledger
	accepted  outcome = "accepted"   // answered 200, and not seen placed before they left
	rejected  outcome = "rejected"   // answered 200, and rejected afterwards; the cause is the reason
	soldOut   outcome = "sold_out"   //
	refused   outcome = "refused"    // otherwise; the cause is the code
	failed    outcome = "failed"     // never got an answer that means something; the cause is the last one
	brokenOff outcome = "broken_off" // sent home before there was an answer
)

// outcomes in the order in which they are shown.
var outcomes = []outcome{placed, accepted, rejected, soldOut, refused, failed, brokenOff}

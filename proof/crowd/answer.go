package crowd

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/your-org/seckill/proof/record"
)

// errLeft is the error of a request that was not sent because the crowd ended.
var errLeft = errors.New("the crowd has ended")

// ask is a request and the moment for which it was scheduled.
type ask struct {
	act    string
	moment time.Time
	method string
	url    string
	token  string
	key    string
	kind   string // Content-Type of the body
	body   []byte
	ticket string
	// from whose address it is sent: a shopper's machine, see Bots; 0 means this machine's
	machine int
	entry   record.Entry // what the journal records besides the act
}

// answer is the result of a request: a response, or why there is no response.
type answer struct {
	status int   // 0 means no answer
	err    error // why there is no answer; errLeft: the request was never sent
	at     time.Time
	retry  time.Duration // the server's retry delay; 0 if it sent none
	said
	body  []byte // kept for the acts time, get, pay, file, status, challenge and ticket only
	kept  bool   // a CDN answered it
	heard bool   // it is a message, and nobody asked
}

// later reports whether the request should be repeated: it got no answer, 429 or 5xx.
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
	if q.ticket != "" {
		req.Header.Set("Ticket", q.ticket)
	}
	if q.kind != "" {
		req.Header.SetContentType(q.kind)
		req.SetBodyRaw(q.body)
	}
}

func read(a *answer, act string, resp *fasthttp.Response) {
	a.status = resp.StatusCode()
	body := resp.Body()
	a.kept = kept(string(resp.Header.Peek("X-Cache")))
	switch act {
	case record.ActTime, record.ActPay, record.ActGet, actFile, actStatus, actChallenge, actTicket:
		a.body = append(a.body, body...)
	}
	if act == record.ActPay || a.status == http.StatusOK && (act == record.ActTime || ofPage(act)) {
		return
	}
	a.said = parse(body)
	a.retry = time.Duration(a.Retry) * time.Millisecond
	if a.status != http.StatusOK && a.retry <= 0 {
		seconds, err := strconv.ParseInt(string(resp.Header.Peek(fasthttp.HeaderRetryAfter)), 10, 32)
		if err == nil {
			a.retry = time.Duration(seconds) * time.Second
		}
	}
}

const noAnswer = "no_answer"

// word names the answer in counts and causes.
func (a *answer) word() string {
	switch {
	case errors.Is(a.err, errLeft):
		return string(brokenOff)
	case a.status == 0:
		return noAnswer
	case a.Code != "":
		return a.Code
	case a.status == http.StatusOK:
		return string(accepted)
	}
	return "http_" + strconv.Itoa(a.status)
}

// outcome is how a shopper's purchase ended. Each shopper who pressed the button has exactly one outcome.
type outcome string

const (
	placed    outcome = "placed"     // the shopper saw the order in the ledger
	accepted  outcome = "accepted"   // answered 200, but the shopper left before the order was placed
	rejected  outcome = "rejected"   // answered 200, then rejected; the cause is the reason
	soldOut   outcome = "sold_out"   // refused with the code sold_out
	refused   outcome = "refused"    // refused with another code, which is the cause
	failed    outcome = "failed"     // patience ran out without an answer, 429 or 5xx; the cause is the last answer
	brokenOff outcome = "broken_off" // the crowd ended before the answer
)

// outcomes in the order of the report.
var outcomes = []outcome{placed, accepted, rejected, soldOut, refused, failed, brokenOff}

// kept reports whether a CDN answered from its cache, or by itself.
func kept(cache string) bool {
	return strings.HasPrefix(cache, "Hit") || strings.HasPrefix(cache, "FunctionGenerated")
}

package httpapi

import (
	"context"
	"encoding/base64"
	"net/http"

	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/seckill"
)

// Admit is the step that gives tickets. Its errors are *seckill.Error.
type Admit interface {
	Challenge(ctx context.Context, c admit.Caller, item string) (seckill.Challenge, error)
	Ticket(ctx context.Context, c admit.Caller, a seckill.Answer) (seckill.Ticket, error)
}

// NewAdmit serves POST /seckill/challenge and POST /seckill/ticket.
func NewAdmit(flow Admit, auth Auth, o Options) *Handler {
	a := &admitter{flow, o.caller(auth), o.Acts}
	return newHandler(o, newRoute(http.MethodPost, "/seckill/challenge", a.challenge),
		newRoute(http.MethodPost, "/seckill/ticket", a.ticket))
}

type admitter struct {
	flow Admit
	from caller
	acts *Acts // nil if there are none
}

// caller finds out who asks, and from where.
func (a *admitter) caller(r *http.Request) (admit.Caller, error) {
	who, err := a.from.account(r)
	c := admit.Caller{User: who.User, Created: who.Created, English: English(r.Header["Accept-Language"])}
	if from, ok := NetworkOf(r.RemoteAddr); ok {
		c.Networks = seckill.NetworkSubjects(from.Addr())
	}
	return c, err
}

// askJSON is the body of both requests; unknown fields are ignored.
type askJSON struct {
	Item   itemField `json:"seckill_id"`
	Proof  onceText  `json:"proof"` // base64, as ALTCHA's widget sends it
	Answer onceText  `json:"answer"`
}

func (a *admitter) ask(r *http.Request) (admit.Caller, askJSON, error) {
	var body askJSON
	c, err := a.caller(r)
	if err != nil {
		return c, body, err
	}
	if err := readJSON(r, seckill.MaxTicketBody, &body); err != nil {
		return c, body, err
	}
	if body.Item == "" {
		return c, body, errItem
	}
	return c, body, nil
}

func (a *admitter) challenge(r *http.Request, _ string) (answer, error) {
	c, body, err := a.ask(r)
	var got seckill.Challenge
	if err == nil {
		got, err = a.flow.Challenge(r.Context(), c, string(body.Item))
	}
	a.acts.note(r, seckill.ActChallenge, string(body.Item), acts.Seen{User: c.User}, 0, err)
	if err != nil {
		return answer{}, err
	}
	return answer{kindJSON, cacheNever, appendChallenge(nil, &got)}, nil
}

func (a *admitter) ticket(r *http.Request, _ string) (answer, error) {
	c, body, err := a.ask(r)
	var t seckill.Ticket
	if err == nil {
		t, err = a.answered(r, c, &body)
	}
	s := acts.Seen{User: c.User, TooFast: t.TooFast}
	if err != nil && seckill.AsError(err).Token == seckill.CheckQuestion {
		s.Wrong = string(body.Answer)
	}
	a.acts.note(r, seckill.ActTicket, string(body.Item), s, t.Took, err)
	if err != nil {
		return answer{}, err
	}
	return encode(cacheNever, struct {
		Ticket  string `json:"ticket"`
		Expires string `json:"expires_at"`
	}{t.Text, rfc3339(t.Expires)})
}

// answered passes an answer on.
func (a *admitter) answered(r *http.Request, c admit.Caller, body *askJSON) (seckill.Ticket, error) {
	proof, err := base64.StdEncoding.DecodeString(string(body.Proof))
	if err != nil {
		return seckill.Ticket{}, seckill.Invalid("proof", "")
	}
	return a.flow.Ticket(r.Context(), c, seckill.Answer{Item: string(body.Item), Proof: proof,
		Answer: string(body.Answer)})
}

// appendChallenge appends a challenge as JSON. The proof is JSON already.
func appendChallenge(b []byte, c *seckill.Challenge) []byte {
	b = appendString(append(b, `{"seckill_id":`...), c.Item)
	b = appendString(append(b, `,"checks":`...), string(c.Checks))
	b = append(append(b, `,"proof":`...), c.Proof...)
	if c.Question != "" {
		b = appendString(append(b, `,"question":`...), c.Question)
	}
	if c.Alternative != "" {
		b = append(append(b, `,"picture":"data:image/png;base64,`...), base64.StdEncoding.EncodeToString(c.Picture)...)
		b = appendString(append(b, `","alternative":`...), c.Alternative)
	}
	b = appendString(append(b, `,"expires_at":`...), rfc3339(c.Expires))
	return append(b, '}')
}

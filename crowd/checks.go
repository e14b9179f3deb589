package crowd

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"github.com/your-org/seckill/shared/adapter/altcha"
	"github.com/your-org/seckill/shared/seckill"
)

// What a shopper asks for to pass an item's checks, in the report. The journal has neither: no order depends on what
// they were told.
const (
	actChallenge = "challenge" // POST /seckill/challenge
	actTicket    = "ticket"    // POST /seckill/ticket
)

// prepare has a shopper of a crowd with scripts pass the item's checks. It reports false if the shopper does not press:
// absent, or refused.
func (s *shopper) prepare(ctx context.Context) bool {
	s.tally.change(func(t *tally) {
		k := &t.kinds[s.kind]
		k.Accounts++
		if !s.absent {
			k.Came++
		}
	})
	if s.absent {
		return false
	}
	if s.item.Checks == seckill.ChecksOff {
		return true
	}
	began := time.Now()
	code, err := s.pass(ctx, began)
	now := time.Now()
	s.tally.change(func(t *tally) {
		k := &t.kinds[s.kind]
		if code != "" || err != nil {
			return
		}
		k.Tickets++
		if now.After(t.opening) {
			k.Late++
		}
		if s.kind == person {
			t.checking.add(now.Sub(began))
		}
	})
	switch {
	case err != nil:
		s.tally.change(func(t *tally) { t.came++ })
		s.tally.ended(brokenOff, "", 0, false)
	case code != "":
		s.tally.change(func(t *tally) { t.came++ })
		s.tally.ended(refused, code, 0, false)
	}
	return code == "" && err == nil
}

// pass gets a ticket. code is what refused the shopper for good; err says that the crowd ended.
func (s *shopper) pass(ctx context.Context, moment time.Time) (code string, err error) {
	a, err := s.insistOn(ctx, actChallenge, map[string]string{"seckill_id": s.item.ID}, moment)
	if err != nil || a.status != http.StatusOK {
		return a.word(), err
	}
	var c struct {
		Proof    json.RawMessage `json:"proof"`
		Question string          `json:"question"`
	}
	if err := json.Unmarshal(a.body, &c); err != nil {
		return "bad challenge", nil
	}
	if !sleep(ctx, time.Now().Add(s.opt.Bots.solves(&s.visit, c.Question != ""))) {
		return "", errLeft
	}
	solution, _, err := altcha.Solve(c.Proof)
	if err != nil {
		return "bad challenge", nil
	}
	body := map[string]string{"seckill_id": s.item.ID, "proof": base64.StdEncoding.EncodeToString(solution)}
	if c.Question != "" {
		body["answer"] = s.opt.Bots.answer(s.kind, c.Question)
	}
	a, err = s.insistOn(ctx, actTicket, body, time.Now())
	if err != nil || a.status != http.StatusOK {
		return a.word(), err
	}
	s.ticket = field(a.body, `"ticket"`)
	return "", nil
}

// insistOn repeats a request while the answer is to come back later.
func (s *shopper) insistOn(ctx context.Context, act string, body map[string]string, moment time.Time) (answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	for attempt := 0; ; attempt++ {
		a := s.client.do(ctx, &ask{act: act, moment: moment, method: http.MethodPost, url: s.base + "/seckill/" + act,
			token: s.token, kind: "application/json", body: bytes.Clone(text), machine: s.machine})
		if a.err == errLeft {
			return a, errLeft
		}
		if !a.later() && a.status != http.StatusTooEarly {
			return a, nil
		}
		moment = a.at.Add(s.retryWait(attempt, a.retry))
		if !sleep(ctx, moment) {
			return a, errLeft
		}
	}
}

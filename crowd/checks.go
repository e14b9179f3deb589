package crowd

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
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

// prepareAll has the accounts of a crowd with scripts pass the item's checks in peace, beginning spread over the lead.
// Then it moves the clock of the `seckill run` to shortly before the opening.
func (r *run) prepareAll(ctx context.Context, d *operatorClient, sc *scene) error {
	began, say := time.Now(), time.Now().Add(sayEvery)
	var all sync.WaitGroup
	for n := 1; n <= r.opt.Shoppers; n++ {
		s := r.shopper(n)
		r.prepared = append(r.prepared, s)
		s.tally.change(func(t *tally) {
			k := &t.kinds[s.kind]
			k.Accounts++
			if !s.absent {
				k.Came++
			}
		})
		if s.absent || r.item.Checks == seckill.ChecksOff {
			continue
		}
		if !sleep(ctx, began.Add(r.opt.Lead+s.opens)) {
			break
		}
		all.Go(func() { s.prepare(ctx) })
		if time.Now().After(say) {
			say = time.Now().Add(sayEvery)
			r.opt.note("%d of %d accounts have begun to pass the checks", n, r.opt.Shoppers)
		}
	}
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.tally.change(func(t *tally) {
		tickets := 0
		for _, k := range t.kinds {
			tickets += k.Tickets
		}
		r.opt.note("%d tickets after %v; the sale opens", tickets, time.Since(began).Round(time.Second))
	})
	early := sc.item.Start.Sub(time.Now().Add(r.offset)) - r.opt.Bots.takes(earlyBy) - 2*breath
	if early > time.Second {
		if err := d.advance(ctx, early.Truncate(time.Second)); err != nil {
			return err
		}
		again, err := d.look(ctx, r.opt)
		if err != nil {
			return err
		}
		r.offset = again.offset
	}
	for _, s := range r.prepared {
		s.offset = r.offset
	}
	return nil
}

// prepare passes the checks, or says why the shopper could not.
func (s *shopper) prepare(ctx context.Context) {
	began := time.Now()
	code, err := s.pass(ctx, began)
	if err != nil {
		code = string(brokenOff)
	}
	s.tally.change(func(t *tally) {
		if s.refusal = code; code != "" {
			return
		}
		t.kinds[s.kind].Tickets++
		if s.kind == person {
			t.checking.add(time.Since(began))
		}
	})
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

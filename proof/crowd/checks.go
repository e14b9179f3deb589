package crowd

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/seckill"
)

const badChallenge = "bad challenge" // the cause of a refusal

// prepareAll has the accounts of a crowd with scripts pass the item's checks in peace, beginning spread over the lead.
// Then it moves the clock of the `seckill run` to shortly before the opening.
func (r *run) prepareAll(ctx context.Context, d *operatorClient, sc *scene) error {
	if r.opt.Bots == nil {
		return nil
	}
	began := time.Now()
	over := make(chan struct{})
	var all, watch sync.WaitGroup
	if r.item.Checks != seckill.ChecksOff {
		watch.Go(func() { r.sayTickets(over) })
	}
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
	}
	all.Wait()
	close(over)
	watch.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.item.Checks != seckill.ChecksOff {
		r.opt.note("%d tickets after %v; the sale opens", r.ticketsGiven(), time.Since(began).Round(time.Second))
	}
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

func (r *run) ticketsGiven() (n int) {
	r.tally.change(func(t *tally) {
		for i := range t.kinds {
			n += t.kinds[i].Tickets
		}
	})
	return n
}

// sayTickets notes how many tickets were given, until over is closed.
func (r *run) sayTickets(over <-chan struct{}) {
	tick := time.NewTicker(sayEvery)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			r.opt.note("%d tickets given; %d accounts in all", r.ticketsGiven(), r.opt.Shoppers)
		}
	}
}

// prepare passes the checks, or says why the shopper could not.
func (s *shopper) prepare(ctx context.Context) {
	code, took, err := s.pass(ctx)
	if err != nil {
		code = string(brokenOff)
	}
	s.tally.change(func(t *tally) {
		if s.refusal = code; code != "" {
			return
		}
		t.kinds[s.kind].Tickets++
		if s.kind == person {
			t.checking.add(took)
		}
	})
}

// pass gets a ticket. code is what refused the shopper for good; took is the time for the two requests and for what is
// between them, without what the crowd's own machine makes a shopper wait; err says that the crowd ended.
func (s *shopper) pass(ctx context.Context) (code string, took time.Duration, err error) {
	a, asked, err := s.insistOn(ctx, actChallenge, map[string]string{"seckill_id": s.item.ID})
	if err != nil || a.status != http.StatusOK {
		return a.word(), 0, err
	}
	var c struct {
		Proof    json.RawMessage `json:"proof"`
		Question string          `json:"question"`
	}
	if json.Unmarshal(a.body, &c) != nil {
		return badChallenge, 0, nil //nolint:nilerr // as below
	}
	solving := s.opt.Bots.solves(&s.visit, c.Question != "")
	if !sleep(ctx, time.Now().Add(solving)) {
		return "", 0, errLeft
	}
	solution, _, unsolved := altcha.Solve(c.Proof)
	if unsolved != nil {
		return badChallenge, 0, nil //nolint:nilerr // the sale's fault: it is counted, and the crowd goes on
	}
	body := map[string]string{"seckill_id": s.item.ID, "proof": base64.StdEncoding.EncodeToString(solution)}
	if c.Question != "" {
		body["answer"] = s.opt.Bots.answer(s.kind, c.Question)
	}
	a, answered, err := s.insistOn(ctx, actTicket, body)
	if err != nil || a.status != http.StatusOK {
		return a.word(), 0, err
	}
	s.ticket = parse(a.body).Ticket
	return "", asked + solving + answered, nil
}

// insistOn repeats a request while the answer is to come back later. took is the time of the last request. Few requests
// are under way at the same time: shoppers have half an hour for them.
func (s *shopper) insistOn(ctx context.Context, act string, body map[string]string) (a answer, took time.Duration,
	err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return a, 0, err
	}
	for attempt := 0; ; attempt++ {
		s.asking <- struct{}{}
		sent := time.Now()
		a = s.client.do(ctx, &ask{act: act, moment: sent, method: http.MethodPost, url: s.base + "/seckill/" + act,
			token: s.token, kind: "application/json", body: bytes.Clone(text), machine: s.machine})
		<-s.asking
		if errors.Is(a.err, errLeft) {
			return a, 0, errLeft
		}
		if !a.later() && a.status != http.StatusTooEarly {
			return a, a.at.Sub(sent), nil
		}
		if !sleep(ctx, a.at.Add(s.retryWait(attempt, a.retry))) {
			return a, 0, errLeft
		}
	}
}

// solves draws how long a shopper takes for a proof of work and, if the item asks a question, for typing the answer.
func (b *Bots) solves(v *visit, question bool) time.Duration {
	if v.kind != person {
		tries := (0.5 + v.random.Float64()/2) * float64(b.Work.Tries)
		return b.takes(time.Duration(tries * float64(b.KeyCPU)))
	}
	took := time.Second + time.Duration(v.random.Int64N(int64(time.Second)))
	if question {
		took += 3*time.Second + time.Duration(v.random.Int64N(int64(3*time.Second)))
	}
	return b.takes(took)
}

// answer returns what a shopper says to a question.
func (b *Bots) answer(k kind, question string) string {
	if k != person && k != farm {
		return "?"
	}
	return b.Answers[question]
}

package crowd

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gobwas/ws"

	"github.com/your-org/seckill/shared/seckill"
)

// result is the end of a purchase.
type result struct {
	outcome outcome // "" if accepted, with an order to follow
	cause   string
	order   string
	at      time.Time

	push offer // where the shopper hears of the order
}

// shop plays the shopper's whole visit.
func (s *shopper) shop(ctx context.Context) {
	if s.opt.Pages {
		s.openPage(ctx)
	}
	if s.opt.Lead > 0 && s.opt.Bots == nil {
		s.askTime(ctx)
	}
	s.pressed = s.opensAt(s.offset).Add(s.press)
	if s.opt.Pages {
		s.watch(ctx, s.pressed)
	}
	if !sleep(ctx, s.pressed) {
		return
	}
	s.tally.change(func(t *tally) { t.came++ })
	if s.refusal != "" { // and not pressed
		s.end(result{outcome: refused, cause: s.refusal, at: s.pressed})
		return
	}
	answered := s.tally.waiting(func(w *Waits) *int { return &w.Answer })
	r := s.buyTwice(ctx)
	answered()
	if r.outcome != "" {
		s.end(r)
		return
	}
	s.tally.change(func(t *tally) { t.acceptedAt = append(t.acceptedAt, r.at) })
	known := s.tally.waiting(func(w *Waits) *int { return &w.Place })
	s.ear = s.listen(ctx, &r)
	defer func() { s.ear.close() }()
	a, err := s.placed(ctx, r.order)
	known()
	if err != nil {
		s.end(result{outcome: accepted, at: r.at})
		s.leave()
		return
	}
	s.tally.change(func(t *tally) { t.push.Followed++; t.push.Polls += s.polls })
	if a.State == seckill.Rejected {
		s.end(result{outcome: rejected, cause: a.Reason, at: r.at})
		return
	}
	now := time.Now()
	s.tally.change(func(t *tally) {
		t.placedAt = append(t.placedAt, now)
		t.kinds[s.kind].Orders++
	})
	s.end(result{outcome: placed, at: r.at})
	s.decide(ctx, a)
}

// decide carries out the shopper's fate for a placed order.
func (s *shopper) decide(ctx context.Context, a answer) {
	switch s.fate {
	case pays:
		decided := s.tally.waiting(func(w *Waits) *int { return &w.Decide })
		s.ear.close() // it leaves the page for the cashier
		s.ear = nil
		paid := s.thinks(ctx) && s.payFor(ctx, a)
		decided()
		if paid && s.seesPaid(ctx, a.Order) {
			return
		}
	case cancels:
		decided := s.tally.waiting(func(w *Waits) *int { return &w.Decide })
		if s.thinks(ctx) {
			s.cancel(ctx, a.Order)
		}
		decided()
	case abandons:
		s.tally.change(func(t *tally) { t.orders.Abandoned++ })
	default:
		s.tally.change(func(t *tally) { t.orders.Looked++ })
		s.busy(-1) // the crowd does not wait for shoppers who only look
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		defer context.AfterFunc(s.over, stop)()
		_, err := s.follow(ctx, a.Order, a.State, atRest)
		s.busy(+1)
		if err == nil {
			return
		}
	}
	s.leave()
}

func (s *shopper) end(r result) {
	s.tally.ended(r.outcome, r.cause, r.at.Sub(s.pressed), s.bothered)
}

// buyTwice makes a purchase. An impatient shopper presses again while the first request is under way, and a script may
// press on several connections; any answer may have the order.
func (s *shopper) buyTwice(ctx context.Context) result {
	if s.second == 0 {
		return s.buy(ctx, s.pressed)
	}
	more := 1
	if s.kind == several {
		more = atOnce - 1
	}
	again := make(chan answer, more)
	for range more {
		go func() {
			moment := s.pressed.Add(s.second)
			if !sleep(ctx, moment) {
				again <- answer{err: errLeft}
				return
			}
			again <- s.send(ctx, moment)
		}()
	}
	r := s.buy(ctx, s.pressed)
	for range more {
		a := <-again
		s.tally.change(func(t *tally) { t.repeats[a.word()]++ })
		if r.outcome != "" && a.status == http.StatusOK {
			r = result{order: a.Order, at: a.at, push: a.Push}
		}
	}
	return r
}

// buy repeats the same request while the answer is to come back later, until the shopper's patience ends.
func (s *shopper) buy(ctx context.Context, moment time.Time) result {
	untouched := true
	for attempt := 0; ; attempt++ {
		a := s.send(ctx, moment)
		untouched = untouched && a.status == http.StatusTooManyRequests
		if errors.Is(a.err, errLeft) {
			return result{outcome: brokenOff, at: time.Now()}
		}
		if attempt == 0 {
			s.tally.firstPress(a.at)
		}
		var wait time.Duration
		switch {
		case a.status == http.StatusOK:
			return result{order: a.Order, at: a.at, push: a.Push}
		case a.status == http.StatusTooEarly:
			wait = max(a.retry, s.retryWait(attempt, 0))
		case a.later():
			s.bothered = true
			if a.at.Sub(s.pressed) > s.opt.Patience {
				return result{outcome: failed, cause: a.word(), at: a.at}
			}
			wait = s.retryWait(attempt, a.retry)
		case seckill.Code(a.Code) == seckill.CodeSoldOut:
			return result{outcome: soldOut, at: a.at}
		case seckill.Code(a.Code) == seckill.CodeLimitReached && a.Order != "" && (attempt > 0 || s.second > 0):
			return result{order: a.Order, at: a.at} // the order of the shopper's other press
		default:
			return result{outcome: refused, cause: a.word(), at: a.at}
		}
		if s.kind == early {
			wait = s.opt.Bots.takes(earlyEvery)
		}
		moment = a.at.Add(wait)
		if !sleep(ctx, moment) {
			return result{outcome: brokenOff, at: time.Now()}
		}
		if s.opt.Pages && untouched && s.soldOut(ctx, moment) {
			return result{outcome: soldOut, at: time.Now()}
		}
	}
}

// listen connects as the page does. It returns nil, and the shopper polls, when there is no connection to be had.
func (s *shopper) listen(ctx context.Context, r *result) *listener {
	if r.push.URL == "" || s.opt.NoPush {
		return nil
	}
	dialer := ws.Dialer{Timeout: s.opt.Timeout, TLSConfig: s.opt.TLS, ReadBufferSize: hearBuffer,
		WriteBufferSize: hearBuffer, Protocols: []string{seckill.PushProtocol, r.push.Pass}}
	conn, early, _, err := dialer.Dial(ctx, r.push.URL)
	if err != nil {
		s.tally.change(func(t *tally) { t.push.Refused++ })
		return nil
	}
	s.tally.change(func(t *tally) { t.push.Connected++ })
	l := &listener{conn: conn, order: r.order, catchesUp: r.push.CatchesUp,
		news: make(chan seckill.State, maxHeard), gone: make(chan struct{})}
	if early == nil {
		early = bufio.NewReaderSize(conn, hearBuffer)
	}
	go l.hear(early, s.tally, r.at)
	return l
}

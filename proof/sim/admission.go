package sim

import (
	"fmt"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

// askTicket makes a shopper answer a challenge: right, wrong, with another shopper's answer, late, or too often.
func (s *Sim) askTicket(t Act) {
	it, n := s.pickItem(t.A), 1+pick(t.A, 8, s.plan.Shoppers)
	if it.Checks == seckill.ChecksOff {
		return
	}
	user := strconv.Itoa(n)
	other := strconv.Itoa(1 + n%s.plan.Shoppers)
	s.spawn(t.ID, t.Kind, "shopper "+user+" wants a ticket for "+it.ID, t.A, func(i *Instance) {
		p := s.current
		err := s.answerSomehow(i, user, other, it, t.A)
		if err != nil {
			s.trace.step(s.Clock.Now(), p, "is refused: ", string(seckill.CodeOf(err)))
			return
		}
		s.trace.step(s.Clock.Now(), p, "is answered", "")
	})
}

func (s *Sim) answerSomehow(i *Instance, user, other string, it *seckill.Item, a uint64) error {
	whose, of := user, it.ID
	how := pick(a, 16, 12)
	switch items := s.allItems(); how {
	case 0:
		whose = other
	case 1:
		of = items[len(items)-1].ID
	case 2: // the challenge of long ago
		if kept, ok := s.kept[holder{user, it.ID}]; ok {
			_, err := i.ticket(user, kept)
			return err
		}
	}
	r, err := i.challenge(whose, of)
	if err != nil {
		return err
	}
	times := 1
	r.Item = it.ID
	kept, old := s.kept[holder{user, it.ID}]
	switch {
	case how == 3:
		r.Answer.Answer = strconv.Itoa(999)
	case how == 4:
		r.Proof, r.of = []byte(`{"challenge":{},"solution":{}}`), holder{}
	case how == 5 && old: // a new proof, and the answer to a question of long ago
		r.Answer.Answer = kept.Answer.Answer
	case how == 6:
		times, r.Answer.Answer = seckill.MaxAttempts+2, strconv.Itoa(pick(a, 20, 12))
		if pick(a, 28, 2) == 0 {
			r.Proof, r.of = nil, holder{}
		}
	case how == 7:
		times = 2
	case how == 8: // their own proof, and the right answer to what another shopper is asked
		if theirs, err := i.challenge(other, it.ID); err == nil {
			r.Answer.Answer = theirs.right
		}
	}
	if !old && r.right != "" || !old && pick(a, 24, 2) == 0 {
		s.kept[holder{user, it.ID}] = r
	}
	for range times {
		_, err = i.ticket(user, r)
	}
	return err
}

// setBlock makes an operator block a shopper or a range, or remove a block; without an answer the operator asks again.
func (s *Sim) setBlock(t Act) {
	it, n := s.pickItem(t.A), 1+pick(t.A, 8, s.plan.Shoppers)
	k := blockKey{seckill.UserSubject(strconv.Itoa(n)), it.ID}
	if pick(t.A, 16, 3) == 0 {
		k.item = seckill.Everywhere
	}
	if pick(t.A, 48, 12) == 0 {
		k.item = "4040" // misspelt
	}
	if pick(t.A, 20, 4) == 0 {
		k.subject = networksOf(n)[pick(t.A, 24, 4)] // not the widest range: other shoppers in it buy in the end
	}
	removes := pick(t.A, 28, 3) == 0
	holds := []time.Duration{0, 10 * time.Second, 3 * time.Minute, time.Hour}[pick(t.A, 32, 4)]
	what := "blocks"
	if removes {
		what = "unblocks"
	}
	s.spawn(t.ID, t.Kind, fmt.Sprintf("operator %s %s for %s", what, k.subject, k.item), t.A, func(i *Instance) {
		b := s.blockOf(k, holds)
		if pick(t.A, 44, 4) == 0 {
			_ = i.listBlocks(k)
			_, _ = i.listed("") // reads an index, which lags: its rows are checked at the end
		}
		for range 1 + pick(t.A, 40, 4) {
			var err error
			if removes {
				err = i.unblock(k)
			} else {
				err = i.block(b)
			}
			if err == nil {
				s.trace.step(s.Clock.Now(), s.current, "is told that it is done", "")
				return
			}
		}
	})
}

// setSecret makes an operator add a key of tickets while the previous key makes them. After a leak the operator adds
// three at once, so that earlier tickets are refused.
func (s *Sim) setSecret(t Act) {
	d, now, times := s.door, s.Clock.Now(), 1
	if pick(t.A, 8, 8) == 0 {
		times = jwtauth.MaxTicketKeys
		d.hurries = append(d.hurries, now)
	} else if !d.begun(now) {
		return
	}
	for range times {
		d.rotate(now)
	}
	s.trace.say(now, "tickets have %d keys, the newest is number %d", len(d.keys()), len(d.rotations))
}

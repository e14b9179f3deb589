package sim

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// ask writes an item's questions.
func (w *World) ask(item string, questions int) error {
	for n := range questions {
		q := seckill.Question{ID: strconv.Itoa(n), Text: fmt.Sprintf("%d + %d?", n, n),
			Answers: []string{strconv.Itoa(2 * n), fmt.Sprint("the double of ", n)}}
		if err := w.ledger.PutQuestion(context.Background(), item, q); err != nil {
			return err
		}
		w.door.pool[item] = append(w.door.pool[item], q)
	}
	return nil
}

// reply is an answer to a challenge, and what is true of it.
type reply struct {
	seckill.Answer
	of      holder    // the shopper whose proof it is, and the item; zero if it is nobody's proof
	expires time.Time // of the proof
	right   string    // the answer to what was asked; "" if nothing was
	slot    int64     // the half hour of the question
	oldest  int       // the oldest key that its maker knew
}

// half returns the half hour of a time.
func half(t time.Time) int64 { return t.Unix() / int64(seckill.ChallengeLife/time.Second) }

// callerOf returns a shopper of the world: where they are, and since when they have their account.
func callerOf(user string) admit.Caller {
	n, _ := strconv.Atoi(user)
	c := admit.Caller{User: user, Networks: networksOf(n), English: n%3 == 0}
	switch n % 4 {
	case 1: // old enough ten minutes after the sale's beginning
		c.Created = epoch.Add(10*time.Minute - seckill.MinAccountAge)
	case 2:
		if n < 90 { // other shoppers buy what is left in the end
			c.Created = epoch.Add(-time.Hour)
		}
	case 3:
		c.Created = epoch.Add(-365 * 24 * time.Hour)
	}
	if n >= 90 && n%4 == 1 {
		c.Created = time.Time{}
	}
	return c
}

// tooNew reports whether an account is too new for an item.
func (w *World) tooNew(c admit.Caller, item string, now time.Time) bool {
	return w.item(item).Checks == seckill.ChecksStrict && !c.Created.IsZero() &&
		now.Sub(c.Created) < seckill.MinAccountAge
}

// challenge makes a shopper ask for a challenge, and solves it.
func (i *Instance) challenge(user, item string) (reply, error) {
	i.keys.refresh()
	w, c, now := i.world, callerOf(user), i.clock.Now()
	held := w.heldBlocks(&c, item)
	oldest := i.keys.oldest()
	got, err := i.Admit.Challenge(context.Background(), c, item)
	w.checkDoorCode(&c, item, now, held, err)
	w.door.hear("challenge", err)
	if err != nil {
		return reply{}, err
	}
	solution, _, err := altcha.Solve(got.Proof)
	if err != nil {
		panic(err)
	}
	r := reply{Answer: seckill.Answer{Item: got.Item, Proof: solution}, of: holder{user, got.Item},
		expires: got.Expires, right: w.solve(&c, &got), slot: half(now), oldest: oldest}
	if oldest != i.keys.oldest() { // another event renewed the keys in between
		r.oldest = -1
	}
	r.Answer.Answer = r.right
	return r, nil
}

// solve answers what a challenge asks: a question or a sum. Every second shopper sees the sum, and the others hear it.
func (w *World) solve(c *admit.Caller, got *seckill.Challenge) string {
	strict := w.item(got.Item).Checks == seckill.ChecksStrict
	asks, sum := strict && len(w.door.pool[got.Item]) > 0, strict && len(w.door.pool[got.Item]) == 0
	if asks != (got.Question != "") || sum != (len(got.Picture) > 0) || sum != (got.Alternative != "") {
		w.truth.fail("A1 user %s is asked for item %s %q, %q and a picture of %d bytes", c.User, got.Item, got.Question,
			got.Alternative, len(got.Picture))
	}
	var n int
	if _, err := fmt.Sscanf(got.Question, "%d + ", &n); err == nil {
		return " " + strings.ToUpper(fmt.Sprint("the double  of ", n))
	}
	if !sum {
		return ""
	}
	seen, heard := w.door.pictures[string(got.Picture)], heardSum(got.Alternative, c.English)
	if seen != heard {
		w.truth.fail("A1 user %s sees the sum %v for item %s and hears %v", c.User, seen, got.Item, heard)
	}
	if n, _ = strconv.Atoi(c.User); n%2 == 0 {
		return fmt.Sprint(" ", seen.A+seen.B)
	}
	return fmt.Sprint(heard.A + heard.B)
}

// heardSum returns the sum that is asked in words.
func heardSum(text string, english bool) seckill.Sum {
	for seed := range 80 { // all of them
		s := seckill.SumOf(seed)
		if q := s.Question(english); q.Text == text {
			return s
		}
	}
	return seckill.Sum{}
}

// answerRight reports whether an answer fits what this instance asks the shopper now, or asked half an hour ago.
func (i *Instance) answerRight(user, item, answer string, now time.Time) bool {
	pool := i.world.door.pool[item]
	if i.world.item(item).Checks != seckill.ChecksStrict {
		return true
	}
	fits := func(slot int64) bool {
		if len(pool) > 0 {
			return pool[i.keys.Pick(user, item, slot, len(pool))].Right(answer)
		}
		s := seckill.SumOf(i.keys.Pick(user, item, slot, math.MaxInt))
		q := s.Question(false)
		return q.Right(answer)
	}
	return fits(half(now)) || fits(half(now)-1)
}

// mustPass reports whether an answer is right for the shopper who was asked, in its time, and by keys that nobody
// dropped since.
func (i *Instance) mustPass(h holder, r *reply, now time.Time) bool {
	return r.of == h && r.Answer.Answer == r.right && r.oldest == i.keys.oldest() &&
		(half(now) == r.slot || half(now) == r.slot+1) && !i.world.door.hurried(i.world.Clock.Now())
}

// ticket makes a shopper answer, and checks A1 for what they get: a ticket for a right answer only, never more than
// MaxAttempts answers a minute, and no refusal without its reason.
func (i *Instance) ticket(user string, r reply) (seckill.Ticket, error) {
	i.keys.refresh()
	w, c, h, oldest := i.world, callerOf(user), holder{user, r.Item}, i.keys.oldest()
	now, began, held := i.clock.Now(), w.Clock.Now(), w.heldBlocks(&c, r.Item)
	key := attempt{h, now.Unix() / int64(seckill.AttemptWindow/time.Second)}
	may, must := r.of == h && i.answerRight(user, r.Item, r.Answer.Answer, now), i.mustPass(h, &r, now)
	w.door.asked[key]++
	got, err := i.Admit.Ticket(context.Background(), c, r.Answer)
	code := seckill.CodeOf(err)
	w.checkDoorCode(&c, r.Item, now, held, err)
	w.door.hear("ticket", err)
	if err == nil || code == seckill.CodeCheck {
		if w.door.taken[key]++; w.door.taken[key] > seckill.MaxAttempts {
			w.truth.fail("A1 user %s answered %d times for item %s in a minute", user, w.door.taken[key], r.Item)
		}
	}
	if !began.Before(r.expires) {
		w.door.heard["reply: late"]++
	}
	switch {
	case oldest != i.keys.oldest(): // another event renewed the keys in between: it is unknown which question counted
	case err == nil && (!may || !began.Before(r.expires.Add(seckill.SkewBound))):
		w.truth.fail("A1 user %s gets a ticket for item %s for the answer %q and a proof of %v until %s", user, r.Item,
			r.Answer.Answer, r.of, r.expires)
	case code == seckill.CodeCheck && must && w.Clock.Now().Before(r.expires.Add(-seckill.SkewBound)):
		w.truth.fail("A1 user %s is told for item %s that a right answer is wrong: %v", user, r.Item, err)
	case code == seckill.CodeTooMany && w.door.asked[key] <= seckill.MaxAttempts:
		w.truth.fail("A1 user %s is told for item %s after %d answers that they are too many", user, r.Item,
			w.door.asked[key])
	}
	if err == nil {
		if _, known := w.door.given[got.Text]; !known {
			w.door.newest[h] = append(w.door.newest[h], got.Text)
		}
		w.door.given[got.Text] = given{h, got.Expires}
		if r.right != "" && len(w.door.pool[r.Item]) == 0 {
			w.door.heard["ticket: for a sum"]++
		}
	}
	return got, err
}

// checkDoorCode checks an answer of admit against what is true of the shopper: account and blocks.
func (w *World) checkDoorCode(c *admit.Caller, item string, now time.Time, held heldBlocks, err error) {
	opens := w.item(item).Start.Add(-seckill.TicketLead)
	switch code := seckill.CodeOf(err); {
	case err == nil && now.Before(opens):
		w.truth.fail("A1 user %s passes for item %s at %s, tickets are given from %s on", c.User, item, now, opens)
	case code == seckill.CodeNotStarted && !now.Before(opens):
		w.truth.fail("A1 user %s is told at %s that item %s gives no tickets, since %s it does", c.User, now, item,
			opens)
	case err == nil && w.tooNew(*c, item, now):
		w.truth.fail("A1 user %s passes for item %s with an account of %s", c.User, item, c.Created)
	case err == nil:
		if b := held.still(w); b != nil {
			w.truth.fail("A4 user %s passes for item %s, for whom the block %+v was acknowledged", c.User, item, *b)
		}
	case code == seckill.CodeAccountNew && !w.tooNew(*c, item, now):
		w.truth.fail("A1 user %s is told that an account of %s is too new for item %s", c.User, c.Created, item)
	case code == seckill.CodeBlocked && !w.everBlocked(subjectsOf(c), item, held.at.Add(-rangesLag)):
		w.truth.fail("A4 user %s is told that they are blocked from item %s, and is not", c.User, item)
	}
}

// admitted gives a purchase a ticket if its item has checks.
func (i *Instance) admitted(p buy.Purchase) (buy.Purchase, error) {
	if i.world.item(p.Item).Checks == seckill.ChecksOff {
		return p, nil
	}
	r, err := i.challenge(p.User, p.Item)
	if err != nil {
		return p, err
	}
	t, err := i.ticket(p.User, r)
	p.Ticket = t.Text
	return p, err
}

// Package admit gives tickets to shoppers who pass an item's checks. In: a shopper who asks for a challenge, or answers
// it. Out: the challenge, or a ticket that the step buy takes until the sale ends. It reads items, blocks and
// questions, and counts answers; it touches no stock.
//
// A challenge is not stored: it is signed, and what is asked follows from shopper, item and half hour.
package admit

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/itemcache"
	"github.com/your-org/seckill/shared/seckill"
)

// Ledger is the part of the ledger that the step admit calls.
type Ledger interface {
	seckill.Attempts
	seckill.BlockReader
}

// Deps are the step's dependencies.
type Deps struct {
	Ledger    Ledger
	Items     seckill.Items
	Questions seckill.Questions
	Proofs    seckill.Proofs
	Tickets   seckill.TicketMaker
	Picker    seckill.Picker
	Clock     seckill.Clock
	Meter     seckill.Meter
	Work      seckill.Work    // of a proof
	Painter   seckill.Painter // if nil, an item without questions asks none
}

// Flow is one instance of the step. It is safe for concurrent use.
type Flow struct {
	Deps
	items  *itemcache.Cache
	pools  memory[[]seckill.Question] // by item
	ranges memory[[]seckill.Block]    // by range and item
}

// New returns an instance.
func New(d Deps) *Flow {
	return &Flow{Deps: d, items: itemcache.New(d.Items, d.Clock),
		pools:  memory[[]seckill.Question]{fresh: poolFresh, most: maxPools},
		ranges: memory[[]seckill.Block]{fresh: RangesFresh, most: maxRanges}}
}

// Caller is who asks.
type Caller struct {
	User     string
	Created  time.Time         // when the account was made; zero if the token does not say
	Networks []seckill.Subject // the ranges that the request came from
	English  bool              // reads English rather than Chinese
}

// Challenge returns what the caller has to solve. The error is an *seckill.Error: CodeItemUnknown, CodeNotStarted,
// CodeEnded, CodeStopped, CodeBlocked, CodeAccountNew, CodeUnavailable.
func (f *Flow) Challenge(ctx context.Context, c Caller, item string) (seckill.Challenge, error) {
	now := f.Clock.Now()
	it, err := f.admissible(ctx, c, item, now)
	if err != nil {
		return seckill.Challenge{}, err
	}
	return f.challenge(ctx, c, it, now)
}

// Ticket gives a ticket for a right answer. The error is an *seckill.Error: those of Challenge; CodeTooMany after
// MaxAttempts; CodeCheck, with another challenge, for a wrong answer.
func (f *Flow) Ticket(ctx context.Context, c Caller, a seckill.Answer) (seckill.Ticket, error) {
	now := f.Clock.Now()
	it, err := f.admissible(ctx, c, a.Item, now)
	if err != nil {
		return seckill.Ticket{}, err
	}
	// An answer is counted before it is checked: a fault in between costs the shopper an attempt, and nobody gets an
	// extra attempt.
	switch err := f.Ledger.CountAttempt(ctx, c.User, a.Item, now); {
	case errors.Is(err, seckill.ErrAttempts):
		return seckill.Ticket{}, &seckill.Error{Code: seckill.CodeTooMany, Token: seckill.LimitAttempts,
			RetryAfter: now.Truncate(seckill.AttemptWindow).Add(seckill.AttemptWindow).Sub(now)}
	case err != nil:
		return seckill.Ticket{}, seckill.AsError(err)
	}
	took, reason, err := f.check(ctx, c.User, it, a, now)
	if err != nil {
		return seckill.Ticket{}, seckill.AsError(err)
	}
	if reason != "" {
		refusal := &seckill.Error{Code: seckill.CodeCheck, Token: reason}
		if next, err := f.challenge(ctx, c, it, now); err == nil {
			refusal.Challenge = &next
		}
		return seckill.Ticket{}, refusal
	}
	text, err := f.Tickets.Make(c.User, it.ID, it.End)
	if err != nil {
		return seckill.Ticket{}, &seckill.Error{Code: seckill.CodeInternal, Err: err}
	}
	f.Meter.Count(seckill.EventAdmitted, 1)
	return seckill.Ticket{Text: text, Expires: it.End, Took: took, TooFast: f.Work.TooFast(took)}, nil
}

// admissible returns the item if it has checks that the caller may try now.
func (f *Flow) admissible(ctx context.Context, c Caller, item string, now time.Time) (*seckill.Item, error) {
	it, err := f.item(ctx, c, item, now)
	if err != nil {
		return nil, err
	}
	blocks, err := f.Ledger.UserBlocks(ctx, c.User, item)
	blocked := hold(blocks, now)
	if err == nil && !blocked {
		blocked, err = f.blocked(ctx, c.Networks, item, now)
	}
	switch {
	case err != nil:
		return nil, seckill.AsError(err)
	case blocked:
		return nil, seckill.Refuse(seckill.CodeBlocked)
	}
	return it, nil
}

// item returns the item if it has checks that the caller, whoever it is, may try now.
func (f *Flow) item(ctx context.Context, c Caller, item string, now time.Time) (*seckill.Item, error) {
	it, _, err := f.items.Get(ctx, item)
	if err != nil {
		return nil, seckill.AsError(err)
	}
	opens := it.Start.Add(-seckill.TicketLead)
	switch state := it.StateAt(now); {
	case state == seckill.ItemEnded:
		return nil, seckill.Refuse(seckill.CodeEnded)
	case state == seckill.ItemStopped:
		return nil, seckill.Refuse(seckill.CodeStopped)
	case it.Checks == seckill.ChecksOff:
		return nil, seckill.Refuse(seckill.CodeNoChecks)
	case now.Before(opens):
		return nil, &seckill.Error{Code: seckill.CodeNotStarted, Start: opens, RetryAfter: opens.Sub(now)}
	case it.Checks == seckill.ChecksStrict && !c.Created.IsZero() && now.Sub(c.Created) < seckill.MinAccountAge:
		return nil, seckill.Refuse(seckill.CodeAccountNew)
	}
	return it, nil
}

func (f *Flow) challenge(ctx context.Context, by Caller, it *seckill.Item, now time.Time) (seckill.Challenge,
	error) {
	c := seckill.Challenge{Item: it.ID, Checks: it.Checks, Expires: slotEnd(now)}
	if it.End.Before(c.Expires) {
		c.Expires = it.End
	}
	a, err := f.asks(ctx, by.User, it, now)
	if err != nil {
		return c, seckill.AsError(err)
	}
	if c.Question = a.question.Text; a.sum != nil {
		c.Alternative = a.sum.Question(by.English).Text
		c.Picture = f.Painter.Paint(*a.sum, a.seed)
	}
	if c.Proof, err = f.Proofs.Make(by.User, it.ID, f.Work, c.Expires); err != nil {
		return c, &seckill.Error{Code: seckill.CodeInternal, Err: err}
	}
	return c, nil
}

// check returns how long the proof took, and what is wrong with an answer, or "" if it is right.
func (f *Flow) check(ctx context.Context, user string, it *seckill.Item, a seckill.Answer,
	now time.Time) (took time.Duration, reason seckill.Reason, err error) {
	took, ok := f.Proofs.Check(a.Proof, user, it.ID)
	if !ok {
		return 0, seckill.CheckProof, nil
	}
	// The half hour may have ended while the shopper typed.
	for _, at := range []time.Time{now, now.Add(-seckill.ChallengeLife)} {
		asked, err := f.asks(ctx, user, it, at)
		if err != nil || asked.right(a.Answer) {
			return took, "", err
		}
	}
	return took, seckill.CheckQuestion, nil
}

// asked is what a shopper is asked in a half hour: a question, a sum, or nothing.
type asked struct {
	question seckill.Question
	sum      *seckill.Sum
	seed     int // of the sum and its picture
}

func (a *asked) right(answer string) bool {
	if a.sum != nil {
		q := a.sum.Question(false)
		return q.Right(answer)
	}
	return a.question.Text == "" || a.question.Right(answer)
}

// asks returns what the shopper is asked.
func (f *Flow) asks(ctx context.Context, user string, it *seckill.Item, now time.Time) (asked, error) {
	if it.Checks != seckill.ChecksStrict {
		return asked{}, nil
	}
	all, err := f.pool(ctx, it.ID, now)
	if err != nil {
		return asked{}, err
	}
	slot := now.Unix() / int64(seckill.ChallengeLife.Seconds())
	switch {
	case len(all) > 0:
		return asked{question: all[f.Picker.Pick(user, it.ID, slot, len(all))]}, nil
	case f.Painter == nil:
		return asked{}, nil
	}
	seed := f.Picker.Pick(user, it.ID, slot, math.MaxInt)
	sum := seckill.SumOf(seed)
	return asked{sum: &sum, seed: seed}, nil
}

// slotEnd is the end of the second half hour from now: a challenge lives 30 to 60 minutes, as long as its question is
// accepted.
func slotEnd(now time.Time) time.Time {
	return now.Truncate(seckill.ChallengeLife).Add(2 * seckill.ChallengeLife)
}

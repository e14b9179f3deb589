package crowd

import (
	"errors"
	"math"
	"net/netip"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/adapter/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

// Bots describe a crowd of people and scripts, who pass the item's checks before the opening. No order is paid: what
// counts is who gets units.
//
// Solving a proof of work is a drawn delay, for the real work of thousands of accounts would take this machine hours.
// The sale therefore makes proofs of Work.Cost that need two keys (Easy): making and checking them costs it what any
// proof does.
type Bots struct {
	Share    float64           // of accounts that are scripts'
	Answers  map[string]string // by question: people type them, answer farms have bought them
	Work     seckill.Work      // that the delays stand for
	KeyCPU   time.Duration     // processor time of one key of that work, on a core of a script's machine
	Machines []netip.Addr      // whose source addresses the scripts on few machines use; none: all use one
	Faster   int               // for tests: divides every time that the crowd takes; 0: 1
}

// takes returns how long the crowd takes for what takes people and scripts d.
func (b *Bots) takes(d time.Duration) time.Duration { return d / time.Duration(max(1, b.Faster)) }

// Easy returns work whose proofs cost their maker as much as those of w, and their solver nearly nothing.
func Easy(w seckill.Work) seckill.Work { return seckill.Work{Cost: w.Cost, Tries: 2} }

// kind is who uses an account.
type kind uint8

// A quarter of the scripts' accounts are of each kind.
const (
	person  kind = iota
	early        // presses from before the opening on
	several      // presses on several connections at the same time
	few          // one of many accounts on few machines, registered lately
	farm         // knows the answers to the questions

	kinds
)

var kindNames = [kinds]string{"people", "early hammering", "many connections", "few machines", "answer farm"}

// How people and scripts act.
const (
	present    = 0.7                     // share of people who come
	reaction   = 1500 * time.Millisecond // median of people, from when the button works
	spreads    = 0.5                     // standard deviation of the logarithm of that
	latency    = 10 * time.Millisecond   // of scripts
	earlyBy    = 2 * time.Second
	earlyEvery = 500 * time.Millisecond // a faster one would need more than this machine
	atOnce     = 4                      // connections of one account

	accountAge, youngAge = 365 * 24 * time.Hour, 2 * 24 * time.Hour
)

func (b *Bots) validate() error {
	if b.Work.Tries < 2 || b.KeyCPU <= 0 {
		return errors.New("no work that the delays stand for")
	}
	return share("bots", b.Share)
}

// cast makes visit n a person's or a script's. It depends on the seed and n only.
func (b *Bots) cast(v *visit) {
	r := v.random
	v.kind = person
	if r.Float64() < b.Share {
		v.kind = early + kind(r.IntN(int(kinds-early)))
	}
	v.second = 0
	v.press = latency
	switch v.kind {
	case person:
		v.absent = r.Float64() >= present
		v.press = time.Duration(float64(reaction) * math.Exp(spreads*r.NormFloat64()))
	case early:
		v.press = -earlyBy + time.Duration(r.Int64N(int64(earlyEvery)))
	case several:
		v.second = time.Nanosecond
	case few:
		if len(b.Machines) > 0 {
			v.machine = 1 + r.IntN(len(b.Machines))
		}
	}
	v.press = b.takes(v.press)
}

// solves draws how long a shopper takes for a proof of work and, if there is one, for typing the answer to a question.
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

// sign makes a shopper's token. Tokens of a crowd with scripts say when the account was made.
func (b *Bots) sign(secret string, v *visit, user int64, now, expires time.Time) (string, error) {
	s, err := jwtauth.NewSigner(jwtauth.Keys{Current: secret})
	if err != nil {
		return "", err
	}
	age := accountAge
	if v.kind == few {
		age = youngAge
	}
	return s.SignToken(strconv.FormatInt(user, 10), now.Add(-age), expires)
}

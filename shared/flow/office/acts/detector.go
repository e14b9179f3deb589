// Package acts finds shoppers whose acts look like a script's. In: acts, and what the requests showed. Out: the rules
// that an act breaks; of acts that break a rule, rows that operators read. Nobody is refused here: only operators block
// shoppers.
package acts

import (
	"hash/maphash"
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/seckill"
)

// Thresholds, in one instance. Requests are spread over instances, so that a network with n users shows n/instances of
// them to each. A carrier puts thousands of people behind one address.
const (
	MaxOfNetwork = 1000 // users of one network within Window
	MaxOfAgent   = 300  // users of one network with the same client within Window; all phones of a kind are the same
	MaxOfAnswer  = 10   // users with the same wrong answer within Window
	MaxEarly     = 5    // presses of a user for an item before its start within EarlyWindow
	MinAnswer    = 4    // characters of a wrong answer that is not an accident

	Window      = 10 * time.Minute
	EarlyWindow = time.Minute
)

// Seen is what a request showed of an act, besides what the act has.
type Seen struct {
	User    string
	Network netip.Prefix // zero if it is unknown or stands for many, such as a proxy's
	Page    bool         // it came from a page, or from an app that says where it comes from
	TooFast bool         // the proof took less time than any page needs
	Wrong   string       // a wrong answer to the question
}

// Detector applies the rules in one instance. It is safe for concurrent use; its memory is fixed, 2.6 MiB when all
// rules are used. When there are more networks, answers or users than it has room for, the rules become looser.
type Detector struct {
	seed                           maphash.Seed
	networks, agents, wrong, early tally
}

// NewDetector returns the rules of an instance.
func NewDetector() *Detector {
	return &Detector{seed: maphash.MakeSeed(), networks: tally{limit: MaxOfNetwork, window: Window, rows: 64},
		agents: tally{limit: MaxOfAgent, window: Window, rows: 64}, wrong: tally{limit: MaxOfAnswer, window: Window,
			rows: 64},
		early: tally{limit: MaxEarly, window: EarlyWindow, rows: 256, repeats: true}}
}

type pair struct{ a, b string }

type client struct {
	network netip.Prefix
	agent   string
}

// Rules returns the rules that an act breaks.
func (w *Detector) Rules(a *seckill.Act, s *Seen) (broken seckill.Rules) {
	if a.Action == seckill.ActBuy {
		if a.Result == seckill.Reason(seckill.CodeNotStarted) &&
			w.early.over(maphash.Comparable(w.seed, pair{s.User, a.Item}), 0, a.At) {
			return seckill.RuleEarly
		}
		return 0
	}
	user := uint32(maphash.String(w.seed, s.User))
	if s.Network.IsValid() {
		if w.networks.over(maphash.Comparable(w.seed, s.Network), user, a.At) {
			broken |= seckill.RuleNetwork
		}
		if w.agents.over(maphash.Comparable(w.seed, client{s.Network, a.Agent}), user, a.At) {
			broken |= seckill.RuleAgent
		}
	}
	if a.Action != seckill.ActTicket {
		return broken
	}
	if !s.Page {
		broken |= seckill.RulePrelude
	}
	if s.TooFast {
		broken |= seckill.RuleFast
	}
	if s.Wrong != "" {
		plain := seckill.PlainAnswer(s.Wrong)
		if utf8.RuneCountInString(plain) >= MinAnswer &&
			w.wrong.over(maphash.Comparable(w.seed, pair{a.Item, plain}), user, a.At) {
			broken |= seckill.RuleAnswer
		}
	}
	return broken
}

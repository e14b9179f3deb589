package seckill

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Limits and times of acts.
const (
	ActLife     = 90 * 24 * time.Hour // how long a suspicious act is kept
	ActShards   = 10                  // partitions of a day's acts
	MaxActNote  = 200                 // characters
	MaxActAgent = 160                 // bytes of a client's agent and referrer
)

// Action is the kind of step that a shopper took.
type Action string

// The actions.
const (
	ActChallenge Action = "challenge" // asked for a challenge
	ActTicket    Action = "ticket"    // answered it, for a ticket
	ActBuy       Action = "buy"       // pressed the button
)

// ActDone is the result of an act that was not refused; a refused act has the refusal's reason as its result.
const ActDone Reason = "ok"

// Rules is a set of rules that make an act suspicious.
type Rules uint8

// The rules (package acts).
const (
	RulePrelude Rules = 1 << iota // a ticket for something that is not a page
	RuleFast                      // solved faster than any browser
	RuleNetwork                   // many users of one network
	RuleAgent                     // many users of one network with the same client
	RuleAnswer                    // the same wrong answer of many users
	RuleEarly                     // many presses before the start
)

var ruleNames = []string{"prelude", "fast", "network", "agent", "answer", "early"}

// String lists the rules' names, separated by commas.
func (r Rules) String() string {
	var names []string
	for i, name := range ruleNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Shared reports whether rules say something of a network only, which many people may share, and nothing of the user.
func (r Rules) Shared() bool { return r != 0 && r&^(RuleNetwork|RuleAgent) == 0 }

// ParseRules is the inverse of String. It leaves out what it does not know.
func ParseRules(text string) (r Rules) {
	for name := range strings.SplitSeq(text, ",") {
		for i := range ruleNames {
			if name == ruleNames[i] {
				r |= 1 << i
			}
		}
	}
	return r
}

// Act is a step of admission, or of a purchase, that a shopper took.
type Act struct {
	ID     string    `row:"id,key"` // of one that is kept: its time in ms, a hyphen, hexadecimal digits
	At     time.Time `row:"at"`
	Item   string    `row:"item"`
	Action Action    `row:"action"`
	Result Reason    `row:"result"`
	Rules  Rules     `row:"rules"` // none: it is normal

	User    string `row:"user"`         // only of a suspicious one
	UserKey string `row:"user_hash"`    // keyed hash, another one each day
	Network string `row:"network_hash"` // keyed hash of the network address, another one each day

	Agent    string        `row:"agent"`    // how the client calls itself
	Referrer string        `row:"referrer"` // the page it comes from, without what follows a question mark
	Took     time.Duration `row:"took"`     // how long it worked for the proof; 0: unknown

	Handled time.Time `row:"handled,later"`         // zero: not yet
	By      string    `row:"by,later,with=handled"` // the operator who handled it
	Note    string    `row:"note,later,with=handled"`
}

// Status is "normal", "suspicious" or "handled".
func (a *Act) Status() string {
	switch {
	case a.Rules == 0:
		return "normal"
	case a.Handled.IsZero():
		return "suspicious"
	}
	return "handled"
}

// ActID makes an act's id: its time, and what tells acts of that time apart.
func ActID(at time.Time, tail string) string {
	return strconv.FormatInt(at.UnixMilli(), 10) + "-" + tail
}

// ActTime returns the time in an act's id; false for any other text.
func ActTime(id string) (at time.Time, ok bool) {
	ms, tail, ok := strings.Cut(id, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	if !ok || err != nil || len(ms) != 13 || tail == "" || len(tail) > 32 || strings.Trim(tail,
		"0123456789abcdef") != "" {
		return at, false
	}
	return time.UnixMilli(n).UTC(), true
}

// ErrNoAct: no act with this id is kept.
var ErrNoAct = errors.New("seckill: no such act")

// ActKeeper keeps suspicious acts for ActLife.
type ActKeeper interface {
	// KeepAct writes an act. An act that is kept already stays as it is.
	KeepAct(ctx context.Context, a Act) error
}

// ActHandler reads what is kept, and has it handled.
type ActHandler interface {
	// Act reads an act. ErrNoAct.
	Act(ctx context.Context, id string) (Act, error)
	// ActsOn reads acts of a day and a shard (0 to ActShards-1), ascending by id, after an id or "".
	ActsOn(ctx context.Context, day string, shard int, after string, limit int) ([]Act, error)
	// HandleAct records who handled an act, and why; the last one counts. ErrNoAct.
	HandleAct(ctx context.Context, id, by, note string, at time.Time) error
}

// fastestRounds is more than the rounds a second of any page, which derives at most four keys at a time. Measured in
// Chromium on a cloud server's core of some 3 GHz: 8.1 million for one key. Extrapolated, not measured: a desktop's
// core does 2.5 times that, four do 81 million. Keys of 1,000 rounds reach half of it, for each costs a call.
const fastestRounds = 100_000_000

// TooFast reports whether a proof took less time than any page needs for half of its tries, which nobody is spared.
func (w Work) TooFast(took time.Duration) bool {
	return took.Seconds() < float64(w.Tries/2)*float64(w.Cost)/fastestRounds
}

package local

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/your-org/seckill/shared/api/actlog"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of the log of acts.
const (
	MaxActs    = 100_000 // that a run remembers, 15 MB; and suspicious ones that it keeps in its ledger
	maxUnkept  = 10_000  // suspicious ones that wait to be kept
	shownActs  = 100     // by default
	actsAtOnce = 100     // kept in a step
)

// actRing remembers the last acts, and has the suspicious ones kept.
type actRing struct {
	hash  func(string) string
	ready chan struct{}

	mu     sync.Mutex
	acts   []pastAct // grows up to MaxActs
	count  uint64    // acts so far; the place of the next act is this modulo MaxActs
	unkept []seckill.Act
	kept   int
}

// pastAct is an act without what follows from it. Texts that many have are stored once.
type pastAct struct {
	at                    time.Time
	action                seckill.Action
	result                seckill.Reason
	item, agent, referrer unique.Handle[string]
	user                  string
	network               netip.Prefix
	took                  time.Duration
	rules                 seckill.Rules
}

func newActRing(hash func(string) string) *actRing {
	return &actRing{hash: hash, ready: make(chan struct{}, 1)}
}

// Wants implements httpapi.ActTaker.
func (r *actRing) Wants(time.Time) bool { return true }

// Take implements httpapi.ActTaker.
func (r *actRing) Take(a *seckill.Act, user string, network netip.Prefix, _ string) {
	past := pastAct{a.At, a.Action, a.Result, unique.Make(a.Item), unique.Make(a.Agent), unique.Make(a.Referrer),
		strings.Clone(user), network, a.Took, a.Rules}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.acts) < MaxActs {
		r.acts = append(r.acts, past)
	} else {
		r.acts[r.count%MaxActs] = past
	}
	r.count++
	if past.rules == 0 || len(r.unkept) == maxUnkept || r.kept+len(r.unkept) >= MaxActs {
		return
	}
	act := r.act(&past)
	act.ID = seckill.ActID(act.At, fmt.Sprintf("%08x", r.count))
	r.unkept = append(r.unkept, act)
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// act completes an act as its log line has it.
func (r *actRing) act(p *pastAct) seckill.Act {
	a := seckill.Act{At: p.at.Truncate(time.Millisecond), Action: p.action, Result: p.result, Item: p.item.Value(),
		Rules: p.rules, Agent: p.agent.Value(), Referrer: p.referrer.Value(), Took: p.took}
	a.UserKey, a.Network = actlog.Hashes(r.hash, p.at, p.user, p.network)
	if a.Rules != 0 {
		a.User = p.user
	}
	return a
}

// last returns the last acts of an item, or of all if it is "", with a status, or of any: the newest first.
func (r *actRing) last(item, status string, limit int) []operator.Act {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []operator.Act{}
	for i := 1; i <= len(r.acts) && len(out) < limit; i++ {
		p := &r.acts[(r.count-uint64(i))%MaxActs]
		if item != "" && p.item.Value() != item || status != "" && (status == "suspicious") != (p.rules != 0) {
			continue
		}
		a := r.act(p)
		out = append(out, operator.NewAct(&a))
	}
	return out
}

// take returns acts that wait to be kept; they stay until they are dropped.
func (r *actRing) take() []seckill.Act {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unkept[:min(len(r.unkept), actsAtOnce)]
}

func (r *actRing) drop(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unkept, r.kept = append([]seckill.Act{}, r.unkept[n:]...), r.kept+n
}

func (r *actRing) waiting() bool { return len(r.take()) > 0 }

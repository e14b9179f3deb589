package linear

import (
	"fmt"
	"slices"
	"sort"

	"github.com/your-org/seckill/shared/seckill"
)

// Note adds a moment, not earlier than the last one; call it whenever something may have changed, and once before the
// first operation.
func (t *Truth) Note(m Moment) {
	if n := len(t.moments); n > 0 {
		last := t.moments[n-1]
		if last.At = m.At; last == m {
			return
		}
	}
	t.moments = append(t.moments, m)
}

// ever reports whether held was true at some moment in [from, to].
func (t *Truth) ever(from, to int64, held func(Moment) bool) bool {
	// The state just before from was still in force at from, as far as equal times tell.
	first := max(0, sort.Search(len(t.moments), func(i int) bool { return t.moments[i].At >= from })-1)
	for _, m := range t.moments[first:] {
		if m.At > to {
			break
		}
		if held(m) {
			return true
		}
	}
	return false
}

// refusals checks the refused purchases.
func (p *partition) refusals(opt *Options, r *Report) *Contradiction {
	t := opt.Truth[p.item]
	if t == nil {
		return nil
	}
	for i := range p.entries {
		op := p.entries[i].op
		code := op.Outcome.Code
		if op.Kind != Buy || op.Outcome.Kind != Refused || !decided(code) {
			continue
		}
		r.Refusals++
		from, to := op.Call-opt.Stale, op.Return
		ok, truth := true, ""
		switch code {
		case seckill.CodeSoldOut:
			ok, truth = t.ever(from, to, func(m Moment) bool { return m.Installed && m.Left <= 0 }),
				"a unit was left all the time"
		case seckill.CodeNotEnough:
			ok, truth = t.ever(from, to, func(m Moment) bool { return m.Installed && m.Left < op.Count }),
				"enough units were left all the time"
		case seckill.CodeStopped:
			ok, truth = t.ever(from, to, func(m Moment) bool { return m.Stopped }), "the sale was not stopped"
		case seckill.CodeNotReady:
			ok, truth = t.ever(from, to, func(m Moment) bool { return !m.Installed || m.HoldsBack }),
				"the stock had the item all the time, and held nothing back"
		case seckill.CodeNotStarted:
			ok, truth = op.Call-opt.Skew < t.Opens, "the sale had begun"
		case seckill.CodeEnded:
			ok, truth = op.Return+opt.Skew >= t.Closes, "the sale was not over"
		case seckill.CodeLimitReached:
			if ok = t.Limit == 0 || p.within(op, t.Limit); !ok {
				return p.against(RuleReachable,
					fmt.Sprintf("the shopper had not asked for enough to reach the limit of %d", t.Limit),
					p.purchases(op)...)
			}
		}
		if !ok {
			return p.against(RuleRefusal, truth, op)
		}
	}
	return nil
}

// purchases returns the operation and the purchases called before it returned, in order.
func (p *partition) purchases(op *Op) []*Op {
	var out []*Op
	for i := range p.entries {
		if o := p.entries[i].op; o.Kind == Buy && o.Call <= op.Return && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

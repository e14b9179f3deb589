package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Result is the outcome of one seed.
type Result struct {
	Seed      uint64
	Plan      Plan
	Acts      []Act
	Steps     int    // port calls during the history, with concurrency and faults
	Calls     int    // port calls before and after it, without faults
	Hash      uint64 // hash of the trace
	Fired     [nFaults]int
	Err       error // the first violation; nil if there is none
	Units     int   // units on sale
	Unsold    int   // units unsold at the end in spite of demand
	Checked   int   // answers to shoppers that were checked
	Undecided int   // shoppers whose answers took too long to check
	Spans     []time.Duration
	sim       *Sim
}

// Play plays one seed and draws its history on the way. The result is valid only until the next call.
func Play(seed uint64, o Options, measure bool) (res Result) {
	p, r := PlanOf(seed, o)
	if measure {
		p.Installed = true
	}
	res = Result{Seed: seed, Plan: p}
	defer res.recovered()
	s, err := New(p)
	if err != nil {
		res.Err = err
		return res
	}
	defer s.close()
	res.sim = s
	s.Out.On = measure
	res.Acts = make([]Act, 0, p.Length)
	res.Err = s.invent(r, func(t Act) error {
		res.Acts = append(res.Acts, t)
		return s.Play(t)
	})
	res.finish()
	return res
}

// Replay plays a history.
func Replay(p Plan, acts []Act) (res Result) {
	res = Result{Seed: p.Seed, Plan: p, Acts: acts}
	defer res.recovered()
	s, err := New(p)
	if err != nil {
		res.Err = err
		return res
	}
	defer s.close()
	res.sim = s
	s.faultsOn = true
	for _, t := range acts {
		if res.Err = s.Play(t); res.Err != nil {
			break
		}
	}
	res.finish()
	return res
}

func (res *Result) recovered() {
	if r := recover(); r != nil {
		res.Err = fmt.Errorf("panic: %v", r)
	}
}

// finish ends the faults, unless a violation was found already, and collects the figures.
func (res *Result) finish() {
	s := res.sim
	if res.Err == nil {
		res.Err = s.End()
	}
	res.Steps, res.Calls, res.Fired, res.Spans = s.Steps, s.calls, s.Fired, s.Out.Spans
	res.Checked, res.Undecided = s.Checked, s.Undecided
	for _, it := range s.allItems() {
		res.Units += it.Stock
	}
	if res.Err == nil {
		res.Unsold = s.Unsold()
	}
	s.trace.say(s.Clock.Now(), "end: %d orders, %d units sold, %v", len(s.truth.orders), len(s.truth.units), res.Err)
	res.Hash = s.trace.hash()
}

// Trace returns everything that happened, one line per step.
func (res *Result) Trace() []byte {
	if res.sim == nil {
		return nil
	}
	return res.sim.trace.readable()
}

// Last returns the last n lines of the trace.
func (res *Result) Last(n int) []string {
	if res.sim == nil {
		return nil
	}
	return res.sim.trace.last(n)
}

// invent draws a history.
func (s *Sim) invent(r *rand.Rand, play func(Act) error) error {
	total, last, id := 0, -1, 0
	for _, w := range s.plan.Weights {
		total += w
	}
	s.faultsOn = true
	stands := map[int]int{} // by process: the act until which it stays at one of the plan's pause points
	readers := rand.New(rand.NewPCG(s.plan.Seed, 21))
	reads := []int{0, 10, 25, 50}[readers.IntN(4)] // percent of acts that an act of the stream precedes
	for n := range s.plan.Length {
		if readers.IntN(100) < reads {
			if err := play(Act{Kind: actStream, ID: -1 - n, A: readers.Uint64()}); err != nil {
				return err
			}
		}
		t := Act{A: r.Uint64()}
		k := r.IntN(total)
		for ; k >= s.plan.Weights[t.Kind]; t.Kind++ {
			k -= s.plan.Weights[t.Kind]
		}
		begins := t.Kind == actBuy || t.Kind == actConsume || t.Kind == actClose || t.Kind == actSchedule ||
			t.Kind == actTicket
		if len(s.processes) >= most && begins || r.IntN(100) < s.plan.Sticky && t.Kind < actStop && t.Kind != actTick &&
			t.Kind != actRun {
			t.Kind = actStep
		}
		if t.Kind == actStep || t.Kind == actRun || t.Kind == actKill {
			can := s.moving(stands, n, t.A)
			if len(can) == 0 {
				continue
			}
			t.ID = can[r.IntN(len(can))]
			if r.IntN(100) < s.plan.Sticky && slices.Contains(can, last) {
				t.ID = last
			}
			last = t.ID
		} else {
			id += 8 // a tick starts schedules of its own
			t.ID = id
		}
		if err := play(t); err != nil {
			return err
		}
	}
	return nil
}

// moving lists the processes that are not held at the plan's pause points. A process that reaches a pause point stays
// there for up to 80 acts.
func (s *Sim) moving(stands map[int]int, now int, a uint64) []int {
	s.can = s.can[:0]
	for _, p := range s.processes {
		if slices.Contains(s.plan.PausePoints, p.call) {
			until, there := stands[p.id]
			if !there {
				until = now + min(1, pick(a, 12, 4))*pick(a, 20, 80)
				stands[p.id] = until
			}
			if now < until {
				continue
			}
		} else {
			delete(stands, p.id)
		}
		s.can = append(s.can, p.id)
	}
	return s.can
}

// NameOf returns the guarantee that an error names, or "panic".
func NameOf(err error) string {
	if err == nil {
		return ""
	}
	for f := range strings.FieldsSeq(err.Error()) {
		part, _, _ := strings.Cut(f, "/")
		if len(part) >= 2 && strings.ContainsRune("AIL", rune(part[0])) && part[1] >= '0' && part[1] <= '9' {
			return part
		}
	}
	if strings.HasPrefix(err.Error(), "panic") {
		return "panic"
	}
	return "other"
}

// Shrink searches, for at most budget, the smallest history that still breaks the same guarantee: with fewer kinds of
// faults, fewer shoppers, fewer acts.
func (res *Result) Shrink(budget time.Duration) Result {
	end, name := time.Now().Add(budget), NameOf(res.Err)
	if name == "" {
		return *res
	}
	best := *res
	try := func(p Plan, acts []Act) bool {
		if time.Now().After(end) {
			return false
		}
		r := Replay(p, acts)
		if NameOf(r.Err) != name {
			return false
		}
		best = r
		return true
	}
	for f := range best.Plan.Faults {
		if best.Plan.Faults[f] {
			p := best.Plan
			p.without(Fault(f))
			try(p, withoutActs(best.Acts, Fault(f)))
		}
	}
	for n := 1; n < best.Plan.Shoppers; n *= 2 {
		p := best.Plan
		if p.Shoppers = n; try(p, best.Acts) {
			break
		}
	}
	for size := max(1, len(best.Acts)/2); ; {
		changed := false
		for at := 0; at < len(best.Acts) && !time.Now().After(end); {
			if try(best.Plan, slices.Delete(slices.Clone(best.Acts), at, min(at+size, len(best.Acts)))) {
				changed = true
			} else {
				at += size
			}
		}
		if time.Now().After(end) || size == 1 && !changed {
			return best
		}
		if !changed || size > 1 {
			size = max(1, size/2)
		}
	}
}

// without removes one kind of fault from a plan.
func (p *Plan) without(f Fault) {
	p.Faults[f] = false
	p.Skew = slices.Clone(p.Skew)
	switch f {
	case Duplicate:
		p.Duplicate = 0
	case Reorder:
		p.Shuffle = false
	case StaleIndex:
		p.IndexLag = 0
	case Skew:
		clear(p.Skew)
	case Park:
		p.Receives = 0
	}
}

// actsOf maps a fault to the acts that only it causes.
var actsOf = map[Fault]Kind{Crash: actKill, Freeze: actFreeze, Flush: actFlush, Failover: actFailover,
	Restore: actRestore, ReadOnly: actReadOnly, Poison: actPoison,
	Park: actRedrive, Duplicate: actGhost, ClockJump: actClock, ScheduleTwice: actSchedule, ScheduleGone: actNoSchedule,
	NotificationForged: actForge, NotificationLost: actLose}

func withoutActs(acts []Act, f Fault) []Act {
	k, ok := actsOf[f]
	if !ok {
		return acts
	}
	return slices.DeleteFunc(slices.Clone(acts), func(t Act) bool { return t.Kind == k })
}

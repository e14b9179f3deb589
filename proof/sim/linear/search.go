package linear

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/anishathalye/porcupine"
)

// verdict is the result of a search.
type verdict uint8

const (
	yes verdict = iota
	no
	undecided
)

// decide reports whether the specification allows some order of the steps, using about limit search steps. If it
// allows none, decide returns steps that prove it.
//
// Nearly always the first plausible order is allowed. If not, a search may never end when dozens of answers overlap.
// But answers only forbid, so a few contradicting answers suffice, whatever the rest.
func decide(slots []slot, steps []step, limit int) (verdict, []step) {
	if witnessed(slots, steps) {
		return yes, nil
	}
	if few := contradicting(slots, steps, limit); few != nil {
		return no, few
	}
	return search(slots, steps, limit), steps
}

// witnessed tries one order: of the possible next operations, always the one that leaves most open.
func witnessed(slots []slot, steps []step) bool {
	slices.SortStableFunc(steps, byCall)
	m := model{slots: slots}
	b := m.start()
	try, best := m.start(), m.start()
	done := make([]bool, len(steps))
	for range steps {
		end := int64(math.MaxInt64) // nothing called later may come next
		for i := range steps {
			if !done[i] {
				end = min(end, steps[i].back)
			}
		}
		pick, most := -1, -1
		for i := 0; i < len(steps) && steps[i].call <= end; i++ {
			if done[i] {
				continue
			}
			copy(try, b)
			if m.apply(try, &steps[i]) >= 0 {
				continue
			}
			if open := try.open(); open > most {
				pick, most = i, open
				try, best = best, try
			}
		}
		if pick < 0 {
			return false
		}
		done[pick] = true
		b, best = best, b
	}
	return true
}

// open measures how much a belief leaves open.
func (b belief) open() int {
	n := int(b[0]&creditMask) * bits.UintSize
	for _, l := range b[1:] {
		n += bits.OnesCount32(uint32(l))
	}
	return n
}

// contradicting looks for one or two answers that, together with all purchases, no order explains.
func contradicting(slots []slot, steps []step, limit int) []step {
	var makes, says []step
	for _, s := range steps {
		if s.do == observe || s.do == none || s.do == refuse {
			says = append(says, s)
		} else {
			makes = append(makes, s)
		}
	}
	few := make([]step, 0, len(makes)+2)
	for i := range says {
		for k := i; k < len(says); k++ {
			few = append(append(few[:0], makes...), says[i])
			if k > i {
				few = append(few, says[k])
			}
			if !witnessed(slots, few) && search(slots, few, limit) == no {
				return few
			}
		}
	}
	return nil
}

func byCall(a, b step) int { return cmp.Compare(a.call, b.call) }

// search tries every order that the steps' times allow.
func search(slots []slot, steps []step, limit int) verdict {
	m := model{slots, limit}
	pm := porcupine.Model{
		Init: func() any { return m.start() },
		Step: func(state, input, _ any) (bool, any) {
			if m.left--; m.left < 0 {
				return false, nil
			}
			b := slices.Clone(state.(belief))
			return m.apply(b, input.(*step)) < 0, b
		},
		Equal: func(a, b any) bool { return slices.Equal(a.(belief), b.(belief)) },
		Hash:  func(a any) uint64 { return a.(belief).hash() },
	}
	ops := make([]porcupine.Operation, len(steps))
	for i := range steps {
		ops[i].Input, ops[i].Call, ops[i].Return = &steps[i], steps[i].call, steps[i].back
	}
	ok := porcupine.CheckOperations(pm, ops)
	switch {
	case ok:
		return yes
	case m.left < 0:
		return undecided
	}
	return no
}

// hash returns the FNV-1a hash of the lots.
func (b belief) hash() uint64 {
	h := uint64(14695981039346656037)
	for _, l := range b {
		h = (h ^ uint64(l)) * 1099511628211
	}
	return h
}

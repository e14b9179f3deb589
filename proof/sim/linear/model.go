package linear

import (
	"math/bits"

	"github.com/your-org/seckill/shared/seckill"
)

// A lot is the set of everything that one order may be at a moment, as bits. Orders move by themselves and
// independently, so a set per order suffices, and no search has to guess their moves.
//
// A lot is closed under time: with a state it has everything that the order may become by itself.
type lot uint32

// The bits above those of seckill.States.
const (
	absent    = lot(1) << (iota + 16) // no purchase requested it
	awaited                           // an unanswered purchase may still create it
	hidden                            // queued, and the stock has lost it
	forgotten                         // it may have existed at a loss; a mark, not a state
)

var (
	queued    lot                               // the bit of seckill.Queued
	anyState  lot                               // every state of the table
	past      lot                               // the states in which a cancel answers not_cancellable
	over      lot                               // no units: the stock has forgotten the key
	stateBits = make(map[seckill.State]lot, 16) // by state
	becomes   [32]lot                           // by bit: the state itself and everything that may follow
)

func init() {
	for i, s := range seckill.States {
		stateBits[s.State] = lot(1) << i
		anyState |= lot(1) << i
	}
	for i, s := range seckill.States {
		becomes[i] = reach(s.State)
		if s.State != seckill.Queued && s.State.MayHold(0, 1) {
			over |= stateBits[s.State]
		}
	}
	queued = stateBits[seckill.Queued]
	past =
		anyState &^ (queued | stateBits[seckill.PendingPayment] | stateBits[seckill.Closing] |
			stateBits[seckill.Cancelled])
	becomes[bits.TrailingZeros32(uint32(absent))] = absent
	becomes[bits.TrailingZeros32(uint32(awaited))] = awaited | reach(seckill.Queued)
	becomes[bits.TrailingZeros32(uint32(hidden))] = hidden | reach(seckill.Queued)
	becomes[bits.TrailingZeros32(uint32(forgotten))] = forgotten
}

// reach returns a state and everything that may follow it.
func reach(s seckill.State) lot {
	set := stateBits[s]
	for _, t := range seckill.Transitions {
		if t.From == s {
			set |= reach(t.To) // terminates: the table has no cycle
		}
	}
	return set
}

// closed adds everything that may follow.
func (l lot) closed() lot {
	var all lot
	for rest := uint32(l); rest != 0; rest &= rest - 1 {
		all |= becomes[bits.TrailingZeros32(rest)]
	}
	return all
}

// only keeps the members of set and what may follow them; ok reports whether any is left. The mark stays.
func (l lot) only(set lot) (lot, bool) {
	left := l & set &^ forgotten
	return left.closed() | l&forgotten, left != 0
}

// verb is the kind of a step in the specification.
type verb uint8

const (
	permit    verb = iota // an unanswered purchase with a key, whose order is known
	credit                // an unanswered purchase without a key: it may have created one order
	loss                  // the stock loses data
	acceptKey             // an accepted purchase with a key creates its order or finds it
	acceptNew             // an accepted purchase without a key creates an order or finds one with the same body
	refuse                // limit_reached or not_enough
	observe               // an order is in one of the states in set
	none                  // every order reads as absent
)

// step is one operation in the terms of the specification.
type step struct {
	do         verb
	order      int  // slot; -1 if there is none. refuse: the order named
	refused    int  // refuse: the slot of the purchase's key; -1 without a key
	body       body // refuse: the request's body
	set        lot  // observe: what the order may be
	call, back int64
	op         *Op // nil for a loss
	seen       *Seen
}

// belief is the set of possible states. [0] is the number of unanswered purchases without a key that no order has
// been attributed to, and the mark forgotten after a loss; then there is one lot per slot. The specification leaves
// open what happens between operations; a belief holds all possibilities, so each step leads from one belief to one
// belief.
type belief []lot

const creditMask = forgotten - 1

// model runs steps on the slots of one partition.
type model struct {
	slots []slot
	left  int // remaining steps of the search
}

func (m *model) start() belief {
	b := make(belief, len(m.slots)+1)
	for i := range m.slots {
		b[i+1] = absent
	}
	return b
}

// apply applies a step in place and returns -1, or the order that makes the step impossible; then b is unusable.
func (m *model) apply(b belief, s *step) int {
	switch s.do {
	case permit:
		if b[s.order+1]&absent != 0 {
			b[s.order+1] = awaited.closed()
		}
	case credit:
		b[0]++
	case loss:
		b[0] |= forgotten
		for i := 1; i < len(b); i++ {
			if b[i] == absent {
				continue
			}
			b[i] |= forgotten
			if b[i]&queued != 0 {
				b[i] |= hidden
			}
		}
	case acceptKey:
		b.exist(s.order)
	case acceptNew:
		if b[s.order+1] == absent {
			m.notQueued(b, s.order, m.slots[s.order].body, false)
		}
		b.exist(s.order)
	case refuse:
		return m.refused(b, s)
	case observe:
		if !m.observed(b, s.order, s.set) {
			return s.order
		}
	case none:
		for i := range m.slots {
			l, ok := b[i+1].only(absent | awaited | hidden)
			if !ok {
				return i
			}
			b[i+1] = l
		}
	}
	return -1
}

// exist makes an absent, hidden or awaited order exist.
func (b belief) exist(order int) {
	l := b[order+1]
	if l == absent {
		b[order+1] = queued.closed()
		return
	}
	b[order+1] = l &^ (awaited | hidden) // the set already has what they lead to
}

// spend attributes an order to an unanswered purchase without a key.
func (b belief) spend(order int) {
	b[0]--
	b[order+1] = queued.closed() | b[0]&forgotten
}

// observed restricts an order to the states that an answer allows.
func (m *model) observed(b belief, order int, set lot) bool {
	if b[order+1] == absent && set&absent == 0 && !m.slots[order].keyed && b[0]&creditMask > 0 {
		b.spend(order)
	}
	l, ok := b[order+1].only(set)
	if !ok {
		return false
	}
	b[order+1] = l
	// Two orders without keys and with the same body are never queued at once: the second purchase would have found
	// the first order.
	s := &m.slots[order]
	if set == queued && !s.keyed && l&forgotten == 0 {
		m.notQueued(b, order, s.body, true)
	}
	return true
}

// notQueued removes from every other order with this body the possibility of being queued and known to the stock.
// Something always remains, because a queued order moves by itself. With keyless only orders made without a key count,
// and not those that existed at a loss: while hidden they allow a second one, and may be queued beside it.
func (m *model) notQueued(b belief, except int, of body, keyless bool) {
	for i := range m.slots {
		s := &m.slots[i]
		if i == except || s.body != of || of.count == 0 || b[i+1] == absent || keyless &&
			(s.keyed || b[i+1]&forgotten != 0) {
			continue
		}
		b[i+1], _ = b[i+1].only(^queued)
	}
}

// refused applies limit_reached and not_enough, and returns the contradicting order, or -1. Everything is true at one
// moment, so the named order is observed once.
func (m *model) refused(b belief, s *step) int {
	if i := s.refused; i >= 0 && b[i+1]&forgotten == 0 {
		l, ok := b[i+1].only(absent | awaited | over)
		if !ok || i == s.order {
			return i
		}
		b[i+1] = l
	}
	if s.order >= 0 {
		set := anyState
		if s.refused < 0 && m.slots[s.order].body == s.body {
			set &^= queued
		}
		if !m.observed(b, s.order, set) {
			return s.order
		}
	}
	if s.refused >= 0 {
		return -1
	}
	m.notQueued(b, s.order, s.body, false)
	return -1
}

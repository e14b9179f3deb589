package linear

import (
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// plan converts the partition's entries into steps of the specification and returns their number without losses. It
// needs keys, which facts fills.
func (p *partition) plan(opt *Options) int {
	p.slots = make([]slot, 0, 8)
	p.steps = make([]step, 0, len(p.entries)+len(opt.Losses))
	for i := range p.keys {
		k := &p.keys[i]
		p.slots = append(p.slots, slot{id: k.order, keyed: true, body: p.bodyOf(k.key)})
	}
	for i := range p.entries {
		e := &p.entries[i]
		switch {
		case e.op.made() != "" && e.op.Key == "":
			p.knows(e.op.made(), e.op.body())
		case e.seen != nil && e.seen.Count > 0 && !e.seen.bare():
			p.knows(e.seen.Order, e.seen.body())
		}
	}
	first, last := int64(0), int64(0)
	for i := range p.entries {
		e := &p.entries[i]
		if i == 0 || e.op.Call < first {
			first = e.op.Call
		}
		last = max(last, e.op.Call) // a loss after the last call has no influence
		s := step{order: -1, refused: -1, call: e.op.Call, back: e.op.Return, op: e.op, seen: e.seen}
		if p.translate(e, &s, opt) {
			p.steps = append(p.steps, s)
		}
	}
	said := len(p.steps)
	for _, at := range opt.Losses {
		if at >= first && at <= p.lastReturn(last) {
			p.steps = append(p.steps, step{do: loss, order: -1, refused: -1, call: at, back: at})
		}
	}
	return said
}

// lastReturn returns when the last answer came, at least from.
func (p *partition) lastReturn(from int64) int64 {
	for i := range p.entries {
		if op := p.entries[i].op; op.Outcome.Kind != Unknown {
			from = max(from, op.Return)
		}
	}
	return from
}

// translate fills in a step; false if the answer proves nothing about orders.
func (p *partition) translate(e *entry, s *step, opt *Options) bool {
	op, o := e.op, &e.op.Outcome
	switch {
	case op.Kind == Buy:
		return p.translateBuy(op, s, opt)
	case o.Kind == Missing && op.Kind == Newest:
		s.do = none
	case o.Kind == Missing:
		s.do, s.order, s.set = observe, p.slot(op.Order), absent|awaited|hidden
	case e.seen != nil && e.lagging:
		s.do, s.order, s.set = observe, p.slot(e.seen.Order), reach(e.seen.State)
	case e.seen != nil:
		s.do, s.order, s.set = observe, p.slot(e.seen.Order), stateBits[e.seen.State]
	case op.Kind == Cancel && o.Kind == Refused && o.Code == seckill.CodeStillQueued:
		s.do, s.order, s.set = observe, p.slot(op.Order), queued
	case op.Kind == Cancel && o.Kind == Refused && o.Code == seckill.CodeCancelLimit:
		s.do, s.order, s.set = observe, p.slot(op.Order), stateBits[seckill.PendingPayment]
	case op.Kind == Cancel && o.Kind == Refused && o.Code == seckill.CodeNotCancelable:
		s.do, s.order, s.set = observe, p.slot(op.Order), past
	default:
		return false
	}
	return true
}

func (p *partition) translateBuy(op *Op, s *step, opt *Options) bool {
	o, t := &op.Outcome, opt.Truth[p.item]
	switch {
	case op.made() != "" && op.Key != "":
		s.do, s.order = acceptKey, p.slot(op.made())
	case op.made() != "":
		s.do, s.order = acceptNew, p.slot(op.made())
	case op.maybe():
		// What may happen at any later moment is permitted from the call on: choosing a later moment gains nothing.
		s.back = s.call
		if op.Key == "" {
			s.do = credit
			break
		}
		s.do, s.order = permit, p.slot(p.orderOf(op.Key))
	case o.Code == seckill.CodeLimitReached && t != nil && t.Limit == 0: // by other items, and before the key
		if o.Order == "" {
			return false
		}
		s.do, s.order, s.set = observe, p.slot(o.Order), anyState
	case o.Code == seckill.CodeLimitReached || o.Code == seckill.CodeNotEnough ||
		refusesEverybody(o.Code) && !lostIn(opt.Losses, p.began(), op.Return): // the stock forgets who bought
		if refusesEverybody(o.Code) {
			s.call -= opt.Stale // an instance remembers it
		}
		s.do, s.body = refuse, op.body()
		if op.Key != "" {
			s.refused = p.slot(p.orderOf(op.Key))
		}
		if o.Order != "" {
			s.order = p.slot(o.Order)
		}
	case o.Code == seckill.CodeKeyReused && o.Order != "":
		s.do, s.order, s.set = observe, p.slot(o.Order), anyState
	default:
		return false
	}
	return true
}

// began returns when the shopper first asked for something.
func (p *partition) began() int64 {
	first := p.entries[0].op.Call
	for i := range p.entries {
		first = min(first, p.entries[i].op.Call)
	}
	return first
}

// refusesEverybody reports whether a refusal is the same for all shoppers but those who bought.
func refusesEverybody(code seckill.Code) bool {
	return code == seckill.CodeSoldOut || code == seckill.CodeEnded || code == seckill.CodeStopped
}

// knows records the body of an order without a key.
func (p *partition) knows(order string, of body) {
	if s := &p.slots[p.slot(order)]; s.body.count == 0 && !s.keyed {
		s.body = of
	}
}

// slot returns an order's slot, and creates it if needed.
func (p *partition) slot(id string) int {
	if i := slices.IndexFunc(p.slots, func(s slot) bool { return s.id == id }); i >= 0 {
		return i
	}
	p.slots = append(p.slots, slot{id: id})
	return len(p.slots) - 1
}

// orderOf returns the order of a key.
func (p *partition) orderOf(key string) string {
	for i := range p.keys {
		if p.keys[i].key == key {
			return p.keys[i].order
		}
	}
	return ""
}

// bodyOf returns the body that all purchases with the key had; the zero value if they differ.
func (p *partition) bodyOf(key string) body {
	var of body
	for i := range p.entries {
		op := p.entries[i].op
		switch {
		case op.Kind != Buy || op.Key != key:
		case of.count == 0:
			of = op.body()
		case of != op.body():
			return body{}
		}
	}
	return of
}

package linear

import (
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// The rules that a Contradiction names. RuleLife is the sequential specification; the others hold in any order of
// events.
const (
	RuleLife  = "life of an order"      // no order of events explains the answers
	RuleKey   = "one order per key"     // a key has one order, and an order one key
	RuleOwner = "one shopper per order" // an order belongs to one shopper and one item
	// a key is accepted with one body, and key_reused proves that another body came
	RuleBody = "one body per key"
	// an order has the requested count and address, unchanged from its placement on
	RuleAsked = "order as asked"
	// purchases without a key share an order only if they request the same count and address
	RuleRepeat = "repeats are the same"
	// a placed order shows the same units until they are given back, and none after that
	RuleUnits = "units of an order"
	RuleUnit  = "one order per unit" // no unit appears in two orders at once
	RuleLimit = "limit of a shopper" // orders that hold units at the same time hold no more than the limit
	// a shopper cancels at most MaxCancels orders, and cancel_limit comes only after as many
	RuleCancels   = "limit of cancels"
	RuleCancel    = "cancelled by its owner" // no order is cancelled without a cancel request
	RuleRefusal   = "refusals are true"      // the reason held at some moment, at most Stale before the call
	RuleReachable = "limit within reach"     // limit_reached only if the shopper's purchases could add up to the limit
)

// owners checks that an order belongs to one shopper and one item.
func owners(parts []*partition) *Contradiction {
	type owner struct {
		p  *partition
		op *Op
	}
	seen := make(map[string]owner, 4*len(parts))
	for _, p := range parts {
		for i := range p.entries {
			e := &p.entries[i]
			id := e.op.made()
			if e.seen != nil {
				id = e.seen.Order
			}
			if id == "" {
				continue
			}
			o, ok := seen[id]
			switch {
			case !ok:
				seen[id] = owner{p, e.op}
			case o.p != p:
				return p.against(RuleOwner, "order "+id+" is of two shoppers or two items", o.op, e.op)
			}
		}
	}
	return nil
}

// factKeys checks that keys and orders match one to one, always. If no answer names a key's order, it is computed
// from item, shopper and key.
func (p *partition) factKeys(*Options) *Contradiction {
	for i := range p.entries {
		op := p.entries[i].op
		id := op.made()
		if op.Outcome.Code == seckill.CodeKeyReused {
			id = op.Outcome.Order
		}
		if op.Kind != Buy || op.Key == "" || id == "" {
			continue
		}
		known := false
		for k := range p.keys {
			if o := &p.keys[k]; o.key == op.Key && o.order == id {
				known = true
			} else if o.key == op.Key || o.order == id {
				return p.against(RuleKey, "a key has one order, and an order one key, for ever", o.by, op)
			}
		}
		if !known {
			p.keys = append(p.keys, keyed{op.Key, id, op})
		}
	}
	for i := range p.entries {
		if op := p.entries[i].op; op.Kind == Buy && op.Key != "" && p.orderOf(op.Key) == "" {
			p.keys = append(p.keys, keyed{op.Key, seckill.KeyedOrderID(p.item, p.shopper, op.Key), nil})
		}
	}
	return nil
}

// factBodies checks that a key is accepted with only one body while the stock knows it; it forgets keys at a loss,
// and when their orders are over. key_reused is true only if another body came.
func (p *partition) factBodies(opt *Options) *Contradiction {
	for i := range p.entries {
		op := p.entries[i].op
		if op.Kind != Buy || op.Key == "" {
			continue
		}
		since, other := op.Call, (*Op)(nil)
		for k := range p.entries {
			o := p.entries[k].op
			if o.Kind != Buy || o.Key != op.Key {
				continue
			}
			since = min(since, o.Call)
			if effect := o.made() != "" || o.maybe(); effect && o.body() != op.body() && o.Call <= op.Return {
				if other == nil || op.made() != "" && o.made() != "" {
					other = o
				}
			}
		}
		switch {
		case op.Outcome.Code == seckill.CodeKeyReused && other == nil:
			return p.against(RuleBody, "the key had come with no other body", op)
		case op.made() != "" && other != nil && other.made() != "" &&
			!lostIn(opt.Losses, since, max(op.Return, other.Return)) &&
			p.lives(op.made(), max(op.Return, other.Return)):
			return p.against(RuleBody, "the key's second body had to be refused", other, op)
		}
	}
	return nil
}

// factRepeats checks that an order which answers a purchase without a key has the purchase's count and address,
// whichever purchase made the order. A loss of data does not change this.
func (p *partition) factRepeats(*Options) *Contradiction {
	for i := range p.entries {
		op := p.entries[i].op
		if op.Key != "" || op.made() == "" {
			continue
		}
		key, same := "", false
		for k := range p.keys {
			if p.keys[k].order == op.made() {
				key = p.keys[k].key
			}
		}
		other := (*Op)(nil)
		for k := range p.entries {
			o := p.entries[k].op
			switch {
			case o.Kind != Buy || o == op || o.Key != key:
			case key == "" && o.made() == op.made() && o.body() != op.body():
				return p.against(RuleRepeat, "the order was asked for with another count or address", o, op)
			case key != "" && (o.made() == op.made() || o.maybe()):
				same = same || o.body() == op.body()
				other = o
			}
		}
		if key != "" && !same {
			return p.against(RuleRepeat, "the key's order was asked for with another count or address", other, op)
		}
	}
	return nil
}

// lives reports whether an answer to a request after this moment shows the order in a state in which it is not over.
func (p *partition) lives(order string, after int64) bool {
	return slices.ContainsFunc(p.entries, func(e entry) bool {
		return e.seen != nil && e.seen.Order == order && !e.lagging && e.op.Call > after &&
			over&stateBits[e.seen.State] == 0
	})
}

func lostIn(losses []int64, from, to int64) bool {
	return slices.ContainsFunc(losses, func(at int64) bool { return at >= from && at <= to })
}

// factCancels checks that at most MaxCancels orders are being cancelled or are cancelled, and that cancel_limit is
// true.
func (p *partition) factCancels(*Options) *Contradiction {
	var done []string // orders that are cancelled
	for i := range p.entries {
		e := &p.entries[i]
		if s := e.seen; s != nil && s.State == seckill.Cancelled && !slices.Contains(done, s.Order) {
			if done = append(done, s.Order); len(done) > seckill.MaxCancels {
				return p.against(RuleCancels, "it is one more than a shopper may cancel", e.op)
			}
		}
		if e.op.Outcome.Code != seckill.CodeCancelLimit {
			continue
		}
		var tried []string // orders whose cancel may have been made before
		for k := range p.entries {
			o := p.entries[k].op
			made := o.Kind == Cancel && o.Outcome.Kind != Missing && o.Outcome.Code != seckill.CodeCancelLimit
			if made && o.Order != e.op.Order && o.Call <= e.op.Return && !slices.Contains(tried, o.Order) {
				tried = append(tried, o.Order)
			}
		}
		if len(tried) < seckill.MaxCancels {
			return p.against(RuleCancels, "the shopper had tried to cancel fewer orders", e.op)
		}
	}
	return nil
}

// factRows checks that what a row shows never changes, except its state.
func (p *partition) factRows(*Options) *Contradiction {
	for i := range p.entries {
		e := &p.entries[i]
		if e.seen == nil || e.seen.Count == 0 {
			continue
		}
		s := e.seen
		want := 0
		if s.placed() {
			want = s.Count
		}
		if len(s.Units) != want {
			return p.against(RuleUnits, "an order shows its units from placement until it gives them back", e.op)
		}
		if !p.asked(s) {
			return p.against(RuleAsked, "nobody asked for this count and address", e.op)
		}
		for k := range i {
			o := p.entries[k].seen
			if o == nil || o.Count == 0 || o.Order != s.Order || o.State == seckill.Queued ||
				s.State == seckill.Queued {
				continue
			}
			if o.Count != s.Count || o.Address != s.Address && !o.bare() && !s.bare() {
				return p.against(RuleAsked, "a placed order's count and address never change", p.entries[k].op, e.op)
			}
			if s.placed() && o.placed() && !slices.Equal(o.Units, s.Units) {
				return p.against(RuleUnits, "a placed order's units never change", p.entries[k].op, e.op)
			}
		}
	}
	return nil
}

// placed reports whether the ledger holds units for the order: by its state or, if an operator decided, by what it
// shows.
func (s *Seen) placed() bool {
	return s.State != seckill.Queued && (s.State.Info().Holds || len(s.Units) > 0 &&
		s.State.MayHold(len(s.Units), s.Count))
}

// asked reports whether a purchase with the order's count and address may have made it.
func (p *partition) asked(s *Seen) bool {
	for i := range p.entries {
		op := p.entries[i].op
		if op.Kind != Buy || op.Count != s.Count || op.Address != s.Address && !s.bare() {
			continue
		}
		if op.Key != "" && p.orderOf(op.Key) == s.Order || op.made() == s.Order || op.Key == "" && op.maybe() {
			return true
		}
	}
	return false
}

// factCancelled checks that an order is cancelled only if its shopper tried to.
func (p *partition) factCancelled(*Options) *Contradiction {
	for i := range p.entries {
		e := &p.entries[i]
		if e.seen == nil || e.seen.State != seckill.Cancelled {
			continue
		}
		if !slices.ContainsFunc(p.entries, func(c entry) bool {
			return c.op.Kind == Cancel && c.op.Order == e.seen.Order && c.op.Call <= e.op.Return &&
				c.op.Outcome.Kind != Refused
		}) {
			return p.against(RuleCancel, "no cancel of the order was under way by then", e.op)
		}
	}
	return nil
}

// contradiction lists steps that no order allows, and says why.
func (p *partition) contradiction(steps []step) *Contradiction {
	var ops []*Op
	for i := range steps {
		switch steps[i].do {
		case permit, credit, loss:
		default:
			ops = append(ops, steps[i].op)
		}
	}
	return p.against(RuleLife, p.why(steps), ops...)
}

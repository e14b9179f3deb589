package linear

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/your-org/seckill/shared/seckill"
)

// span is a period in which an order certainly held its units, as shoppers saw it: from the first answer that shows
// it to the call of the last request that shows it. It held them throughout, because units are given back once. If the
// two requests overlap, from is after to, and only one moment in between is certain.
type span struct {
	part        *partition
	order       string
	from, to    int64
	count       int // at least this many
	units       []int
	first, last *Op // the operations that prove from and to
}

// moment returns a period in which the order held its units at some moment.
func (s *span) moment() (lo, hi int64) { return min(s.to, s.from), s.from }

// through reports whether the order held its units all the time.
func (s *span) through(lo, hi int64) bool { return s.from <= lo && hi <= s.to }

// spans returns the partition's spans: of placed orders and, if reserved, of reservations, too.
func (p *partition) spans(reserved bool) []span {
	out := make([]span, 0, len(p.slots)+4)
	for i := range p.entries {
		e := &p.entries[i]
		s := span{part: p, order: e.op.made(), from: e.op.Return, to: math.MinInt64, first: e.op, last: e.op}
		placed := false
		if e.seen != nil {
			if !e.seen.State.Info().Holds && !e.seen.placed() {
				continue
			}
			s.order, s.units, placed = e.seen.Order, e.seen.Units, e.seen.placed()
			if !e.lagging {
				s.to = e.op.Call
			}
		}
		if s.order == "" || !placed && !reserved {
			continue
		}
		if k := slices.IndexFunc(out, func(o span) bool { return o.order == s.order }); k >= 0 {
			out[k].join(&s)
		} else {
			s.count = p.least(s.order)
			out = append(out, s)
		}
	}
	return slices.DeleteFunc(out, func(s span) bool { return s.to == math.MinInt64 })
}

// least returns the smallest count requested for an order, 0 if unknown: across a loss of data a key may have come
// with two counts.
func (p *partition) least(order string) int {
	least := 0
	for i := range p.entries {
		e := &p.entries[i]
		count := 0
		switch {
		case e.op.made() == order || e.op.Key != "" && p.orderOf(e.op.Key) == order:
			count = e.op.Count
		case e.seen != nil && e.seen.Order == order:
			count = e.seen.Count
		}
		if count > 0 && (least == 0 || count < least) {
			least = count
		}
	}
	return least
}

// join adds another answer's evidence about the same order.
func (s *span) join(o *span) {
	if o.from < s.from {
		s.from, s.first = o.from, o.first
	}
	if o.to > s.to {
		s.to, s.last = o.to, o.last
	}
	if len(s.units) == 0 {
		s.units = o.units
	}
}

// factLimit checks that orders which held units at the same moment hold no more than the limit. Until its first loss
// of data the stock keeps the limit for reservations, as the ledger does for orders.
func (p *partition) factLimit(opt *Options) *Contradiction {
	t := opt.Truth[p.item]
	if t == nil || t.Limit == 0 {
		return nil
	}
	for _, reserved := range []bool{false, true} {
		spans := p.spans(reserved)
		for i := range spans {
			lo, hi := spans[i].moment()
			if reserved && lostIn(opt.Losses, math.MinInt64, hi) {
				continue
			}
			sum, ops := 0, []*Op(nil)
			for k := range spans {
				if o := &spans[k]; k == i || o.through(lo, hi) {
					sum += o.count
					ops = append(ops, o.first, o.last)
				}
			}
			if sum > t.Limit {
				return p.against(RuleLimit, fmt.Sprintf("they hold %d units at once, the limit is %d", sum, t.Limit),
					ops...)
			}
		}
	}
	return nil
}

// unitsOnce checks that no unit is in two orders at the same moment, of whichever shoppers.
func unitsOnce(parts []*partition) *Contradiction {
	type held struct {
		unit int
		span *span
	}
	var all []held
	for _, p := range parts {
		spans := p.spans(false)
		for i := range spans {
			for _, u := range spans[i].units {
				all = append(all, held{u, &spans[i]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.span.part.item, b.span.part.item))
	})
	for i := range all {
		a := &all[i]
		for k := i + 1; k < len(all) && all[k].unit == a.unit && all[k].span.part.item == a.span.part.item; k++ {
			if b := all[k].span; a.span.meets(b) || b.meets(a.span) {
				return b.part.against(RuleUnit, "unit "+strconv.Itoa(a.unit)+" is in two orders at once", a.span.first,
					a.span.last, b.first, b.last)
			}
		}
	}
	return nil
}

// meets reports whether some moment of o is certainly in s.
func (s *span) meets(o *span) bool { return s.through(o.moment()) }

// within reports whether the shopper's purchases called by a time could add up to more than the limit allows beside
// count.
func (p *partition) within(op *Op, limit int) bool {
	sum := op.Count
	orders := map[string]int{} // by order, the largest requested count
	for i := range p.entries {
		o := p.entries[i].op
		if o.Kind != Buy || o == op || o.Call > op.Return || o.made() == "" && !o.maybe() {
			continue
		}
		count, id := max(o.Count, p.countMost(o.Key)), o.made()
		if id == "" && o.Key != "" {
			id = p.orderOf(o.Key)
		}
		if id == "" {
			sum += count
			continue
		}
		sum += max(count-orders[id], 0)
		orders[id] = max(count, orders[id])
	}
	return sum > limit
}

// countMost returns the largest count that came with the key.
func (p *partition) countMost(key string) int {
	most := 0
	for i := range p.entries {
		if op := p.entries[i].op; key != "" && op.Kind == Buy && op.Key == key {
			most = max(most, op.Count)
		}
	}
	return most
}

// decided reports whether an item's truth can verify this refusal.
func decided(c seckill.Code) bool {
	switch c {
	case seckill.CodeSoldOut, seckill.CodeNotEnough, seckill.CodeStopped, seckill.CodeNotReady, seckill.CodeNotStarted,
		seckill.CodeEnded,
		seckill.CodeLimitReached:
		return true
	}
	return false
}

// facts checks what always holds, and determines the order of each key.
func (p *partition) facts(opt *Options) *Contradiction {
	for _, rule := range []func(*Options) *Contradiction{p.factKeys, p.factBodies, p.factRepeats, p.factCancels,
		p.factRows, p.factCancelled, p.factLimit} {
		if c := rule(opt); c != nil {
			return c
		}
	}
	return nil
}

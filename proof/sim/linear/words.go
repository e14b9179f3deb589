package linear

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Contradiction is a broken guarantee that a shopper saw.
type Contradiction struct {
	Shopper, Item string
	Rule          string
	Why           string
	Ops           []Op // operations that prove it, by their calls
}

// Error returns several lines: who, what was guaranteed, and the requests and answers in order.
func (c *Contradiction) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "shopper %s, item %s: %s: %s", c.Shopper, c.Item, c.Rule, c.Why)
	for i := range c.Ops {
		fmt.Fprintf(&b, "\n  %s", &c.Ops[i])
	}
	return b.String()
}

// against returns a contradiction that lists these operations, without nils and duplicates.
func (p *partition) against(rule, why string, ops ...*Op) *Contradiction {
	c := &Contradiction{Shopper: p.shopper, Item: p.item, Rule: rule, Why: why}
	ops = slices.DeleteFunc(ops, func(op *Op) bool { return op == nil })
	slices.SortStableFunc(ops, func(a, b *Op) int { return cmp.Compare(a.Call, b.Call) })
	for i, op := range ops {
		if !slices.Contains(ops[:i], op) {
			c.Ops = append(c.Ops, *op)
		}
	}
	return c
}

// why plays the steps in the order of their calls and says where that fails. (Every order fails somewhere; this one
// is easiest to follow.)
func (p *partition) why(steps []step) string {
	slices.SortStableFunc(steps, byCall)
	m := model{slots: p.slots}
	for b, i := m.start(), 0; ; i++ { // terminates before the steps end, because they contradict each other
		before := slices.Clone(b)
		if blame := m.apply(b, &steps[i]); blame >= 0 {
			return "order " + p.slots[blame].id + " " + before[blame+1].words()
		}
	}
}

// words returns what an order may be, in words.
func (l lot) words() string {
	switch {
	case l == absent:
		return "does not exist by then: no purchase made it"
	case l&^forgotten == queued.closed():
		return "exists by then"
	}
	var names []string
	for i, s := range seckill.States {
		if l&(lot(1)<<i) != 0 {
			names = append(names, string(s.State))
		}
	}
	return "can only be " + strings.Join(names, ", ") + " by then"
}

// kinds has a verb for each kind of request.
var kinds = [...]string{Buy: "buys", Cancel: "cancels", Read: "reads", Newest: "asks for the newest order",
	List: "lists the orders"}

// String returns a line like: 1.2s–1.3s shopper 7 buys 2 of 1001 to "x" with key "k": order o12.
func (op *Op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s–", time.Duration(op.Call))
	if op.Return != math.MaxInt64 {
		fmt.Fprint(&b, time.Duration(op.Return))
	}
	fmt.Fprintf(&b, " shopper %s %s", op.Shopper, kinds[op.Kind])
	switch op.Kind {
	case Buy:
		fmt.Fprintf(&b, " %d of %s to %q", op.Count, op.Item, op.Address)
		if op.Key != "" {
			fmt.Fprintf(&b, " with key %q", op.Key)
		}
	case Cancel, Read:
		fmt.Fprintf(&b, " order %s", op.Order)
	}
	o := &op.Outcome
	switch o.Kind {
	case Unknown:
		b.WriteString(": no answer")
	case Accepted:
		fmt.Fprintf(&b, ": order %s", o.Order)
	case Refused:
		fmt.Fprintf(&b, ": refused, %s %s", o.Code, o.Order)
	case Missing:
		b.WriteString(": no such order")
	case Shown:
		for i := range o.Seen {
			s := &o.Seen[i]
			fmt.Fprintf(&b, ": order %s %s", s.Order, s.State)
			if s.Count > 0 {
				fmt.Fprintf(&b, " count %d to %q units %v", s.Count, s.Address, s.Units)
			}
		}
	}
	return strings.TrimRight(b.String(), " ")
}

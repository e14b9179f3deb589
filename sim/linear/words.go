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

// Contradiction is a promise that a shopper saw broken.
type Contradiction struct {
	Shopper, Item string
	Rule          string
	Why           string
	Ops           []Op // the fewest operations that show it, by their calls
}

// Error tells it in several lines: who, what was promised, and what was asked and answered, in order.
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

// why plays the steps in the order of their calls and tells where that ends. (Each order ends somewhere; this one is
// told most easily.)
func (p *partition) why(steps []step) string {
	slices.SortStableFunc(steps, byCall)
	m := model{slots: p.slots}
	for b, i := m.start(), 0; ; i++ { // it ends before the steps do: they contradict each other
		before := slices.Clone(b)
		if blame := m.apply(b, &steps[i]); blame >= 0 {
			return "order " + p.slots[blame].id + " " + before[blame+1].words()
		}
	}
}

// words tells what an order may be.
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

// kinds has the words for what a shopper does.
var kinds = [...]string{Buy: "buys", Cancel: "cancels", Read: "reads", Newest: "asks for the newest order",
	List: "lists the orders"}

// String is a line like: 1.2s–1.3s shopper 7 buys 2 of 1001 to "x" with key "k": order o12.
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

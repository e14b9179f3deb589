// Package count keeps for each item how many units were placed, paid and given back, minute by minute, in one row. In:
// changes of order rows, from the orders table's stream; an operator's recount. Out: additions to the counts in the
// ledger. It touches only the ledger.
//
// Counts are exact: one transaction adds what an order's changes moved and records up to which place of its history
// the order is counted. A change that comes late, twice or in parts finds it counted.
package count

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// tries bounds the attempts of one write: other readers of the stream, and a recount, write the same rows.
const tries = 5

// Deps are the step's dependencies.
type Deps struct {
	Ledger Ledger
	Clock  seckill.Clock
	Meter  seckill.Meter
}

// Ledger is the part of the ledger that package count calls.
type Ledger interface {
	seckill.Counter
	seckill.OrderLister
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// group is a part of a batch that one write counts: the newest state of orders of one item.
type group struct {
	orders []seckill.Order
	first  int // the first change of any of them
}

// Changes counts changes and returns how many, counted from the first one, are counted for certain. With an error the
// caller passes the remaining changes again. A row of counts that cannot be read holds up nothing: a person has to
// mend it and recount the item.
func (f *Flow) Changes(ctx context.Context, changes []seckill.OrderChange) (counted int, err error) {
	groups := groupsOf(changes)
	for i, g := range groups {
		err := f.count(ctx, g.orders)
		if errors.Is(err, seckill.ErrUnreadable) {
			f.Meter.Count(seckill.EventUncounted, len(g.orders))
			continue
		}
		if err != nil {
			counted = g.first
			for _, left := range groups[i:] {
				counted = min(counted, left.first)
			}
			return counted, err
		}
	}
	return len(changes), nil
}

// Unreadable counts a change that this code cannot read: a person has to mend the row and recount the item.
func (f *Flow) Unreadable() { f.Meter.Count(seckill.EventUncounted, 1) }

// groupsOf groups changes by item. Of several changes of one order it keeps the one with the longest history, which has
// the others' entries.
func groupsOf(changes []seckill.OrderChange) []group {
	var groups []group
	open := map[string]int{}     // by item, its group that takes more orders
	place := map[string][2]int{} // by order, its place
	for i := range changes {
		o := changes[i].Order
		if at, again := place[o.ID]; again {
			if was := &groups[at[0]].orders[at[1]]; len(o.History) > len(was.History) {
				*was = o
			}
			continue
		}
		g, ok := open[o.Item]
		if !ok || len(groups[g].orders) == seckill.MaxCounted {
			g = len(groups)
			open[o.Item], groups = g, append(groups, group{first: i})
		}
		place[o.ID] = [2]int{g, len(groups[g].orders)}
		groups[g].orders = append(groups[g].orders, o)
	}
	return groups
}

// count counts at most MaxCounted orders of one item.
func (f *Flow) count(ctx context.Context, orders []seckill.Order) error {
	ids := make([]string, len(orders))
	for i := range orders {
		ids[i] = orders[i].ID
	}
	item := orders[0].Item
	for range tries {
		// The counts are read before the marks: if a recount begins in between, the write fails.
		c, err := f.Ledger.Counts(ctx, item)
		if err != nil {
			return err
		}
		marks, err := f.Ledger.Counted(ctx, ids)
		if err != nil {
			return err
		}
		a := addition(&c, marks, orders)
		if len(a.Orders) == 0 {
			return nil
		}
		a.At = f.Clock.Now()
		err = f.Ledger.AddCounts(ctx, c, a)
		if err == nil {
			f.Meter.Count(seckill.EventCounted, len(a.Orders))
		}
		if !errors.Is(err, seckill.ErrCountsChanged) {
			return err
		}
	}
	return fmt.Errorf("count: the counts of item %s changed %d times meanwhile", item, tries)
}

// addition returns what orders add to counts: the entries of their histories that are not counted yet. An order
// whose new entries move no unit needs no mark.
func addition(c *seckill.Counts, marks map[string]seckill.CountMark, orders []seckill.Order) seckill.Addition {
	var a seckill.Addition
	known := make(map[time.Time]bool, len(c.Minutes))
	for _, m := range c.Minutes {
		known[m.Minute] = true
	}
	place := map[time.Time]int{}
	for i := range orders {
		o := &orders[i]
		was := marks[o.ID]
		counted := was.Sequence
		if !was.Since.Equal(c.Since) {
			counted = 0
		}
		moves := o.Moves(counted)
		if len(moves) == 0 {
			continue
		}
		a.Orders = append(a.Orders, seckill.CountedOrder{Order: o.ID, Was: was, Sequence: len(o.History)})
		for _, m := range moves {
			a.Total = a.Total.Plus(m.Count)
			if !known[m.Minute] {
				if len(known) >= seckill.MaxCountMinutes {
					continue
				}
				known[m.Minute] = true
			}
			n, ok := place[m.Minute]
			if !ok {
				n = len(a.Minutes)
				place[m.Minute] = n
				a.Minutes = append(a.Minutes, seckill.MinuteCount{Minute: m.Minute})
			}
			a.Minutes[n].Count = a.Minutes[n].Plus(m.Count)
		}
	}
	return a
}

package linear

import (
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

// Options are what the check has to know besides the operations.
type Options struct {
	Losses []int64           // when the stock forgot something: flushed, failed over, restored
	Truth  map[string]*Truth // by item; without one, what needs it is not checked
	Stale  int64             // how old a refusal may be, nanoseconds
	Skew   int64             // how far an instance's clock may be off, nanoseconds
	Steps  int               // bound of the search for one shopper and item; 0: DefaultSteps
}

// partition is what one shopper did about one item.
type partition struct {
	shopper, item string
	entries       []entry
	keys          []keyed
	slots         []slot
	steps         []step
}

// split checks the operations and sorts them by shopper and item, in the order of their first appearance.
func split(history []Op) ([]*partition, error) {
	type name struct{ shopper, item string }
	index := make(map[name]*partition, len(history)/4+1)
	var parts []*partition
	add := func(item string, e entry) {
		n := name{e.op.Shopper, item}
		p := index[n]
		if p == nil {
			p = &partition{shopper: n.shopper, item: n.item, entries: make([]entry, 0, 16)}
			index[n] = p
			parts = append(parts, p)
		}
		p.entries = append(p.entries, e)
	}
	for i := range history {
		op := &history[i]
		if err := op.validate(); err != nil {
			return nil, fmt.Errorf("linear: operation %d, %s: %w", i, op, err)
		}
		o := &op.Outcome
		switch {
		case op.Kind != List:
			e := entry{op: op}
			if o.Kind == Shown {
				e.seen = &o.Seen[0]
			}
			add(op.Item, e)
		case o.Kind == Shown:
			for k := range o.Seen {
				s := &o.Seen[k]
				item := s.Item
				if item == "" {
					item = op.Item
				}
				add(item, entry{op, s, s.State != seckill.PendingPayment})
			}
		}
	}
	return parts, nil
}

// Truth is what really held of one item, as the simulator saw it, not as the code under test tells it. Of the refusals
// of a purchase, sold_out, not_enough, stopped and not_ready are checked by its moments, not_started and ended by its
// window, and limit_reached by the shopper's own history: a shopper who never asked for enough cannot have reached the
// limit. (What the stock counts against a shopper outlives the order by as long as a return takes, so no more can be
// said.) key_reused needs no truth.
type Truth struct {
	Limit         int   // units that one shopper may hold; 0: not checked
	Opens, Closes int64 // the window, on the world's clock, nanoseconds
	moments       []Moment
}

// Moment is the state of an item from a time on.
type Moment struct {
	At        int64
	Installed bool // the stock has the item
	Left      int  // units that the stock could hand out: returned numbers and those never issued
	Stopped   bool // in the items table, or in the stock
}

package linear

import (
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

// Options hold what the check needs in addition to the operations.
type Options struct {
	Losses []int64           // when the stock lost data: a flush, failover or restore
	Truth  map[string]*Truth // by item; without it, checks that need it are skipped
	Stale  int64             // largest age of a refusal, in nanoseconds
	Skew   int64             // largest error of an instance's clock, in nanoseconds
	Steps  int               // bound of the search per shopper and item; 0 means DefaultSteps
}

// partition holds what one shopper did about one item.
type partition struct {
	shopper, item string
	entries       []entry
	keys          []keyed
	slots         []slot
	steps         []step
}

// split checks the operations and groups them by shopper and item, in the order of first appearance.
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

// Truth is the true state of one item as the simulator saw it, independent of the code under test. Its moments verify
// the refusals sold_out, not_enough, stopped and not_ready; its window verifies not_started and ended; the shopper's
// own history verifies limit_reached: a shopper who never asked for enough units cannot have reached the limit. (The
// stock counts an order against a shopper until its return is complete, so no more can be checked.) key_reused needs
// no truth.
type Truth struct {
	Limit         int   // units that one shopper may hold; 0 if it is not checked
	Opens, Closes int64 // the window on the world's clock, in nanoseconds
	moments       []Moment
}

// Moment is the state of an item from a time on.
type Moment struct {
	At        int64
	Installed bool // the stock has the item
	Left      int  // units that the stock could hand out: returned ones and those never issued
	HoldsBack bool // some of these are not for new shoppers yet
	Stopped   bool // in the items table, or in the stock
}

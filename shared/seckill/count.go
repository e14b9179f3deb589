package seckill

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Limits of counts.
const (
	MaxCounted = 90 // orders that one write counts: a transaction has at most 100 rows
	// MaxCountMinutes is the largest number of minutes that an item's counts list; only minutes in which something
	// happened count. Later ones are in the totals only. It keeps the row, which every write of counts rewrites, below
	// 100 KB.
	MaxCountMinutes = 2000
	// RecountWait is how long after its beginning a recount looks for orders once more: the list of an item's orders
	// may lag, and lacks the newest.
	RecountWait = time.Minute
)

// Count is a number of units: every order that was placed, paid or gave back counts with its own. So placed less
// given back is what the unit rows say.
type Count struct {
	Placed    int `json:"placed"`
	Paid      int `json:"paid"`
	GivenBack int `json:"given_back"`
}

// Plus returns the sum.
func (c Count) Plus(d Count) Count {
	return Count{c.Placed + d.Placed, c.Paid + d.Paid, c.GivenBack + d.GivenBack}
}

// MinuteCount is what happened in one minute.
type MinuteCount struct {
	Minute time.Time `json:"minute"`
	Count
}

// Counts are an item's units by what happened to them. They are made from the changes of orders and decide nothing.
type Counts struct {
	Item       string
	Since      time.Time // identifies this count of the item: it began then; zero if nothing was counted yet
	Recounting bool      // a recount is under way: orders may be missing
	Total      Count
	Minutes    []MinuteCount // ascending
}

// CountMark says how far an order is counted.
type CountMark struct {
	Since    time.Time `row:"since"`    // the count in which it is; an earlier one than the item's means nothing
	Sequence int       `row:"sequence"` // entries of its history that are counted
}

// CountedOrder moves the mark of one order.
type CountedOrder struct {
	Order    string
	Was      CountMark // as read; zero if the order had none
	Sequence int
}

// Addition is what one write adds to an item's counts.
type Addition struct {
	At      time.Time // when a count begins that has not begun yet
	Orders  []CountedOrder
	Total   Count
	Minutes []MinuteCount // distinct minutes
}

// Counter keeps the counts of items. Each order is counted up to a place in its history, so that a change which comes
// twice counts once.
type Counter interface {
	// Counts reads an item's counts.
	Counts(ctx context.Context, item string) (Counts, error)
	// Counted reads the marks of 1 to MaxCounted orders. Orders without one are missing from the result.
	Counted(ctx context.Context, orders []string) (map[string]CountMark, error)
	// AddCounts adds to the counts, as read, and moves the marks of 1 to MaxCounted orders, all or nothing.
	// It returns ErrCountsChanged if a recount began or another write moved one of the marks.
	AddCounts(ctx context.Context, c Counts, a Addition) error
	// BeginRecount replaces the counts, as read, by a new count without anything. It returns ErrCountsChanged if
	// another recount began.
	BeginRecount(ctx context.Context, c Counts, at time.Time) error
	// EndRecount records that the recount, as read, has every order. It returns ErrCountsChanged if another recount
	// began.
	EndRecount(ctx context.Context, c Counts) error
}

// RestockedBy begins the cause of the change with which staff put a refunded order's units back on sale.
const RestockedBy = "restocked by "

func restocks(c Change) bool { return c.State == Refunded && strings.HasPrefix(c.Cause, RestockedBy) }

// Moves returns what the entries of an order's history after the first n did to its units, one element per minute
// and kind.
func (o *Order) Moves(n int) []MinuteCount {
	var moves []MinuteCount
	later := slices.ContainsFunc(o.History, restocks)
	for i := max(n, 0); i < len(o.History); i++ {
		var from State
		if i > 0 {
			from = o.History[i-1].State
		}
		m := MinuteCount{Minute: o.History[i].At.Truncate(time.Minute)}
		switch to := o.History[i].State; {
		case restocks(o.History[i]):
			m.GivenBack = o.Count
		case to == from:
			continue
		case to == PendingPayment:
			m.Placed = o.Count
		case to == Paid:
			m.Paid = o.Count
		case from.Info().Holds && !to.Info().Holds && len(o.Units) == 0 && !later: // a refund may keep the units
			m.GivenBack = o.Count
		default:
			continue
		}
		moves = append(moves, m)
	}
	return moves
}

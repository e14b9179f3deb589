package report

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Sums are what an item's orders add up to. Whoever has the orders' lines can recompute all of it. Money is in fen.
type Sums struct {
	Orders   map[seckill.State]int `json:"orders"`             // by their state in the end
	Ever     map[seckill.State]int `json:"ever"`               // orders that were in a state at any time
	Rejected map[seckill.Code]int  `json:"rejected,omitempty"` // by reason
	Units    Units                 `json:"units"`
	Money    Totals                `json:"money"`
	Placing  []Wait                `json:"wait_until_placed"`               // from the purchase to its order or refusal
	Paying   []Wait                `json:"wait_until_paid"`                 // from there until it was paid
	Holding  []Wait                `json:"wait_until_given_back,omitempty"` // or expired, or was cancelled
	Shipping []Wait                `json:"wait_until_shipped,omitempty"`    // from paid to shipped
}

// Units are numbers of units. Placed less GivenBack is Held plus Sold.
type Units struct {
	seckill.Count
	Sold  int `json:"sold"`  // held by orders that are paid, or were
	Held  int `json:"held"`  // by others
	Never int `json:"never"` // of the stock; neither sold nor with an order in the end
}

// Totals are the money that came in. Captured is the sum of the next three.
type Totals struct {
	Captured int64 `json:"captured_fen"`
	Kept     int64 `json:"kept_fen"`
	Due      int64 `json:"due_back_fen"`
	Refunded int64 `json:"refunded_fen"`
	Payments int   `json:"payments"`
}

// Wait is a number of orders that waited no longer than Seconds, or longer than all other Waits if Seconds is 0.
type Wait struct {
	Seconds int `json:"seconds"`
	Orders  int `json:"orders"`
}

// Bounds of waits, in seconds: of Placing and Paying, of Holding, of Shipping.
var (
	waits    = []int{1, 2, 5, 10, 30, 60, 300, 900}
	holds    = []int{300, 900, 1800, hour}
	shipping = []int{6 * hour, day, 2 * day, 3 * day, 7 * day}
)

const (
	hour = 3600 // seconds
	day  = 24 * hour
)

// adder adds up an item's orders.
type adder struct {
	Sums
	item    string
	stock   int
	minutes map[int64]seckill.Count // by Unix seconds
	later   bool                    // something happened after MaxMinutes minutes
	units   []uint64                // a bit per unit that an order holds
	last    string                  // the order before
}

func newAdder(item string, stock int) *adder {
	a := &adder{item: item, stock: stock, minutes: map[int64]seckill.Count{},
		units: make([]uint64, min(max(stock, 0), seckill.MaxStock)/64+1)}
	a.Orders, a.Ever, a.Rejected = map[seckill.State]int{}, map[seckill.State]int{}, map[seckill.Code]int{}
	a.Placing, a.Paying, a.Holding, a.Shipping = none(waits), none(waits), none(holds), none(shipping)
	a.Units.Never = stock
	return a
}

// add adds an order and returns what is wrong with it.
func (a *adder) add(o *Order) (wrong []string) {
	tell := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if o.Order <= a.last {
		tell("order %s stands after order %s: they want to ascend, each once", o.Order, a.last)
	}
	a.last = o.Order
	if o.Amount != o.Price*int64(o.Count) {
		tell("%d units at %d fen, but %d fen in all", o.Count, o.Price, o.Amount)
	}
	for _, n := range o.Units {
		switch {
		case n < 1 || n > a.stock || n/64 >= len(a.units):
			tell("unit %d of 1 to %d", n, a.stock)
		case a.units[n/64]&(1<<(n%64)) != 0:
			tell("unit %d, which another order has, too", n)
		default:
			a.units[n/64] |= 1 << (n % 64)
		}
	}
	was := map[seckill.State]time.Time{}
	history := make([]seckill.Change, len(o.History))
	for i, h := range o.History {
		history[i] = seckill.Change{State: h.State, At: h.At}
		if _, again := was[h.State]; !again {
			was[h.State] = h.At
		}
	}
	if n := len(history); n == 0 || history[n-1].State != o.State {
		tell("is %s, but its history does not end so", o.State)
	}
	a.count(o, history)
	a.Orders[o.State]++
	for s := range was {
		a.Ever[s]++
	}
	if o.State == seckill.Rejected {
		a.Rejected[o.Reason]++
	}
	if len(a.Orders)+len(a.Ever)+len(a.Rejected) > maxReasons {
		tell("too many kinds of states and reasons")
		clear(a.Ever)
		clear(a.Rejected)
	}
	a.waits(o, was)
	for i := range o.Payments {
		wrong = append(wrong, a.pay(&o.Payments[i])...)
	}
	return wrong
}

// count adds what an order's history did to its units.
func (a *adder) count(o *Order, history []seckill.Change) {
	moved := seckill.Order{Count: o.Count, Units: o.Units, History: history}
	for _, m := range moved.Moves(0) {
		a.Units.Count = a.Units.Plus(m.Count)
		key := m.Minute.Unix()
		if _, known := a.minutes[key]; !known && len(a.minutes) >= MaxMinutes {
			a.later = true
			continue
		}
		a.minutes[key] = a.minutes[key].Plus(m.Count)
	}
	a.Units.Never -= len(o.Units)
	switch o.State {
	case seckill.PendingPayment, seckill.Closing:
		a.Units.Held += len(o.Units)
	default:
		a.Units.Sold += len(o.Units)
	}
}

func (a *adder) waits(o *Order, was map[seckill.State]time.Time) {
	if len(o.History) == 0 {
		return
	}
	placed := o.History[0].At
	wait(a.Placing, placed.Sub(o.Created))
	if paid, ok := was[seckill.Paid]; ok {
		wait(a.Paying, paid.Sub(placed))
		if shipped, ok := was[seckill.Shipped]; ok {
			wait(a.Shipping, shipped.Sub(paid))
		}
	}
	for _, s := range []seckill.State{seckill.Expired, seckill.Cancelled} {
		if ended, ok := was[s]; ok {
			wait(a.Holding, ended.Sub(placed))
			break
		}
	}
}

// none returns waits with these bounds, and no orders.
func none(bounds []int) (list []Wait) {
	for _, s := range append(slices.Clone(bounds), 0) {
		list = append(list, Wait{Seconds: s})
	}
	return list
}

func wait(list []Wait, took time.Duration) {
	for i := range list {
		if s := list[i].Seconds; s == 0 || took <= time.Duration(s)*time.Second {
			list[i].Orders++
			return
		}
	}
}

// pay adds a payment and returns what is wrong with it.
func (a *adder) pay(m *Money) (wrong []string) {
	t := &a.Money
	t.Payments++
	t.Captured += m.Amount
	switch m.State {
	case seckill.Captured:
		t.Kept += m.Amount
	case seckill.RefundDue:
		t.Due += m.Amount
	case seckill.RefundDone:
		t.Refunded += m.Amount
	default:
		wrong = append(wrong, fmt.Sprintf("a payment in the unknown state %q", m.State))
	}
	return wrong
}

// ascending returns the minutes in which something happened.
func (a *adder) ascending() []seckill.MinuteCount {
	out := make([]seckill.MinuteCount, 0, len(a.minutes))
	for _, at := range slices.Sorted(maps.Keys(a.minutes)) {
		out = append(out, seckill.MinuteCount{Minute: time.Unix(at, 0).UTC(), Count: a.minutes[at]})
	}
	return out
}

// Package judge tells from the ledger's rows alone which guarantees of docs/GUARANTEES.md do not hold. In: all rows of
// some items, as any driver of ledger.Rows keeps them. Out: a sentence for each breach of I1, I2, I3, I5 to I8. Rows
// that were read one after the other while somebody wrote may disagree without a fault: who judges a running system
// reads them again before believing it.
package judge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// Rows are the ledger's rows by table (ledger.TableUnits …).
type Rows map[string][]ledger.Row

// Unit is one row of the units table.
type Unit struct {
	Item, Order, User string
	Number            int
}

// Order is what the checks need of an order's row.
type Order struct {
	ID, Item, User string
	State          seckill.State
	Units          []int
	Count          int
	Price, Amount  int64
	History        []seckill.State
}

// Units reads all unit rows, ascending by item and number.
func (r Rows) Units() []Unit {
	var out []Unit
	for _, row := range r[ledger.TableUnits] {
		item, _, _ := strings.Cut(text(row, "bucket"), "#")
		n, _ := strconv.Atoi(text(row, "unit")) // a unit that is no number becomes 0, which is out of range
		out = append(out, Unit{item, text(row, "order"), text(row, "user"), n})
	}
	slices.SortFunc(out, func(a, b Unit) int {
		if c := strings.Compare(a.Item, b.Item); c != 0 {
			return c
		}
		return a.Number - b.Number
	})
	return out
}

// Orders reads all orders by id.
func (r Rows) Orders() map[string]Order {
	out := map[string]Order{}
	for _, row := range r[ledger.TableOrders] {
		o := Order{ID: text(row, "id"), Item: text(row, "item"), User: text(row, "user"),
			State: seckill.State(text(row, "state")),
			Count: int(number(row, "count")), Price: number(row, "price"), Amount: number(row, "amount")}
		for _, f := range strings.FieldsFunc(text(row, "units"), func(r rune) bool { return r == ',' }) {
			n, _ := strconv.Atoi(f)
			o.Units = append(o.Units, n)
		}
		history, _ := row["history"].([]string)
		for _, h := range history {
			words := strings.SplitN(h, " ", 3)
			o.History = append(o.History, seckill.State(words[min(1, len(words)-1)]))
		}
		out[o.ID] = o
	}
	return out
}

// Broken names what does not hold. goods are the items that the rows are about.
func Broken(r Rows, goods map[string]seckill.Item) []string {
	j := judge{rows: r, goods: goods, orders: r.Orders(), held: map[[2]string]int{}}
	owned := j.units()
	for _, id := range slices.Sorted(maps.Keys(j.orders)) {
		j.order(j.orders[id], owned[id])
	}
	j.quotas()
	j.returns()
	j.money()
	return j.bad
}

type judge struct {
	rows   Rows
	goods  map[string]seckill.Item
	orders map[string]Order
	held   map[[2]string]int // units by user and item
	bad    []string
}

func (j *judge) say(format string, args ...any) { j.bad = append(j.bad, fmt.Sprintf(format, args...)) }

// units judges the unit rows, and gives their numbers by order.
func (j *judge) units() map[string][]int {
	owned := map[string][]int{}
	var last Unit // the same unit in two buckets would be two rows
	for _, u := range j.rows.Units() {
		if u.Item == last.Item && u.Number == last.Number {
			j.say("I1 NoOversell: unit %s/%d belongs to %s and %s", u.Item, u.Number, last.Order, u.Order)
		}
		last = u
		if n := j.goods[u.Item].Stock; u.Number < 1 || u.Number > n {
			j.say("I3 Conservation: unit %s/%d is not within 1..%d", u.Item, u.Number, n)
		}
		if o, ok := j.orders[u.Order]; !ok || o.Item != u.Item || o.User != u.User {
			j.say("I3 Conservation: unit %s/%d names order %s of user %s, which is not so", u.Item, u.Number, u.Order,
				u.User)
		}
		owned[u.Order] = append(owned[u.Order], u.Number)
		j.held[[2]string{u.User, u.Item}]++
	}
	return owned
}

func (j *judge) order(o Order, rows []int) {
	if !slices.Equal(o.Units, rows) {
		j.say("I3 Conservation: order %s (%s) lists %v, its rows are %v", o.ID, o.State, o.Units, rows)
	}
	if !o.State.MayHold(len(o.Units), o.Count) {
		j.say("I3 Conservation: order %s (%s) of %d holds %v", o.ID, o.State, o.Count, o.Units)
	}
	if o.Amount != o.Price*int64(o.Count) {
		j.say("I7 PayAuthentic: order %s of %d at %d fen asks for %d fen", o.ID, o.Count, o.Price, o.Amount)
	}
	if len(o.History) == 0 || o.History[len(o.History)-1] != o.State {
		j.say("I5 ForwardOnly: order %s is %s, its history %v", o.ID, o.State, o.History)
	}
	from, gaveBack := seckill.Queued, 0
	for _, to := range o.History {
		if from != to && !from.CanBecome(to) { // the same again is a note
			j.say("I5 ForwardOnly: order %s went from %s to %s", o.ID, from, to)
		}
		if from == seckill.Closing && !to.Info().Holds {
			gaveBack++
		}
		from = to
	}
	if gaveBack > 1 {
		j.say("I8 ReleaseOnce: order %s gave its units back %d times: %v", o.ID, gaveBack, o.History)
	}
}

// quotas: I2, and a quota row is what the user's unit rows add up to.
func (j *judge) quotas() {
	quotas := map[[2]string]bool{}
	for _, row := range j.rows[ledger.TableQuotas] {
		key := [2]string{text(row, "user"), text(row, "item")}
		quotas[key] = true
		sum := 0
		entries, _ := row["orders"].(ledger.Set)
		for _, e := range entries {
			_, count, _ := strings.Cut(e, ":")
			n, _ := strconv.Atoi(count)
			sum += n
		}
		if units := int(number(row, "units")); units != j.held[key] || sum != j.held[key] {
			j.say("I3 Conservation: user %s has %d units of item %s, the quota says %d, its orders %d", key[0],
				j.held[key], key[1], units, sum)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(j.held), func(a, b [2]string) int {
		return slices.Compare(a[:], b[:])
	}) {
		if n, limit := j.held[key], j.goods[key[1]].Limit; n > limit {
			j.say("I2 UserLimit: user %s has %d units of item %s, the limit is %d", key[0], n, key[1], limit)
		}
		if !quotas[key] {
			j.say("I3 Conservation: user %s has units of item %s and no quota row", key[0], key[1])
		}
	}
}

// returns: only an order that holds nothing gives back.
func (j *judge) returns() {
	for _, row := range j.rows[ledger.TableReturns] {
		if o, ok := j.orders[text(row, "order")]; !ok || len(o.Units) > 0 {
			j.say("I8 ReleaseOnce: units %s are given back for order %s, which is %q", text(row, "units"),
				text(row, "order"), o.State)
		}
	}
}

// money: I6 and I7. An order that counts as paid keeps exactly one trade's money; every other trade has to go back.
func (j *judge) money() {
	captured := map[string]int{}
	for _, row := range j.rows[ledger.TablePayments] {
		o, ok := j.orders[text(row, "order")]
		if !ok || number(row, "amount") != o.Amount {
			j.say("I7 PayAuthentic: trade %s of %d fen is for order %s of %d fen", text(row, "trade_no"),
				number(row, "amount"), text(row, "order"), o.Amount)
		}
		if seckill.PaymentState(text(row, "state")) == seckill.Captured {
			captured[o.ID]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(j.orders)) {
		keeps := 0
		switch j.orders[id].State {
		case seckill.Paid, seckill.Confirmed, seckill.Shipped, seckill.Received, seckill.Completed:
			keeps = 1
		}
		if captured[id] != keeps {
			j.say("I6 NoPaidThenClosed: order %s (%s) keeps the money of %d trades", id, j.orders[id].State,
				captured[id])
		}
	}
}

func text(row ledger.Row, attr string) string {
	s, _ := row[attr].(string)
	return s
}

func number(row ledger.Row, attr string) int64 {
	n, _ := row[attr].(int64)
	return n
}

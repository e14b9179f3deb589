// Package localtest judges a local.System by its true state: the ledger's rows and the stock's keys, read past every cache and
// index. In: a system. Out: the guarantees of docs/GUARANTEES.md that do not hold. It changes nothing.
package localtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"seckill/local"
	"seckill/shared/adapter/ledger"
	"seckill/shared/seckill"
)

// Invariants fails the test for everything that Broken and, when drained, Unconverged name.
func Invariants(t testing.TB, s *local.System, drained bool) {
	t.Helper()
	for _, b := range Broken(s) {
		t.Error(b)
	}
	if drained {
		for _, b := range Unconverged(s) {
			t.Error(b)
		}
	}
}

// UnitRow is one row of the units table.
type UnitRow struct {
	Item, Order, User string
	Unit              int
}

// Units reads all unit rows, ascending by item and unit.
func Units(s *local.System) []UnitRow {
	var out []UnitRow
	for _, row := range s.Rows.Dump(ledger.TableUnits) {
		item, _, _ := strings.Cut(text(row, "bucket"), "#")
		n, _ := strconv.Atoi(text(row, "unit")) // a unit that is no number becomes 0, which is out of range
		out = append(out, UnitRow{item, text(row, "order"), text(row, "user"), n})
	}
	slices.SortFunc(out, func(a, b UnitRow) int {
		if c := strings.Compare(a.Item, b.Item); c != 0 {
			return c
		}
		return a.Unit - b.Unit
	})
	return out
}

// order is what the checks need of an order's row.
type order struct {
	id, item, user string
	state          seckill.State
	units          []int
	count          int
	price, amount  int64
}

func orders(s *local.System) map[string]order {
	out := map[string]order{}
	for _, row := range s.Rows.Dump(ledger.TableOrders) {
		o := order{id: text(row, "id"), item: text(row, "item"), user: text(row, "user"), state: seckill.State(text(row, "state")),
			count: int(number(row, "count")), price: number(row, "price"), amount: number(row, "amount")}
		for _, f := range strings.FieldsFunc(text(row, "units"), func(r rune) bool { return r == ',' }) {
			n, _ := strconv.Atoi(f)
			o.units = append(o.units, n)
		}
		out[o.id] = o
	}
	return out
}

func items(s *local.System) map[string]seckill.Item {
	list, err := s.Items.List(context.Background(), time.Time{})
	if err != nil {
		panic(err) // only a cancelled context is an error
	}
	out := map[string]seckill.Item{}
	for _, it := range list {
		out[it.ID] = it
	}
	return out
}

// Broken names what of I1, I2, I3 and I6 does not hold in the ledger; they hold at every moment.
func Broken(s *local.System) []string {
	var bad []string
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	all, goods, units := orders(s), items(s), Units(s)

	rowsOf := map[string][]int{} // by order
	held := map[[2]string]int{}  // by user and item
	var last UnitRow             // the same unit in two buckets would be two rows
	for _, u := range units {
		if u.Item == last.Item && u.Unit == last.Unit {
			say("I1 NoOversell: unit %s/%d belongs to %s and %s", u.Item, u.Unit, last.Order, u.Order)
		}
		last = u
		if n := goods[u.Item].Stock; u.Unit < 1 || u.Unit > n {
			say("I3 Conservation: unit %s/%d is not within 1..%d", u.Item, u.Unit, n)
		}
		if o, ok := all[u.Order]; !ok || o.item != u.Item || o.user != u.User {
			say("I3 Conservation: unit %s/%d names order %s of user %s, which is not so", u.Item, u.Unit, u.Order, u.User)
		}
		rowsOf[u.Order] = append(rowsOf[u.Order], u.Unit)
		held[[2]string{u.User, u.Item}]++
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		o := all[id]
		if !slices.Equal(o.units, rowsOf[id]) {
			say("I3 Conservation: order %s (%s) lists %v, its rows are %v", id, o.state, o.units, rowsOf[id])
		}
		want := 0
		if o.state.Info().Holds {
			want = o.count
		}
		if len(o.units) != want {
			say("I3 Conservation: order %s (%s) of %d holds %v", id, o.state, o.count, o.units)
		}
		if o.amount != o.price*int64(o.count) {
			say("order %s of %d at %d fen asks for %d fen", id, o.count, o.price, o.amount)
		}
	}
	quotas := map[[2]string]int{}
	for _, row := range s.Rows.Dump(ledger.TableQuotas) {
		key := [2]string{text(row, "user"), text(row, "item")}
		quotas[key] = int(number(row, "units"))
		sum := 0
		entries, _ := row["orders"].(ledger.Set)
		for _, e := range entries {
			_, count, _ := strings.Cut(e, ":")
			n, _ := strconv.Atoi(count)
			sum += n
		}
		if quotas[key] != held[key] || sum != held[key] {
			say("I3 Conservation: user %s has %d units of item %s, the quota says %d, its orders %d", key[0], held[key], key[1], quotas[key], sum)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(held), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		if n, limit := held[key], goods[key[1]].Limit; n > limit {
			say("I2 UserLimit: user %s has %d units of item %s, the limit is %d", key[0], n, key[1], limit)
		}
		if _, ok := quotas[key]; !ok {
			say("I3 Conservation: user %s has units of item %s and no quota row", key[0], key[1])
		}
	}
	return append(bad, brokenMoney(s, all)...)
}

// brokenMoney: I6. An order that counts as paid keeps exactly one trade's money; every other trade has to go back.
func brokenMoney(s *local.System, all map[string]order) []string {
	var bad []string
	captured := map[string]int{}
	for _, row := range s.Rows.Dump(ledger.TablePayments) {
		o, ok := all[text(row, "order")]
		if !ok || number(row, "amount") != o.amount {
			bad = append(bad, fmt.Sprintf("I7 PayAuthentic: trade %s of %d fen is for order %s of %d fen", text(row, "trade_no"), number(row, "amount"), text(row, "order"), o.amount))
		}
		if seckill.PaymentState(text(row, "state")) == seckill.Captured {
			captured[o.id]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		keeps := 0
		switch all[id].state {
		case seckill.Paid, seckill.Confirmed, seckill.Shipped, seckill.Received, seckill.Completed:
			keeps = 1
		}
		if captured[id] != keeps {
			bad = append(bad, fmt.Sprintf("I6 NoPaidThenClosed: order %s (%s) keeps the money of %d trades", id, all[id].state, captured[id]))
		}
	}
	return bad
}

// Unconverged names what of L2, L3 does not hold: what is to be true once nothing is at work any more.
func Unconverged(s *local.System) []string {
	var bad []string
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	for _, row := range s.Rows.Dump(ledger.TableReturns) {
		say("L3 Converged: order %s still has a return row", text(row, "order"))
	}
	rows := map[string]map[string]string{} // item, unit, order
	for _, u := range Units(s) {
		if rows[u.Item] == nil {
			rows[u.Item] = map[string]string{}
		}
		rows[u.Item][strconv.Itoa(u.Unit)] = u.Order
	}
	keys := s.Redis.Dump()
	for id := range items(s) {
		head, installed := keys["{"+id+"}:item"].(map[string]string)
		if !installed {
			continue
		}
		held, _ := keys["{"+id+"}:held"].(map[string]string)
		free, _ := keys["{"+id+"}:free"].(map[string]float64)
		awaiting, _ := keys["{"+id+"}:awaiting"].(map[string]float64)
		if len(awaiting) > 0 {
			say("L2 NoStranded: item %s has %d reservations waiting", id, len(awaiting))
		}
		if !maps.Equal(held, rows[id]) {
			say("L3 Converged: item %s: held %v, unit rows %v", id, held, rows[id])
		}
		highWater, _ := strconv.Atoi(head["hw"])
		for n := 1; n <= highWater; n++ {
			unit := strconv.Itoa(n)
			_, isHeld := held[unit]
			_, isFree := free[unit]
			if isHeld == isFree {
				say("L3 Converged: item %s: number %d held: %v, free: %v", id, n, isHeld, isFree)
			}
		}
		if len(held)+len(free) != highWater {
			say("L3 Converged: item %s: %d held and %d free of %d", id, len(held), len(free), highWater)
		}
	}
	return bad
}

func text(row ledger.Row, attr string) string {
	s, _ := row[attr].(string)
	return s
}

func number(row ledger.Row, attr string) int64 {
	n, _ := row[attr].(int64)
	return n
}

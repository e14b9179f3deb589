// Package localtest judges a local.System by its true state: the ledger's rows and the stock's keys, read past every cache and
// index. In: a system. Out: the guarantees of docs/GUARANTEES.md that do not hold. It changes nothing.
package localtest

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	"seckill/e2e/judge"
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

// Start runs a system on a free port until the test ends.
func Start(t testing.TB, o local.Options) *local.System {
	t.Helper()
	o.Addr = ":0"
	sys, err := local.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sys.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sys
}

// Units reads all unit rows, ascending by item and unit.
func Units(s *local.System) []judge.Unit { return rows(s).Units() }

func rows(s *local.System) judge.Rows {
	all := judge.Rows{}
	for _, t := range ledger.Schema {
		all[t.Name] = s.Rows.Dump(t.Name)
	}
	return all
}

func items(s *local.System) map[string]seckill.Item {
	list, err := s.Items.List(context.Background(), time.Time{})
	if _, err := seckill.SplitUnreadable(err); err != nil {
		panic(err) // only a cancelled context is an error
	}
	out := map[string]seckill.Item{}
	for _, it := range list {
		out[it.ID] = it
	}
	return out
}

// Broken names what of the guarantees does not hold that do at every moment.
func Broken(s *local.System) []string { return judge.Broken(rows(s), items(s)) }

// Unconverged names what of L2, L3 does not hold: what is to be true once nothing is at work any more.
func Unconverged(s *local.System) []string {
	var bad []string
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	for _, row := range s.Rows.Dump(ledger.TableReturns) {
		say("L3 Converged: order %s still has a return row", text(row, "order"))
	}
	owners := map[string]map[string]string{} // item, unit, order
	for _, u := range Units(s) {
		if owners[u.Item] == nil {
			owners[u.Item] = map[string]string{}
		}
		owners[u.Item][strconv.Itoa(u.Number)] = u.Order
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
		if !maps.Equal(held, owners[id]) {
			say("L3 Converged: item %s: held %v, unit rows %v", id, held, owners[id])
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

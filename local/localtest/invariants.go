// Package localtest audits a local.System by its true state: the ledger's rows and the stock's keys, read past every
// cache and index. In: a system. Out: the guarantees of docs/GUARANTEES.md that do not hold. It changes nothing.
package localtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/audit"
	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/record/dump"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
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

// Unit is one row of the units table.
type Unit struct {
	Item, Order, User string
	Number            int
}

// Units reads all unit rows, ascending by item and unit.
func Units(s *local.System) (out []Unit) {
	for _, row := range s.Rows.Dump(ledger.TableUnits) {
		item, _, _ := strings.Cut(text(row, "bucket"), "#")
		n, _ := strconv.Atoi(text(row, "unit")) // a unit that is no number is 0, which is no unit's
		out = append(out, Unit{item, text(row, "order"), text(row, "user"), n})
	}
	slices.SortFunc(out, func(a, b Unit) int {
		return cmp.Or(strings.Compare(a.Item, b.Item), a.Number-b.Number)
	})
	return out
}

// unjudged are the guarantees that tests break on purpose: they move the clock, and let a shopper buy before the sale
// begins.
var unjudged = []string{"I10"}

// Broken names what of the guarantees does not hold that do at every moment.
func Broken(s *local.System) []string {
	return audited(s, func(j *audit.GuaranteeResult) bool { return j.ID[0] == 'I' && !slices.Contains(unjudged, j.ID) })
}

// Unconverged names what of L2 and L3 does not hold: what is to be true once nothing is at work any more.
func Unconverged(s *local.System) []string {
	return audited(s, func(j *audit.GuaranteeResult) bool { return j.ID == "L2" || j.ID == "L3" })
}

// audited audits every item, and tells what is broken of the chosen judgements.
func audited(s *local.System, chosen func(*audit.GuaranteeResult) bool) (bad []string) {
	ctx := context.Background()
	list, err := s.Items.List(ctx, time.Time{})
	if _, err := seckill.SplitUnreadable(err); err != nil {
		panic(err) // only a cancelled context is an error
	}
	for i := range list {
		it := &list[i]
		report, err := audit.Run(ctx, source(s, it), audit.Options{Item: it.ID})
		if err != nil {
			bad = append(bad, fmt.Sprintf("item %s cannot be audited: %v", it.ID, err))
			continue
		}
		for j := range report.Results {
			if g := &report.Results[j]; g.Verdict == audit.Broken && chosen(g) {
				bad = append(bad, told(it, g)...)
			}
		}
	}
	return bad
}

// source is everything that a system knows of an item but the gateway's trades: tests make trades that no shopper paid.
func source(s *local.System, it *seckill.Item) audit.SourceFunc {
	return func(ctx context.Context, each func(*dump.Line) error) error {
		return s.Dump(ctx, it, func(l *dump.Line) error {
			switch {
			case l.Table == dump.PartTrades:
				return nil
			case l.End == dump.PartTrades:
				return each(&dump.Line{Missing: dump.PartTrades, Why: "a test's trades"})
			}
			return each(l)
		})
	}
}

// told puts a judgement into words. That the stock still has an item long after its end is no finding here: tests move
// the clock by days, and stage has had no minute of its own since.
func told(it *seckill.Item, g *audit.GuaranteeResult) (bad []string) {
	for _, f := range g.Findings {
		if f.Row != "{"+it.ID+"}:item" {
			bad = append(bad, fmt.Sprintf("item %s: %s %s: %s %s", it.ID, g.ID, g.Name, f.Row, f.What))
		}
	}
	return bad
}

func text(row ledger.Row, attr string) string {
	s, _ := row[attr].(string)
	return s
}

// Package localtest checks a local.System against the guarantees of docs/GUARANTEES.md. It reads the ledger's rows and
// the stock's keys directly, without caches and indexes, and changes nothing.
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

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// Invariants fails the test for every finding of Broken and, if drained, of Unconverged.
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
		n, _ := strconv.Atoi(text(row, "unit")) // 0, which is not a valid unit, if it is not a number
		out = append(out, Unit{item, text(row, "order"), text(row, "user"), n})
	}
	slices.SortFunc(out, func(a, b Unit) int {
		return cmp.Or(strings.Compare(a.Item, b.Item), a.Number-b.Number)
	})
	return out
}

// skipped are the guarantees that tests break on purpose by moving the clock, so that a shopper buys before the sale
// begins.
var skipped = []string{"I10"}

// Broken returns the findings about guarantees that have to hold at every moment.
func Broken(s *local.System) []string {
	return audited(s, func(j *audit.GuaranteeResult) bool { return j.ID[0] == 'I' && !slices.Contains(skipped, j.ID) })
}

// Unconverged returns the findings about L2 and L3, which have to hold once the system is idle.
func Unconverged(s *local.System) []string {
	return audited(s, func(j *audit.GuaranteeResult) bool { return j.ID == "L2" || j.ID == "L3" })
}

// audited audits every item and returns the findings about the chosen guarantees.
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

// source dumps an item without the gateway's trades, because tests make trades that no shopper paid.
func source(s *local.System, it *seckill.Item) audit.SourceFunc {
	return func(ctx context.Context, each func(*record.Line) error) error {
		return s.Dump(ctx, it, func(l *record.Line) error {
			switch {
			case l.Table == record.PartTrades:
				return nil
			case l.End == record.PartTrades:
				return each(&record.Line{Missing: record.PartTrades, Why: "a test's trades"})
			}
			return each(l)
		})
	}
}

// told returns the findings of a guarantee as text. It omits that the stock still has an item long after its end: tests
// move the clock by days, and stage may not have run since.
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

package suite

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// rows are the ledger's rows about one item, by table.
type rows map[string][]ledger.Row

// rows reads the ledger's rows about an item.
func (s *stack) rows(ctx context.Context, item string) (rows, error) {
	out, orders := rows{}, map[any]bool{}
	for _, table := range record.Tables { // orders first
		err := s.table(ctx, table, func(l *record.Line) error {
			bucket, _ := l.Row["bucket"].(string)
			unit := strings.HasPrefix(bucket, item+"#")
			if l.Table == "" || l.Row["item"] != item && !unit && !orders[l.Row["order"]] {
				return nil
			}
			if table == ledger.TableOrders {
				orders[l.Row["id"]] = true
			}
			out[table] = append(out[table], l.Row)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mustRows is rows for a test's own goroutine.
func (s *sale) mustRows(t *testing.T) rows {
	t.Helper()
	r, err := s.rows(t.Context(), s.item.ID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcomes lists the orders that do not match the case's requests and answers.
func (s *sale) outcomes(r rows) (bad []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	placed := map[string]bool{}
	for _, o := range r[ledger.TableOrders] {
		id, _ := o["id"].(string)
		placed[id] = true
		if user, ok := s.asked[id]; !ok || user != o["user"] {
			bad = append(bad, fmt.Sprintf("I4 OneOutcome: user %v has order %s, which no request of theirs asked for",
				o["user"], id))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.acked)) {
		if !placed[id] {
			bad = append(bad, fmt.Sprintf("I11 NoFalseAck: order %s was acknowledged and has no row", id))
		}
	}
	return bad
}

// placed waits until each acknowledged order has its row.
func (s *sale) placed(t *testing.T) {
	t.Helper()
	eventually(t, "rows of all acknowledged orders", func() string {
		if missing := s.outcomes(s.mustRows(t)); len(missing) > 0 {
			return fmt.Sprintf("%d are missing: %s", len(missing), missing[0])
		}
		return ""
	})
}

// audited lists the invariants that an audit of the item's rows finds violated, and what more adds.
func (s *stack) audited(ctx context.Context, item string, more func(rows) []string) (bad []string, err error) {
	report, err := audit.Run(ctx, s.source(item), audit.Options{Item: item})
	if err != nil {
		return nil, err
	}
	for _, g := range report.Results {
		if g.Verdict == audit.Broken && strings.HasPrefix(g.ID, "I") {
			for _, f := range g.Findings {
				bad = append(bad, fmt.Sprintf("%s %s: %s %s", g.ID, g.Name, f.Row, f.What))
			}
		}
	}
	if more == nil {
		return bad, nil
	}
	r, err := s.rows(ctx, item)
	return append(bad, more(r)...), err
}

// sound fails if an item's sale violates an invariant. Tables are read one after the other while work continues, so a
// violation is read again before it counts.
func (s *stack) sound(t *testing.T, it seckill.Item, more func(rows) []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(background(t), patience)
	defer cancel()
	var asked time.Time
	for began := time.Now(); ; rest(ctx, asked) {
		asked = time.Now()
		bad, err := s.audited(ctx, it.ID, more)
		if err != nil {
			t.Error(err)
			return
		}
		if len(bad) == 0 {
			return
		}
		if time.Since(began) > patience/2 {
			for _, b := range bad {
				t.Error(b)
			}
			return
		}
	}
}

// converged waits until the number of units left in the shop equals the number without a unit row: then stock and
// ledger agree, and nothing is under way.
func (s *sale) converged(t *testing.T) {
	t.Helper()
	eventually(t, "stock that agrees with the ledger", func() string {
		r := s.mustRows(t)
		if n := len(r[ledger.TableReturns]); n > 0 {
			return fmt.Sprintf("%d returns are under way", n)
		}
		units := len(r[ledger.TableUnits])
		if left, want := s.left(t), s.item.Stock-units; left != strconv.Itoa(want) {
			return fmt.Sprintf("%s units left, %d have rows of %d", left, units, s.item.Stock)
		}
		return ""
	})
	s.balanced(t)
}

// soldOut checks that each of the item's units has exactly one row.
func (s *sale) soldOut(t *testing.T) {
	t.Helper()
	var got, want []string
	for _, u := range s.mustRows(t)[ledger.TableUnits] {
		got = append(got, u["unit"].(string))
	}
	for n := range s.item.Stock {
		want = append(want, fmt.Sprintf("%07d", n+1))
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("unit rows %v, want 1..%d each once", got, s.item.Stock)
	}
}

// inState returns the number of the item's orders by state.
func (s *sale) inState(t *testing.T) map[seckill.State]int {
	t.Helper()
	out := map[seckill.State]int{}
	for _, o := range s.mustRows(t)[ledger.TableOrders] {
		out[seckill.State(o["state"].(string))]++
	}
	return out
}

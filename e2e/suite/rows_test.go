//go:build e2e

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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/e2e/judge"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// scan reads a whole table, consistently.
func (s *stack) scan(ctx context.Context, table string) ([]ledger.Row, error) {
	pages := dynamodb.NewScanPaginator(s.tables, &dynamodb.ScanInput{TableName: aws.String(s.Outputs["StackPrefix"] +
		table), ConsistentRead: aws.Bool(true)})
	var out []ledger.Row
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", table, err)
		}
		for _, raw := range page.Items {
			row := ledger.Row{}
			for attr, v := range raw {
				if row[attr], err = value(v); err != nil {
					return nil, fmt.Errorf("table %s, attribute %s: %w", table, attr, err)
				}
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// value reads an attribute as docs/DATA.md says that it may be.
func value(v types.AttributeValue) (any, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, nil
	case *types.AttributeValueMemberN:
		return strconv.ParseInt(v.Value, 10, 64)
	case *types.AttributeValueMemberSS:
		return ledger.Set(slices.Sorted(slices.Values(v.Value))), nil
	case *types.AttributeValueMemberL:
		var out []string
		for _, e := range v.Value {
			text, ok := e.(*types.AttributeValueMemberS)
			if !ok {
				return nil, fmt.Errorf("an entry of type %T", e)
			}
			out = append(out, text.Value)
		}
		return out, nil
	}
	return nil, fmt.Errorf("a value of type %T", v)
}

// rows reads the ledger's rows that are about an item.
func (s *stack) rows(ctx context.Context, item string) (judge.Rows, error) {
	out, orders := judge.Rows{}, map[string]bool{}
	about := map[string]func(ledger.Row) bool{
		ledger.TableUnits: func(r ledger.Row) bool {
			bucket, _ := r["bucket"].(string)
			return strings.HasPrefix(bucket, item+"#")
		},
		ledger.TablePayments: func(r ledger.Row) bool { order, _ := r["order"].(string); return orders[order] },
	}
	for _, table := range []string{ledger.TableUnits, ledger.TableOrders, ledger.TableQuotas, ledger.TableReturns,
		ledger.TablePayments} {
		all, err := s.scan(ctx, table)
		if err != nil {
			return nil, err
		}
		ours := about[table]
		if ours == nil {
			ours = func(r ledger.Row) bool { return r["item"] == item }
		}
		out[table] = slices.DeleteFunc(all, func(r ledger.Row) bool { return !ours(r) })
		if table == ledger.TableOrders {
			for _, r := range out[table] {
				id, _ := r["id"].(string)
				orders[id] = true
			}
		}
	}
	return out, nil
}

// mustRows is rows for a test's own goroutine.
func (s *sale) mustRows(t *testing.T) judge.Rows {
	t.Helper()
	r, err := s.rows(t.Context(), s.item.ID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcomes names what does not hold that rows alone do not tell: it depends on what was asked and answered.
func (s *sale) outcomes(r judge.Rows) (bad []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	orders := r.Orders()
	for _, id := range slices.Sorted(maps.Keys(orders)) {
		if user, ok := s.asked[id]; !ok || user != orders[id].User {
			bad = append(bad, fmt.Sprintf("I4 OneOutcome: no request of user %s has order %s for its outcome",
				orders[id].User, id))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.acked)) {
		if _, ok := orders[id]; !ok {
			bad = append(bad, fmt.Sprintf("I11 NoFalseAck: order %s was acknowledged and has no row", id))
		}
	}
	return bad
}

// sound fails for what does not hold of an item's rows. Tables are read one after the other and work goes on, so rows
// that disagree are read again before they count; more may have something to add.
func (s *stack) sound(t *testing.T, it seckill.Item, more func(judge.Rows) []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(background(t), patience)
	defer cancel()
	for began := time.Now(); ; pause(ctx, pollEvery) {
		r, err := s.rows(ctx, it.ID)
		if err != nil {
			t.Error(err)
			return
		}
		bad := judge.Broken(r, map[string]seckill.Item{it.ID: it})
		if more != nil {
			bad = append(bad, more(r)...)
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

// converged waits until the shop shows as left what has no unit row: then stock and ledger agree, and nothing is under
// way.
func (s *sale) converged(t *testing.T) {
	t.Helper()
	eventually(t, "stock that agrees with the ledger", func() string {
		r := s.mustRows(t)
		if n := len(r[ledger.TableReturns]); n > 0 {
			return fmt.Sprintf("%d returns are under way", n)
		}
		units := r.Units()
		if left, want := s.left(t), s.item.Stock-len(units); left != strconv.Itoa(want) {
			return fmt.Sprintf("%s units left, %d have rows of %d", left, len(units), s.item.Stock)
		}
		return ""
	})
}

// soldOut checks that each of the item's units has exactly one row.
func (s *sale) soldOut(t *testing.T) {
	t.Helper()
	var got []int
	for _, u := range s.mustRows(t).Units() {
		got = append(got, u.Number)
	}
	want := make([]int, s.item.Stock)
	for i := range want {
		want[i] = i + 1
	}
	if !slices.Equal(got, want) {
		t.Errorf("unit rows %v, want 1..%d each once", got, s.item.Stock)
	}
}

// inState counts the item's orders by state.
func (s *sale) inState(t *testing.T) map[seckill.State]int {
	t.Helper()
	out := map[seckill.State]int{}
	for _, o := range s.mustRows(t).Orders() {
		out[o.State]++
	}
	return out
}

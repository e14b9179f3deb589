package memory_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
)

var rowsStart = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func TestRowsConform(t *testing.T) {
	for _, lag := range []time.Duration{0, 3 * time.Second} {
		t.Run(fmt.Sprintf("lag %s", lag), func(t *testing.T) {
			drivertest.Ledger(t, func(*testing.T) drivertest.LedgerEnv {
				clock := memory.NewClock(rowsStart)
				rows := memory.NewRows(memory.RowsOptions{Clock: clock, IndexLag: lag})
				return drivertest.LedgerEnv{Ledger: ledger.New(rows), Rows: rows,
					CatchUp: func() { clock.Advance(lag) }}
			})
		})
	}
}

func TestIndexShowsTheStateOfLagAgo(t *testing.T) {
	clock := memory.NewClock(rowsStart)
	rows := memory.NewRows(memory.RowsOptions{Clock: clock, IndexLag: 2 * time.Second})
	write := func(item string) {
		t.Helper()
		err := rows.Transact(context.Background(), []ledger.Write{{Key: ledger.Key{Table: ledger.TableOrders, PK: "o"},
			Op: ledger.OpUpdate, Set: ledger.Row{"item_shard": item, "created_id": "1"}}})
		must.OK(t, err)
	}
	seen := func(item string) int {
		t.Helper()
		found, _, err := rows.Index(context.Background(), ledger.IndexOrdersByItem, item, "", 10, false)
		must.OK(t, err)
		return len(found)
	}
	write("1")
	clock.Advance(time.Second)
	write("2")
	for _, step := range []struct {
		wait     time.Duration
		one, two int
	}{{0, 0, 0}, {999 * time.Millisecond, 0, 0}, {time.Millisecond, 1, 0}, {time.Second, 0, 1}} {
		now := clock.Advance(step.wait)
		if one, two := seen("1"), seen("2"); one != step.one || two != step.two {
			t.Errorf("at %v: got %d rows of item 1 and %d of item 2, want %d and %d", now.Sub(rowsStart), one, two,
				step.one, step.two)
		}
	}
	if got := rows.Dump(ledger.TableOrders); len(got) != 1 || got[0]["item_shard"] != "2" || got[0]["id"] != "o" {
		t.Errorf("got table %v, want one row of item 2", got)
	}
	if got := rows.Dump("nonsense"); got != nil {
		t.Errorf("got %v of an unknown table", got)
	}
}

func TestIndexKeepsOlderListsAndSets(t *testing.T) {
	clock := memory.NewClock(rowsStart)
	rows := memory.NewRows(memory.RowsOptions{Clock: clock, IndexLag: time.Second})
	first := ledger.Row{"id": "o", "item_shard": "1", "created_id": "1", "set": ledger.Set{"a", "b"},
		"list": []string{"p"}}
	for _, w := range []ledger.Write{
		{Op: ledger.OpPut, Row: first},
		{Op: ledger.OpUpdate, DelSet: map[string]ledger.Set{"set": {"a"}}, Append: map[string][]string{"list": {"q"}}},
	} {
		w.Key = ledger.Key{Table: ledger.TableOrders, PK: "o"}
		must.OK(t, rows.Transact(context.Background(), []ledger.Write{w}))
		clock.Advance(500 * time.Millisecond)
	}
	got, _, err := rows.Index(context.Background(), ledger.IndexOrdersByItem, "1", "", 10, false)
	if diff := cmp.Diff([]ledger.Row{first}, got); diff != "" || err != nil {
		t.Errorf("error %v; index: got (+), want (-):\n%s", err, diff)
	}
}

package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestCountsStayBelow100KB checks the size of the fullest row, by the sizes that DynamoDB gives names and numbers.
func TestCountsStayBelow100KB(t *testing.T) {
	rows := newRows()
	l := ledger.New(rows)
	most := seckill.Count{Placed: seckill.MaxStock - 1, Paid: seckill.MaxStock - 1, GivenBack: seckill.MaxStock - 1}
	c := seckill.Counts{Item: "1"}
	for n := range seckill.MaxCountMinutes {
		a := seckill.Addition{At: start, Total: most,
			Orders:  []seckill.CountedOrder{{Order: fmt.Sprint(n), Sequence: 1}},
			Minutes: []seckill.MinuteCount{{Minute: start.Add(time.Duration(n) * time.Minute), Count: most}}}
		must.OK(t, l.AddCounts(ctx, c, a))
		c.Since = start
	}
	size := 0
	for attr, v := range rows.Dump(ledger.TableCounts)[0] {
		size += len(attr) + (len(fmt.Sprint(v))+1)/2 + 1
	}
	if t.Logf("%d bytes", size); size >= 100<<10 {
		t.Errorf("a row of counts can have %d bytes, want less than 100 KB", size)
	}
	must.Equal(t, seckill.MaxCountMinutes, len(must.Get(l.Counts(ctx, "1")).Minutes), "minutes")
}

// TestCountsThatCannotBeRead checks that a value of another type makes the row unreadable.
func TestCountsThatCannotBeRead(t *testing.T) {
	for what, row := range map[string]ledger.Row{
		"another version":   {"v": ledger.Version + 1, "since": int64(1)},
		"no beginning":      {"v": ledger.Version},
		"a total of text":   {"v": ledger.Version, "since": int64(1), "placed": "3"},
		"a minute of texts": {"v": ledger.Version, "since": int64(1), "p29715840": []string{"3"}},
	} {
		rows := newRows()
		must.OK(t, rows.Transact(ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableCounts, PK: "1"},
			Op: ledger.OpPut, Row: row}, {Key: ledger.Key{Table: ledger.TableCounted, PK: "a"}, Op: ledger.OpPut,
			Row: ledger.Row{"v": ledger.Version, "sequence": "1", "since": int64(1)}}}))
		l := ledger.New(rows)
		must.Is(t, seckill.ErrUnreadable, must.Err(l.Counts(ctx, "1")), what)
		must.Is(t, seckill.ErrUnreadable, must.Err(l.Counted(ctx, []string{"a"})), "a mark of another type")
	}
}

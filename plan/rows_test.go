package plan

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/adapter/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// units counts the write units of what a ledger does, as DynamoDB's developer guide has it ("Read and write
// operations"): a row of a transaction costs two for each KB begun, the larger of its old and new size; an index one
// for each KB begun of every entry that is put, changed or deleted.
type units map[string]float64

// row is told of a row that a transaction replaced (memory.RowsOptions.Watch).
func (u units) row(table string, before, after ledger.Row) {
	u[table] += 2 * max(kilobytes(before, nil), kilobytes(after, nil))
	for _, t := range ledger.Schema {
		if t.Name != table {
			continue
		}
		for _, x := range t.Indexes {
			u.index(t, x, before, after)
		}
	}
}

func (u units) index(t ledger.Table, x ledger.Index, before, after ledger.Row) {
	entry := func(row ledger.Row) (keys string, content string, kb float64) {
		if row[x.PK] == nil || row[x.SK] == nil {
			return "", "", 0
		}
		var only []string
		if x.KeysOnly {
			only = []string{x.PK, x.SK, t.PK, t.SK}
		}
		keys = fmt.Sprint(row[x.PK], row[x.SK])
		content = keys
		if !x.KeysOnly {
			content = fmt.Sprint(row)
		}
		return keys, content, kilobytes(row, only)
	}
	name := x.Name
	oldKeys, oldContent, oldKB := entry(before)
	newKeys, newContent, newKB := entry(after)
	switch {
	case oldKeys == newKeys && oldContent != newContent:
		u[name] += max(oldKB, newKB)
	case oldKeys != newKeys:
		u[name] += oldKB + newKB // one goes, one comes
	}
}

// kilobytes is a row's size: names and values of its attributes; all, or only some.
func kilobytes(row ledger.Row, only []string) float64 {
	size := 0
	for name, v := range row {
		if only != nil && !strings.Contains(" "+strings.Join(only, " ")+" ", " "+name+" ") {
			continue
		}
		size += len(name)
		switch v := v.(type) {
		case string:
			size += len(v)
		case int64:
			size += 1 + (len(fmt.Sprint(v))+1)/2
		case []string:
			size += 3
			for _, s := range v {
				size += 1 + len(s)
			}
		case ledger.Set:
			size += 3
			for _, s := range v {
				size += 1 + len(s)
			}
		}
	}
	return float64((size + 1023) / 1024)
}

// TestWritesAreTheLedgers: what the plan counts for an order is what the ledger writes for one.
func TestWritesAreTheLedgers(t *testing.T) {
	now := time.Date(2026, 12, 12, 2, 0, 0, 0, time.UTC)
	for _, count := range []int{1, 2, 50} {
		used := units{}
		l, ctx := ledger.New(memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(now), Watch: used.row})),
			context.Background()
		o := seckill.Order{ID: seckill.KeyedOrderID("1001", "1", "k"), Item: "1001", User: "1234567890123456789",
			Count: count, Price: 199900, Amount: seckill.Fen(199900 * count),
			Address: "浙江省杭州市西湖区文三路 398 号东信大厦 1 号楼 1203 室", Title: "手机 Pro 256 GB 星空黑", Created: now, Placed: now,
			PayBy: now.Add(15 * time.Minute), Buckets: 2000}
		for n := range count {
			o.Units = append(o.Units, 900_000+n)
		}
		compare := func(when string, want func(rowWrites) float64) {
			t.Helper()
			for _, w := range orderWrites {
				name := w.Table
				if w.Index != "" {
					name = w.Index
				}
				if got := used[name]; got != want(w) {
					t.Errorf("%d units, %s: %s takes %v write units, the plan says %v", count, when, name, got, want(w))
				}
				delete(used, name)
			}
			if len(used) > 0 {
				t.Errorf("%d units, %s: the plan knows nothing of %v", count, when, used)
			}
			clear(used)
		}
		if err := l.Place(ctx, o, 50); err != nil {
			t.Fatal(err)
		}
		compare("placed", func(w rowWrites) float64 { return w.Place + w.Each*float64(count) })
		p := seckill.Payment{Order: o.ID, TradeNo: "2026121222001400001", Amount: o.Amount, State: seckill.Captured,
			At: now, Cause: "notify"}
		if err := l.RecordPayment(ctx, p, seckill.PendingPayment, seckill.Paid); err != nil {
			t.Fatal(err)
		}
		n := seckill.KeptNotification{Order: o.ID, ID: strings.Repeat("n", 34), TradeNo: p.TradeNo, Amount: o.Amount,
			At: now, Outcome: seckill.NotificationRecorded, Raw: strings.Repeat("x", 2<<10)}
		if err := l.KeepNotification(ctx, n); err != nil {
			t.Fatal(err)
		}
		compare("paid", func(w rowWrites) float64 { return w.Pay })
	}
}

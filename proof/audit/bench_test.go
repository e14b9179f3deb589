package audit_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
)

// large writes the dump of a sale of n units, each sold to another user and paid.
func large(n int, to io.Writer) error {
	out := bufio.NewWriterSize(to, 256<<10)
	var line []byte
	var count int
	add := func(l record.Line) {
		line = l.Append(line[:0])
		out.Write(line)
		count++
	}
	end := func(part string) {
		add(record.Line{End: part, Count: count})
		count = 0
	}
	at := time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)
	ms, buckets := at.UnixMilli(), max(16, n/500)
	add(record.Line{Now: ms + 100_000})
	add(record.Line{Table: record.PartItems, Row: ledger.Row{"v": int64(1), "id": item, "title": "t",
		"sk_price": int64(100), "start": ms, "end": ms + 1e6, "stock": int64(n),
		"limit": int64(1), "buckets": int64(buckets), "version": int64(1), "stopped": int64(0)}})
	order := func(i int) string { return fmt.Sprintf("oabcdefghijklmnopq%09d", i) }
	user := func(i int) string { return fmt.Sprint(1_000_000 + i) }
	each := func(part string, f func(i int) record.Line) {
		for i := 1; i <= n; i++ {
			add(f(i))
		}
		end(part)
	}
	each(record.PartTrades, func(i int) record.Line {
		return record.Line{Table: record.PartTrades, Row: ledger.Row{"v": int64(1), "out_trade_no": order(i),
			"trade_no": "2026111122001000000000000000", "amount": int64(100), "status": "TRADE_SUCCESS"}}
	})
	history := []string{"2026-11-11T12:00:01.000Z pending_payment placed", "2026-11-11T12:00:09.000Z paid notify"}
	each(ledger.TableOrders, func(i int) record.Line {
		return record.Line{Table: ledger.TableOrders, Row: ledger.Row{"v": int64(1), "id": order(i), "item": item,
			"user": user(i), "count": int64(1), "units": fmt.Sprint(i), "price": int64(100),
			"amount": int64(100), "address": address, "title": "t", "state": "paid", "created": ms, "placed": ms,
			"pay_by": ms + 60_000, "buckets": int64(buckets), "history": history,
			"placed_by": user(i), "created_id": "001794398400000#" + order(i), "item_shard": item + "#01"}}
	})
	each(ledger.TableUnits, func(i int) record.Line {
		return record.Line{Table: ledger.TableUnits, Row: ledger.Row{"v": int64(1), "bucket": fmt.Sprintf("%s#%d", item,
			i%buckets), "unit": fmt.Sprintf("%07d", i), "order": order(i), "user": user(i)}}
	})
	each(ledger.TableQuotas, func(i int) record.Line {
		return record.Line{Table: ledger.TableQuotas, Row: ledger.Row{"v": int64(1), "user": user(i), "item": item,
			"units": int64(1), "orders": ledger.Set{order(i) + ":1"}, "newest": order(i)}}
	})
	each(ledger.TablePayments, func(i int) record.Line {
		return record.Line{Table: ledger.TablePayments, Row: ledger.Row{"v": int64(1), "order": order(i),
			"trade_no": "2026111122001000000000000000", "amount": int64(100), "state": "captured", "at": ms,
			"cause": "notify"}}
	})
	end(ledger.TableReturns)
	for field, value := range map[string]int64{"start": ms, "end": ms + 1e6, "limit": 1, "price": 100,
		"stock": int64(n), "version": 1, "stopped": 0, "hw": int64(n)} {
		add(record.Line{Key: key("item"), Field: field, Value: fmt.Sprint(value)})
	}
	each("held", func(i int) record.Line {
		return record.Line{Key: key("held"), Field: fmt.Sprint(i), Value: order(i)}
	})
	each("res", func(i int) record.Line {
		return record.Line{Key: key("res"), Field: order(i), Value: fmt.Sprintf("s|1|%d|||%d|%s|abcdefghijklmnop|", i,
			ms, user(i))}
	})
	each("users", func(i int) record.Line {
		return record.Line{Key: key("users"), Field: user(i), Value: order(i) + ":1"}
	})
	end(record.PartRedis)
	return out.Flush()
}

// BenchmarkAudit audits whole sales, including writing and parsing the dump: go test -run NONE -bench Audit -benchtime
// 1x ./proof/audit
func BenchmarkAudit(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			defer debug.SetGCPercent(debug.SetGCPercent(50)) // as the command does
			src := audit.SourceFunc(func(_ context.Context, each func(*record.Line) error) error {
				r, w := io.Pipe()
				go func() { w.CloseWithError(large(n, w)) }()
				return record.Lines(r, each)
			})
			for b.Loop() {
				r, err := audit.Run(b.Context(), src, audit.Options{Item: item})
				if err != nil || len(verdicts(r, audit.Holds)) != 11 {
					b.Fatalf("%v: %s", err, show(b, r))
				}
			}
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/unit")
			b.ReportMetric(float64(mem.HeapSys)/(1<<20), "heap-MiB")
		})
	}
}

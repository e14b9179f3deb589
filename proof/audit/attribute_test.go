package audit_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// ignored are attributes that no guarantee depends on: they serve indexes or are texts.
var ignored = map[string][]string{
	record.PartItems: {"covers", "detail", "commodity", "commodity_created", "created",
		"stops", "checks"}, // without stops I10 is unknown, without checks A1
	record.PartTrades:    {},
	ledger.TableOrders:   {"placed_by", "created_id", "item_shard", "time_shard"},
	ledger.TableBlocks:   {"shard", "name", "reason", "by"},
	ledger.TablePayments: {"cause", "tries", "paid_day", "back_day"},
}

// TestEveryAttributeCounts: a row that lacks an attribute breaks a guarantee.
func TestEveryAttributeCounts(t *testing.T) {
	t.Parallel()
	good := atRest()
	for _, table := range append([]string{record.PartItems, record.PartTrades}, record.Tables...) {
		kinds := map[string]bool{}
		for i, row := range good.tables[table] {
			if kind := fmt.Sprint(row["state"], row["status"]); kinds[kind] {
				continue // a row of each state is enough
			} else {
				kinds[kind] = true
			}
			for attr := range row {
				w := atRest()
				delete(w.tables[table][i], attr)
				r, err := audit.Run(t.Context(), w, audit.Options{Item: item})
				seen := err != nil || len(verdicts(r, audit.Broken)) > 0
				if want := !slices.Contains(ignored[table], attr); seen != want {
					t.Errorf("%s of %s (%v) removed: seen %v, want %v", attr, table, row["state"], seen, want)
				}
			}
		}
	}
}

// TestNothingBreaksTheAudit: for any rows and keys an audit ends with a report, or with the error that there is no such
// item.
func TestNothingBreaksTheAudit(t *testing.T) {
	t.Parallel()
	good := atRest()
	value := rapid.OneOf(rapid.Map(rapid.String(), func(s string) any {
		return s
	}), rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.SliceOf(rapid.String()), func(l []string) any { return l }),
		rapid.Map(rapid.SliceOf(rapid.String()), func(l []string) any { return ledger.Set(l) }),
		rapid.SampledFrom([]any{"", "0", "-1", "9999999", item + "#", item + "#x", "#", ",", "1,1", "q||||||||",
			"q|1|1|||x|y|z|", string(seckill.Rejected), string(seckill.Queued), nil}))
	rapid.Check(t, func(t *rapid.T) {
		w := good.clone()
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			tables := append([]string{record.PartItems, record.PartTrades}, record.Tables...)
			if table := rapid.SampledFrom(tables).Draw(t, "table"); len(w.tables[table]) > 0 {
				row := rapid.SampledFrom(w.tables[table]).Draw(t, "row")
				row[rapid.SampledFrom(slices.Sorted(maps.Keys(row))).Draw(t, "attribute")] = value.Draw(t, "value")
			}
			key := w.keys[rapid.SampledFrom(slices.Sorted(maps.Keys(w.keys))).Draw(t, "key")]
			key[rapid.SampledFrom(append(slices.Sorted(maps.Keys(key)), "", "x")).Draw(t, "field")] =
				rapid.SampledFrom([]string{"", "x", "1", "-1", "a:1,b:x", "q|||||||", "q|1|1|||x|y|z|"}).Draw(t, "text")
		}
		if r, err := audit.Run(t.Context(), w, audit.Options{Item: item}); err == nil && len(r.Results) != len(names) {
			t.Fatalf("%d results", len(r.Results))
		}
	})
}

// TestUnitsThatAreNone: invalid units of a paid order are findings and do not make the audit panic.
func TestUnitsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, units := range []string{"-1", "0", "1,-1", "99999999999", "x"} {
		w := atRest()
		i := slices.IndexFunc(w.tables[ledger.TableOrders], func(r ledger.Row) bool {
			return r["state"] == string(seckill.Paid)
		})
		w.tables[ledger.TableOrders][i]["units"] = units
		if r, err := audit.Run(t.Context(), w, audit.Options{Item: item}); err != nil ||
			len(verdicts(r, audit.Broken)) == 0 {
			t.Errorf("units %q: %v, nothing is broken", units, err)
		}
	}
}

var names = []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "A1", "A4",
	"L1", "L2", "L3", "L4"}

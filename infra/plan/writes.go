package plan

import "slices"

// rowWrites is what one order writes to a table or an index, in write units: two for each KB of a row, because
// transactions write it; one for each KB of an index's row. docs/DATA.md has the transactions. TestWritesAreTheLedgers
// compares these figures with what the ledger writes.
type rowWrites struct {
	Table, Index     string
	Place, Each, Pay float64 // for the order, for each of its units, and when it is paid
}

var orderWrites = []rowWrites{
	{Table: "units", Each: 2},
	{Table: "orders", Place: 2, Pay: 2},
	{Table: "orders", Index: "orders_by_user", Place: 1, Pay: 1},
	{Table: "orders", Index: "orders_by_item", Place: 1, Pay: 1},
	{Table: "orders", Index: "orders_by_time", Place: 1},
	{Table: "orders", Index: "orders_due", Place: 1, Pay: 1},
	{Table: "quotas", Place: 2},
	{Table: "payments", Pay: 2},
	{Table: "payments", Index: "payments_by_day", Pay: 1},
	{Table: "notifications", Pay: 6}, // a real notification has about 2 KiB
}

// What a limit that spans a family costs, in units (TestWritesAreTheLedgers compares the writes).
const (
	spanReads  = 1.0 // for each purchase: the user's quota of the family, consistently
	spanWrites = 2.0 // for each order: the same row
)

// writes is orderWrites, with the quota of the family where the limit spans.
func (s *Sale) writes() []rowWrites {
	all := slices.Clone(orderWrites)
	for i := range all {
		if all[i].Table == "quotas" && s.Spans {
			all[i].Place += spanWrites
		}
	}
	return all
}

// evenness is the usable share of a table's units when keys spread randomly over its partitions: a guess, for 16 keys
// on four partitions.
const evenness = 0.75

// writesMost returns the units per order that the most written table has to have.
func writesMost(count int) (most float64) {
	place := map[string]float64{}
	for _, w := range orderWrites {
		place[w.Table] += w.Place + w.Each*float64(count)
		most = max(most, place[w.Table])
	}
	return most / evenness
}

// OrdersPerSecond returns how many orders of one unit per second tables with the given warm write units accept. Indexes
// count against their table's units, because AWS does not document those of a new index.
func OrdersPerSecond(writes float64) float64 { return writes / writesMost(1) }

package plan

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
	{Table: "orders", Index: "orders_due", Place: 1, Pay: 1},
	{Table: "quotas", Place: 2},
	{Table: "payments", Pay: 2},
	{Table: "payments", Index: "payments_by_day", Pay: 1},
	{Table: "notifications", Pay: 6}, // a real notification has about 2 KiB
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

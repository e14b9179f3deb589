package plan

import "math"

// rowWrites is what one order writes to a table or an index of one, in write units: two for each KB of a row, since it
// is written in a transaction; one for each KB of an index's row. docs/DATA.md has the transactions; a test counts what
// the ledger really writes.
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

// evenness is how much of a table's units can be used when keys spread over its partitions by chance: a guess, for 16
// keys on four partitions.
const evenness = 0.75

// Table is what the sale asks of a table, its indexes included.
type Table struct {
	Name      string  `json:"name"`
	PerOrder  float64 `json:"writes_per_order"` // when it is placed
	PerPaid   float64 `json:"writes_per_paid"`  // until it is paid
	PeakPlace float64 `json:"peak_writes"`      // a second, while orders are placed
	Warm      int     `json:"warm_write_units"` // what it has to take at once
}

// writesMost is what one order asks of the table that it asks most of, in units that the table has to have.
func writesMost(count int) (most float64) {
	place := map[string]float64{}
	for _, w := range orderWrites {
		place[w.Table] += w.Place + w.Each*float64(count)
		most = math.Max(most, place[w.Table])
	}
	return most / evenness
}

// OrdersPerSecond is how many orders of one unit tables with so many warm write units take. An index is counted with
// its table, as if it had no units of its own: AWS does not say what a new one takes.
func OrdersPerSecond(writes float64) float64 { return writes / writesMost(1) }

func tables(s *Sale, set *Setting) (out []Table) {
	for _, w := range orderWrites {
		if len(out) == 0 || out[len(out)-1].Name != w.Table {
			out = append(out, Table{Name: w.Table})
		}
		t := &out[len(out)-1]
		place := w.Place + w.Each*float64(s.Count)
		t.PerOrder += place
		t.PerPaid += place + w.Pay
		t.PeakPlace += place * set.Outcome.PeakPlaced
	}
	placed := set.Limits.Writes / writesMost(s.Count) // orders a second
	for i := range out {
		t := &out[i]
		most := math.Max(t.PerOrder*placed, (t.PerPaid-t.PerOrder)*set.Outcome.PeakPaid)
		t.Warm = int(math.Max(NewTableWrites, up(math.Floor(most/evenness), 1000)))
	}
	return out
}

// Reads are what functions read of items, in read units a second.
type Reads struct {
	// Sale is of the row with the sale's numbers, one key: consume, repair and stage read it once a second an instance,
	// buy not at all while Redis has the item, and once in ten seconds where it has not.
	Sale float64 `json:"sale_row"`
	// Lists is of one of the rows with the lists' version: shop reads one a second an instance. Start is of one of
	// the rows with the lists when as many instances start as in the busiest second.
	Lists float64 `json:"lists_row"`
	Start float64 `json:"lists_at_start"`
	Table float64 `json:"tables"` // all of them
}

// rebuilt is how often an instance of buy reads the sale's row while Redis has forgotten the item, a second.
const rebuilt = 0.1

func reads(s *Sale, set *Setting) Reads {
	o := &set.Outcome
	const half = 0.5 // a read that may be a second old
	r := Reads{
		Sale:  set.Limits.Consume + repairs + stages + o.PeakBuy*rebuilt,
		Lists: o.PeakShop * half / catalogCopies,
		Start: o.PeakStarts * math.Ceil(catalogKB*float64(s.Items)/4) * half / catalogCopies,
	}
	r.Table = r.Sale + (r.Lists+r.Start)*catalogCopies
	return r
}

// Instances of repair and stage that are reserved (infra/sale.yaml).
const (
	repairs = 5
	stages  = 10
)

// Redis is what the sale asks of it.
type Redis struct {
	Bytes     int     `json:"bytes"`           // at the most: every unit held by an order on its way
	Confirmed int     `json:"bytes_confirmed"` // when all orders are in the ledger
	Scripts   float64 `json:"peak_scripts"`    // of purchases, a second
	Levels    float64 `json:"peak_levels"`     // of shop's lists, a second, all items
	Status    float64 `json:"peak_status"`     // of shop's looks at queued orders, a second
	PeakECPU  float64 `json:"peak_ecpu"`       // a second, on ElastiCache Serverless, if all peaks are at once
	ItemECPU  float64 `json:"item_ecpu"`       // of them the item's own
	ECPU      float64 `json:"ecpu"`            // in all
	// until a cache that starts with 30,000 ECPU/s has doubled often enough; 0: it is ready
	Ready float64 `json:"ready_s"`
}

func redis(s *Sale, set *Setting) Redis {
	o := &set.Outcome
	r := Redis{
		Bytes:     BytesInstalled + s.Units*BytesAwaiting,
		Confirmed: BytesInstalled + s.Units*BytesConfirmed,
		Scripts:   math.Min(o.PeakScripts, set.Limits.Scripts),
		Levels:    o.PeakLevels * float64(s.Items),
		Status:    o.PeakStatus,
		ECPU:      o.Scripts*reserveECPU + o.Placed*confirmECPU + (o.ShopCalls*float64(s.Items))*levelECPU,
	}
	r.ItemECPU = r.Scripts*reserveECPU + o.PeakPlaced*confirmECPU + (o.PeakLevels+r.Status)*levelECPU
	r.PeakECPU = r.ItemECPU + (r.Levels-o.PeakLevels)*levelECPU
	if more := r.wanted() / firstECPU; more > 1 {
		r.Ready = math.Ceil(math.Log2(more)) * doubles.Seconds()
	}
	return r
}

// wanted is what the cache should take, a fifth above what is known of it.
func (r *Redis) wanted() float64 { return 1.2 * r.PeakECPU }

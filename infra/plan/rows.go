package plan

import "math"

// Table is a sale's load on a table, its indexes included, in write units.
type Table struct {
	Name      string  `json:"name"`
	PerOrder  float64 `json:"writes_per_order"` // until it is placed
	PerPaid   float64 `json:"writes_per_paid"`  // until it is paid
	PeakPlace float64 `json:"peak_writes"`      // per second, while orders are placed
	Warm      int     `json:"warm_write_units"` // that it has to accept at once
}

func tables(s *Sale, set *Setting) (out []Table) {
	for _, w := range s.writes() {
		if len(out) == 0 || out[len(out)-1].Name != w.Table {
			out = append(out, Table{Name: w.Table})
		}
		t := &out[len(out)-1]
		place := w.Place + w.Each*float64(s.Count)
		t.PerOrder += place
		t.PerPaid += place + w.Pay
		t.PeakPlace += place * set.Outcome.PeakPlaced
	}
	placed := set.Limits.Writes / writesMost(s.Count) // orders per second
	for i := range out {
		t := &out[i]
		most := max(t.PerOrder*placed, (t.PerPaid-t.PerOrder)*set.Outcome.PeakPaid)
		t.Warm = toWarm(most, NewTableWrites)
	}
	return out
}

// Reads are the functions' reads of items, in read units per second.
type Reads struct {
	// Sale is the row with the sale's figures, one key. Each instance of consume, repair and stage reads it once a
	// second; those of buy read it every ten seconds while Redis lacks the item.
	Sale float64 `json:"sale_row"`
	// Lists is each row with the lists' version; an instance of shop reads one per second. Start is each row with the
	// lists, in the second in which most instances start.
	Lists float64 `json:"lists_row"`
	Start float64 `json:"lists_at_start"`
	Table float64 `json:"tables"` // all rows
}

// rebuilt is the reads per second of an instance of buy while Redis lacks the item.
const rebuilt = 0.1

func reads(s *Sale, set *Setting) Reads {
	o := &set.Outcome
	const half = 0.5 // units of an eventually consistent read
	r := Reads{
		Sale:  set.Limits.Consume + repairs + stages + o.PeakBuy*rebuilt,
		Lists: o.PeakShop * half / catalogCopies,
		Start: o.PeakStarts * math.Ceil(catalogKB*float64(s.Items)/4) * half / catalogCopies,
	}
	r.Table = r.Sale + (r.Lists+r.Start)*catalogCopies
	return r
}

// Reserved instances of the functions repair and stage (infra/sale.yaml).
const (
	repairs = 5
	stages  = 5
)

// Redis is a sale's load on Redis. Peaks are per second.
type Redis struct {
	Bytes     int     `json:"bytes"`           // at most: every unit held by an order on its way to the ledger
	Confirmed int     `json:"bytes_confirmed"` // when the ledger has all orders
	Scripts   float64 `json:"peak_scripts"`    // of purchases
	Levels    float64 `json:"peak_levels"`     // of lists, all items
	Status    float64 `json:"peak_status"`     // of looks at queued orders
	PeakECPU  float64 `json:"peak_ecpu"`       // on ElastiCache Serverless, when all peaks coincide
	ItemECPU  float64 `json:"item_ecpu"`       // of these, the item's slot
	ECPU      float64 `json:"ecpu"`            // total
	// Ready is the seconds until a cache that starts with 30,000 ECPU/s has doubled often enough; 0 means at once.
	Ready float64 `json:"ready_s"`
}

func redis(s *Sale, set *Setting) Redis {
	o := &set.Outcome
	r := Redis{
		Bytes:     BytesInstalled + s.Units*BytesAwaiting,
		Confirmed: BytesInstalled + s.Units*BytesConfirmed,
		Scripts:   min(o.PeakScripts, set.Limits.Scripts),
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

// wanted returns the ECPU per second to provide, with a fifth to spare.
func (r *Redis) wanted() float64 { return 1.2 * r.PeakECPU }

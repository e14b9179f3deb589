package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Statement accounts for units, orders and money.
type Statement struct {
	Units  Units                 `json:"units"`
	Orders map[seckill.State]int `json:"orders"`
	Money  Money                 `json:"money"`
}

// Units are an item's units. Stock is the sum of Sold, Held and Unsold. Fields are nil when Redis was not read.
type Units struct {
	Stock       int  `json:"stock"`
	Sold        int  `json:"sold"` // of paid orders
	Held        int  `json:"held"` // of other orders
	Unsold      int  `json:"unsold"`
	Reserved    *int `json:"reserved"`     // unsold, reserved for orders that are not yet placed
	Free        *int `json:"free"`         // unsold, returned and on sale again
	NeverIssued *int `json:"never_issued"` // unsold
	Returned    int  `json:"returned"`     // total units returned by orders; a unit counts each time
}

// Money is the money of the ledger's payment rows.
type Money struct {
	Captured Amount `json:"captured"` // sum of the next three
	Kept     Amount `json:"kept"`
	DueBack  Amount `json:"due_back"`
	Refunded Amount `json:"refunded"`
	Payments int    `json:"payments"`

	Provider *Provider `json:"provider"` // nil if trades were not read
}

// Provider is the same money by the payment provider's trades.
type Provider struct {
	Captured Amount `json:"captured"`
	Kept     Amount `json:"kept"` // not refunded
	Refunded Amount `json:"refunded"`
	Balanced bool   `json:"balanced"` // captured and refunded equal those of the payment rows
}

// Amount is money in fen and yuan.
type Amount struct {
	Fen  int64  `json:"fen"`
	Yuan string `json:"yuan"`
}

// Told summarizes the journal.
type Told struct {
	Lines    uint64 `json:"lines"`
	Requests uint64 `json:"requests"`
	Answers  uint64 `json:"answers"`
	Fault    string `json:"fault,omitempty"` // why it is not valid, with the line
}

// Report is the result of an audit.
type Report struct {
	Item      string            `json:"item"`
	Title     string            `json:"title"`
	At        time.Time         `json:"at"` // by the sale's clock
	Took      float64           `json:"took_seconds"`
	Read      map[string]int    `json:"read"` // rows and Redis entries by part
	Missing   []string          `json:"missing,omitempty"`
	Journal   *Told             `json:"journal,omitempty"`
	Statement Statement         `json:"statement"`
	Results   []GuaranteeResult `json:"guarantees"`
}

// Broken reports whether a guarantee is broken or the journal is not valid.
func (r *Report) Broken() bool {
	return len(r.are(Broken)) > 0 || r.Journal != nil && r.Journal.Fault != ""
}

// are returns the ids of the guarantees with a verdict.
func (r *Report) are(v Verdict) (ids []string) {
	for i := range r.Results {
		if r.Results[i].Verdict == v {
			ids = append(ids, r.Results[i].ID)
		}
	}
	return ids
}

// Verdict summarizes the report in one line.
func (r *Report) Verdict() string {
	list := func(ids []string, word string) string {
		if len(ids) == 0 {
			return "none is " + word
		}
		return strings.Join(ids, ", ") + " " + word
	}
	out := list(r.are(Broken), "broken") + "; " + list(r.are(Unknown), "unknown")
	if r.Journal != nil && r.Journal.Fault != "" {
		out += "; the journal is not valid"
	}
	return out
}

// Of returns the result of a guarantee by its id.
func (r *Report) Of(id string) *GuaranteeResult {
	for i := range r.Results {
		if r.Results[i].ID == id {
			return &r.Results[i]
		}
	}
	return nil
}

// confirm keeps only the findings that an earlier reading also had.
func (r *Report) confirm(earlier *Report) {
	for i := range r.Results {
		j, was := &r.Results[i], map[string]bool{}
		if j.Verdict != Broken {
			continue
		}
		for _, f := range earlier.Results[i].found {
			was[f.Row] = true
		}
		var both, once []Finding
		for _, f := range j.found {
			if was[f.Row] {
				both = append(both, f)
			} else {
				once = append(once, f)
			}
		}
		if len(once) > 0 {
			j.Needs = append(j.Needs,
				fmt.Sprintf("a sale at rest: a first reading did not have %d of the findings, such as %s: %s",
					len(once), once[0].Row, once[0].What))
			j.Count = len(both)
		}
		j.found = both
		j.decide()
	}
}

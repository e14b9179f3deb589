// Package audit judges a sale afterwards, from what it left behind: the ledger's rows, the item's keys in Redis, the
// fake gateway's trades where they can be had, and the journal of a crowd. In: a Source, and a journal if there is one.
// Out: a Report that says of each of I1 to I11 and L1 to L4 (docs/GUARANTEES.md) whether it holds, is broken, with the
// rows, or is unknown, with what it would need. It changes nothing.
//
// A guarantee holds only on evidence: each judgement counts what was looked at, and where that is nothing it is
// unknown. Rows and keys are read raw and decoded here, by docs/DATA.md: a fault in the code that wrote them must not
// hide itself. What is kept of a row is little, so that a sale of a million units fits in some hundred megabytes; time
// and memory are linear.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/your-org/seckill/record/dump"
	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/shared/seckill"
)

// Source reads everything that a sale has left behind.
type Source interface {
	// Read hands over lines: first Now, the items row, trades and orders, then the ledger's other tables, keys and
	// queues, each part ended by its End or named as Missing. Rows of other items may be among them. An error means
	// that the source cannot be read at all.
	Read(ctx context.Context, each func(*dump.Line) error) error
}

// SourceFunc is a function as a Source.
type SourceFunc func(ctx context.Context, each func(*dump.Line) error) error

// Read implements Source.
func (f SourceFunc) Read(ctx context.Context, each func(*dump.Line) error) error { return f(ctx, each) }

// ErrNoItem says that the source knows no such item.
var ErrNoItem = errors.New("there is no such item")

// Options say what to audit.
type Options struct {
	Item    string
	Journal io.Reader // nil: none
	// before what is broken is read once more; 0: it is not. Rows that are read one after the other while somebody
	// writes may disagree without a fault
	Again time.Duration
}

// Run audits an item. What it finds broken is read a second time, and believed when it is broken there, too.
func Run(ctx context.Context, src Source, o Options) (*Report, error) {
	told, err := readJournal(o.Journal, o.Item)
	if err != nil {
		return nil, err
	}
	first, err := check(ctx, src, o.Item, told)
	if err != nil || o.Again == 0 || len(first.are(Broken)) == 0 {
		return first, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(o.Again):
	}
	second, err := check(ctx, src, o.Item, told)
	if err != nil {
		return nil, err
	}
	second.confirm(first)
	return second, nil
}

// check reads everything once and judges it.
func check(ctx context.Context, src Source, item string, told *journalView) (*Report, error) {
	began := time.Now()
	s := newSale(item)
	if err := src.Read(ctx, s.add); err != nil {
		return nil, err
	}
	if !s.installedItem() {
		return nil, fmt.Errorf("item %s: %w", item, ErrNoItem)
	}
	s.checkUnits()
	s.checkOrders()
	s.checkMoney()
	s.checkStock()
	s.checkJournal(told)
	return s.report(told, time.Since(began)), nil
}

// Verdict is what an audit says of a guarantee.
type Verdict string

// The verdicts.
const (
	Holds   Verdict = "holds"
	Broken  Verdict = "broken"
	Unknown Verdict = "unknown"
)

// Finding is a row, a key or a line of the journal that breaks a guarantee.
type Finding struct {
	Row  string `json:"row"`
	What string `json:"what"`
}

// GuaranteeResult is the verdict on one guarantee.
type GuaranteeResult struct {
	ID       string    `json:"id"`   // I1
	Name     string    `json:"name"` // NoOversell
	Verdict  Verdict   `json:"verdict"`
	Looked   []Looked  `json:"looked_at"`
	Needs    []string  `json:"needs,omitempty"` // what it would need, unless it holds
	Notes    []string  `json:"notes,omitempty"`
	Count    int       `json:"broken,omitempty"` // findings in all
	Findings []Finding `json:"findings,omitempty"`
	found    []Finding // as many as are kept for comparison
}

// Looked is how much of something a judgement rests on.
type Looked struct {
	Count int    `json:"count"`
	Of    string `json:"of"`
}

// Guarantees that an audit judges, in the order of the report.
const (
	i1 = iota
	i2
	i3
	i4
	i5
	i6
	i7
	i8
	i9
	i10
	i11
	l1
	l2
	l3
	l4
	guarantees
)

var names = [guarantees][2]string{{"I1", "NoOversell"}, {"I2", "UserLimit"}, {"I3", "Conservation"},
	{"I4", "OneOutcome"}, {"I5", "ForwardOnly"},
	{"I6", "NoPaidThenClosed"}, {"I7", "PayAuthentic"}, {"I8", "ReleaseOnce"}, {"I9", "NoPhantom"}, {"I10", "Window"},
	{"I11", "NoFalseAck"},
	{"L1", "Terminal"}, {"L2", "NoStranded"}, {"L3", "Converged"}, {"L4", "SellThrough"}}

const (
	shownFindings = 20
	keptFindings  = 10_000 // to be found again in a second reading
)

// verdicts gathers what is found.
type verdicts [guarantees]GuaranteeResult

func (v *verdicts) broken(g int, row, what string, args ...any) {
	j := &v[g]
	if j.Count++; len(j.found) < keptFindings {
		j.found = append(j.found, Finding{row, fmt.Sprintf(what, args...)})
	}
}

func (v *verdicts) needs(g int, what string, args ...any) {
	v[g].Needs = append(v[g].Needs, fmt.Sprintf(what, args...))
}

func (v *verdicts) note(g int, what string, args ...any) {
	v[g].Notes = append(v[g].Notes, fmt.Sprintf(what, args...))
}

// looked counts evidence: without any a guarantee is unknown.
func (v *verdicts) looked(g, count int, of string) {
	v[g].Looked = append(v[g].Looked, Looked{count, of})
}

// close decides each verdict.
func (v *verdicts) close() []GuaranteeResult {
	for g := range v {
		j := &v[g]
		j.ID, j.Name = names[g][0], names[g][1]
		evidence := 0
		if j.Looked == nil {
			j.Looked = []Looked{}
		}
		for _, l := range j.Looked {
			evidence += l.Count
		}
		if evidence == 0 && len(j.Needs) == 0 {
			j.Needs = append(j.Needs, "something to look at: there is nothing yet")
		}
		j.decide()
	}
	return v[:]
}

func (j *GuaranteeResult) decide() {
	j.Findings = j.found[:min(len(j.found), shownFindings)]
	switch {
	case j.Count > 0:
		j.Verdict = Broken
	case len(j.Needs) > 0:
		j.Verdict = Unknown
	default:
		j.Verdict = Holds
	}
}

// Statement is what became of units, orders and money.
type Statement struct {
	Units  Units                 `json:"units"`
	Orders map[seckill.State]int `json:"orders"`
	Money  Money                 `json:"money"`
}

// Units are an item's units. Stock is Sold, Held and Unsold together; what is not known is nil.
type Units struct {
	Stock       int  `json:"stock"`
	Sold        int  `json:"sold"` // to orders that are paid
	Held        int  `json:"held"` // by orders that may yet be paid
	Unsold      int  `json:"unsold"`
	Reserved    *int `json:"reserved"`     // of the unsold: for requests that are not placed yet
	Free        *int `json:"free"`         // of the unsold: back on sale
	NeverIssued *int `json:"never_issued"` // of the unsold
	Returned    int  `json:"returned"`     // given back by orders, each time counted
}

// Money is what payments brought.
type Money struct {
	Captured Amount `json:"captured"` // in all: kept, due back and refunded
	Kept     Amount `json:"kept"`
	DueBack  Amount `json:"due_back"`
	Refunded Amount `json:"refunded"`
	Payments int    `json:"payments"`

	Provider *Provider `json:"provider"` // nil: its trades are not known
}

// Provider is what the payment provider's trades say of the same money.
type Provider struct {
	Captured Amount `json:"captured"`
	Kept     Amount `json:"kept"` // not given back
	Refunded Amount `json:"refunded"`
	Balanced bool   `json:"balanced"` // captured and refunded are the same to the fen as by the payment rows
}

// Amount is money, both ways.
type Amount struct {
	Fen  int64  `json:"fen"`
	Yuan string `json:"yuan"`
}

// Told is what the journal has.
type Told struct {
	Lines    uint64 `json:"lines"`
	Requests uint64 `json:"requests"`
	Answers  uint64 `json:"answers"`
	Last     string `json:"last_hash"`
	Fault    string `json:"fault,omitempty"` // why it cannot be believed, with the line
}

// Report is an audit.
type Report struct {
	Item      string            `json:"item"`
	Title     string            `json:"title"`
	At        time.Time         `json:"at"` // by the sale's clock
	Took      float64           `json:"took_seconds"`
	Read      map[string]int    `json:"read"` // rows, fields and members, by part
	Missing   []string          `json:"missing,omitempty"`
	Journal   *Told             `json:"journal,omitempty"`
	Statement Statement         `json:"statement"`
	Results   []GuaranteeResult `json:"guarantees"`
}

// Broken says whether a guarantee is broken, or the journal cannot be believed.
func (r *Report) Broken() bool {
	return len(r.are(Broken)) > 0 || r.Journal != nil && r.Journal.Fault != ""
}

// are names the guarantees with a verdict.
func (r *Report) are(v Verdict) (ids []string) {
	for i := range r.Results {
		if r.Results[i].Verdict == v {
			ids = append(ids, r.Results[i].ID)
		}
	}
	return ids
}

// Verdict is the report in a line.
func (r *Report) Verdict() string {
	list := func(ids []string, word string) string {
		if len(ids) == 0 {
			return "none is " + word
		}
		return strings.Join(ids, ", ") + " " + word
	}
	out := list(r.are(Broken), "broken") + "; " + list(r.are(Unknown), "unknown")
	if r.Journal != nil && r.Journal.Fault != "" {
		out += "; the journal cannot be believed"
	}
	return out
}

// Of gives the judgement on a guarantee, by its id.
func (r *Report) Of(id string) *GuaranteeResult {
	for i := range r.Results {
		if r.Results[i].ID == id {
			return &r.Results[i]
		}
	}
	return nil
}

// confirm keeps of what is broken that which an earlier reading found broken, too.
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
				fmt.Sprintf("a sale at rest: %d findings were not there a moment before, such as %s: %s", len(once),
					once[0].Row, once[0].What))
			j.Count = len(both)
		}
		j.found = both
		j.decide()
	}
}

// dated is a moment for a reader.
func dated(t int64) string { return time.UnixMilli(t).UTC().Format("2006-01-02 15:04:05 MST") }

// chained says whether a journal can be believed.
func chained(err error) (string, bool) {
	var broken *journal.BrokenError
	if errors.As(err, &broken) {
		return broken.Error(), true
	}
	return "", false
}

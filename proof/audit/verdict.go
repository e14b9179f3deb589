package audit

import (
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Verdict is the result of checking a guarantee.
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

// GuaranteeResult is the result of checking one guarantee.
type GuaranteeResult struct {
	ID       string    `json:"id"`   // I1
	Name     string    `json:"name"` // NoOversell
	Verdict  Verdict   `json:"verdict"`
	Looked   []Looked  `json:"looked_at"`
	Needs    []string  `json:"needs,omitempty"` // missing evidence
	Notes    []string  `json:"notes,omitempty"`
	Count    int       `json:"broken,omitempty"` // number of findings, also of those not listed
	Findings []Finding `json:"findings,omitempty"`
	found    []Finding // up to keptFindings
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

// Looked counts evidence of one kind.
type Looked struct {
	Count int    `json:"count"`
	Of    string `json:"of"`
}

// Guarantees in the order of the report.
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
	a1
	a4
	l1
	l2
	l3
	l4
	guarantees
)

var names = [guarantees][2]string{{"I1", "NoOversell"}, {"I2", "UserLimit"}, {"I3", "Conservation"},
	{"I4", "OneOutcome"}, {"I5", "ForwardOnly"},
	{"I6", "NoPaidThenClosed"}, {"I7", "PayAuthentic"}, {"I8", "ReleaseOnce"}, {"I9", "NoPhantom"}, {"I10", "Window"},
	{"I11", "NoFalseAck"}, {"A1", "Admitted"}, {"A4", "Blocked"},
	{"L1", "Terminal"}, {"L2", "NoStranded"}, {"L3", "Converged"}, {"L4", "SellThrough"}}

const (
	shownFindings = 20
	keptFindings  = 10_000 // for comparison with a second reading
)

// verdicts collects findings and evidence by guarantee.
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

// looked adds evidence. A guarantee without any is unknown.
func (v *verdicts) looked(g, count int, of string) {
	v[g].Looked = append(v[g].Looked, Looked{count, of})
}

// close sets each verdict.
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
			j.Needs = append(j.Needs, "evidence: the sale has none yet")
		}
		j.decide()
	}
	return v[:]
}

// dated formats Unix milliseconds.
func dated(t int64) string { return seckill.Local(time.UnixMilli(t)) }

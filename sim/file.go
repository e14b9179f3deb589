package sim

import (
	"encoding/json"
	"fmt"
	"slices"
)

// kindNames are what acts are called in files: a file outlives a change of the list.
var kindNames = [nActs]string{"step", "run", "buy", "consume", "close", "tick", "open", "pay", "notify", "cancel",
	"look", "stop", "grow", "jump", "browse", "odd", "import",
	"kill", "freeze", "flush", "failover", "restore", "readonly", "arrive", "poison", "redrive", "ghost", "clock",
	"schedule", "no-schedule", "forge", "lose", "keep", "refund", "erase"}

// MarshalText returns the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(kindNames[k]), nil }

// UnmarshalText reads a kind's name.
func (k *Kind) UnmarshalText(b []byte) error {
	i := slices.Index(kindNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("sim: no kind of act %q", b)
	}
	*k = Kind(i)
	return nil
}

// MarshalJSON returns the names of the set's kinds.
func (s FaultSet) MarshalJSON() ([]byte, error) { return json.Marshal(s.list()) }

// UnmarshalJSON reads them.
func (s *FaultSet) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return err
	}
	*s = FaultSet{}
	for _, n := range names {
		one, err := ParseFaults(n)
		if err != nil {
			return err
		}
		for f := range one {
			s[f] = s[f] || one[f]
		}
	}
	return nil
}

// MarshalJSON returns the numbers by name.
func (r Rates) MarshalJSON() ([]byte, error) {
	out := map[string]int{}
	for f, n := range r {
		if n != 0 {
			out[Faults[f].Name] = n
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads them.
func (r *Rates) UnmarshalJSON(b []byte) error {
	var in map[string]int
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	for f := range Faults {
		r[f] = in[Faults[f].Name]
	}
	return nil
}

// History is a plan and what is done in its world: a file of it is a regression test.
type History struct {
	Found string `json:"found"` // what it once showed
	Plan  Plan   `json:"plan"`
	Acts  []Act  `json:"acts"`
}

// History returns the result's, to be kept.
func (res *Result) History() History {
	return History{Found: fmt.Sprintf("seed %d: %v", res.Seed, res.Err), Plan: res.Plan, Acts: res.Acts}
}

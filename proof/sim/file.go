package sim

import (
	"encoding/json"
	"fmt"
	"slices"
)

// kindNames are the names of acts in files: a file must stay valid when the list changes.
var kindNames = [nActs]string{"step", "run", "buy", "consume", "close", "tick", "open", "pay", "notify", "cancel",
	"look", "stop", "grow", "jump", "browse", "odd", "import",
	"kill", "freeze", "flush", "failover", "restore", "readonly", "arrive", "poison", "redrive", "ghost", "clock",
	"schedule", "no-schedule", "forge", "lose", "keep", "refund", "erase", "sign-in", "stream",
	"ticket", "block", "secret", "fulfil", "console"}

// MarshalText returns the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(kindNames[k]), nil }

// UnmarshalText parses a kind's name.
func (k *Kind) UnmarshalText(b []byte) error {
	i := slices.Index(kindNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("sim: no kind of act %q", b)
	}
	*k = Kind(i)
	return nil
}

// MarshalJSON encodes the names in the set.
func (s FaultSet) MarshalJSON() ([]byte, error) { return json.Marshal(s.list()) }

// UnmarshalJSON decodes what MarshalJSON encodes.
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

// MarshalJSON encodes the rates by name.
func (r Rates) MarshalJSON() ([]byte, error) {
	out := map[string]int{}
	for f, n := range r {
		if n != 0 {
			out[Faults[f].Name] = n
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes what MarshalJSON encodes.
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

// History is a plan and the acts in its world. Stored in a file, it is a regression test.
type History struct {
	Found string `json:"found"` // what it once showed
	Plan  Plan   `json:"plan"`
	Acts  []Act  `json:"acts"`
}

// History returns the result's history, to be stored.
func (res *Result) History() History {
	return History{Found: fmt.Sprintf("seed %d: %v", res.Seed, res.Err), Plan: res.Plan, Acts: res.Acts}
}

package seckill

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/state_machine.md")

const stateDoc = "../../docs/state_machine.md"

// TestStateMachineDoc compares docs/state_machine.md with the table; `make generate` writes the page.
func TestStateMachineDoc(t *testing.T) {
	want := stateMachineDoc()
	if *update {
		if err := os.WriteFile(stateDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(stateDoc)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/state_machine.md differs from the table in state.go; run `make generate`")
	}
}

// older returns the number that older systems have for a state.
func older(s *StateInfo) string {
	if s.Older == NoOlder {
		return "–"
	}
	return fmt.Sprint(s.Older)
}

func stateMachineDoc() string {
	var b strings.Builder
	b.WriteString(
		"# An order's life\n\nGenerated from `shared/seckill/state.go` by `make generate`; a test holds the two " +
			"together.\n\n```mermaid\nstateDiagram-v2\n")
	b.WriteString("    [*] --> queued: buy\n")
	for _, t := range Transitions {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", t.From, t.To, t.By)
	}
	for _, s := range States {
		if s.Final {
			fmt.Fprintf(&b, "    %s --> [*]\n", s.State)
		}
	}
	b.WriteString("```\n\n## States\n\n| state | `status` | older | holds units | meaning |\n|---|---|---|---|---|\n")
	for _, s := range States {
		holds := "no"
		if s.Holds {
			holds = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s | %s |\n", s.State, s.Status, older(&s), holds, s.Means)
	}
	fmt.Fprintf(&b, "\n`status` is the contract's number. older is the number that older systems give the state; "+
		"an order that staff have\nhidden, which is not a state here, has %d there. Only an order for which nothing "+
		"is left to do can be hidden; money that\ncomes late moves it all the same.\n", OlderHidden)
	b.WriteString(
		"\n## Changes\n\nEvery change is a conditional write on the state it leaves: the first writer wins. What is " +
			"not in\nthis table does not happen. Goods that have left are never given back to the stock.\n\n")
	b.WriteString("| from | to | by | cause | its units |\n|---|---|---|---|---|\n")
	for _, t := range Transitions {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", t.From, t.To, t.By, t.Cause, t.Units)
	}
	b.WriteString(
		"\n## What an authentic payment does\n\n| to an order in | it becomes | the money is |\n|---|---|---|\n")
	for _, s := range States {
		if s.State == Queued {
			continue
		}
		to, p := s.State.OnMoney()
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", s.State, to, p)
	}
	b.WriteString(
		"\nMoney for an order that is not in the ledger is refused (`notify_not_ours`): an order can be paid only once " +
			"it is\nplaced.\n")
	return b.String()
}

func TestStateTable(t *testing.T) {
	holds := map[State]bool{}
	for _, s := range States {
		holds[s.State] = s.Holds
		if s.Status < 1 || s.Status > 10 || s.Means == "" {
			t.Errorf("%s: status %d, meaning %q", s.State, s.Status, s.Means)
		}
	}
	leaves := map[State]bool{}
	seen := map[[2]State]bool{}
	for _, tr := range Transitions {
		if tr.From.Info().State == "" || tr.To.Info().State == "" {
			t.Errorf("%s → %s names an unknown state", tr.From, tr.To)
		}
		if k := [2]State{tr.From, tr.To}; seen[k] {
			t.Errorf("%s → %s stands twice", tr.From, tr.To)
		} else {
			seen[k] = true
		}
		if !holds[tr.From] && holds[tr.To] {
			t.Errorf("%s → %s would take back units that were given back", tr.From, tr.To)
		}
		leaves[tr.From] = true
		if !tr.From.CanBecome(tr.To) || tr.From.CanBecome(tr.From) {
			t.Errorf("CanBecome(%s → %s) disagrees with the table", tr.From, tr.To)
		}
	}
	for _, s := range States {
		if leaves[s.State] == s.Final {
			t.Errorf("%s: final %v, yet left %v", s.State, s.Final, leaves[s.State])
		}
		if to, _ := s.State.OnMoney(); s.State != Queued && to != s.State && !s.State.CanBecome(to) {
			t.Errorf("money takes %s to %s, which the table does not allow", s.State, to)
		}
	}
}

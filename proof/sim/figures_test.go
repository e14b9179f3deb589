package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// holdBlock compares a block of docs/GUARANTEES.md with want; -update writes it.
func holdBlock(t *testing.T, name, want string) {
	t.Helper()
	file := "../../" + GuaranteesPage
	if *update {
		if err := WriteBlock(file, name, want); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := Block(file, name); err != nil || got != want {
		t.Errorf("%s says of %s (%v):\n%swant, by `make generate`:\n%s", GuaranteesPage, name, err, got, want)
	}
}

// killFigures returns the text about the kill points in docs/GUARANTEES.md.
func killFigures(killed, overtaken map[string]int) string {
	var k, o int
	for flow := range killed {
		k, o = k+killed[flow], o+overtaken[flow]
	}
	return fmt.Sprintf("Kill points: %s runs of %d scenarios in %d flows. In %s the process dies at a port call or "+
		"the call fails;\nin %s another actor does something just before it.\n",
		Thousands(k+o), len(scenarios), len(killed), Thousands(k), Thousands(o))
}

func TestBlock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	const before, after = "# Page\n\n<!-- generated: seeds, by hand -->\n", "<!-- end: seeds -->\n\nmore\n"
	if err := os.WriteFile(file, []byte(before+"1\n2\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Block(file, "seeds"); err != nil || got != "1\n2\n" {
		t.Errorf("read %q, %v", got, err)
	}
	for _, text := range []string{"3\n", "", "4\n5\n"} {
		if err := WriteBlock(file, "seeds", text); err != nil {
			t.Fatal(err)
		}
		if page, err := os.ReadFile(file); err != nil || string(page) != before+text+after {
			t.Errorf("written %q, %v", page, err)
		}
	}
	if err := WriteBlock(file, "seed", "6\n"); err == nil {
		t.Error("a block that the page does not have: written")
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 66128605: "66,128,605"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	s := Summary{Seeds: 100_000, Steps: 21_862_919, Units: 7, Unsold: 1}
	s.Fired[Crash] = 3
	got := s.Figures(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{"| run of 2026-11-22 |", "| seeds | 100,000 |", "| 1 of 35 |", "| 21,862,919 |",
		"| 1 of 7 |"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

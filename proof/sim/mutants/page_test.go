package main

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/your-org/seckill/proof/sim"
)

var update = flag.Bool("update", false, "write docs/MUTANTS.md and the figures of mutants in docs/GUARANTEES.md")

// TestMutantsPage compares docs/MUTANTS.md, and the figures in docs/GUARANTEES.md, with the existing mutants. The
// last whole run wrote what caught them.
func TestMutantsPage(t *testing.T) {
	s := repository(t)
	all, err := collect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(s.root, mutantsPage))
	if err != nil {
		t.Fatal(err)
	}
	v := readVerdicts(string(page))
	if *update {
		if err := writePages(s.root, all, v); err != nil {
			t.Fatal(err)
		}
		return
	}
	if mutantsText(all, v) != string(page) {
		t.Errorf("%s lists other mutants than there are: make generate, then make mutants", mutantsPage)
	}
	figures, err := sim.Block(filepath.Join(s.root, sim.GuaranteesPage), "mutants")
	if err != nil || figures != mutantsFigures(all, v) {
		t.Errorf("%s does not say of mutants (%v) what follows from %s: make generate", sim.GuaranteesPage, err,
			mutantsPage)
	}
}

func TestMutantsText(t *testing.T) {
	all := []Mutant{{Name: "one", Breaks: "it is | wrong"},
		{Name: "x.go:f:junction:1", Breaks: "line 7: junction in `a || b`", Drawn: true},
		{Name: "late", Breaks: "it waits"}, {Name: "new", Breaks: "it is new"},
		{Name: "same", Breaks: "nothing", Equivalent: "nobody sees it"}}
	v := verdicts{"2026-11-23", map[string]verdict{"one": {"I1", 1204}, "x.go:f:junction:1": {"TestX", 0},
		"late": {"other", 3}}}
	page := mutantsText(all, v)
	if got := readVerdicts(page); !reflect.DeepEqual(got, v) {
		t.Errorf("read %v, want %v, from\n%s", got, v, page)
	}
	for _, want := range []string{"| `one` | it is \\| wrong | I1 | 1,204 |\n",
		"| `x.go:f:junction:1` | junction in `a \\|\\| b` | TestX | |\n", "| `new` | it is new | no result yet | |\n",
		"| `same` | nobody sees it |\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	figures := mutantsFigures(all, v)
	for _, want := range []string{"5 mutants: 4 chosen by hand, 1 drawn by a tool", "3 are caught; 1 are equivalent",
		"within 3 seeds, the slowest after 1,204", "1 have no result yet", "| mutants | 1 | – |", " – | 1 | 1 |\n"} {
		if !strings.Contains(figures, want) {
			t.Errorf("no %q in\n%s", want, figures)
		}
	}
}

func TestOnlyAWholeRunIsWritten(t *testing.T) {
	for args, want := range map[string]bool{"": true, "-workers=1": true, "-only=3": false, "-sample=8": false,
		"-seeds=9": false, "-list": false} {
		o, err := parseFlags(strings.Fields(args))
		if err != nil || o.whole() != want {
			t.Errorf("%q: whole %t, %v", args, o.whole(), err)
		}
	}
}

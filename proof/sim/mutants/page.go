package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/proof/sim"
)

const (
	mutantsPage = "docs/MUTANTS.md"
	unplayed    = "no result yet"
)

// verdict is what caught a mutant, and after how many seeds; 0 if a test caught it.
type verdict struct {
	by    string
	seeds uint64
}

// verdicts are those of the last whole run, by the mutants' names.
type verdicts struct {
	day string
	of  map[string]verdict
}

var (
	pageDay = regexp.MustCompile(`(?m)^Last whole run: (\S+)\.$`)
	pageRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| .* \\| (\\w+) \\| ([0-9,]*) ?\\|$")
	atLine  = regexp.MustCompile(`^line \d+: `)
)

// readVerdicts reads what the page of the mutants has.
func readVerdicts(page string) verdicts {
	v := verdicts{of: map[string]verdict{}}
	if m := pageDay.FindStringSubmatch(page); m != nil {
		v.day = m[1]
	}
	for _, m := range pageRow.FindAllStringSubmatch(page, -1) {
		seeds, err := strconv.ParseUint(strings.ReplaceAll(m[3], ",", ""), 10, 64)
		if err == nil || m[3] == "" {
			v.of[m[1]] = verdict{m[2], seeds}
		}
	}
	return v
}

// mutantsText is the whole page.
func mutantsText(all []Mutant, v verdicts) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Mutants

Generated: `+"`make mutants`"+` writes this page after a whole run without a failure. A test holds the list of
mutants to the code (`+"`make generate`"+`). [GUARANTEES.md](GUARANTEES.md#mutants) says what a mutant is.

Last whole run: %s.

## To be caught

"Caught by" is the guarantee that broke first, in the seed whose number is on the right; most mutants break several.
"other" is a violation without a guarantee's name, such as a broken script; "hang", "panic" and "crash" are code that
does not go on. A test's name: no seed shows the mutant, this test does.

| mutant | what it does | caught by | seed |
|---|---|---|---|
`, v.day)
	for i := range all {
		m := &all[i]
		if m.Equivalent != "" {
			continue
		}
		got, ok := v.of[m.Name]
		if !ok {
			got.by = unplayed
		}
		seeds := ""
		if got.seeds > 0 {
			seeds = sim.Thousands(got.seeds) + " "
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s|\n", m.Name, cell(m.Breaks), got.by, seeds)
	}
	b.WriteString("\n## Equivalent\n\nNothing can show these; each has to survive.\n\n| mutant | why |\n|---|---|\n")
	for i := range all {
		if m := &all[i]; m.Equivalent != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", m.Name, cell(m.Equivalent))
		}
	}
	return b.String()
}

// cell is a text as a table may have it. A drawn mutant's line is left out: it moves with every change of its file.
func cell(s string) string { return strings.ReplaceAll(atLine.ReplaceAllString(s, ""), "|", `\|`) }

// guarantees are those that catch mutants, as the page of the guarantees lists them.
var guarantees = []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14",
	"I15", "I16", "I17", "A1", "A4", "L1", "L2", "L3", "L4", "L5", "no name", "a test"}

// mutantsFigures is the paragraph about mutants in docs/GUARANTEES.md.
func mutantsFigures(all []Mutant, v verdicts) string {
	by, drawn, equal, missing := map[string]int{}, 0, 0, 0
	var seeds []uint64
	for i := range all {
		m := &all[i]
		if m.Drawn {
			drawn++
		}
		got, ok := v.of[m.Name]
		switch {
		case m.Equivalent != "":
			equal++
			continue
		case !ok:
			missing++
			continue
		case strings.HasPrefix(got.by, "Test"):
			by["a test"]++
			continue
		case slices.Contains(guarantees, got.by):
			by[got.by]++
		default:
			by["no name"]++
		}
		if got.seeds > 0 {
			seeds = append(seeds, got.seeds)
		}
	}
	slices.Sort(seeds)
	var b strings.Builder
	fmt.Fprintf(&b, "%d mutants: %d chosen by hand, %d drawn by a tool. Last whole run: %s. %d are caught; %d "+
		"are equivalent.\n", len(all), len(all)-drawn, drawn, v.day, len(all)-equal-missing, equal)
	if n := len(seeds); n > 0 {
		fmt.Fprintf(&b, "Of those that seeds show, half broke a guarantee within %s seeds, the slowest after %s.\n",
			sim.Thousands(seeds[(n-1)/2]), sim.Thousands(seeds[n-1]))
	}
	if missing > 0 {
		fmt.Fprintf(&b, "%d have no result yet: `make mutants` plays them.\n", missing)
	}
	b.WriteString("\n| caught first by |")
	for _, g := range guarantees {
		fmt.Fprintf(&b, " %s |", g)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(guarantees)) + "\n| mutants |")
	for _, g := range guarantees {
		fmt.Fprintf(&b, " %s |", cmp.Or(strings.TrimPrefix(strconv.Itoa(by[g]), "0"), "–"))
	}
	return b.String() + "\n"
}

// writePages writes both pages after a whole run.
func writePages(root string, all []Mutant, v verdicts) error {
	if err := os.WriteFile(filepath.Join(root, mutantsPage), []byte(mutantsText(all, v)), 0o644); err != nil {
		return err
	}
	return sim.WriteBlock(filepath.Join(root, sim.GuaranteesPage), "mutants", mutantsFigures(all, v))
}

// whole reports whether a run plays every mutant for as long as the pages say. A part never changes them.
func (o *options) whole() bool {
	return o.only == "" && o.sample == 0 && !o.list && o.limits == wholeLimits
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

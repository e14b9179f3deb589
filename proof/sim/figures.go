package sim

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// GuaranteesPage is the path of the page with the proof's figures, relative to the module's root.
const GuaranteesPage = "docs/GUARANTEES.md"

// block returns the position of the text between the marks of a generated block.
func block(page, name string) (from, to int, err error) {
	open, end := "<!-- generated: "+name+", ", "\n<!-- end: "+name+" -->"
	at := strings.Index(page, open)
	if at < 0 || strings.Count(page, open) != 1 || strings.Count(page, end) != 1 {
		return 0, 0, fmt.Errorf("the page has no block %q, or two", name)
	}
	line := strings.Index(page[at:], "\n")
	from, to = at+line+1, strings.Index(page, end)+1
	if to < from {
		return 0, 0, fmt.Errorf("the block %q ends before it begins", name)
	}
	return from, to, nil
}

// Block returns a generated block of a page.
func Block(file, name string) (string, error) {
	page, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	from, to, err := block(string(page), name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return string(page[from:to]), nil
}

// WriteBlock replaces a generated block of a page.
func WriteBlock(file, name, text string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	from, to, err := block(string(page), name)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(string(page[:from])+text+string(page[to:])), 0o644)
}

var english = message.NewPrinter(language.English)

// Thousands formats 1234567 as 1,234,567.
func Thousands[T int | uint64](n T) string { return english.Sprint(n) }

// Figures returns the text about a run of seeds for the page of guarantees.
func (s *Summary) Figures(day time.Time) string {
	fired := 0
	for f := range s.Fired {
		if s.Fired[f] > 0 {
			fired++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| run of %s | |\n|---|---|\n", day.Format(time.DateOnly))
	for _, row := range [][2]string{
		{"seeds", Thousands(s.Seeds)},
		{"violations", Thousands(len(s.Violations))},
		{"kinds of faults that fired", fmt.Sprintf("%d of %d", fired, len(Faults))},
		{"port calls under faults", Thousands(s.Steps)},
		{"port calls after the faults had stopped", Thousands(s.Calls)},
		{"units unsold with demand left", Thousands(s.Unsold) + " of " + Thousands(s.Units)},
		{"answers to shoppers judged", Thousands(s.Checked)},
		{"shoppers whose answers could not be judged", Thousands(s.Undecided)},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	return b.String()
}

package seckill_test

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// page reads a file of the module.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestArchitectureNamesEveryPackage: the last table of docs/ARCHITECTURE.md has each package of the module, with the
// first sentence of its own comment; -update writes the table.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	synopses := map[string]string{} // by folder
	for file := range allFiles(t, ".") {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		synopses[path.Dir(file)] += new(doc.Package).Synopsis(f.Doc.Text())
	}
	rows := "\npackage | what it is, in its own words\n---|---\n"
	for _, pkg := range slices.Sorted(maps.Keys(synopses)) {
		says := regexp.MustCompile(`^(Package|Command) \w+ `).ReplaceAllString(synopses[pkg], "")
		if says == "" {
			t.Errorf("package %s has no comment", pkg)
		}
		rows += fmt.Sprintf("[`%s`](../%s) | %s\n", pkg, pkg, strings.ReplaceAll(says, "|", "\\|"))
	}
	generatedPart(t, "docs/ARCHITECTURE.md", "packages", rows+"\n")
}

// generatedPart checks what stands between a page's markers; -update writes it.
func generatedPart(t *testing.T, name, what, want string) {
	t.Helper()
	open, end := "<!-- generated: "+what+", by make generate -->\n", "<!-- end: "+what+" -->"
	before, rest, opened := strings.Cut(page(t, name), open)
	got, after, ended := strings.Cut(rest, end)
	if !opened || !ended {
		t.Fatalf("%s has no place for the generated %s", name, what)
	}
	if *update {
		if err := os.WriteFile(filepath.FromSlash(name), []byte(before+open+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if got != want {
		t.Errorf("%s has other %s than `make generate` writes:\n%s", name, what, want)
	}
}

var (
	tourStop = regexp.MustCompile(`(?s)\n## \d\. [^\n]*\]\(\.\./([^)]+)\)\n.*?\n\*\*Read\*\* ([^\n]+)`)
	tourRow  = regexp.MustCompile("((?:`\\w+`, )*`\\w+`) in \\[[^\\]]+\\]\\(\\.\\./([^)]+)\\)")
	tourIn   = regexp.MustCompile("(`\\w+`)\\s+in\\s+`([^`]+/[^`]+\\.go)`")
	tourTest = regexp.MustCompile("go test \\./(\\S+) -run '?([^ '`]+)")
	quoted   = regexp.MustCompile("`([^`]+)`")
)

// TestTourNamesWhatIsThere: the files that docs/TOUR.md names, in its table and its stops, declare what the page sends
// readers to, and the packages have the tests that it runs.
func TestTourNamesWhatIsThere(t *testing.T) {
	tour := page(t, "docs/TOUR.md")
	names := map[string]string{} // by file
	for _, m := range tourStop.FindAllStringSubmatch(tour, -1) {
		names[m[1]] += m[2]
	}
	if len(names) != 8 {
		t.Errorf("%d stops, want 8", len(names))
	}
	rows := tourRow.FindAllStringSubmatch(tour, -1)
	if len(rows) < 15 {
		t.Errorf("docs/TOUR.md says of %d places where they are, want 15 or more", len(rows))
	}
	for _, m := range append(rows, tourIn.FindAllStringSubmatch(tour, -1)...) {
		names[m[2]] += m[1]
	}
	for file, list := range names {
		text := page(t, file)
		for _, m := range quoted.FindAllStringSubmatch(list, -1) {
			declared := `(?m)^(func|func \([^)]*\)|type|var) ` + m[1] + `\b|^\t` + m[1] + ` += ` // the last in a group
			if !strings.HasSuffix(file, ".go") {
				declared = `\b` + m[1] + `\b`
			}
			if !regexp.MustCompile(declared).MatchString(text) {
				t.Errorf("docs/TOUR.md sends readers to %s in %s, where it is not", m[1], file)
			}
		}
	}
	for _, m := range tourTest.FindAllStringSubmatch(tour, -1) {
		var tests strings.Builder
		files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(m[1]), "*_test.go"))
		for _, file := range files {
			tests.WriteString(page(t, filepath.ToSlash(file)))
		}
		for _, name := range strings.Split(m[2], "|") {
			name, _, _ = strings.Cut(name, "/")
			if !strings.Contains(tests.String(), "\nfunc "+name) {
				t.Errorf("docs/TOUR.md has readers run %s in %s, where it is not", name, m[1])
			}
		}
	}
}

var update = flag.Bool("update", false, "write the generated parts of docs/ARCHITECTURE.md and docs/adr/README.md")

// otherDecision matches a paragraph of docs/adr/others.md: its number and its first words.
var otherDecision = regexp.MustCompile(`(?m)^## ADR (\d+)\n\n\*\*([^*]+)\*\*`)

// TestDecisionsAreListed: docs/adr/README.md has the title of each decision, of those with a page and of the others;
// -update writes them.
func TestDecisionsAreListed(t *testing.T) {
	rows := map[int]string{}
	add := func(number, words, target string) {
		n, err := strconv.Atoi(number)
		if err != nil || rows[n] != "" {
			t.Errorf("%s has the number %s, which is none or is taken", target, number)
		}
		rows[n] = fmt.Sprintf("%d. [%s](%s)\n", n, strings.TrimSuffix(words, "."), target)
	}
	files, _ := filepath.Glob("docs/adr/0*.md")
	for _, file := range files {
		title, _, _ := strings.Cut(page(t, filepath.ToSlash(file)), "\n")
		number, words, _ := strings.Cut(strings.TrimPrefix(title, "# "), ". ")
		add(number, words, filepath.Base(file))
	}
	for _, m := range otherDecision.FindAllStringSubmatch(page(t, "docs/adr/others.md"), -1) {
		add(m[1], strings.Join(strings.Fields(m[2]), " "), "others.md#adr-"+m[1])
	}
	var want strings.Builder
	for _, n := range slices.Sorted(maps.Keys(rows)) {
		want.WriteString(rows[n])
	}
	generatedPart(t, "docs/adr/README.md", "decisions", want.String())
}

var (
	pageLink = regexp.MustCompile(`\]\(([^)\s#:]*)(?:#([^)\s]+))?\)`) // not of addresses on the web
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
)

// TestLinksLead: each link of a page leads to a file of the module and, in a page, to a heading.
func TestLinksLead(t *testing.T) {
	walk(t, ".", func(file string) {
		if path.Ext(file) != ".md" || strings.HasPrefix(file, "web/vendor/") {
			return
		}
		for _, m := range pageLink.FindAllStringSubmatch(fenced.ReplaceAllString(page(t, file), ""), -1) {
			target := path.Join(path.Dir(file), m[1])
			if m[1] == "" {
				target = file
			}
			if _, err := os.Stat(filepath.FromSlash(target)); err != nil {
				t.Errorf("%s leads to %s: %v", file, m[0], err)
			} else if m[2] != "" && path.Ext(target) == ".md" {
				text := fenced.ReplaceAllString(page(t, target), "")
				if !slices.ContainsFunc(heading.FindAllStringSubmatch(text, -1), func(h []string) bool {
					return strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == m[2]
				}) {
					t.Errorf("%s leads to %s, where no such heading is", file, m[0])
				}
			}
		}
	})
}

// TestPicturesAreShown: a page shows each file of docs/pictures.
func TestPicturesAreShown(t *testing.T) {
	var pages strings.Builder
	walk(t, ".", func(file string) {
		if path.Ext(file) == ".md" {
			pages.WriteString(page(t, file))
		}
	})
	pictures, err := filepath.Glob("docs/pictures/*")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	for _, file := range pictures {
		if !strings.Contains(pages.String(), "pictures/"+filepath.Base(file)) {
			t.Errorf("no page shows %s: remove it", file)
		}
	}
}

// maxWords is how much of the Markdown pages may be written by hand.
const maxWords = 24000

var (
	generatedBlock = regexp.MustCompile(`(?s)<!-- generated: .*?<!-- end: [^>]*-->`)
	handWord       = regexp.MustCompile(`\S*[\p{L}\p{N}]\S*`)
)

// TestPagesAreShort counts the words of all Markdown pages, in tables and code, too, without what programs write.
// Spaces separate words, and a word has a letter or a digit, unlike the bars of a table. -v prints each page's sum.
func TestPagesAreShort(t *testing.T) {
	generated := []string{"docs/IAM.md", "docs/state_machine.md"}
	sum := 0
	walk(t, ".", func(file string) {
		if path.Ext(file) != ".md" || slices.Contains(generated, file) || strings.HasPrefix(file, "web/vendor/") {
			return
		}
		text, _, _ := strings.Cut(page(t, file), "<!-- generated from here on")
		n := len(handWord.FindAllString(generatedBlock.ReplaceAllString(text, ""), -1))
		t.Logf("%5d %s", n, file)
		sum += n
	})
	t.Logf("%5d words by hand, at most %d", sum, maxWords)
	if sum > maxWords {
		t.Errorf("the pages have %d words written by hand, want at most %d: shorten some", sum, maxWords)
	}
}

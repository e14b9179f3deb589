package seckill_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// slip is a change that somebody made to a copy of the module, with one of the places forgotten that a row of
// docs/CHANGING.md names, and the tests of one folder that have to fail for it.
type slip struct {
	row    string
	edits  []edit
	after  []string // a command that is run when they are made
	folder string
	tests  []string // of Go by name, of Node.js by file; "compiler": the folder's tests do not compile
}

// edit replaces a text that a file has exactly once.
type edit struct{ file, old, new string }

// slips reads docs/changing.txt, and which proofs that a row names are not played. Proofs are "folder test".
func slips(t *testing.T) (all []slip, unplayed map[string][]string) {
	t.Helper()
	unplayed = map[string][]string{}
	var now slip
	for i, line := range strings.Split(page(t, "docs/changing.txt"), "\n") {
		what, rest, _ := strings.Cut(line, " ")
		if n := len(now.edits); n == 0 && (what == "-" || what == "+") {
			t.Fatalf("docs/changing.txt:%d: in which file?", i+1)
		}
		switch what {
		case "", "#":
		case "row":
			now = slip{row: rest}
		case "in":
			now.edits = append(now.edits, edit{file: rest})
		case "-":
			now.edits[len(now.edits)-1].old += "\n" + rest
		case "+":
			now.edits[len(now.edits)-1].new += "\n" + rest
		case "run":
			now.after = strings.Fields(rest)
		case "fails":
			names := strings.Fields(rest)
			now.folder, now.tests = names[0], names[1:]
			all = append(all, now)
			now = slip{row: now.row}
		case "unplayed":
			proof, why, _ := strings.Cut(rest, ": ")
			if why == "" {
				t.Errorf("docs/changing.txt:%d: %s is not played, and why?", i+1, proof)
			}
			unplayed[now.row] = append(unplayed[now.row], proof)
		default:
			t.Fatalf("docs/changing.txt:%d: %q", i+1, line)
		}
	}
	return all, unplayed
}

// apply makes the edits in a copy of the module, and returns the function that takes them back.
func (s *slip) apply(t *testing.T, root string) (undo func()) {
	t.Helper()
	before := map[string][]byte{}
	for _, e := range s.edits {
		file := filepath.Join(root, filepath.FromSlash(e.file))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, edited := before[file]; !edited {
			before[file] = text
		}
		old, replacement := strings.TrimPrefix(e.old, "\n"), strings.TrimPrefix(e.new, "\n")
		if n := strings.Count(string(text), old); n != 1 {
			t.Errorf("%s: %q is %d times in %s, want once: mend docs/changing.txt", s.row, old, n, e.file)
		}
		write(t, file, strings.Replace(string(text), old, replacement, 1))
	}
	return func() {
		for file, text := range before {
			write(t, file, string(text))
		}
	}
}

var (
	changingRow  = regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$`)
	changingWord = regexp.MustCompile("`([\\w./]+)` ?|Test\\w+|the compiler")
)

// proofs returns what the last column of a row names, as "folder test".
func proofs(cell string) (out []string) {
	folder := "."
	for _, m := range changingWord.FindAllStringSubmatch(cell, -1) {
		switch name := m[1]; {
		case m[0] == "the compiler":
			out = append(out, "compiler")
		case name == "":
			out = append(out, folder+" "+m[0])
		case strings.HasSuffix(name, ".mjs"):
			out = append(out, "web/browsertest "+filepath.Base(name))
		default:
			folder = name
			if _, err := os.Stat(folder); err != nil {
				folder = "shared/" + name
			}
		}
	}
	return out
}

// TestEachRowOfChangingIsPlayed: each row of docs/CHANGING.md has slips, they fit the sources, and their tests are
// those that the row names, which exist. TestSlipsAreNoticed plays them.
func TestEachRowOfChangingIsPlayed(t *testing.T) {
	all, unplayed := slips(t)
	played := maps.Clone(unplayed)
	copied := t.TempDir()
	for _, s := range all {
		for _, name := range s.tests {
			if name == "compiler" {
				played[s.row] = append(played[s.row], name)
			} else {
				played[s.row] = append(played[s.row], s.folder+" "+name)
			}
		}
		for _, e := range s.edits {
			write(t, filepath.Join(copied, e.file), page(t, e.file))
		}
		s.apply(t, copied)()
	}
	rows := changingRow.FindAllStringSubmatch(page(t, "docs/CHANGING.md"), -1)
	for _, row := range rows[1:] {
		name := strings.ReplaceAll(row[1], "`", "")
		want, got := proofs(row[2]), played[name]
		delete(played, name)
		slices.Sort(want)
		slices.Sort(got)
		if got = slices.Compact(got); len(want) == 0 || !slices.Equal(want, got) {
			t.Errorf("docs/CHANGING.md says of %q that these fail:\n%q\ndocs/changing.txt has\n%q", name, want, got)
		}
		for _, proof := range want {
			folder, test, _ := strings.Cut(proof, " ")
			where, text := filepath.Join(folder, "*_test.go"), "\nfunc "+test+"("
			if strings.HasSuffix(test, ".mjs") {
				where, text = filepath.Join(folder, test), ""
			}
			files, _ := filepath.Glob(where)
			if test != "" && !slices.ContainsFunc(files, func(f string) bool { return strings.Contains(page(t, f), text) }) {
				t.Errorf("docs/CHANGING.md names %s, which does not exist", proof)
			}
		}
	}
	for row := range played {
		t.Errorf("docs/changing.txt has the row %q, which docs/CHANGING.md has not", row)
	}
}

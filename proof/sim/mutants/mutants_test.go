package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/gopher-lua/parse"
)

func TestChoice(t *testing.T) {
	const src = "one two\ntwo three\n"
	tests := []struct {
		name     string
		old, new string
		want     string // the mutated text; empty for a refusal
	}{
		{"there once", "one", "1", "1 two\ntwo three\n"},
		{"context is kept", "one two\ntwo", "one two\n2", "one two\n2 three\n"},
		{"something is put in", "two three", "two and three", "one two\ntwo and three\n"},
		{"something is left out", "two three", "three", "one two\nthree\n"},
		{"stale", "four", "4", ""},
		{"ambiguous", "two", "2", ""},
		{"changes nothing", "one", "one", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := choice{name: "m", old: tt.old, new: tt.new}.resolve([]byte(src))
			switch {
			case tt.want == "" && err == nil:
				t.Errorf("%q for %q: accepted", tt.new, tt.old)
			case tt.want != "" && err != nil:
				t.Errorf("%q for %q: %v", tt.new, tt.old, err)
			case tt.want != "" && string(m.text([]byte(src))) != tt.want:
				t.Errorf("%q for %q: got %q, want %q", tt.new, tt.old, m.text([]byte(src)), tt.want)
			}
		})
	}
}

const flowSource = `package flow

type Flow struct{ n int }

func (f *Flow) Handle(count int, rest ...string) (left int, err error) {
	if count < 1 {
		return 0, nil
	}
	return count, nil
}

func (f *Flow) drop() { f.n = 0 }
`

func TestSwitchedFileCallsTheActiveCopy(t *testing.T) {
	var all []Mutant
	for i, c := range []choice{{old: "count < 1", new: "count < 2"}, {old: "f.n = 0", new: "f.n = 1"}} {
		m, err := c.resolve([]byte(flowSource))
		if err != nil {
			t.Fatal(err)
		}
		m.Number = i + 1
		all = append(all, m)
	}
	text, err := switched("flow.go", []byte(flowSource), all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "flow.go", text, 0); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, want := range []string{switchImport,
		"if mutants.On(1) {\n\t\treturn f.HandleMutant1(count, rest...)\n\t}",
		"func (f *Flow) HandleMutant1(count int, rest ...string) (left int, err error) {\n\tif count < 2 {",
		"if mutants.On(2) {\n\t\tf.dropMutant2()\n\t\treturn\n\t}"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	outside := Mutant{Name: "outside", File: "flow.go", From: strings.Index(flowSource, "struct"),
		To: strings.Index(flowSource, "struct") + 6}
	if _, err := switched("flow.go", []byte(flowSource), []Mutant{outside}); err == nil {
		t.Error("a mutant outside every function: accepted")
	}
}

// repository is the module's root: two folders up.
func repository(t *testing.T) *sources {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return newSources(root)
}

// TestMutantsOfThisTree fails if a change of the sources has made a mutant stale or uncompilable.
func TestMutantsOfThisTree(t *testing.T) {
	s := repository(t)
	all, err := collect(s)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range all {
		if names[m.Name] {
			t.Errorf("two mutants are named %s", m.Name)
		}
		names[m.Name] = true
		if filepath.Ext(m.File) == ".lua" {
			if _, err := parse.Parse(bytes.NewReader(m.text(s.files[m.File])), m.File); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
	}
	files, err := overlay(s, all)
	if err != nil {
		t.Fatal(err)
	}
	list, err := writeOverlay(s.root, t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	compile := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "./shared/...")
	compile.Dir = s.root
	if out, err := compile.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestStaleNamesAreRefused(t *testing.T) {
	all := []Mutant{{Name: "a"}}
	if err := stale(map[string]string{"a": "why"}, all); err != nil {
		t.Error(err)
	}
	if err := stale(map[string]string{"b": "why"}, all); err == nil {
		t.Error("a mutant that nobody knows: accepted")
	}
}

func TestPick(t *testing.T) {
	all := []Mutant{{Number: 1, Name: "one"}, {Number: 2, Name: "two"}, {Number: 3, Name: "three"},
		{Number: 4, Name: "four"}}
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"all", nil, "[one two three four]"},
		{"by number", []string{"-only", "3"}, "[three]"},
		{"by part of the name", []string{"-only", "o,4"}, "[one two four]"},
		{"unknown", []string{"-only", "five"}, ""},
		{"unknown number", []string{"-only", "3,5"}, ""},
		{"bad flags", []string{"-workers", "0"}, ""},
		{"a sample of more than there are", []string{"-sample", "9", "-seed", "x"}, "[three one four two]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := parseFlags(tt.args)
			var got []Mutant
			if err == nil {
				got, err = pick(all, o)
			}
			var names []string
			for _, m := range got {
				names = append(names, m.Name)
			}
			if s := "[" + strings.Join(names, " ") + "]"; tt.want == "" && err == nil || tt.want != "" && s != tt.want {
				t.Errorf("%v: got %s (%v), want %q", tt.args, s, err, tt.want)
			}
		})
	}
}

package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const flowSource = `package flow

import "errors"

type Flow struct{ n int }

func (f *Flow) Handle(count int, rest ...string) (left int, err error) {
	if count < 1 && f.n > 0 {
		return 0, errors.New("none")
	}
	err = f.place(count)
	if err != nil {
		return 0, err
	}
	switch {
	case count == 2:
		f.drop()
	}
	_ = f.place(min(count, 3))
	return count, err
}

func (f *Flow) place(n int) error { f.n += n; return nil }

func (f *Flow) drop() {
	f.Count("dropped", 1)
	f.n = 0
}

func (f *Flow) Count(string, int) {}
`

func TestGoOperators(t *testing.T) {
	got, err := goMutants("shared/flow/x/flow.go", []byte(flowSource))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range got {
		text := string(m.text([]byte(flowSource)))
		if _, err := parser.ParseFile(token.NewFileSet(), m.Name, text, 0); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		lines = append(lines, m.Name+" | "+flowSource[m.From:m.To]+" | "+m.New)
	}
	want := []string{
		"x/flow.go:Handle:negate-condition:1 | count < 1 && f.n > 0 | !(count < 1 && f.n > 0)",
		"x/flow.go:Handle:junction:1 | count < 1 && f.n > 0 | (count < 1) || (f.n > 0)",
		"x/flow.go:Handle:boundary:1 | < | <=",
		"x/flow.go:Handle:off-by-one:1 | 1 | 2",
		"x/flow.go:Handle:boundary:2 | > | >=",
		"x/flow.go:Handle:off-by-one:2 | 0 | 1",
		"x/flow.go:Handle:off-by-one:3 | 0 | 1",
		"x/flow.go:Handle:swallow-error:1 | err != nil | false && err != nil",
		"x/flow.go:Handle:return-no-error:1 | err | nil",
		"x/flow.go:Handle:off-by-one:4 | 0 | 1",
		"x/flow.go:Handle:negate-condition:2 | count == 2 | !(count == 2)",
		"x/flow.go:Handle:off-by-one:5 | 2 | 3",
		"x/flow.go:Handle:drop-call:1 | f.drop() | ",
		"x/flow.go:Handle:drop-call:2 | _ = f.place(min(count, 3)) | ",
		"x/flow.go:Handle:swap-min-max:1 | min | max",
		"x/flow.go:Handle:off-by-one:6 | 3 | 4",
		"x/flow.go:Handle:return-no-error:2 | err | nil",
		"x/flow.go:drop:off-by-one:1 | 0 | 1",
	}
	compare(t, lines, want)
}

func TestLuaOperators(t *testing.T) {
	const src = `-- if a < b then
local call = redis.call
local n = tonumber(ARGV[1])
if not n or n >= 2 then
  return {'if x == 1'}
elseif n == 1 then
  call('HDEL', KEYS[2],
    n)
end
local function f() return math.min(n, 0) end
table.remove(n)
return n ~= f()
`
	got, err := luaMutants("shared/driver/redisstock/x.lua", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range got {
		lines = append(lines, m.Name+" | "+strings.Join(strings.Fields(src[m.From:m.To]), " ")+" | "+m.New)
	}
	want := []string{
		"x.lua:negate-condition:1 | not n or n >= 2 | not (not n or n >= 2)",
		"x.lua:junction:1 | or | and",
		"x.lua:boundary:1 | >= | >",
		"x.lua:off-by-one:1 | 2 | 3",
		"x.lua:negate-condition:2 | n == 1 | not (n == 1)",
		"x.lua:off-by-one:2 | 1 | 2",
		"x.lua:drop-call:1 | call('HDEL', KEYS[2], n) | ",
		"x.lua:swap-min-max:1 | min | max",
		"x.lua:off-by-one:3 | 0 | 1",
		"x.lua:drop-call:2 | table.remove(n) | ",
		"x.lua:equality:1 | ~= | ==",
	}
	compare(t, lines, want)
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestUnreadableSourcesAreRefused(t *testing.T) {
	if _, err := luaMutants("x.lua", []byte("local s = [[long]] ?")); err == nil {
		t.Error("a script with a token that is none: no error")
	}
	if _, err := goMutants("x.go", []byte("package x\nfunc {")); err == nil {
		t.Error("a Go file that does not parse: no error")
	}
}

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

func TestSwitchedFileCallsTheActiveCopy(t *testing.T) {
	all, err := goMutants("shared/flow/x/flow.go", []byte(flowSource))
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Number = i + 1
	}
	text, err := switched("flow.go", []byte(flowSource), all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "flow.go", text, 0); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, want := range []string{
		switchImport,
		"if mutants.On(1) {\n\t\treturn f.HandleMutant1(count, rest...)\n\t}",
		"func (f *Flow) HandleMutant1(count int, rest ...string) (left int, err error) {\n\tif !(count < 1 && f.n > " +
			"0) {",
		"if mutants.On(18) {\n\t\tf.dropMutant18()\n\t\treturn\n\t}",
	} {
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
	all, err := collect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	names, drawn := map[string]bool{}, 0
	for i, m := range all {
		if names[m.Name] {
			t.Errorf("two mutants are named %s", m.Name)
		}
		names[m.Name] = true
		if m.Drawn && m.Equivalent == "" {
			drawn++
		}
		if m.Number != i+1 {
			t.Errorf("%s has number %d at place %d", m.Name, m.Number, i+1)
		}
	}
	if drawn != drawCount {
		t.Errorf("%d mutants drawn, want %d", drawn, drawCount)
	}
	files, err := overlay(s, all)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
			t.Errorf("overlay: %v", err)
		}
	}
	folder := t.TempDir()
	list, err := writeOverlay(s.root, folder, files)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(list)
	if err != nil || !strings.Contains(string(b), filepath.Join(folder, scriptsGo)) {
		t.Errorf("%s does not name %s (%v):\n%s", list, scriptsGo, err, b)
	}
}

func TestDrawingIsRepeatable(t *testing.T) {
	all, err := candidates(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	names := func(list []Mutant) (out []string) {
		for _, m := range list {
			out = append(out, m.Name)
		}
		return out
	}
	draw := func(from []Mutant, known map[string]string) []string {
		t.Helper()
		list, err := drawn(from, 7, 10, known, func(m *Mutant) bool { return !strings.Contains(m.Name, "off-by-one") })
		if err != nil {
			t.Fatal(err)
		}
		return names(list)
	}
	first := draw(all, nil)
	slices.Reverse(all)
	if again := draw(all, nil); !slices.Equal(first, again) {
		t.Errorf("drawn %v, then %v", first, again)
	}
	if more := draw(all, map[string]string{first[3]: "why"}); len(more) != 11 || !slices.Equal(more[:10], first) {
		t.Errorf("with one known to be equivalent: %v, want %v and one more", more, first)
	}
	if _, err := drawn(all[:3], 7, 10, nil, func(*Mutant) bool { return true }); err == nil {
		t.Error("ten of three: no error")
	}
}

func TestStaleEquivalentIsRefused(t *testing.T) {
	all := []Mutant{{Name: "a"}}
	if err := stale(map[string]string{"a": "why"}, all); err != nil {
		t.Error(err)
	}
	if err := stale(map[string]string{"b": "why"}, all); err == nil {
		t.Error("an equivalent mutant that nobody knows: accepted")
	}
}

func TestPick(t *testing.T) {
	all := []Mutant{{Number: 1, Name: "one"}, {Number: 2, Name: "two", Equivalent: "why"}, {Number: 3, Name: "three"},
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
		{"a sample of more than there are", []string{"-sample", "9", "-seed", "x"}, "[three one four]"},
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

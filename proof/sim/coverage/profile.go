package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the prefix of file names in a profile; flows is the folder of the flows.
const (
	module = "github.com/your-org/seckill/"
	flows  = "shared/flow/"
)

// block is a part of a flow that is always executed as one.
type block struct {
	file               string // relative to the module's root
	line, column       int
	endLine, endColumn int
	statements         int
	times              uint64
}

// flow returns the block's package.
func (b block) flow() string { return path.Dir(b.file) }

// parseProfile parses a coverage profile ("name.go:line.column,line.column statements count", Go's package cover) and
// returns the flows' blocks, sorted by position.
func parseProfile(profile []byte) ([]block, error) {
	lines := strings.Split(strings.TrimSpace(string(profile)), "\n")
	var out []block
	for _, line := range lines[1:] { // the first line has the mode
		b := block{}
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, module), ":")
		b.file = name
		n, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.line, &b.column, &b.endLine, &b.endColumn, &b.statements,
			&b.times)
		if !ok || err != nil || n != 6 {
			return nil, fmt.Errorf("coverage profile: %q: %w", line, err)
		}
		if strings.HasPrefix(b.file, flows) {
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the coverage profile says nothing of the flows")
	}
	slices.SortFunc(out, func(a, b block) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	return out, nil
}

// text returns the block's source from the start of its first line, on one line.
func (b block) text(source []string) string {
	lines := slices.Clone(source[b.line-1 : b.endLine])
	last := len(lines) - 1
	lines[last] = lines[last][:min(b.endColumn-1, len(lines[last]))]
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

// counted returns the blocks without those of elsewhere. The error names a function that its file does not have.
func counted(root string, blocks []block) (out []block, err error) {
	without := map[string][][2]int{} // first and last lines
	for _, b := range blocks {
		functions, known := elsewhere[b.file]
		if known && functions != nil && without[b.file] == nil {
			if without[b.file], err = ranges(filepath.Join(root, b.file), functions); err != nil {
				return nil, err
			}
		}
		if (!known || functions != nil) && !slices.ContainsFunc(without[b.file], func(lines [2]int) bool {
			return b.line >= lines[0] && b.endLine <= lines[1]
		}) {
			out = append(out, b)
		}
	}
	return out, nil
}

// ranges returns the lines of functions and methods of a file.
func ranges(name string, functions []string) (out [][2]int, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, 0)
	if err != nil {
		return nil, err
	}
	left := slices.Clone(functions)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if i := slices.Index(left, f.Name.Name); i >= 0 {
			left = slices.Delete(left, i, i+1)
			out = append(out, [2]int{set.Position(f.Pos()).Line, set.Position(f.End()).Line})
		}
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("%s has no %s, which is listed as played elsewhere", name, strings.Join(left, ", "))
	}
	return out, nil
}

// unreached describes every block that never ran. The error names invalid entries of the table: their text begins no
// block of the file, or several, or one that ran.
func unreached(root string, blocks []block, table []exception) (names []string, err error) {
	sources := map[string][]string{}
	matched := make([]int, len(table))
	var wrong []error
	for _, b := range blocks {
		if sources[b.file] == nil {
			source, err := os.ReadFile(filepath.Join(root, b.file))
			if err != nil {
				return nil, err
			}
			sources[b.file] = strings.Split(string(source), "\n")
		}
		text, why := b.text(sources[b.file]), ""
		for i, e := range table {
			if e.file != b.file || !strings.HasPrefix(text, e.text) {
				continue
			}
			why = " (" + e.why + ")"
			if matched[i]++; b.times > 0 {
				wrong = append(wrong, fmt.Errorf("%s:%d %s: reached %d times, and listed as never", b.file, b.line,
					e.text, b.times))
			}
		}
		if b.times == 0 {
			names = append(names, b.file+":"+strconv.Itoa(b.line)+" "+text+why)
		}
	}
	for i, e := range table {
		if matched[i] != 1 {
			wrong = append(wrong, fmt.Errorf("%s: %q begins %d blocks: want one", e.file, e.text, matched[i]))
		}
	}
	return names, errors.Join(wrong...)
}

func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

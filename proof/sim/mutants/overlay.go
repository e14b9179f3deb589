package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	switchImport = `import mutants "github.com/your-org/seckill/proof/sim/mutants/on"`
	// Where the scripts are loaded, and the replacement in the mutated binary.
	scriptsGo   = "shared/driver/redisstock/scripts.go"
	loadsScript = "return string(b)\n"
	loadsMutant = "return mutated(name, string(b))\n"
	mutatedGo   = "shared/driver/redisstock/mutated.go"
)

// overlay returns the mutated sources by path: every mutant is a switch in them.
func overlay(s *sources, mutants []Mutant) (map[string][]byte, error) {
	byFile := map[string][]Mutant{}
	for _, m := range mutants {
		byFile[m.File] = append(byFile[m.File], m)
	}
	out := map[string][]byte{}
	scripts := &bytes.Buffer{}
	fmt.Fprintf(scripts, "package redisstock\n\n%s\n\nfunc mutated(name, text string) string {\n\tswitch {\n",
		switchImport)
	for file, list := range byFile {
		src, err := s.read(file)
		if err != nil {
			return nil, err
		}
		if path.Ext(file) != ".lua" {
			if out[file], err = switched(file, src, list); err != nil {
				return nil, err
			}
			continue
		}
		for _, m := range list {
			fmt.Fprintf(scripts, "\tcase mutants.On(%d) && name == %q:\n\t\treturn %q\n", m.Number,
				strings.TrimSuffix(path.Base(file), ".lua"), m.text(src))
		}
	}
	scripts.WriteString("\t}\n\treturn text\n}\n")
	src, err := s.read(scriptsGo)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(src, []byte(loadsScript)); n != 1 {
		return nil, fmt.Errorf("%s loads scripts in another way than known here: %q is in it %d times", scriptsGo,
			loadsScript, n)
	}
	out[scriptsGo] = bytes.Replace(src, []byte(loadsScript), []byte(loadsMutant), 1)
	out[mutatedGo] = scripts.Bytes()
	return out, nil
}

// switched returns a Go file in which each mutant is a copy of the function that it changes, and the function calls
// the active copy.
func switched(file string, src []byte, list []Mutant) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	insert := map[int]string{offset(f.Name.End()): "\n\n" + switchImport + "\n"}
	var copies strings.Builder
	for _, m := range list {
		fn := function(f, offset, &m)
		if fn == nil {
			return nil, fmt.Errorf("mutant %s is not inside one function of %s whose parameters all have names", m.Name,
				file)
		}
		name := fmt.Sprintf("%sMutant%d", fn.Name.Name, m.Number)
		insert[offset(fn.Body.Lbrace)+1] += fmt.Sprintf("\n\tif mutants.On(%d) {\n\t\t%s\n\t}\n", m.Number,
			call(fn, name))
		copies.WriteString("\n")
		copies.Write(src[offset(fn.Pos()):offset(fn.Name.Pos())])
		copies.WriteString(name)
		copies.Write(src[offset(fn.Name.End()):m.From])
		copies.WriteString(m.New)
		copies.Write(src[m.To:offset(fn.End())])
		copies.WriteString("\n")
	}
	var out bytes.Buffer
	at := 0
	for _, n := range slices.Sorted(maps.Keys(insert)) {
		out.Write(src[at:n])
		out.WriteString(insert[n])
		at = n
	}
	out.Write(src[at:])
	out.WriteString(copies.String())
	return out.Bytes(), nil
}

// function returns the declaration whose body contains the mutant, or nil if a copy cannot replace it.
func function(f *ast.File, offset func(token.Pos) int, m *Mutant) *ast.FuncDecl {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Body != nil && callable(fn) && offset(fn.Body.Lbrace) < m.From && m.To < offset(fn.End()) {
			return fn
		}
	}
	return nil
}

// callable reports whether a copy of the function can be called instead: all its parameters have names.
func callable(fn *ast.FuncDecl) bool {
	fields := fn.Type.Params.List
	if fn.Recv != nil {
		fields = append(fields[:len(fields):len(fields)], fn.Recv.List...)
	}
	for _, f := range fields {
		if len(f.Names) == 0 {
			return false
		}
		for _, n := range f.Names {
			if n.Name == "_" {
				return false
			}
		}
	}
	return fn.Name.Name != "init"
}

// call returns the statement that calls a copy of the function.
func call(fn *ast.FuncDecl, name string) string {
	if fn.Recv != nil {
		name = fn.Recv.List[0].Names[0].Name + "." + name
	}
	var args []string
	for _, p := range fn.Type.Params.List {
		for _, n := range p.Names {
			a := n.Name
			if _, ok := p.Type.(*ast.Ellipsis); ok {
				a += "..."
			}
			args = append(args, a)
		}
	}
	c := name + "(" + strings.Join(args, ", ") + ")"
	if fn.Type.Results == nil {
		return c + "\n\t\treturn"
	}
	return "return " + c
}

// writeOverlay writes the mutated sources into a folder, with the file for go build -overlay, and returns that file's
// path.
func writeOverlay(root, folder string, files map[string][]byte) (string, error) {
	replace := map[string]string{}
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	for file, text := range files {
		to := filepath.Join(folder, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = to
	}
	list, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	to := filepath.Join(folder, "overlay.json")
	return to, os.WriteFile(to, list, 0o644)
}

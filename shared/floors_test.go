// Package shared_test holds the three floors: nouns and rules, flows, adapters. Dependencies point down only.
package shared_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "seckill/"

// files parses every non-test Go file below a folder.
func files(t *testing.T, root string) map[string]*ast.File {
	t.Helper()
	out := map[string]*ast.File{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		out[path] = f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatalf("no Go file below %s", root)
	}
	return out
}

func imports(f *ast.File) (paths []string) {
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			panic(err) // the parser accepted it
		}
		paths = append(paths, p)
	}
	return paths
}

// standard says whether an import path is of the standard library: the first element has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && !strings.HasPrefix(path, module)
}

func TestGroundFloor(t *testing.T) {
	for name, f := range files(t, "seckill") {
		for _, p := range imports(f) {
			if !standard(p) {
				t.Errorf("%s imports %s: shared/seckill imports the standard library only", name, p)
			}
		}
	}
}

// forbidden is what a flow may not use: it is simulated, so time, randomness, environment and concurrency come through ports.
var (
	forbiddenImports = map[string]bool{"os": true, "os/exec": true, "os/signal": true, "net": true, "net/http": true, "math/rand": true,
		"math/rand/v2": true, "crypto/rand": true, "syscall": true, "log": true, "log/slog": true}
	forbiddenTime = map[string]bool{"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true,
		"NewTimer": true, "NewTicker": true}
	forbiddenContext = map[string]bool{"WithTimeout": true, "WithDeadline": true}
)

func TestFlows(t *testing.T) {
	for name, f := range files(t, "flow") {
		for _, p := range imports(f) {
			down := p == module+"shared/seckill" || strings.HasPrefix(p, module+"shared/flow/")
			if !standard(p) && !down || forbiddenImports[p] {
				t.Errorf("%s imports %s: a flow imports shared/seckill, other flows and the pure part of the standard library", name, p)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", name)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && (x.Name == "time" && forbiddenTime[n.Sel.Name] || x.Name == "context" && forbiddenContext[n.Sel.Name]) {
					t.Errorf("%s uses %s.%s: a flow knows the time through its Clock only", name, x.Name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

// faces are the adapters that name flows' types: they stand before a flow.
var faces = []string{"adapter/httpapi/", "adapter/operator/"}

// TestAdapters: an adapter never decides by calling a flow; only a face names flows' types.
func TestAdapters(t *testing.T) {
	for name, f := range files(t, "adapter") {
		face := slices.ContainsFunc(faces, func(folder string) bool { return strings.HasPrefix(filepath.ToSlash(name), folder) })
		for _, p := range imports(f) {
			if strings.HasPrefix(p, module+"shared/flow/") && !face {
				t.Errorf("%s imports %s", name, p)
			}
			for _, up := range []string{"local", "cmd", "sim", "functions"} {
				if strings.HasPrefix(p, module+up) {
					t.Errorf("%s imports %s", name, p)
				}
			}
		}
	}
}

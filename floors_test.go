// Package seckill_test checks the module's floors: which package may import which. Dependencies point down only.
package seckill_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/your-org/seckill/"

// files parses every non-test Go file below a folder.
func files(t *testing.T, root string) map[string]*ast.File {
	t.Helper()
	out := allFiles(t, root)
	maps.DeleteFunc(out, func(name string, _ *ast.File) bool { return strings.HasSuffix(name, "_test.go") })
	return out
}

// allFiles parses every Go file below a folder, whatever its build tags; it omits folders that Go ignores.
func allFiles(t *testing.T, root string) map[string]*ast.File {
	t.Helper()
	out := map[string]*ast.File{}
	fset := token.NewFileSet()
	walk(t, root, func(path string) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = f
	})
	if len(out) == 0 {
		t.Fatalf("no Go file below %s", root)
	}
	return out
}

// walk calls do with each file below a folder, by its path with slashes. It omits hidden folders, test data, and the
// output of package managers and compilers.
func walk(t *testing.T, root string, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if n := d.Name(); d.IsDir() {
			if n != "." && n[0] == '.' || n == "testdata" || n == "node_modules" || n == "bin" {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			do(filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func imports(f *ast.File) (paths []string) {
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			panic(err) // cannot happen: the parser accepted it
		}
		paths = append(paths, p)
	}
	return paths
}

// standard reports whether an import path is in the standard library: its first element has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// floors lists the module's folders, lowest floor first. A folder imports only those that it names, all on earlier
// lines. tests has what only the folder's tests may import in addition: they start systems that are built on the
// folder.
var floors = []struct{ folder, imports, tests string }{
	{"shared/seckill", "", ""},
	{"shared/flow", "shared/seckill", "shared/api shared/driver shared/drivertest shared/fake"},
	{"shared/app", "shared/seckill shared/flow", ""},
	{"shared/api", "shared/seckill shared/flow", "shared/driver shared/drivertest shared/fake"},
	{"shared/driver", "shared/seckill", "shared"},
	{"shared/fake", "shared/seckill shared/driver", "shared/drivertest"},
	{"shared/drivertest", "shared/seckill shared/api shared/driver shared/fake", ""},
	{"events", "", "shared"},
	{"web", "shared", ""},
	{"proof/record", "shared", ""},
	{"proof/audit", "proof/record shared", "local"},
	{"proof/report", "proof/audit proof/record shared", "local"},
	{"functions", "shared web", "proof/audit local"},
	{"proof/sim", "shared", ""},
	{"infra", "shared", ""},
	{"local", "proof/audit proof/record shared web", ""},
	{"proof/crowd", "proof/record shared", "proof/audit local"},
	{"cmd", "infra local proof shared", "functions"},
	{"e2e", "cmd functions infra local proof shared web", ""},
}

// floor returns the index of the folder that contains a package.
func floor(path string) int {
	return slices.IndexFunc(floors, func(f struct{ folder, imports, tests string }) bool {
		return path == modulePath+f.folder || strings.HasPrefix(path, modulePath+f.folder+"/")
	})
}

// TestFloors checks that each package of the module is in the table and imports only what its floor may, also with
// build tags.
func TestFloors(t *testing.T) {
	for i, f := range floors {
		for _, below := range strings.Fields(f.imports) {
			if !slices.ContainsFunc(floors[:i], func(g struct{ folder, imports, tests string }) bool {
				return g.folder == below || strings.HasPrefix(g.folder, below+"/")
			}) {
				t.Errorf("%s imports %s, which does not stand below it", f.folder, below)
			}
		}
		for name, file := range allFiles(t, f.folder) {
			allowed := f.folder + " " + f.imports
			if strings.HasSuffix(name, "_test.go") {
				allowed += " " + f.tests
			}
			for _, p := range imports(file) {
				if strings.HasPrefix(p, modulePath) && !slices.ContainsFunc(strings.Fields(allowed),
					func(folder string) bool {
						return p == modulePath+folder || strings.HasPrefix(p, modulePath+folder+"/")
					}) {
					t.Errorf("%s imports %s; %s may import %s", name, p, f.folder, allowed)
				}
			}
		}
	}
	for name, file := range allFiles(t, ".") {
		folder := modulePath + filepath.ToSlash(filepath.Dir(name))
		if floor(folder) < 0 && file.Name.Name != "seckill_test" {
			t.Errorf("%s is in no folder of the table of floors", name)
		}
	}
}

func TestGroundFloor(t *testing.T) {
	for name, f := range files(t, "shared/seckill") {
		for _, p := range imports(f) {
			if !standard(p) {
				t.Errorf("%s imports %s: shared/seckill imports the standard library only", name, p)
			}
		}
	}
}

// forbidden is what a flow must not use: a flow is simulated, so time, randomness, environment and concurrency come
// through ports.
var (
	forbiddenImports = map[string]bool{"os": true, "os/exec": true, "os/signal": true, "net": true, "net/http": true,
		"math/rand":    true,
		"math/rand/v2": true, "crypto/rand": true, "syscall": true, "log": true, "log/slog": true}
	forbiddenTime = map[string]bool{"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true,
		"AfterFunc": true, "Tick": true,
		"NewTimer": true, "NewTicker": true}
	forbiddenContext = map[string]bool{"WithTimeout": true, "WithDeadline": true}
)

func TestFlows(t *testing.T) {
	for name, f := range files(t, "shared/flow") {
		for _, p := range imports(f) {
			down := p == modulePath+"shared/seckill" || strings.HasPrefix(p, modulePath+"shared/flow/")
			if !standard(p) && !down || forbiddenImports[p] {
				t.Errorf(
					"%s imports %s: a flow imports shared/seckill, other flows and the pure part of the standard "+
						"library", name, p)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", name)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && (x.Name == "time" && forbiddenTime[n.Sel.Name] ||
					x.Name == "context" && forbiddenContext[n.Sel.Name]) {
					t.Errorf("%s uses %s.%s: a flow knows the time through its Clock only", name, x.Name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

// faces are the packages of the API that name flows' types, because they call a flow.
var faces = []string{"shared/api/httpapi/", "shared/api/operator/"}

// TestFaces checks that the rest of the API never calls a flow to decide something.
func TestFaces(t *testing.T) {
	for name, f := range files(t, "shared/api") {
		face := slices.ContainsFunc(faces, func(folder string) bool {
			return strings.HasPrefix(filepath.ToSlash(name), folder)
		})
		for _, p := range imports(f) {
			if strings.HasPrefix(p, modulePath+"shared/flow/") && !face {
				t.Errorf("%s imports %s", name, p)
			}
		}
	}
}

// maxMethods is the largest number of methods that an interface of package seckill may declare itself.
const maxMethods = 10

// TestPortsAreSmall checks that no port declares more than maxMethods, and that a flow names the ports that it calls,
// not Stock or Ledger, which have all of them.
func TestPortsAreSmall(t *testing.T) {
	for name, f := range files(t, "shared/seckill") {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			port, ok := spec.Type.(*ast.InterfaceType)
			if !ok {
				return true
			}
			methods := 0
			for _, m := range port.Methods.List {
				methods += len(m.Names) // no names: an embedded interface
			}
			if methods > maxMethods {
				t.Errorf("%s: %s has %d methods, want at most %d", name, spec.Name.Name, methods, maxMethods)
			}
			return true
		})
	}
	for name, f := range files(t, "shared/flow") {
		ast.Inspect(f, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok && (x.Sel.Name == "Stock" || x.Sel.Name == "Ledger") {
				if of, ok := x.X.(*ast.Ident); ok && of.Name == "seckill" {
					t.Errorf("%s names seckill.%s: it should name the ports that it calls", name, x.Sel.Name)
				}
			}
			return true
		})
	}
}

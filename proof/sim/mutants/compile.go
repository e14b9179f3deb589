package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/gopher-lua/parse"
)

// compiler checks whether mutated files compile, without building them.
type compiler struct {
	sources *sources
	fset    *token.FileSet
	imports types.Importer
}

// newCompiler asks the go tool to compile these packages' imports, which are usually cached.
func newCompiler(ctx context.Context, s *sources, packages ...string) (*compiler, error) {
	cmd := exec.CommandContext(ctx, "go",
		append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}, packages...)...)
	cmd.Dir = s.root
	cmd.Stderr = os.Stderr
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(list)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[name] = file
	}
	c := &compiler{sources: s, fset: token.NewFileSet()}
	c.imports = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	return c, nil
}

// check returns nil if the mutated file compiles with the rest of its package.
func (c *compiler) check(m *Mutant) error {
	src, err := c.sources.read(m.File)
	if err != nil {
		return err
	}
	text := m.text(src)
	if path.Ext(m.File) == ".lua" {
		_, err := parse.Parse(bytes.NewReader(text), m.File)
		return err
	}
	names, err := filepath.Glob(filepath.Join(c.sources.root, path.Dir(m.File), "*.go"))
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") {
			continue
		}
		var with any
		if n == filepath.Join(c.sources.root, m.File) {
			with = text
		}
		f, err := parser.ParseFile(c.fset, n, with, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	_, err = (&types.Config{Importer: c.imports}).Check(path.Dir(m.File), c.fset, files, nil)
	return err
}

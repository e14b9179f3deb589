// Command house prints how large the house is; `go run ./infra/house arrows [-v] [PACKAGES]` prints how many arrows
// between the files of a package go back up. In: the checkout, whose root it runs in. Out: a table.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// ourFiles is go list's format for the files of a package of this module.
const ourFiles = "{{if .Module}}{{if .Module.Main}}{{range .GoFiles}}{{$.Dir}}/{{.}}\n{{end}}{{end}}{{end}}"

// wiring has the folders that give flows their ports, beside shared/app.
var wiring = map[string]bool{"functions/": true, "local/": true, "proof/": true, "cmd/": true, "e2e/": true}

func main() {
	what := run
	if len(os.Args) > 1 && os.Args[1] == "arrows" {
		what = func(w io.Writer) error { return printArrows(w, os.Args[2:]) }
	}
	if err := what(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	files, err := list("git", "ls-files")
	if err != nil {
		return err
	}
	packages, err := list("go", "list", "./...")
	if err != nil {
		return err
	}
	mains, err := list("go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./functions/...")
	if err != nil {
		return err
	}
	linked, err := list("go", append([]string{"list", "-deps", "-f", ourFiles}, mains...)...)
	if err != nil {
		return err
	}
	size, err := zipped("./functions/buy")
	if err != nil {
		return err
	}
	folders, goLines, wired, tables, parameters := map[string]bool{}, 0, 0, 0, 0
	for _, name := range files {
		if folder, _, below := strings.Cut(name, "/"); below && folder[0] != '.' {
			folders[folder] = true
		}
		isGo, isYAML := strings.HasSuffix(name, ".go"), strings.HasSuffix(name, ".yaml")
		if !isGo && !isYAML {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		switch {
		case isGo:
			goLines += bytes.Count(text, []byte("\n"))
			if wiring[name[:strings.IndexByte(name, '/')+1]] && !strings.HasSuffix(name, "_test.go") {
				wired += bytes.Count(text, []byte("Deps{"))
			}
		case name == "template.yaml":
			parameters = count(text, `(?ms)^Parameters:\n(.*?)^\S`, `(?m)^  \w+:`)
		default:
			tables += count(text, `(?s)(.*)`, `Type: AWS::DynamoDB::Table`)
		}
	}
	code := 0
	for _, name := range linked {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		code += bytes.Count(text, []byte("\n"))
	}
	for _, row := range []struct {
		what string
		is   any
	}{
		{"Deps{ outside shared/app", wired}, {"folders at the top", len(folders)}, {"packages", len(packages)},
		{"Go lines", goLines}, {"Go lines linked into functions", code}, {"DynamoDB tables", tables},
		{"template parameters", parameters}, {"bytes of buy.zip, arm64", size},
	} {
		fmt.Fprintf(w, "%-32s %9d\n", row.what, row.is)
	}
	return nil
}

// list returns the lines that a command prints, without empty ones.
func list(name string, args ...string) ([]string, error) {
	out, err := exec.CommandContext(context.Background(), name, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), nil
}

// count returns how often a pattern occurs in the part of a text that another pattern captures.
func count(text []byte, part, pattern string) int {
	m := regexp.MustCompile(part).FindSubmatch(text)
	if m == nil {
		return 0
	}
	return len(regexp.MustCompile(pattern).FindAll(m[1], -1))
}

// zipped returns the size of a function as it is deployed.
func zipped(main string) (int, error) {
	folder, err := os.MkdirTemp("", "house")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	binary := filepath.Join(folder, "bootstrap")
	build := exec.CommandContext(context.Background(), "go", "build", "-tags", "lambda.norpc", "-ldflags", "-s",
		"-trimpath", "-buildvcs=false", "-o", binary, main)
	build.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w\n%s", err, out)
	}
	// Go's own compresses less than what deploys.
	out, err := exec.CommandContext(context.Background(), "gzip", "-9", "-c", binary).Output()
	return len(out), err
}

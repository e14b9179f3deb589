// Command bundle writes web/dist, what the shop serves, from web/src, web/vendor and docs/openapi.yaml: `make generate`
// runs it. In: the sources. Out: scripts and styles bundled, minified and named by their content; each page in each
// language; pictures; the API's description as JSON and as a page. Run it in the module's root.
//
// Files of the last release stay in web/dist, so that a page which was opened before a deployment finds the files that
// it names: web/released.txt lists them, and -release writes that list anew.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Paths in the module's root.
const (
	source   = "web/src"
	dist     = "web/dist"
	openapi  = "docs/openapi.yaml"
	released = "web/released.txt" // one name per line
	hashed   = "assets/"          // folder of files whose name has a hash of their content
)

// languages are the pages' languages, as texts stand in i18n.js.
var languages = []struct{ suffix, tag string }{{"zh", "zh-CN"}, {"en", "en"}}

func main() {
	release := flag.Bool("release", false, "record today's hashed files as the last release's")
	flag.Parse()
	if err := write(".", *release); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// write brings dist up to date.
func write(root string, release bool) error {
	files, err := build(root)
	if err != nil {
		return err
	}
	if release {
		if err := os.WriteFile(filepath.Join(root, released), []byte(list(files)), 0o644); err != nil {
			return err
		}
	}
	kept, err := lastRelease(root)
	if err != nil {
		return err
	}
	present, err := listed(filepath.Join(root, dist))
	if err != nil {
		return err
	}
	for _, name := range present {
		if files[name] == nil && !slices.Contains(kept, name) {
			if err := os.Remove(filepath.Join(root, dist, name)); err != nil {
				return err
			}
		}
	}
	for name, body := range files {
		target := filepath.Join(root, dist, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, body, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// inAddress writes a picture of ours into a data address in an attribute: half as long as base64 once it is compressed.
var inAddress = strings.NewReplacer("\n  ", "", "\n", "", `"`, "'", "#", "%23")

func list(files map[string][]byte) string {
	var names strings.Builder
	for _, name := range slices.Sorted(keys(files)) {
		if strings.HasPrefix(name, hashed) {
			names.WriteString(name + "\n")
		}
	}
	return names.String()
}

func keys(files map[string][]byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}
}

// lastRelease returns the names of the last release's hashed files.
func lastRelease(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, released))
	return strings.Fields(string(text)), err
}

// listed returns the files below a folder, by path; none if there is no folder.
func listed(folder string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// build returns the files of dist by path.
func build(root string) (map[string][]byte, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	names, err := bundle(root, files)
	if err != nil {
		return nil, err
	}
	pictures, err := listed(filepath.Join(root, source, "pictures"))
	if err != nil {
		return nil, err
	}
	for _, name := range pictures {
		if files["pictures/"+name], err = os.ReadFile(filepath.Join(root, source, "pictures", name)); err != nil {
			return nil, err
		}
	}
	var scripts []byte
	for _, name := range []string{"i18n.js", "status-texts.js", "admin/texts.js"} {
		text, err := os.ReadFile(filepath.Join(root, source, name))
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, text...)
	}
	early := files[names["early.js"]] // it stands in its page and is not a file
	delete(files, names["early.js"])
	delete(names, "early.js")
	logo := "data:image/svg+xml," + inAddress.Replace(string(files["pictures/logo.svg"]))
	for _, page := range []string{"index", "status", "admin", "item", "404"} {
		text, err := os.ReadFile(filepath.Join(root, source, page+".html"))
		if err != nil {
			return nil, err
		}
		for i, l := range languages {
			out, err := translate(string(text), texts(string(scripts)), i)
			if err != nil {
				return nil, fmt.Errorf("%s.html: %w", page, err)
			}
			for old, name := range names {
				out = strings.ReplaceAll(out, `"`+old+`"`, `"`+name+`"`)
			}
			out = strings.ReplaceAll(out, `<script src="early.js">`, "<script>"+string(bytes.TrimSpace(early)))
			files[page+"."+l.suffix+".html"] = []byte(strings.ReplaceAll(out, `"pictures/logo.svg"`, `"`+logo+`"`))
		}
	}
	return files, describe(filepath.Join(root, openapi), names, files)
}

// bundle adds the scripts and styles to files and returns their hashed names by source name. Only app.js and admin.js,
// and what they import later, may import a script later (`import()`): that one becomes a file of its own. What it
// shares with app.js would become a third file, which every first look loads, so it shares nothing:
// TestFirstLookIsSmall counts files.
func bundle(root string, files map[string][]byte) (map[string]string, error) {
	folder := filepath.Join(root, source)
	names := map[string]string{}
	for _, entries := range [][]string{{"app.js"}, {"early.js", "status.js", "style.css", "status.css", "docs.css"},
		{"admin.js", "admin.css", "curves.css"}} {
		result := api.Build(api.BuildOptions{
			AbsWorkingDir: folder, Outdir: filepath.Join(root, dist), EntryPoints: entries,
			EntryNames: hashed + "[name]-[hash]", ChunkNames: hashed + "[name]-[hash]", Splitting: true,
			Bundle: true, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
			MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
			LegalComments: api.LegalCommentsEndOfFile, LogLevel: api.LogLevelSilent, Plugins: []api.Plugin{licences},
		})
		if len(result.Errors) > 0 {
			return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
		}
		for _, f := range result.OutputFiles {
			name, err := filepath.Rel(filepath.Join(root, dist), f.Path)
			if err != nil {
				return nil, err
			}
			name = filepath.ToSlash(name)
			files[name] = f.Contents
			stem, _, _ := strings.Cut(path.Base(name), "-")
			names[stem+path.Ext(name)] = name
		}
	}
	return names, nil
}

// licences puts the licence of a vendored library into the file that its code gets into: its terms ask for that.
var licences = api.Plugin{Name: "licences", Setup: func(b api.PluginBuild) {
	b.OnLoad(api.OnLoadOptions{Filter: `[/\\]vendor[/\\].*\.(js|css)$`}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		code, err := os.ReadFile(a.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		licence, err := os.ReadFile(filepath.Join(filepath.Dir(a.Path), "LICENSE.md"))
		library := filepath.Base(filepath.Dir(a.Path))
		text := "/*! " + library + "\n" + string(licence) + "*/\n" + string(code)
		loader := api.LoaderJS
		if strings.HasSuffix(a.Path, ".css") {
			loader = api.LoaderCSS
		}
		return api.OnLoadResult{Contents: &text, Loader: loader}, err
	})
}}

// texts returns the rows of the tables of i18n.js, status-texts.js and admin/texts.js: name: ['Chinese', 'English'].
func texts(script string) map[string][2]string {
	out := map[string][2]string{}
	row := regexp.MustCompile(`(?m)^  (\w+): \['((?:[^'\\]|\\.)*)', '((?:[^'\\]|\\.)*)'\],$`)
	for _, m := range row.FindAllStringSubmatch(script, -1) {
		out[m[1]] = [2]string{strings.ReplaceAll(m[2], `\`, ""), strings.ReplaceAll(m[3], `\`, "")}
	}
	return out
}

var (
	named   = regexp.MustCompile(`(<[^>]*data-text="(\w+)"[^>]*>)(</)`)
	labels  = regexp.MustCompile(`data-label="(\w+)"`)
	inText  = regexp.MustCompile(`\{\{(\w+)\}\}`) // {name} is for the server to fill in
	oneLang = regexp.MustCompile(`<html lang="[^"]*"`)
)

// translate fills in a page's texts, so that there is something to read before any script runs.
func translate(page string, table map[string][2]string, language int) (string, error) {
	var missing []string
	text := func(name string) string {
		row, ok := table[name]
		if !ok {
			missing = append(missing, name)
		}
		return html.EscapeString(row[language])
	}
	page = oneLang.ReplaceAllLiteralString(page, `<html lang="`+languages[language].tag+`"`)
	page = named.ReplaceAllStringFunc(page, func(s string) string {
		m := named.FindStringSubmatch(s)
		return m[1] + text(m[2]) + m[3]
	})
	page = labels.ReplaceAllStringFunc(page, func(s string) string {
		return s + ` aria-label="` + text(labels.FindStringSubmatch(s)[1]) + `"`
	})
	page = inText.ReplaceAllStringFunc(page, func(s string) string { return text(s[2 : len(s)-2]) })
	if len(missing) > 0 {
		return "", fmt.Errorf("i18n.js has no %s", strings.Join(missing, ", "))
	}
	return page, nil
}

package seckill_test

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// banned is a row of GLOSSARY's table of words to avoid: the word, its replacement, and folders that may use it.
type banned struct {
	word, use string
	may       []string
}

// bannedWords reads GLOSSARY's last table. Names must comply with all rows, text with those in bold.
func bannedWords(t *testing.T) (names, text map[string]banned) {
	t.Helper()
	_, table, _ := strings.Cut(page(t, "docs/GLOSSARY.md"), "## Words not to use")
	names, text = map[string]banned{}, map[string]banned{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\*\*)?([a-z, ]+?)(?:\*\*)? \| (.+?) \| (.*?)\|$`).
		FindAllStringSubmatch(table, -1) {
		for word := range strings.SplitSeq(row[2], ", ") {
			if word == "not" {
				continue
			}
			b := banned{word, row[3], strings.Fields(strings.ReplaceAll(row[4], "`", ""))}
			names[word] = b
			if row[1] != "" {
				text[word] = b
			}
		}
	}
	if len(names) < 20 || len(text) < 5 {
		t.Fatalf("docs/GLOSSARY.md: %d words not to use, %d of them in text, want more", len(names), len(text))
	}
	return names, text
}

func (b banned) allowed(file string) bool {
	return slices.ContainsFunc(b.may, func(folder string) bool { return strings.HasPrefix(file, folder) })
}

var (
	acronym   = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`) // HTTPServer is two words, HTTP and Server
	camelWord = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)
	textWord  = regexp.MustCompile(`[A-Za-z]+`)
)

// TestNamesAreGlossarys: no name that Go code declares has a word that GLOSSARY replaces.
func TestNamesAreGlossarys(t *testing.T) {
	names, _ := bannedWords(t)
	for file, f := range allFiles(t, ".") {
		check := func(ids ...*ast.Ident) {
			for _, id := range ids {
				for _, w := range camelWord.FindAllString(acronym.ReplaceAllString(id.Name, "${1}_$2"), -1) {
					if b, ok := names[strings.ToLower(w)]; ok && !b.allowed(file) {
						t.Errorf("%s: the name %s has %q: docs/GLOSSARY.md says %s", file, id.Name, w, b.use)
					}
				}
			}
		}
		check(f.Name)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				check(n.Name)
			case *ast.TypeSpec:
				check(n.Name)
			case *ast.ValueSpec:
				check(n.Names...)
			case *ast.Field:
				check(n.Names...)
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					check(identifiers(n.Lhs...)...)
				}
			case *ast.RangeStmt:
				if n.Tok == token.DEFINE {
					check(identifiers(n.Key, n.Value)...)
				}
			}
			return true
		})
	}
}

func identifiers(list ...ast.Expr) (out []*ast.Ident) {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			out = append(out, id)
		}
	}
	return out
}

// textFiles calls do with each file that people write and read.
func textFiles(t *testing.T, do func(file, text string)) {
	t.Helper()
	kinds := []string{".go", ".md", ".lua", ".yaml", ".yml", ".js", ".mjs", ".sh", ".html", ".css"}
	walk(t, ".", func(file string) {
		if slices.Contains(kinds, path.Ext(file)) && !strings.HasPrefix(file, "web/vendor/") { // others write those
			do(file, page(t, file))
		}
	})
}

// TestTextIsGlossarys checks that comments, strings, pages, scripts and templates avoid the words that the glossary has
// in bold.
func TestTextIsGlossarys(t *testing.T) {
	_, text := bannedWords(t)
	textFiles(t, func(file, all string) {
		if slices.Contains([]string{"docs/GLOSSARY.md", "CHANGELOG.md", "words_test.go"}, file) {
			return // they name the words that are replaced
		}
		for i, line := range strings.Split(all, "\n") {
			for _, w := range textWord.FindAllString(line, -1) {
				if b, ok := text[strings.ToLower(w)]; ok && !b.allowed(file) {
					t.Errorf("%s:%d: %q: docs/GLOSSARY.md says %s", file, i+1, w, b.use)
				}
			}
		}
	})
}

// maxColumns is the longest line, with tabs as four columns.
const maxColumns = 120

// TestLinesAreShort: no line of Go, Lua, YAML and Markdown is over maxColumns, but for lines with a URL or
// the module's path, strings in backquotes, and in Markdown tables and code.
func TestLinesAreShort(t *testing.T) {
	textFiles(t, func(file, all string) {
		kind := path.Ext(file)
		fence := map[string]string{".go": "`", ".lua": "", ".yaml": "", ".yml": "", ".md": "```"}
		quote, held := fence[kind]
		if !held {
			return
		}
		quoted := false // within a quotation of several lines
		for i, line := range strings.Split(all, "\n") {
			columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
			within := quoted
			if quote != "" && strings.Count(line, quote)%2 == 1 {
				quoted = !quoted
			}
			free := within || strings.Contains(line, "://") || strings.Contains(line, modulePath) || kind == ".go" && strings.Contains(line, quote) ||
				kind == ".md" && strings.Contains(line, "|")
			if columns > maxColumns && !free {
				t.Errorf("%s:%d: %d columns, want at most %d", file, i+1, columns, maxColumns)
			}
		}
	})
}

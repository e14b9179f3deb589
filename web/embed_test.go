package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, method, target string, header http.Header) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for k, v := range header {
		r.Header[k] = v
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestHandlerServesPagesAndFiles(t *testing.T) {
	for _, c := range []struct {
		name, method, target string
		status               int
		contentType          string
	}{
		{"storefront", "GET", "/", 200, "text/html; charset=utf-8"},
		{"status page", "GET", "/status", 200, "text/html; charset=utf-8"},
		{"script", "GET", "/app.js", 200, "text/javascript; charset=utf-8"},
		{"style", "GET", "/style.css", 200, "text/css; charset=utf-8"},
		{"picture", "GET", "/pictures/logo.svg", 200, "image/svg+xml"},
		{"icon of pages without one", "GET", "/favicon.ico", 200, "image/svg+xml"},
		{"language in the address", "GET", "/?lang=en", 200, "text/html; charset=utf-8"},
		{"head", "HEAD", "/app.js", 200, "text/javascript; charset=utf-8"},
		{"unknown", "GET", "/nothing.js", 404, ""},
		{"folder", "GET", "/pictures", 404, ""},
		{"sources are not files", "GET", "/embed.go", 404, ""},
		{"climbing out", "GET", "/pictures/../embed.go", 404, ""},
		{"post", "POST", "/", 405, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := get(t, c.method, c.target, nil)
			if got.StatusCode != c.status || got.Header.Get("Content-Type") != c.contentType {
				t.Errorf("%s %s: got %d %q, want %d %q", c.method, c.target, got.StatusCode,
					got.Header.Get("Content-Type"), c.status, c.contentType)
			}
			if c.status == 200 && got.Header.Get("Content-Security-Policy") != ContentSecurityPolicy {
				t.Errorf("%s: got policy %q", c.target, got.Header.Get("Content-Security-Policy"))
			}
		})
	}
}

func TestHandlerSavesKnownFiles(t *testing.T) {
	etag := get(t, "GET", "/app.js", nil).Header.Get("ETag")
	if etag == "" {
		t.Fatal("no ETag")
	}
	for sent, want := range map[string]int{etag: 304, `"other"`: 200} {
		if got := get(t, "GET", "/app.js", http.Header{"If-None-Match": {sent}}).StatusCode; got != want {
			t.Errorf("If-None-Match %s: got %d, want %d", sent, got, want)
		}
	}
}

func each(t *testing.T, exts string, f func(name, text string)) {
	t.Helper()
	n := 0
	err := fs.WalkDir(FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(exts, path.Ext(name)) {
			return err
		}
		body, err := FS.ReadFile(name)
		f(name, string(body))
		n++
		return err
	})
	if err != nil || n == 0 {
		t.Fatalf("%s: %d files, error %v", exts, n, err)
	}
}

// The policy forbids inline code and foreign hosts; a page that needed them would break silently in the browser.
func TestPagesLiveUnderTheirPolicy(t *testing.T) {
	forbidden := regexp.MustCompile(
		`(?i)<style|\sstyle=|\son\w+=|<script(?:[^>]*)>[^<]|javascript:|\b(?:src|href)="(?:https?:)?//`)
	each(t, ".html", func(name, text string) {
		if got := forbidden.FindString(text); got != "" {
			t.Errorf("%s has %q", name, got)
		}
	})
	code := regexp.MustCompile(`\beval\(|new Function|document\.write|setAttribute\('style'|\bstyle: ['"` + "`" +
		`]|https?://`)
	each(t, ".js .css", func(name, text string) {
		for _, got := range code.FindAllString(text, -1) {
			if got != "http://" || !strings.Contains(text, "http://www.w3.org/2000/svg") {
				t.Errorf("%s has %q", name, got)
			}
		}
	})
}

func TestEveryReferenceIsEmbedded(t *testing.T) {
	reference := regexp.MustCompile(`(?:src|href)="([^"#]+)"|from '\./([^']+)'|url\("?([^")]+)"?\)`)
	n := 0
	each(t, ".html .js .css", func(name, text string) {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			target := m[1] + m[2] + m[3]
			if target == "./" {
				continue
			}
			n++
			if _, err := FS.Open(target); err != nil {
				t.Errorf("%s names %q: %v", name, target, err)
			}
		}
	})
	if n < 30 {
		t.Errorf("only %d references found: the pattern is out of date", n)
	}
}

// HTML may enter a page in one place only: an item's detail, which was sanitised when the item was imported.
func TestHTMLEntersInOnePlace(t *testing.T) {
	sink := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser`)
	got := map[string]int{}
	each(t, ".js", func(name, text string) {
		if n := len(sink.FindAllString(text, -1)); n > 0 {
			got[name] = n
		}
	})
	if len(got) != 1 || got["items.js"] != 1 {
		t.Errorf("got %v, want one in items.js", got)
	}
}

package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// ask sends a request to a handler whose next handler answers 418.
func ask(t *testing.T, o Options, method, target string, header http.Header) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for k, v := range header {
		r.Header[k] = v
	}
	w := httptest.NewRecorder()
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	Handler(next, o).ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// named returns the path of an embedded file by a pattern that only it matches, e.g. "assets/app-*.js".
func named(t *testing.T, pattern string) string {
	t.Helper()
	names, err := fs.Glob(embedded, "dist/"+pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, error %v", pattern, names, err)
	}
	return strings.TrimPrefix(names[0], "dist/")
}

func TestHandlerServesPagesAndFiles(t *testing.T) {
	script := "/" + named(t, "assets/app-*.js")
	const html, passed = "text/html; charset=utf-8", http.StatusTeapot
	for _, c := range []struct {
		name, method, target string
		status               int
		contentType, cache   string
	}{
		{"storefront", "GET", "/", 200, html, cachePage},
		{"language in the address", "GET", "/?lang=en", 200, html, cachePage},
		{"back office", "GET", "/admin", 200, html, cachePage},
		{"API's page", "GET", "/docs", 200, html, cachePage},
		{"API's description", "GET", "/openapi.json", 200, "application/json", cachePage},
		{"script", "GET", script, 200, "text/javascript; charset=utf-8", cacheHashed},
		{"style", "GET", "/" + named(t, "assets/style-*.css"), 200, "text/css; charset=utf-8", cacheHashed},
		{"picture", "GET", "/pictures/logo.svg", 200, "image/svg+xml; charset=utf-8", cachePicture},
		{"icon of pages without one", "GET", "/favicon.ico", 200, "image/svg+xml; charset=utf-8", cachePicture},
		{"head", "HEAD", script, 200, "text/javascript; charset=utf-8", cacheHashed},
		{"status page, deployed", "GET", "/status", passed, "", ""},
		{"a page's file name", "GET", "/index.zh.html", passed, "", ""},
		{"the back office's door", "GET", "/admin/session", passed, "", ""},
		{"the API", "GET", "/seckill/ing", passed, "", ""},
		{"unknown", "GET", "/assets/app-00000000.js", passed, "", ""},
		{"folder", "GET", "/pictures", passed, "", ""},
		{"sources are not files", "GET", "/src/app.js", passed, "", ""},
		{"climbing out", "GET", "/pictures/../page.go", passed, "", ""},
		{"post", "POST", "/", 405, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, Options{}, c.method, c.target, nil)
			if got.StatusCode != c.status || got.Header.Get("Content-Type") != c.contentType ||
				got.Header.Get("Cache-Control") != c.cache {
				t.Errorf("%s %s: got %d %v, want %+v", c.method, c.target, got.StatusCode, got.Header, c)
			}
			body := text(t, got)
			if policy := got.Header.Get("Content-Security-Policy"); c.status == 200 && policy != policyFor(body) {
				t.Errorf("%s: got policy %q, want %q", c.target, policy, policyFor(body))
			}
			if (c.status == 200 && c.method == "GET") != (body != "") {
				t.Errorf("%s %s: %d bytes", c.method, c.target, len(body))
			}
		})
	}
	local := Options{Local: true}
	if got := ask(t, local, "GET", "/status", nil).StatusCode; got != 200 {
		t.Errorf("status page beside a local system: got %d", got)
	}
	for o, want := range map[Options]bool{{}: false, local: true} {
		if got := strings.Contains(text(t, ask(t, o, "GET", "/", nil)), "<html data-local "); got != want {
			t.Errorf("%+v: the page says that it is local: %v", o, got)
		}
	}
}

// TestPagesMayConnectWhereTheShopPushes checks that a page may open connections to the origin of Options.Push, which
// the policy names, and to no other, and that the page knows that there is push.
func TestPagesMayConnectWhereTheShopPushes(t *testing.T) {
	for _, c := range []struct{ push, sources string }{
		{"", "'self'"},
		{"wss://push.example.com/live", "'self' wss://push.example.com"},
		{"wss://push.example.com", "'self' wss://push.example.com"},
		{"ws://127.0.0.1:8100/live", "'self' ws://127.0.0.1:8100"},
		{"ws://[::1]:8100/live", "'self' ws://[::1]:8100"},
		{"https://push.example.com/live", "'self'"},
		{"wss://push.example.com; script-src *", "'self' wss://push.example.com"},
	} {
		for _, target := range []string{"/", "/?lang=en", "/" + named(t, "assets/app-*.js")} {
			got := ask(t, Options{Push: c.push}, "GET", target, nil)
			body := text(t, got)
			policy, want := got.Header.Get("Content-Security-Policy"), policyFor(body)
			want = strings.Replace(want, "connect-src 'self';", "connect-src "+c.sources+";", 1)
			if policy != want {
				t.Errorf("push %q, %s: got policy %q, want %q", c.push, target, policy, want)
			}
			knows := c.push != "" && !strings.HasPrefix(target, "/assets")
			if strings.Contains(body, "<html data-push ") != knows {
				t.Errorf("push %q, %s: the page says otherwise: %.60s", c.push, target, body)
			}
		}
	}
}

// policyFor returns the policy that a body needs: the pages' own, and the hash of the script in a storefront.
func policyFor(body string) string {
	_, script, found := strings.Cut(body, "<script>")
	if !found {
		return ContentSecurityPolicy
	}
	script, _, _ = strings.Cut(script, "</script>")
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; script-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
		strings.TrimPrefix(ContentSecurityPolicy, "default-src 'none'; script-src 'self'; ")
}

// TestOneScriptStandsInAPage checks that the storefront, and no other page, has a script in it, and only one.
func TestOneScriptStandsInAPage(t *testing.T) {
	for target, want := range map[string]int{"/?lang=zh": 1, "/?lang=en": 1, "/admin": 0, "/status": 0, "/docs": 0} {
		page := text(t, ask(t, Options{Local: true}, "GET", target, nil))
		if got := regexp.MustCompile(`<script(?:>|[^>]*>[^<])`).FindAllString(page, -1); len(got) != want {
			t.Errorf("%s: %d scripts, want %d", target, len(got), want)
		}
	}
}

func TestHandlerSavesKnownFiles(t *testing.T) {
	target := "/" + named(t, "assets/app-*.js")
	etag := ask(t, Options{}, "GET", target, nil).Header.Get("ETag")
	if etag == "" {
		t.Fatal("no ETag")
	}
	for sent, want := range map[string]int{etag: 304, `W/"a", ` + etag: 304, `"other"`: 200} {
		got := ask(t, Options{}, "GET", target, http.Header{"If-None-Match": {sent}})
		if got.StatusCode != want {
			t.Errorf("If-None-Match %s: got %d, want %d", sent, got.StatusCode, want)
		}
		if got.Header.Get("Cache-Control") == "" {
			t.Errorf("If-None-Match %s: no Cache-Control", sent)
		}
	}
}

// TestLanguage checks that the first look is in the browser's language, before any script runs.
func TestLanguage(t *testing.T) {
	const chinese, english = "<html lang=\"zh-CN\"", "<html lang=\"en\""
	for _, c := range []struct{ target, accept, want string }{
		{"/", "", chinese},
		{"/", "zh-CN,zh;q=0.9,en;q=0.8", chinese},
		{"/", "en-GB,en;q=0.9,zh;q=0.8", english},
		{"/", "de-DE,de;q=0.9,en;q=0.8", english},
		{"/", "EN", english},
		{"/", "en;q=0.9", english},
		{"/", "fr", chinese},
		{"/", "eng, zhx", chinese},
		{"/?lang=en", "zh-CN", english},
		{"/admin", "en-GB", english},
		{"/admin?lang=zh", "en-GB", chinese},
		{"/?lang=zh", "en", chinese},
		{"/?lang=%zz", "en", english},
	} {
		got := ask(t, Options{}, "GET", c.target, http.Header{"Accept-Language": {c.accept}})
		if page := text(t, got); !strings.Contains(page, c.want) {
			t.Errorf("%s, %q: want %s in %.60s", c.target, c.accept, c.want, page)
		}
		if got.Header.Get("Vary") != "Accept-Language" {
			t.Errorf("%s: Vary %q", c.target, got.Header.Get("Vary"))
		}
	}
}

// TestFirstLookIsSmall bounds what the storefront's first look sends, beside the lists: at most 32,500 bytes
// compressed.
func TestFirstLookIsSmall(t *testing.T) {
	const most = 32_500
	o, sent := Options{Local: true, Compress: true}, 0
	gzip := http.Header{"Accept-Encoding": {"gzip, deflate"}}
	page := text(t, ask(t, Options{}, "GET", "/", nil))
	targets := append([]string{"/"}, regexp.MustCompile(`assets/[^"]+`).FindAllString(page, -1)...)
	for _, target := range targets {
		got := ask(t, o, "GET", "/"+strings.TrimPrefix(target, "/"), gzip)
		if got.StatusCode != 200 || got.Header.Get("Content-Encoding") != "gzip" ||
			!strings.Contains(strings.Join(got.Header["Vary"], ","), "Accept-Encoding") {
			t.Errorf("%s: %d %v", target, got.StatusCode, got.Header)
		}
		sent += len(text(t, got))
		if again := ask(t, o, "GET", "/"+strings.TrimPrefix(target, "/"), nil); again.Header.Get("ETag") ==
			got.Header.Get("ETag") || again.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: one ETag for two bodies, or compressed unasked: %v", target, again.Header)
		}
	}
	if len(targets) != 3 || sent > most {
		t.Errorf("%d bytes for %v, want at most %d for a page, a style and a script", sent, targets, most)
	}
	if docs := text(t, ask(t, Options{}, "GET", "/docs", nil)); len(docs) > 100<<10 {
		t.Errorf("the API's page has %d bytes, want at most 100 KiB", len(docs))
	}
}

func each(t *testing.T, exts string, f func(name, text string)) {
	t.Helper()
	n := 0
	root := os.DirFS("src")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(exts, path.Ext(name)) {
			return err
		}
		body, err := fs.ReadFile(root, name)
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
	check := func(name, text string) {
		if got := forbidden.FindString(text); got != "" {
			t.Errorf("%s has %q", name, got)
		}
	}
	each(t, ".html", check)
	check("/docs", text(t, ask(t, Options{}, "GET", "/docs", nil)))
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

// TestPagesWorkUnderAStage checks that every reference of a page is relative, and that what it names is served.
func TestPagesWorkUnderAStage(t *testing.T) {
	reference := regexp.MustCompile(`(?:src|href)="([^"#]+)"`)
	for _, target := range []string{"/", "/admin", "/status", "/docs"} {
		page := text(t, ask(t, Options{Local: true}, "GET", target, nil))
		found := reference.FindAllStringSubmatch(page, -1)
		for _, m := range found {
			if strings.HasPrefix(m[1], "data:") || m[1] == "./" {
				continue
			}
			if got := ask(t, Options{Local: true}, "GET", "/"+m[1], nil).StatusCode; got != 200 || m[1][0] == '/' {
				t.Errorf("%s names %q: %d", target, m[1], got)
			}
		}
		if len(found) < 2 {
			t.Errorf("%s: only %d references found: the pattern is out of date", target, len(found))
		}
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

// oneItem is a shop with item 1001.
type oneItem struct {
	httpapi.Shop
	fails error
	cover string // of the item; "" means one elsewhere
}

func (s *oneItem) Detail(_ context.Context, id string) (shop.View, error) {
	if s.fails != nil {
		return shop.View{}, s.fails
	}
	if id != "1001" {
		return shop.View{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	cover := cmp.Or(s.cover, "https://a.example/1.jpg")
	return shop.View{Item: seckill.Item{ID: id, Price: 19900, Commodity: seckill.Commodity{Price: 89900,
		Title: `耳机 "Pro" <script>{home}`}},
		Description: seckill.Description{Covers: []string{cover}}}, nil
}

// TestALinkToAnItemSaysWhatItIs checks what a messenger finds at an item's link, that a browser is led to the
// storefront, and that nothing in an item's texts becomes part of the page.
func TestALinkToAnItemSaysWhatItIs(t *testing.T) {
	o := Options{Items: &oneItem{}}
	got := ask(t, o, "GET", "/item/1001?lang=en", nil)
	page := text(t, got)
	for _, want := range []string{
		`<title>耳机 &#34;Pro&#34; &lt;script&gt;{home} · Flash Sale</title>`,
		`<meta property="og:title" content="耳机 &#34;Pro&#34; &lt;script&gt;{home}">`,
		`content="Sale price ¥199.00 · Was ¥899.00"`, `<meta property="og:image" content="https://a.example/1.jpg">`,
		`content="0; url=../?lang=en#/item/1001"`, `href="../assets/style-`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if got.StatusCode != 200 || strings.Count(page, "{") != 3 ||
		got.Header.Get("Content-Security-Policy") != ContentSecurityPolicy {
		t.Errorf("%d %v\n%s", got.StatusCode, got.Header, page)
	}
	zh := text(t, ask(t, o, "GET", "/item/1001", http.Header{"Accept-Language": {"zh-CN"}}))
	if !strings.Contains(zh, "秒杀价 ¥199.00") || !strings.Contains(zh, "url=../#/item/1001") {
		t.Errorf("in Chinese:\n%s", zh)
	}
	for cover, want := range map[string]string{"/pictures/0a.jpg": "https://shop.example/live/pictures/0a.jpg",
		"//b.example/1.jpg": "", "https://b.example/1.jpg": "https://b.example/1.jpg"} {
		with := Options{Items: &oneItem{cover: cover}, URL: "https://shop.example/live/"}
		if got := text(t, ask(t, with, "GET", "/item/1001", nil)); !strings.Contains(got,
			`<meta property="og:image" content="`+want+`">`) {
			t.Errorf("cover %s: no %s in\n%s", cover, want, got)
		}
	}
	// Whoever keeps a copy, such as a messenger, gets none of an item that cannot be read; a browser goes on.
	for _, fault := range []error{seckill.Refuse(seckill.CodeUnavailable), errors.New("fault"),
		&seckill.Error{Code: seckill.CodeNotReady, RetryAfter: 1500 * time.Millisecond}} {
		busy := ask(t, Options{Items: &oneItem{fails: fault}}, "GET", "/item/1001", nil)
		if wait := busy.Header.Get("Retry-After"); busy.StatusCode != 503 || wait != "1" && wait != "2" ||
			busy.Header.Get("Cache-Control") != "no-store" || !strings.Contains(text(t, busy), "url=../#/item/1001") {
			t.Errorf("%v: %d %v, want to be asked again", fault, busy.StatusCode, busy.Header)
		}
	}
	for _, target := range []string{"/item/2002", "/item/01", "/item/", "/item/1001/x"} {
		if got := ask(t, o, "GET", target, nil).StatusCode; got != http.StatusTeapot {
			t.Errorf("%s: %d, want it passed on", target, got)
		}
	}
	if got := ask(t, Options{}, "GET", "/item/1001", nil).StatusCode; got != http.StatusTeapot {
		t.Errorf("without items: %d", got)
	}
}

// TestABrowserIsToldThatThereIsNoSuchPage checks what is not found: a browser gets a page with the way home, and
// whoever asks for JSON what the API answers.
func TestABrowserIsToldThatThereIsNoSuchPage(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusNotFound
		if r.URL.Path == "/busy" {
			status = http.StatusServiceUnavailable
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"code":"not_found"}`))
	})
	const page, problem = "text/html; charset=utf-8", "application/problem+json"
	for _, c := range []struct {
		method, target, accept, kind, has string
		status                            int
	}{
		{"GET", "/nosuch", "text/html,*/*", page, `href="./"`, 404},
		{"GET", "/docs/", "text/html", page, `href="../"`, 404},
		{"GET", "/a/b/c?lang=en", "text/html", page, "There is no such page.", 404},
		{"GET", "/item/2002", "text/html", page, `href="../assets/style-`, 404},
		{"GET", "/item/2002", "", page, `href="../assets/style-`, 404}, // a CDN does not pass Accept on
		{"GET", "/item/x", "application/json", page, "", 404},
		{"HEAD", "/nosuch", "text/html", page, "", 404},
		{"GET", "/nosuch", "application/json", problem, "not_found", 404},
		{"GET", "/nosuch", "", problem, "not_found", 404},
		{"POST", "/nosuch", "text/html", problem, "not_found", 404},
		{"GET", "/busy", "text/html", problem, "not_found", 503},
	} {
		r := httptest.NewRequest(c.method, c.target, nil)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		Handler(next, Options{Items: &oneItem{}}).ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != c.status || w.Header().Get("Content-Type") != c.kind || !strings.Contains(body, c.has) ||
			(c.method == "HEAD") != (body == "") || c.kind == page && strings.Contains(body, "not_found") {
			t.Errorf("%s %s for %q: %d %v\n%s", c.method, c.target, c.accept, w.Code, w.Header(), body)
		}
	}
	if got := text(t, ask(t, Options{}, "GET", "/robots.txt", nil)); got != robots {
		t.Errorf("robots.txt: %q", got)
	}
}

// TestPagesKnowTheHold checks that the pages are told for how long an order can be paid.
func TestPagesKnowTheHold(t *testing.T) {
	page := text(t, ask(t, Options{Hold: 15 * time.Minute}, "GET", "/", nil))
	if !strings.Contains(page, `<html data-hold="900" lang=`) {
		t.Errorf("no hold in %.80s", page)
	}
}

// TestThePagesFootNamesWhoHelps checks the shop's contact, which is text.
func TestThePagesFootNamesWhoHelps(t *testing.T) {
	for contact, want := range map[string]string{"": `class="contact" hidden>`,
		"a<b>@shop.example": `<b>a&lt;b&gt;@shop.example</b></span></footer>`} {
		if page := text(t, ask(t, Options{Contact: contact}, "GET", "/", nil)); !strings.Contains(page, want) {
			t.Errorf("contact %q: no %s in %s", contact, want, page)
		}
	}
}

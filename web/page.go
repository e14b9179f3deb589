// Package web holds the storefront, the status page, the back office's pages and the API's description, and a handler
// that serves them with the headers that they are written for. In: web/dist, which web/bundle makes from web/src. Out:
// files over HTTP. It touches nothing but its own embedded files.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/seckill"
)

//go:embed dist
var embedded embed.FS

// ContentSecurityPolicy is what the pages are written to live under: scripts and styles only from files, answers only
// from their own origin. Pictures of goods may lie on any HTTPS host, because items name them by address. A page that
// web/bundle wrote a script into allows that script too, by its hash.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; " +
	"img-src 'self' data: https:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Cache-Control by kind of file. A page is asked for again at once, so that it is never of an older release than the
// API; an edge answers for a second from one copy, and goes on with an old one while the origin fails.
const (
	cachePage    = "public, max-age=0, s-maxage=1, stale-if-error=60"
	cachePicture = "public, max-age=3600"
	cacheHashed  = "public, max-age=31536000, immutable"
)

// Options are the handler's settings. The zero value is what a function needs behind API Gateway.
type Options struct {
	// Local says that the pages run beside a system on one machine: they offer its demo shoppers, and there is a
	// status page.
	Local bool
	// Push is where the shop pushes what becomes of an order, as a WebSocket's address (ws or wss): the pages may
	// connect to its origin, and do. If "", the shop pushes nothing. 'self' would not do for a server on the pages' own
	// host: Safari takes it for HTTP only.
	Push string
	// Items is where /item/{id} looks an item up; if nil, there are no such pages.
	Items httpapi.Shop
	// URL is the shop's public address, for what others read about an item; if "", its own pictures have no whole
	// address.
	URL string
	// Contact is whom shoppers may write to, for the page's foot; if "", it names nobody.
	Contact string
	// Hold is how long an order can be paid, which the pages tell before a purchase; if 0, they do not say it.
	Hold time.Duration
	// Compress compresses files ahead of time for clients that take gzip. API Gateway compresses by itself.
	Compress bool
}

// Handler serves the pages and their files: / (the storefront), /item/{id}, /admin, /docs, /openapi.json, /robots.txt
// and what they load. It passes every other path to next; a browser for which next finds nothing gets a page that says
// so, and so does whoever asks for an unknown item. GET and HEAD only; another method gets 405 with an empty body.
func Handler(next http.Handler, o Options) http.Handler {
	files := load(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := nameOf(r, o.Local)
		f, ok := files[name]
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		item, isItem := strings.CutPrefix(r.URL.Path, "/item/") // for people only; behind a CDN without their Accept
		if !ok && reads && (isItem || strings.Contains(r.Header.Get("Accept"), "text/html")) {
			w = &missing{ResponseWriter: w, r: r, page: files["404."+language(r)+".html"]}
		}
		switch {
		case !ok && isItem && reads && o.Items != nil && seckill.ValidItemID(item):
			serveItem(w, r, next, files["item."+language(r)+".html"], &o, item)
			return
		case !ok:
			next.ServeHTTP(w, r)
			return
		case !reads:
			w.Header().Set("Allow", "GET, HEAD")
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		f.serve(w, r)
	})
}

// Paths returns the paths that Handler serves without Options.Local, and "/assets/{file}" and "/pictures/{file}" for
// those that a release names; "/{page}" stands for /robots.txt and for mistyped addresses.
func Paths() []string {
	return []string{"/", "/admin", "/assets/{file}", "/docs", "/favicon.ico", "/item/{id}", "/openapi.json",
		"/pictures/{file}", "/{page}"}
}

// nameOf returns the file that a request asks for. Browsers ask for /favicon.ico on pages that name no icon (the
// cashier's), and take any kind of picture.
func nameOf(r *http.Request, local bool) string {
	switch p := r.URL.Path; {
	case p == "/":
		return "index." + language(r) + ".html"
	case p == "/status" && local:
		return "status." + language(r) + ".html"
	case p == "/admin":
		return "admin." + language(r) + ".html"
	case p == "/docs":
		return "docs.html"
	case p == "/favicon.ico":
		return "pictures/logo.svg"
	case strings.HasSuffix(p, ".html"):
		return "" // one address for one page
	default:
		return strings.TrimPrefix(p, "/")
	}
}

// language returns "en" or "zh": what ?lang= says, else what the browser prefers.
func language(r *http.Request) string {
	asked := r.Header["Accept-Language"]
	if strings.Contains(r.URL.RawQuery, "lang=") {
		if query, err := url.ParseQuery(r.URL.RawQuery); err == nil && query.Has("lang") {
			asked = query["lang"][:1]
		}
	}
	if httpapi.English(asked) {
		return "en"
	}
	return "zh"
}

// file is an embedded file with its headers, ready to be written.
type file struct {
	header        http.Header
	etag          string
	body, gzipped []byte // gzipped: nil where it would save nothing
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	maps.Copy(h, f.header)
	body, etag := f.body, f.etag
	if f.gzipped != nil {
		h.Add("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			body, etag = f.gzipped, strings.TrimSuffix(f.etag, `"`)+`-gzip"`
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", etag)
	if strings.Contains(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that went away needs no answer
	}
}

// load reads every embedded file once. It panics when one cannot be read, which the compiler's embedding excludes.
func load(o Options) map[string]*file {
	files := map[string]*file{}
	files["robots.txt"] = newFile("robots.txt", []byte(robots), o)
	err := fs.WalkDir(embedded, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "dist/")
		files[name] = newFile(name, body, o)
		return nil
	})
	if err != nil {
		panic(err)
	}
	return files
}

func newFile(name string, body []byte, o Options) *file {
	policy := ContentSecurityPolicy
	if origin := webSocket.FindString(o.Push); origin != "" {
		policy = strings.Replace(policy, "connect-src 'self'", "connect-src 'self' "+origin, 1)
	}
	f := &file{body: body, header: http.Header{
		"Content-Type": {contentType(name)}, "Content-Security-Policy": {policy},
		"X-Content-Type-Options": {"nosniff"}, "Cache-Control": {cachePicture},
		"Referrer-Policy": {"no-referrer"}, // the cashier's address carries the pay string
	}}
	page := strings.HasSuffix(name, ".html")
	if m := inline.FindSubmatch(body); page && m != nil {
		f.header.Set("Content-Security-Policy", allowing(policy, m[1]))
	}
	switch {
	case strings.HasPrefix(name, "assets/"):
		f.header.Set("Cache-Control", cacheHashed)
	case page, name == "openapi.json":
		f.header.Set("Cache-Control", cachePage)
	}
	if strings.HasPrefix(name, "index.") && o.Contact != "" {
		body = bytes.Replace(body, []byte(`class="contact" hidden`), []byte(`class="contact"`), 1)
		body = bytes.Replace(body, []byte("<b></b></span></footer>"),
			[]byte("<b>"+html.EscapeString(o.Contact)+"</b></span></footer>"), 1)
	}
	if page {
		f.header.Set("Vary", "Accept-Language")
		f.body = bytes.Replace(body, []byte("<html "), []byte("<html "+o.attributes()), 1)
	}
	sum := sha256.Sum256(f.body)
	f.etag = `"` + hex.EncodeToString(sum[:8]) + `"`
	if o.Compress {
		f.gzipped = compressed(f.body)
	}
	return f
}

// attributes returns what the pages' scripts know by, for <html>.
func (o *Options) attributes() (text string) {
	if o.Local {
		text = "data-local "
	}
	if o.Push != "" {
		text += "data-push "
	}
	if o.Hold > 0 {
		text += fmt.Sprintf(`data-hold="%d" `, int(o.Hold.Seconds()))
	}
	return text
}

// webSocket finds the origin of a WebSocket's address; nothing in it can end a policy's directive.
var webSocket = regexp.MustCompile(`^wss?://[A-Za-z0-9.:\[\]-]+`)

// inline finds the script in a page.
var inline = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// allowing returns the policy of a page with that script in it.
func allowing(policy string, script []byte) string {
	sum := sha256.Sum256(script)
	hash := base64.StdEncoding.EncodeToString(sum[:])
	return strings.Replace(policy, "script-src 'self'", "script-src 'self' 'sha256-"+hash+"'", 1)
}

func compressed(body []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a constant level is never refused
	_, _ = w.Write(body)                                    // a buffer takes everything
	_ = w.Close()
	if out.Len() >= len(body) {
		return nil
	}
	return out.Bytes()
}

// contentType does not trust the machine's own table for scripts: some Windows registries call .js text/plain, and a
// browser refuses such a module.
func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".json":
		return "application/json"
	case ".svg": // XML: a browser that is told no charset guesses one
		return "image/svg+xml; charset=utf-8"
	default:
		if t := mime.TypeByExtension(ext); t != "" {
			return t
		}
		return "application/octet-stream"
	}
}

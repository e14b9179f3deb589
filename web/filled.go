package web

import (
	"html"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// robots lets search engines see the shop and its items, and nothing that is a shopper's own.
const robots = "User-agent: *\nDisallow: /admin\nDisallow: /order/\nDisallow: /seckill/\n"

// serveItem answers a link to an item: with what a messenger or a search engine shows of it, and for browsers the way
// to the storefront, which knows items by the part of its address after #. An unknown item is next's to refuse. Of one
// that cannot be read nobody may keep a copy: the storefront says what is wrong.
func serveItem(w http.ResponseWriter, r *http.Request, next http.Handler, page *file, o *Options, id string) {
	v, err := o.Items.Detail(r.Context(), id)
	if err != nil && seckill.CodeOf(err) == seckill.CodeItemUnknown {
		next.ServeHTTP(w, r)
		return
	}
	title, price, was := v.Item.Commodity.Title, v.Item.Price.Yuan(), v.Item.Commodity.Price.Yuan()
	status := http.StatusOK
	if err != nil {
		title, price, was, status = id, "…", "…", http.StatusServiceUnavailable
		wait := max(seckill.AsError(err).RetryAfter, seckill.RetryAfterFault)
		w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
	fill(w, r, page, status, "{id}", id, "{title}", title, "{picture}", picture(o.URL, v.Description.Covers),
		"{price}", price, "{was}", was)
}

// picture returns the whole address of an item's picture, which messengers want; "" if there is none. The shop's own
// pictures are covers by their path.
func picture(public string, covers []string) string {
	switch {
	case len(covers) == 0:
		return ""
	case strings.HasPrefix(covers[0], "https://"):
		return covers[0]
	case public != "" && strings.HasPrefix(covers[0], "/") && !strings.HasPrefix(covers[0], "//"):
		return strings.TrimSuffix(public, "/") + covers[0]
	}
	return ""
}

// fill writes a page in which each name stands for the value after it. {home} is the way to the storefront.
func fill(w http.ResponseWriter, r *http.Request, page *file, status int, values ...string) {
	up := strings.Repeat("../", max(0, strings.Count(r.URL.Path, "/")-1))
	home := up
	if home == "" {
		home = "./"
	}
	if strings.Contains(r.URL.RawQuery, "lang=") {
		home += "?lang=" + language(r)
	}
	for i := 1; i < len(values); i += 2 {
		values[i] = html.EscapeString(values[i])
	}
	values = append(values, "{home}", home, `href="assets/`, `href="`+up+`assets/`)
	body := []byte(strings.NewReplacer(values...).Replace(string(page.body)))
	h := w.Header()
	maps.Copy(h, page.header)
	if status == http.StatusServiceUnavailable {
		h.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that went away needs no answer
	}
}

// missing is the answer to a browser: in place of a 404's body it writes a page.
type missing struct {
	http.ResponseWriter
	r    *http.Request
	page *file
	done bool
}

// WriteHeader implements http.ResponseWriter.
func (m *missing) WriteHeader(status int) {
	if status == http.StatusNotFound && !m.done {
		m.done = true
		fill(m.ResponseWriter, m.r, m.page, status)
		return
	}
	m.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (m *missing) Write(body []byte) (int, error) {
	if m.done {
		return len(body), nil
	}
	return m.ResponseWriter.Write(body)
}

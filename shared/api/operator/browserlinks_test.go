package operator_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/system"
)

// TestLinks: a link has 128 random bits, signs in once and for a quarter of an hour, and ends when there is another of
// the same person.
func TestLinks(t *testing.T) {
	o := newOffice(t)
	links := &operator.Links{Clock: o.clock, Random: system.NewIDs(nil)}
	options := o.browsers.BrowserOptions
	options.Links = links
	handler, err := operator.NewBrowserHandler(options)
	if err != nil {
		t.Fatal(err)
	}
	status := func(path string) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return w.Code
	}
	const prefix = "/admin/link?key="
	for _, c := range []struct {
		what   string
		before func(path string)
		want   int
	}{
		{"a new one", func(string) {}, http.StatusSeeOther},
		{"once used", func(path string) { status(path) }, http.StatusForbidden},
		{"just before its end", func(string) { o.clock.Advance(operator.LinkLife - time.Millisecond) },
			http.StatusSeeOther},
		{"at its end", func(string) { o.clock.Advance(operator.LinkLife) }, http.StatusForbidden},
		{"after another one", func(string) { links.New("ann") }, http.StatusForbidden},
		{"after another person's", func(string) { links.New("ben") }, http.StatusSeeOther},
		{"after those of too many people", func(string) {
			for i := range operator.MaxLinks {
				links.New(strconv.Itoa(i))
			}
		}, http.StatusForbidden},
	} {
		path := links.New("ann")
		if len(path) != len(prefix)+22 || path == links.New("ann") {
			t.Fatalf("%s, and the same again", path)
		}
		path = links.New("ann")
		if c.before(path); status(path) != c.want {
			t.Errorf("%s: want %d", c.what, c.want)
		}
	}
	if status(prefix) != http.StatusForbidden || status("/admin/link") != http.StatusForbidden {
		t.Error("no key opens it")
	}
}

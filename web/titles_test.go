package web

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRefusalsHaveTitles checks that the page has a title, in both languages, for each code that ends a purchase, and
// for no other: after the rest it waits, tries again, asks who the shopper is, or shows the form (decide in core.js).
// Those that end the way to a ticket have theirs in admission-texts.js, with what the page itself says there.
func TestRefusalsHaveTitles(t *testing.T) {
	got := titles(t, "src/i18n.js")
	var want []string
	// Alipay gets the first two, a page names no unknown route, and the rest is shown without a title. After no_checks
	// it buys without a ticket.
	elsewhere := []seckill.Code{seckill.CodeForged, seckill.CodeNotOurs, seckill.CodeNotFound,
		seckill.CodeStillQueued, seckill.CodeNotCancelable, seckill.CodeCancelLimit, seckill.CodeNotPayable,
		seckill.CodeWrongState,
		seckill.CodeNotPushed, seckill.CodeNoChecks}
	final := []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	for _, code := range seckill.Codes() {
		if slices.Contains(final, httpapi.Status(code)) && !slices.Contains(elsewhere, code) {
			want = append(want, string(code))
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("i18n.js has titles for\n%v, purchases end with\n%v", got, want)
	}
	ticket := []string{string(seckill.CodeAccountNew), string(seckill.CodeBlocked), "insecure"}
	if got := titles(t, "src/admission-texts.js"); !slices.Equal(got, ticket) {
		t.Errorf("admission-texts.js has titles for\n%v, no ticket is given for\n%v", got, ticket)
	}
}

// titles returns the codes for which a file of texts has titles, sorted.
func titles(t *testing.T, name string) (codes []string) {
	t.Helper()
	script, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^  refused_(\w+): \['[^']+', '[^']+'\],$`).FindAllSubmatch(script, -1) {
		if code := string(m[1]); code != "text" && code != "insecure_text" {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return codes
}

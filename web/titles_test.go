package web

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/your-org/seckill/shared/adapter/httpapi"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRefusalsHaveTitles checks that the page has a title, in both languages, for each code that ends a purchase, and
// for no other: after the rest it waits, tries again, asks who the shopper is, or shows the form (decide in core.js).
func TestRefusalsHaveTitles(t *testing.T) {
	script, err := os.ReadFile("src/i18n.js")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, m := range regexp.MustCompile(`(?m)^  refused_(\w+): \['[^']+', '[^']+'\],$`).FindAllSubmatch(script, -1) {
		if name := string(m[1]); name != "text" {
			got = append(got, name)
		}
	}
	// Alipay gets the first two, a page names no unknown route, and the rest is shown without a title.
	elsewhere := []seckill.Code{seckill.CodeForged, seckill.CodeNotOurs, seckill.CodeNotFound,
		seckill.CodeStillQueued, seckill.CodeNotCancelable, seckill.CodeCancelLimit, seckill.CodeNotPayable,
		seckill.CodeNotPushed}
	final := []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	for _, code := range seckill.Codes() {
		if slices.Contains(final, httpapi.Status(code)) && !slices.Contains(elsewhere, code) {
			want = append(want, string(code))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("i18n.js has titles for\n%v, purchases end with\n%v", got, want)
	}
}

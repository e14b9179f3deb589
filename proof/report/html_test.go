package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/your-org/seckill/proof/report"
)

// TestPage: the page shows what the report says, escapes foreign text, and runs and loads nothing.
func TestPage(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shop.example")
	for _, n := range []int{0, 6} {
		var b strings.Builder
		c := verified(t, made(t, key, n), key.Verifier)
		if err := report.WriteHTML(&b, c); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if bad := regexp.MustCompile(`(?i)<script|\son\w+=|src=|href=|url\(`).FindString(page); bad != "" {
			t.Errorf("the page has %s", bad)
		}
		for _, want := range []string{"&lt;script&gt;alert(1)", "手机", key.Verifier[:20], c.Root[:10], "I1 NoOversell",
			"Signature, lines and sums were right"} {
			if !strings.Contains(strings.ReplaceAll(page, "&#43;", "+"), want) {
				t.Errorf("%d orders: the page lacks %s", n, want)
			}
		}
		for _, head := range regexp.MustCompile(`<(?:th scope="row"|h3)>([^<]*)</`).FindAllStringSubmatch(page, -1) {
			if !regexp.MustCompile(`^[0-9:. smhdin-]+$`).MatchString(head[1]) && !strings.Contains(head[1], "_") {
				t.Errorf("%d orders: %q has no Chinese words", n, head[1])
			}
		}
		if n == 6 && (strings.Count(page, "<polyline") != 6 || !strings.Contains(page, "5195.00") &&
			!strings.Contains(page, "6495.00")) {
			t.Errorf("curves or money are missing:\n%s", page)
		}
	}
	var b strings.Builder
	text := made(t, key, 6)
	if err := report.WriteHTML(&b, verified(t, strings.Replace(text, `"count":1`, `"count":3`, 1), "")); err != nil ||
		!strings.Contains(b.String(), "not as it was signed") {
		t.Errorf("a damaged report: %v", err)
	}
}

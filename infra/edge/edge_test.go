package edge

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/shop"
)

// maxFunction is the bytes of a function's code ("CloudFront quotas", Amazon CloudFront Developer Guide).
const maxFunction = 10 << 10

// TestFunction runs function.js in Node, and in njs, which refuses what CloudFront's runtime refuses. `make edge` wants
// both; without it, tests skip what is missing.
func TestFunction(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	function := read("function.js")
	if len(function) > maxFunction {
		t.Errorf("function.js has %d bytes, at most %d are allowed", len(function), maxFunction)
	}
	file := filepath.Join(t.TempDir(), "checks.js")
	checks := function + "var LANGUAGES = " + read("../../shared/api/httpapi/testdata/languages.json") + ";\n" +
		read("check.js")
	if err := os.WriteFile(file, []byte(checks), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, engine := range [][]string{{"node", file}, {"njs", "-q", file}} {
		t.Run(engine[0], func(t *testing.T) {
			if _, err := exec.LookPath(engine[0]); err != nil {
				if os.Getenv("SECKILL_TEST_EDGE") != "" {
					t.Fatal(err)
				}
				t.Skipf("%s is missing: apt-get install nodejs njs", engine[0])
			}
			out, err := exec.CommandContext(t.Context(), engine[0], engine[1:]...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			sameAnswer(t, out)
		})
	}
}

// sameAnswer checks that the function answers the server's time as function shop does, with the same headers.
func sameAnswer(t *testing.T, out []byte) {
	t.Helper()
	var got struct {
		StatusCode int
		Headers    map[string]struct{ Value string }
		Body       struct{ Data string }
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/seckill/time", nil)
	r.Header.Set("X-Forwarded-Proto", "https")
	flow := shop.New(shop.Deps{Clock: memory.NewClock(time.Now())})
	httpapi.Headers(httpapi.NewShop(flow, nil, httpapi.Options{})).ServeHTTP(w, r)
	want := httptest.NewRecorder()
	for name, h := range got.Headers {
		want.Header().Set(name, h.Value)
	}
	if diff := cmp.Diff(w.Header(), want.Header()); diff != "" {
		t.Errorf("headers of shop (-), of the edge (+):\n%s", diff)
	}
	digits := regexp.MustCompile(`\d`)
	if a, b := digits.ReplaceAllString(w.Body.String(), "0"), digits.ReplaceAllString(got.Body.Data, "0"); a != b ||
		got.StatusCode != w.Code {
		t.Errorf("shop answers %d %s, the edge %d %s", w.Code, w.Body, got.StatusCode, got.Body.Data)
	}
}

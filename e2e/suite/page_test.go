//go:build e2e

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/adapter/contracttest"
)

// testPage buys and pays in a browser at the stack's own address.
func testPage(t *testing.T, s *stack) {
	s.pageAt(t)
	s.browse(t, strings.TrimSuffix(s.Base, "/"))
}

// browse buys and pays in a browser at an address of the shop.
func (s *stack) browse(t *testing.T, base string) {
	t.Helper()
	chromium := os.Getenv("CHROMIUM")
	if chromium == "" {
		chromium = "/usr/bin/chromium"
	}
	for _, tool := range []string{"node", "npm", chromium} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: the stack's page is not tried in a browser", tool)
		}
	}
	folder := filepath.Join("..", "..", "web", "browsertest")
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = folder
		return cmd
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "playwright-core")); err != nil {
		if out, err := run("npm", "ci", "--no-audit", "--no-fund", "--silent").CombinedOutput(); err != nil {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
	}
	const user = 880001
	it := contracttest.Item(newItemID(), time.Now().Add(-time.Minute), time.Now().Add(6*time.Hour), 3, 1)
	s.load(t, it)
	// The browser knows the order, this test does not: the rows are audited without the case's own requests.
	t.Cleanup(func() { s.sound(t, it.Item, func(rows) []string { return nil }) })
	who, err := json.Marshal(map[string]string{"name": "小明", "user": fmt.Sprint(user), "token": token(t, s, user)})
	if err != nil {
		t.Fatal(err)
	}
	cmd := run("node", "deployed.mjs", base+"/", t.TempDir())
	cmd.Env = append(os.Environ(), "SHOPPER="+string(who), "ITEM="+it.ID)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// pageAt checks what the stack answers at its address, with and without the stage's slash.
func (s *stack) pageAt(t *testing.T) {
	base := strings.TrimSuffix(s.Base, "/")
	for _, path := range []string{"", "/", "/docs"} {
		ctx, stop := context.WithTimeout(t.Context(), callTimeout)
		defer stop()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			continue
		}
		body, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil || a.StatusCode != http.StatusOK || !strings.Contains(string(body), "<html") ||
			!strings.Contains(a.Header.Get("Content-Security-Policy"), "script-src 'self'") {
			t.Errorf("%s%s: %d, %v, %v, %.200s", base, path, a.StatusCode, a.Header, err, body)
		}
	}
}

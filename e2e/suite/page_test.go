//go:build e2e

package suite

import (
	"bytes"
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

	"github.com/your-org/seckill/shared/drivertest/contracttest"
)

// testPage signs in, buys and pays in a browser at the stack's own address.
func testPage(t *testing.T, s *stack) {
	s.pageAt(t)
	s.browse(t, strings.TrimSuffix(s.Base, "/"))
}

// drive runs a browser test at an address of the shop, with more variables in its environment. It skips the test if
// this machine has no browser, before setUp is called, which returns these variables.
func drive(t *testing.T, test, base string, setUp func() []string) {
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
	env := append(os.Environ(), setUp()...)
	cmd := run("node", test, base+"/", t.TempDir())
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// browse signs two shoppers in, buys and pays in a browser at an address of the shop; a third one listens.
func (s *stack) browse(t *testing.T, base string) {
	t.Helper()
	drive(t, "deployed.mjs", base, func() []string {
		it := contracttest.Item(newItemID(), time.Now().Add(-time.Minute), time.Now().Add(6*time.Hour), 3, 1)
		s.load(t, it)
		// The browser knows the order, this test does not: the rows are audited without the case's own requests.
		t.Cleanup(func() { s.sound(t, it.Item, func(rows) []string { return nil }) })
		who, err := json.Marshal(s.shoppers(t))
		if err != nil {
			t.Fatal(err)
		}
		listener := newShoppers(1)
		return []string{"SHOPPERS=" + string(who), "ITEM=" + it.ID, "PUSH=" + s.Outputs["PushUrl"],
			fmt.Sprintf(`LISTENER={"name":"小红","user":"%d","token":"%s"}`, listener, token(t, s, listener))}
	})
}

// shoppers returns two whom a browser signs in: with a password at the stack's pool, or by a token where it has none.
func (s *stack) shoppers(t *testing.T) (out []map[string]string) {
	t.Helper()
	issuer, _, pool := strings.Cut(s.Outputs["IdentityIssuer"], "|")
	if !pool {
		t.Logf("skipped: no sign-in at a provider, by a token instead: the stack makes no user pool (target %s)",
			s.Target)
	}
	for range 2 {
		user := newShoppers(1)
		if !pool {
			out = append(out, map[string]string{"name": "小明", "user": fmt.Sprint(user), "token": token(t, s, user)})
			continue
		}
		name, password := fmt.Sprintf("shopper-%d@example.com", user), fmt.Sprintf("Correct horse %d", user)
		account := map[string]any{"UserPoolId": issuer[strings.LastIndexByte(issuer, '/')+1:], "Username": name}
		s.cognito(t, "AdminCreateUser", account)
		account["Password"], account["Permanent"] = password, true
		s.cognito(t, "AdminSetUserPassword", account)
		out = append(out, map[string]string{"name": name, "password": password})
	}
	return out
}

// cognito calls the pool's service, unsigned, as a stand-in for AWS takes it. What is there already is fine.
func (s *stack) cognito(t *testing.T, action string, in map[string]any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Endpoint, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", "AWSCognitoIdentityProviderService."+action)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	said, _ := io.ReadAll(a.Body)
	if a.StatusCode != http.StatusOK && !bytes.Contains(said, []byte("ExistsException")) {
		t.Fatalf("%s: %d %s", action, a.StatusCode, said)
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

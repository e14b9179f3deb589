package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryModuleHasALicenceThatIsAllowed covers all modules of which functions and tool are built.
func TestEveryModuleHasALicenceThatIsAllowed(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}",
		"github.com/your-org/seckill/cmd/seckill", "github.com/your-org/seckill/functions/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || seen[path] != "" {
			continue
		}
		id, err := licenceIn(dir)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		seen[path] = id
	}
	if len(seen) < 20 {
		t.Errorf("only %d modules: %v", len(seen), seen)
	}
	for path, want := range map[string]string{"github.com/aws/aws-sdk-go-v2": "Apache-2.0",
		"github.com/golang-jwt/jwt/v5": "MIT",
		"golang.org/x/net":             "BSD-3-Clause", "github.com/redis/go-redis/v9": "BSD-2-Clause"} {
		if seen[path] != want {
			t.Errorf("%s: %s, want %s", path, seen[path], want)
		}
	}
}

func TestALicenceThatIsNotKnownIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, want string }{
		"copyleft": {"COPYING", "GNU GENERAL PUBLIC LICENSE Version 3, 29 June 2007",
			"not a licence that a release may have"},
		"none": {"README", "MIT, really", "has no licence"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if id, err := licenceIn(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
}

// billOf builds a function and returns its bill.
func billOf(t *testing.T, function string) (b bill) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "seckill")
	if out, err := exec.Command("go", "build", "-o", binary,
		"github.com/your-org/seckill/functions/"+function).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, "../..", []string{binary}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestABillOfThisTest: a binary itself lists its modules.
func TestABillOfThisTest(t *testing.T) {
	b := billOf(t, "notify")
	if len(b.Components) < 5 || b.Components[0].Name != "github.com/your-org/seckill/functions/notify" ||
		len(b.Dependencies) != 1 ||
		len(b.Dependencies[0].On) != len(b.Components)-1 {
		t.Errorf("%d components, %+v", len(b.Components), b.Dependencies)
	}
	for _, c := range b.Components[1:] {
		if c.Licenses[0].License.ID == "" || !strings.HasPrefix(c.PURL, "pkg:golang/") || c.Version == "" {
			t.Errorf("%+v", c)
		}
	}
}

// TestABillHasThePagesLibraries: the function that serves the page has what the page is made of.
func TestABillHasThePagesLibraries(t *testing.T) {
	var got []string
	for _, c := range billOf(t, "shop").Components {
		if strings.HasPrefix(c.PURL, "pkg:npm/") {
			got = append(got, c.PURL+" "+c.Licenses[0].License.ID)
		}
	}
	if want := "pkg:npm/oauth4webapi@3.8.8 MIT, pkg:npm/uplot@1.6.32 MIT"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// deployer runs infra/stack.sh, for a stack that does not exist, with a SAM CLI that only records its arguments; more
// are parameters of samconfig.toml.
func deployer(t *testing.T, more ...string) func(env ...string) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id seckill does not "+
				"exist</Message></Error></ErrorResponse>")
		}
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "shared", "template.yaml", "infra/stack",
		"infra/edge", "infra/plan", "infra/stacks"} {
		whole := must.Get(filepath.Abs(filepath.Join(root, name)))
		link(t, whole, filepath.Join(folder, name))
	}
	write(t, filepath.Join(folder, "samconfig.toml"), strings.Replace(read(t, filepath.Join(root, "samconfig.toml")),
		"parameter_overrides = [\n", "parameter_overrides = [\n"+strings.Join(more, ""), 1))
	write(t, filepath.Join(folder, "infra", "stack.sh"), read(t, filepath.Join(root, "infra", "stack.sh")))
	write(t, filepath.Join(folder, ".aws-sam", "build", "template.yaml"), read(t, filepath.Join(root, "template.yaml")))
	write(t, filepath.Join(folder, "sam"), "#!/bin/sh\nprintf '%s\\n' \"$@\" >told\n")
	return func(env ...string) []string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(folder, "infra", "stack.sh"), "deploy", "default",
			"v1")
		cmd.Env = append(os.Environ(), append(env, "SAM="+filepath.Join(folder, "sam"), "AWS_ENDPOINT_URL="+
			server.URL)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", env, err, out)
		}
		return strings.Split(strings.TrimSuffix(read(t, filepath.Join(folder, "told")), "\n"), "\n")
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must.OK(t, os.Symlink(to, name))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil { //nolint:gosec // scripts must be executable
		t.Fatal(err)
	}
}

// TestOverridesPublish checks that a sale's parameters replace samconfig.toml's and make a new deployment, so that
// versions with them are published and served (TestParametersReachTraffic); repeating them is the same deployment.
func TestOverridesPublish(t *testing.T) {
	t.Parallel()
	deploy := deployer(t)
	given := func(told []string, name string) (values []string) {
		for _, p := range told {
			if v, ok := strings.CutPrefix(p, name+"="); ok {
				values = append(values, v)
			}
		}
		return values
	}
	plain := deploy()
	day := deploy("OVERRIDES=Size=large RedisEndpoint=10.0.0.1:6379")
	again := deploy("OVERRIDES=Size=large RedisEndpoint=10.0.0.1:6379")
	back := deploy()
	for _, told := range [][]string{day, again} {
		if p, r := given(told, "Size"), given(told, "RedisEndpoint"); fmt.Sprint(p, r) != "[large] [10.0.0.1:6379]" {
			t.Errorf("told %v", told)
		}
	}
	hash := func(told []string) string { return fmt.Sprint(given(told, "Deployment")) }
	if hash(plain) == hash(day) || hash(day) != hash(again) || hash(back) != hash(plain) || len(hash(day)) != 66 {
		t.Errorf("deployments %s, %s, %s, %s", hash(plain), hash(day), hash(again), hash(back))
	}
}

// TestFormats: the template has the versions of what the code writes; GRADUAL refuses a release with others.
func TestFormats(t *testing.T) {
	want := fmt.Sprintf("rows=%d,items=%d,catalog=%d,messages=%d,tables=%d", ledger.SpanVersion,
		dynamoledger.VariantVersion, dynamoledger.CatalogVersion, seckill.MessageVersion, dynamoledger.TablesVersion)
	must.Equal(t, want, str(file(t, rootFile).tree, "Outputs", "Formats", "Value"), "formats")
}

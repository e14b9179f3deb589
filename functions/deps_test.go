package functions_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestFunctionsLeaveOut checks that the binaries omit what only the CLI, tests, a laptop or a sandbox need; each such
// package would slow a cold start. The fake gateway is not one of a shop's functions. Any template package doubles a
// binary: see ADR 11.
func TestFunctionsLeaveOut(t *testing.T) {
	t.Parallel()
	const sdk = "github.com/aws/aws-sdk-go-v2/"
	args := []string{"list", "-tags", "lambda.norpc", "-deps"}
	for _, step := range steps {
		if step != "admin" { // it calls functions, for staff, who wait for a cold start
			args = append(args, "./"+step)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{}
	for path := range strings.Lines(string(out)) {
		linked[strings.TrimSpace(path)] = true
	}
	if !linked["github.com/your-org/seckill/functions/stage"] ||
		!linked["github.com/your-org/seckill/shared/api/operator"] {
		t.Fatalf("the list lacks the stage function:\n%s", out)
	}
	for _, path := range []string{"github.com/spf13/cobra", "github.com/yuin/gopher-lua", "text/template", "net/rpc",
		"github.com/your-org/seckill/shared/fake/fakegateway",
		sdk + "config", sdk + "service/cloudformation", sdk + "service/lambda", sdk + "service/sts",
		sdk + "service/apigateway", sdk + "service/cloudwatch", sdk + "service/sns"} {
		if linked[path] {
			t.Errorf("a function links %s", path)
		}
	}
}

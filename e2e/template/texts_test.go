package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/shared/drivertest/must"
)

const root = "../.."

func read(t *testing.T, name string) string { return string(must.Get(os.ReadFile(name))) }

// file returns a template as it is written.
func file(t *testing.T, name string) *template {
	t.Helper()
	return &template{must.Get(parse([]byte(read(t, filepath.Join(root, name)))))}
}

// all returns the texts of all templates.
func all(t *testing.T) map[string][]byte { return must.Get(texts(root)) }

func TestTexts(t *testing.T) {
	for name, text := range all(t) {
		for _, problem := range append(stars(text), page(text)...) {
			t.Errorf("%s: %s", name, problem)
		}
	}
	sale := string(all(t)["infra/sale.yaml"])
	for _, c := range []struct{ old, new, want string }{
		{"Resource: !Ref OrdersQueueArn", `Resource: "*"`, "without a reason"},
		{"Resource: !Ref OrdersQueueArn", `Resource: ["*"]`, "without a reason"},
		{"Action: dynamodb:UpdateItem, Resource", `Action: ["dynamodb:*"], Resource`, "without a reason"},
		{"\n", "\n" + strings.Repeat("#\n", 400), "lines, want at most 400"},
		{"\n", "\n#" + strings.Repeat(".", 120) + "\n", "columns, want at most 120"},
	} {
		text := []byte(strings.Replace(sale, c.old, c.new, 1))
		if got := append(stars(text), page(text)...); string(text) == sale || len(got) == 0 ||
			!strings.Contains(got[0]+got[len(got)-1], c.want) {
			t.Errorf("%s: noticed %q, want %q", c.new, got, c.want)
		}
	}
}

// TestReservedConcurrency checks that doctor and plan count the instances that the templates reserve.
func TestReservedConcurrency(t *testing.T) {
	kept := 0
	for _, f := range []string{"sale", "money", "shopper", "office"} {
		text := must.Get(os.ReadFile(root + "/infra/" + f + ".yaml"))
		for _, m := range regexp.MustCompile(`ReservedConcurrentExecutions: !If \[Reserves, (\d+),`).FindAllSubmatch(
			text, -1) {
			n, _ := strconv.Atoi(string(m[1]))
			kept += n
		}
	}
	text, err := os.ReadFile(root + "/infra/events.yaml")
	if want := "ParallelizationFactor: " + strconv.Itoa(plan.TellAtOnce) + " "; err != nil ||
		!strings.Contains(string(text), want) {
		t.Errorf("infra/events.yaml has no %q, %v", want, err)
	}
	if kept != plan.Reserved {
		t.Errorf("the templates keep %d instances beside consume's, plan.Reserved is %d", kept, plan.Reserved)
	}
}

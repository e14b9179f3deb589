package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/your-org/seckill/infra/plan"
)

const small = "--shoppers 20000 --units 1000 --at 2026-12-12T10:00:00+08:00"

func TestPlan(t *testing.T) {
	t.Parallel()
	run := func(more ...string) (string, string, int) {
		code, stdout, stderr := command(t, append(append([]string{"plan"}, strings.Fields(small)...), more...)...)
		return stdout, stderr, code
	}
	text, stderr, code := run()
	for _, want := range []string{"sale      20,000 shoppers, 1,000 units, 1 per order, at 2026-12-12 10:00:00 UTC+8\n",
		"\ndo this\n", "\nbill, USD, list prices of us-east-1 as known in 2025"} {
		if code != exitOK || stderr != "" || !strings.Contains(text, want) {
			t.Errorf("exit %d, %s, no %q in\n%s", code, stderr, want, text)
		}
	}
	var p plan.Plan
	stdout, stderr, code := run("--json")
	if err := json.Unmarshal([]byte(stdout), &p); err != nil || code != exitOK || p.Sale.Shoppers != 20_000 ||
		p.Planned.Outcome.Answered < 19_999 {
		t.Errorf("exit %d, %s, %v: %+v", code, stderr, err, p.Planned)
	}
	if stdout, stderr, code = run("--checks", "strict"); code != exitOK || stderr != "" ||
		!strings.Contains(stdout, "\nchecks    strict: ") || !strings.Contains(stdout, "\n  tickets  ") ||
		strings.Contains(text, "\n  tickets  ") {
		t.Errorf("exit %d, %s, checks are missing in\n%s", code, stderr, stdout)
	}
	if stdout, stderr, code = run("--spans"); code != exitOK || stderr != "" ||
		!strings.Contains(stdout, "\n  limit that spans ") || strings.Contains(text, "limit that spans") {
		t.Errorf("exit %d, %s, the limit that spans is missing in\n%s", code, stderr, stdout)
	}
	stdout, stderr, code = run("--overrides")
	if code != exitOK || strings.TrimSpace(stdout) != p.Deploy() {
		t.Errorf("exit %d, %s: %q, want %q", code, stderr, stdout, p.Deploy())
	}
}

// TestPlanChangesAStack: the numbers that are not named stay the stack's, whatever its size.
func TestPlanChangesAStack(t *testing.T) {
	g := newGate(t, nil)
	g.parameters = map[string]string{"Size": "planned",
		"Plan": strings.Replace(plan.SizeText(plan.Large), "BuyProvisioned=0", "BuyProvisioned=300", 1)}
	code, stdout, stderr := command(t, words("plan --stack sale --with BuyRate=500,CacheEcpu=9000")...)
	want := strings.NewReplacer("BuyRate=1000", "BuyRate=500", "CacheEcpu=0", "CacheEcpu=9000", "BuyProvisioned=0",
		"BuyProvisioned=300").Replace("Size=planned Plan=" + plan.SizeText(plan.Large) + "\n")
	if code != exitOK || stdout != want || stderr != "" {
		t.Errorf("exit %d, %s%s, want %s", code, stdout, stderr, want)
	}
	refuses(t, exitUsage, "plan --stack sale --with *", [][2]string{
		{"Rate=1", "--with: no number is called Rate"},
		{"BuyRate=0", "--with: BuyRate=0: want [1-9]"},
		{"ConsumeConcurrency=30", "want (20|50|"},
	})
}

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	refuses(t, exitUsage, "plan *", [][2]string{
		{"--shoppers 1 --units 1", "--at is missing: give the opening of the sale, such as"},
		{"--shoppers 1 --units 1 --at monday", `--at "monday": want a time with its zone`},
		{small + " --json --overrides", "--json and --overrides contradict each other: give one of them"},
		{small + " --units 0", "--units 0: want 1 to 1000000"},
		{small + " --checks hard", `--checks "hard": want off, standard or strict`},
		{"--stack sale", "want --stack NAME and --with NAME=NUMBER together"},
		{"--with BuyRate=1", "want --stack NAME and --with NAME=NUMBER together"},
		{small + " now", "now"},
	})
}

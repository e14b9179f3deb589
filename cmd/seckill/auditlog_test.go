package main

import (
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
)

// TestAuditLogOfARunningShop: what operators do is listed with before and after.
func TestAuditLogOfARunningShop(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	at := " --url " + sys.URL()
	try(t, step{"audit list" + at, exitOK, "Nothing was done.\n", ""})
	for _, line := range []string{"items stop 2002", "items stop 2002", "items resume 2002", "items export",
		"blocks add --user 1001 --why a~test --who liu", "payments"} {
		if code, _, stderr := command(t, words(line+at)...); code != exitOK {
			t.Fatalf("%s: %s", line, stderr)
		}
	}
	_, stdout, _ := command(t, words("audit list"+at)...)
	t.Log(stdout)
	for _, want := range []string{" stop ", " resume ", " block ", " changed", " unchanged", " liu ", " a test "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("audit list has no %q", want)
		}
	}
	if strings.Contains(stdout, "export") {
		t.Error("audit list has what changes and shows nothing of shoppers")
	}
	refuses(t, exitUsage, "audit list *", [][2]string{
		{"--day yesterday" + at, "--day \"yesterday\": want a day such as"},
		{"--limit 0" + at, "--limit 0: want at least 1"},
	})
}

package main

import (
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/driver/ledger"
)

// TestAuditLogOfARunningShop: what operators do is listed with before and after, and verified; rows that were changed
// behind the shop's back are named.
func TestAuditLogOfARunningShop(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	at := " --url " + sys.URL()
	try(t, step{"audit head" + at, exitOK, "The audit log is empty.\n", ""},
		step{"audit list" + at, exitOK, "Nothing was done.\n", ""},
		step{"audit verify" + at, exitOK, "No entries.\n", ""})
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
	_, line, _ := command(t, words("audit head"+at)...)
	head := strings.TrimSpace(line)
	if code, stdout, stderr := command(t, words("audit verify"+at+" --head "+head)...); code != exitOK ||
		!strings.Contains(stdout, "; 1 head compared.") {
		t.Errorf("verify: exit %d\n%s%s", code, stdout, stderr)
	}
	rows := sys.Rows.Dump(ledger.TableAudit)
	first := rows[0]
	k := ledger.Key{Table: ledger.TableAudit, PK: first["day"].(string), SK: first["seq"].(string)}
	if err := sys.Rows.Transact(t.Context(), []ledger.Write{{Key: k, Op: ledger.OpUpdate,
		Set: ledger.Row{"who": "nobody"}}}); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := command(t, words("audit verify"+at)...); code != exitFault ||
		!strings.Contains(stdout, k.PK+"/1: changed: its content does not have its hash") {
		t.Errorf("verify after a change: exit %d\n%s%s", code, stdout, stderr)
	}
	refuses(t, step{"audit verify --head x" + at, exitUsage, "", "--head \"x\": want DAY/NUMBER/HASH"},
		step{"audit list --day yesterday" + at, exitUsage, "", "--day \"yesterday\": want a day such as"},
		step{"audit list --limit 0" + at, exitUsage, "", "--limit 0: want at least 1"},
		step{"audit verify --from 2020-01-01" + at, exitUsage, "", "want at most 400 days"})
}

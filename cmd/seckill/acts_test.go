package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/seckill"
)

// TestActsCommandsAgainstARunningShop: suspicious acts are listed by time, handled, and their users blocked.
func TestActsCommandsAgainstARunningShop(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	now := sys.Clock.Now().Truncate(time.Millisecond)
	var id []string
	for i := range 1100 {
		a := seckill.Act{ID: seckill.ActID(now, fmt.Sprintf("%04x", i)), At: now, Item: fmt.Sprint(2002 + i%2),
			User:   "1001",
			Action: seckill.ActTicket, Result: seckill.ActDone, Rules: seckill.RuleFast, Network: "00ff",
			Agent: "a\x1b[1m b",
			Took:  12 * time.Millisecond}
		if i > 3 {
			a.Item = "7"
		}
		if i == 4 {
			a.Rules = seckill.RuleNetwork | seckill.RuleAgent
		}
		if err := sys.Ledger.KeepAct(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		id = append(id, a.ID)
	}
	day := seckill.Day(now)
	head := "  act  time  item  action  result  rules  user  network  took  agent  handled\n"
	row := func(i int, item, handled string) string {
		return "  " + id[i] + "  TIME  " + item + "  ticket  ok  fast  1001  00ff  12ms  a\\u001b[1m b  " +
			handled + "\n"
	}
	at := " --day " + day
	for _, s := range []step{
		{"list --item 2003" + at, exitOK, head + row(1, "2003", "-") + row(3, "2003", "-"), ""},
		{"list --item 2003 --limit 1" + at, exitOK, head + row(1, "2003", "-") +
			"There are more: give a larger --limit.\n", ""},
		{"handle " + id[1] + " --why a~test --who liu", exitOK, "Handled: act " + id[1] + ".\n", ""},
		{"list --item 2003" + at, exitOK, head + row(3, "2003", "-"), ""},
		{"block " + id[3] + " --why a~script --who ann", exitOK,
			"Blocked: user 1001, for good. Handled: act " + id[3] + ".\n", ""},
		{"list --item 2003" + at, exitOK, "No suspicious acts.\n", ""},
		{"list --item 2003 --all" + at, exitOK, head + row(1, "2003", "liu: a test") + row(3, "2003", "ann: a script"),
			""},
		{"list --item 2003 --day 2020-01-01 --json", exitOK, "{\n  \"acts\": []\n}\n", ""},
	} {
		s.line = "acts " + s.line + " --url " + sys.URL()
		try(t, s)
	}
	try(t, step{"blocks list --user 1001 --url " + sys.URL(), exitOK, "  subject  item  until  by  made  reason\n" +
		"  1001  every item  for good  ann  TIME  a script\n", ""})
	if code, stdout, stderr := command(t, "acts", "list", "--url", sys.URL(), "--limit", "2000", "--day",
		day); code != exitOK ||
		strings.Count(stdout, "\n") != 1099 {
		t.Errorf("two pages: exit %d, %d lines\n%s", code, strings.Count(stdout, "\n"), stderr)
	}
	refuses(t, exitUsage, "acts * --url "+sys.URL(), [][2]string{
		{"list --day yesterday", "want a day such as"},
		{"list --item x", "want 1 to 19 digits"},
		{"list --limit 0", "want 1 to 100000"},
		{"handle x --why y", "want an act's id"},
		{"handle --why y", "ACT"},
		{"handle " + id[0], "--why is missing"},
		{"block " + id[0] + " --why ~", "--why is missing"},
		{"block " + id[4] + " --why y --who liu", "network,agent, which many people may share"},
		{"block " + seckill.ActID(now, "ffff") + " --why y --who liu", "act " + seckill.ActID(now, "ffff")},
	})
}

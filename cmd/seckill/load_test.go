package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/crowd"
)

func TestLoadAgainstARunningShop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	started(t, noEnv, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		args := []string{"load", "--url", base, "--shoppers", "60", "--ramp", "200ms", "--lead", "100ms", "--think",
			"10ms", "--connections", "8", "--seed", "5"}
		code, stdout, stderr := command(t, append(args, "--journal", file("sale.jsonl"), "--json",
			file("report.json"))...)
		if code != exitOK || !strings.Contains(stdout, "60 shoppers in 200ms") ||
			!strings.Contains(stdout, "placed orders per second") ||
			!strings.HasPrefix(stderr, "seckill: 60 shoppers, seed 5\n") {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
		var report struct {
			Arrived int            `json:"arrived"`
			Units   map[string]any `json:"units"`
			Options map[string]any `json:"options"`
		}
		data, err := os.ReadFile(file("report.json"))
		if err != nil || json.Unmarshal(data, &report) != nil || report.Arrived != 60 ||
			report.Units["stock"] != 20.0 || report.Options["seed"] != 5.0 {
			t.Errorf("%v: %s", err, data)
		}
		lines, err := os.ReadFile(file("sale.jsonl"))
		if err != nil || !strings.HasPrefix(string(lines), `{"n":1,"kind":"start"`) {
			t.Errorf("%v: %.200s", err, lines)
		}
		// The clock was moved: another demo item is on sale now, so the command must name one.
		code, stdout, stderr = command(t, append(args, "--seed", "6", "--json", "-", "--item", "2002")...)
		if code != exitOK || json.Unmarshal([]byte(stdout), &report) != nil || report.Options["seed"] != 6.0 {
			t.Errorf("exit %d\n%s%s", code, stdout, stderr)
		}
		on := strings.Join(args, " ")
		shows(t, step{on, exitUsage, "", "several items are on sale: name one with --item"},
			step{on + " --item 9", exitUsage, "", "--item 9: " + base + " has no such item"},
			step{on + " --item 2002 --count 3", exitUsage, "", "--count 3: the limit of item 2002 is 1"})
	}, "--stock", "20")
}

func TestLoadRefusesInOneLine(t *testing.T) {
	t.Parallel()
	refuses(t, exitUsage, "load *", [][2]string{
		{"--shoppers 0", "--shoppers 0: want 1 to 5000000"},
		{"--pay 0.9 --cancel 0.2", "together: want at most 1"},
		{"--repeat 20", "--repeat 20: want a share, 0 to 1"},
		{"--url localhost", "want an address such as http://localhost:8100"},
		{"--secret a --path /x/y", "give one of them"},
		{"--path x", `--path "x"`},
		{"--journal /nowhere/at/all", "--journal: open /nowhere/at/all"},
		{"--ramp soon", `"soon"`},
		{"2002", `"2002": unexpected argument`},
	})
	shows(t, step{"load --url http://127.0.0.1:1", exitFault, "", "nothing answers at http://127.0.0.1:1"})
}

// TestLoadTakesAStacksSecret checks that the sale accepts tokens signed with the secret from Secrets Manager.
func TestLoadTakesAStacksSecret(t *testing.T) {
	m := newManager(t)
	m.refused(t, exitUsage, "has no jwt-secret in the secret /seckill/test/login: create it with \"seckill keys\"",
		"load", "--path", testPath)
	m.keys(t, "--sandbox")
	secret := func(name string) string { return map[string]string{"JWT_SECRET": m.stored()["jwt-secret"]}[name] }
	started(t, secret, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		for args, want := range map[string]string{"--path " + testPath: "10 placed:", "--secret another": "0 placed:"} {
			code, stdout, stderr := command(t, append([]string{"load", "--url", base, "--shoppers", "30", "--ramp",
				"0s", "--lead", "0s", "--item", "2002"}, strings.Fields(args)...)...)
			if code != exitOK || !strings.Contains(stdout, want) {
				t.Errorf("%s: exit %d\n%s%s\nwant %q", args, code, stdout, stderr, want)
			}
		}
	})
}

func TestProgressSaysWhomItWaitsFor(t *testing.T) {
	t.Parallel()
	g := crowd.Progress{Since: 35 * time.Second, Came: 200, Placed: 100, Paid: 46, SoldOut: 100,
		Until: time.Date(2026, 1, 1, 12, 10, 0, 0, time.Local)}
	if got := waitingLine(g); got != "" {
		t.Errorf("nobody waits: %q", got)
	}
	g.Waits = crowd.Waits{Answer: 1, Place: 2, Decide: 3, Hear: 4}
	var w strings.Builder
	p := &loadProgress{w: &w}
	p.watch(g)
	p.watch(g) // too early to print it again
	if want := "seckill: 35.0s: 200 came, 100 placed, 46 paid, 100 sold out, 0 failed; waiting: 1 for an answer, 2 " +
		"to be placed, " +
		"3 to pay or cancel, 4 for the shop to hear that they paid; until 12:10:00 at most\n"; w.String() != want {
		t.Errorf("got  %q\nwant %q", w.String(), want)
	}
}

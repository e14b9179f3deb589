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
		for _, tt := range []struct{ args, want string }{
			{"", "several items are on sale: name one with --item"},
			{"--item 9", "--item 9: " + base + " has no such item"},
			{"--item 2002 --count 3", "--count 3: the limit of item 2002 is 1"},
		} {
			code, stdout, stderr := command(t, append(args, strings.Fields(tt.args)...)...)
			if code != exitUsage || stdout != "" || !strings.Contains(stderr, tt.want) {
				t.Errorf("%s: exit %d\n%s%s", tt.args, code, stdout, stderr)
			}
		}
	}, "--stock", "20")
}

func TestLoadRefusesInOneLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		behaviour, args string
		code            int
		want            string
	}{
		{"no shoppers", "--shoppers 0", exitUsage, "--shoppers 0: want 1 to 5000000"},
		{"shares over one", "--pay 0.9 --cancel 0.2", exitUsage, "together: want at most 1"},
		{"no share", "--repeat 20", exitUsage, "--repeat 20: want a share, 0 to 1"},
		{"no address", "--url localhost", exitUsage, "want an address such as http://localhost:8100"},
		{"two secrets", "--secret a --path /x/y", exitUsage, "give one of them"},
		{"bad path", "--path x", exitUsage, `--path "x"`},
		{"no folder", "--journal /nowhere/at/all", exitUsage, "--journal: open /nowhere/at/all"},
		{"a word", "--ramp soon", exitUsage, `"soon"`},
		{"argument too many", "2002", exitUsage, `"2002": unexpected argument`},
		{"nobody there", "--url http://127.0.0.1:1", exitFault, "nothing answers at http://127.0.0.1:1"},
	} {
		code, stdout, stderr := command(t, append([]string{"load"}, strings.Fields(tt.args)...)...)
		last := stderr[strings.LastIndex(strings.TrimSuffix(stderr, "\n"), "\n")+1:]
		if code != tt.code || stdout != "" || !strings.Contains(last, tt.want) {
			t.Errorf("%s: exit %d\n%s%s\nwant exit %d and %q", tt.behaviour, code, stdout, stderr, tt.code, tt.want)
		}
	}
}

// TestLoadTakesAStacksSecret checks that the sale accepts tokens signed with the secret from Secrets Manager.
func TestLoadTakesAStacksSecret(t *testing.T) {
	m := newManager(t)
	m.refused(t, exitUsage, "has no jwt-secret in the secret /seckill/test/login: create it with \"seckill keys\"",
		"load",
		"--path", testPath)
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

func TestLoadHelp(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := command(t, "load", "--help")
	if code != exitOK || stderr != "" || !strings.Contains(stdout, "Examples:\n  seckill run --stock 1000") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	for _, flag := range []string{"--url", "--item", "--shoppers", "--ramp", "--count", "--pay", "--repeat", "--cancel",
		"--key", "--abandon", "--connections", "--seed", "--journal",
		"--json", "--secret", "--path", "--timeout", "--for", "--flood", "--bots", "--stock", "--checks"} {
		if !strings.Contains(stdout, flag+" ") {
			t.Errorf("no %s in the help", flag)
		}
	}
}

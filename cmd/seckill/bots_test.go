package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/proof/audit"
)

// TestBots: one command measures presets in turn, each on a system of its own.
func TestBots(t *testing.T) {
	t.Parallel()
	var out, progress bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	cmd.SetErr(&progress)
	cmd.SetContext(t.Context())
	f := &loadFlags{}
	f.add(cmd)
	dir := t.TempDir()
	file, told := filepath.Join(dir, "bots.json"), filepath.Join(dir, "bots.jsonl")
	if err := cmd.ParseFlags([]string{"--bots=0.5", "--stock=5", "--checks=standard", "--shoppers=40", "--lead=100ms",
		"--seed=3", "--for=30s", "--json=" + file,
		"--journal=" + told}); err != nil {
		t.Fatal(err)
	}
	f.bots.faster = 100
	if err := f.runBots(cmd); err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	var all []struct {
		Checks string `json:"checks"`
		Stock  int    `json:"stock"`
		People struct {
			Units, Accounts, Came, Tickets int
		}
		Scripts struct{ Units, Accounts, Tickets int }
		CPU     float64 `json:"ticket_cpu_seconds"`
		Audit   audit.Report
	}
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &all) != nil || len(all) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	a := all[0]
	if a.Checks != "standard" || a.Stock != 5 || a.People.Units+a.Scripts.Units != 5 ||
		a.People.Accounts+a.Scripts.Accounts != 40 || a.Scripts.Tickets != a.Scripts.Accounts ||
		a.People.Tickets != a.People.Came || a.CPU <= 0 {
		t.Errorf("%+v", a)
	}
	for _, id := range []string{"I1", "I2", "I3", "I5", "I9", "I10", "I11", "A1", "L4"} {
		if g := a.Audit.Of(id); g == nil || g.Verdict != audit.Holds {
			t.Errorf("the audit's %s: %+v", id, g)
		}
	}
	if a.Audit.Broken() || a.Audit.Journal == nil || a.Audit.Journal.Answers < 40 {
		t.Errorf("%s, %+v", a.Audit.Verdict(), a.Audit.Journal)
	}
	if lines, err := os.ReadFile(told); err != nil || !bytes.Contains(lines, []byte(`"ticket":"`)) {
		t.Errorf("%v: the journal has no purchase with a ticket", err)
	}
	if !strings.Contains(out.String(), "audit: none is broken") {
		t.Errorf("no verdict in %s", &out)
	}
	if !strings.Contains(out.String(), "checks standard") || !strings.Contains(out.String(), "5 units; seed 3") ||
		!strings.Contains(progress.String(), "checks standard: 40 accounts, seed 3") {
		t.Errorf("%s%s", &progress, &out)
	}
}

func TestBotsRefusesInOneLine(t *testing.T) {
	t.Parallel()
	refuses(t, exitUsage, "load *", [][2]string{
		{"--bots 1.5", "--bots 1.5: want a share, 0 to 1"},
		{"--bots 0.5 --stock 0", "--stock 0: want 1 to 1000000"},
		{"--bots 0.5 --checks hard", "--checks hard: want off, standard, strict or all"},
		{"--bots 0.5 --url http://[::1]:1", "--url does not go with --bots, which starts a sale of its own"},
		{"--bots 0.5 --journal /nowhere/x", "--journal: open /nowhere/x-off: no such file or directory"},
		{"--bots 0.5 --pay 1", "--pay does not go with --bots"},
		{"--stock 5", "--stock and --checks go with --bots"},
	})
}

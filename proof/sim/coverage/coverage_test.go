package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/sim/branches"
)

const source = `package buy

func Buy(n int) error {
	if n < 0 {
		return errNegative
	}
	for n > 0 {
		n--
	}
	return nil
}
`

const profile = `mode: atomic
github.com/your-org/seckill/proof/sim/coverage/main.go:30.2,31.3 4 0
github.com/your-org/seckill/shared/flow/sale/buy/buy.go:10.2,10.12 1 7
github.com/your-org/seckill/shared/flow/sale/buy/buy.go:3.23,4.11 1 7
github.com/your-org/seckill/shared/flow/sale/buy/buy.go:4.11,6.3 1 0
github.com/your-org/seckill/shared/flow/sale/buy/buy.go:7.2,7.12 1 7
github.com/your-org/seckill/shared/flow/sale/buy/buy.go:7.12,9.3 1 0
`

// sample returns a module with one flow, and its profile.
func sample(t *testing.T) (root string, blocks []block) {
	t.Helper()
	root = t.TempDir()
	folder := filepath.Join(root, flows, "sale", "buy")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "buy.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	blocks, err := parseProfile([]byte(profile))
	if err != nil {
		t.Fatal(err)
	}
	return root, blocks
}

func TestParseProfile(t *testing.T) {
	_, blocks := sample(t)
	if len(blocks) != 5 || blocks[0] != (block{flows + "sale/buy/buy.go", 3, 23, 4, 11, 1, 7}) || blocks[4].line != 10 {
		t.Errorf("blocks %+v: want the flow's five, by place", blocks)
	}
	for text, want := range map[string]string{
		"":                     "says nothing of the flows",
		"mode: atomic\n":       "says nothing of the flows",
		"mode: atomic\na.go:1": `"a.go:1"`,
	} {
		if _, err := parseProfile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("profile %q: %v, want %q", text, err, want)
		}
	}
}

func TestUnreached(t *testing.T) {
	root, blocks := sample(t)
	file := flows + "sale/buy/buy.go"
	for _, x := range []struct {
		name  string
		table []exception
		want  []string
		wrong string
	}{
		{"all", nil, []string{file + ":4 if n < 0 { return errNegative }", file + ":7 for n > 0 { n-- }"}, ""},
		{"with a reason", []exception{{file, "for n > 0 {", "never"}},
			[]string{file + ":4 if n < 0 { return errNegative }", file + ":7 for n > 0 { n-- } (never)"}, ""},
		{"reached all the same", []exception{{file, "return nil", "never"}},
			[]string{file + ":4 if n < 0 { return errNegative }", file + ":7 for n > 0 { n-- }"},
			file + ":10 return nil: reached 7 times, and listed as never"},
		{"not there", []exception{{file, "panic", "never"}}, []string{file + ":4 if n < 0 { return errNegative }",
			file + ":7 for n > 0 { n-- }"},
			file + `: "panic" begins 0 blocks: want one`},
		{"of another file", []exception{{flows + "sale/stage/stage.go", "for n", "never"}},
			[]string{file + ":4 if n < 0 { return errNegative }", file + ":7 for n > 0 { n-- }"},
			flows + `sale/stage/stage.go: "for n" begins 0 blocks: want one`},
	} {
		got, err := unreached(root, blocks, x.table)
		wrong := ""
		if err != nil {
			wrong = err.Error()
		}
		if !slices.Equal(got, x.want) || wrong != x.wrong {
			t.Errorf("%s: %q, %q; want %q, %q", x.name, got, wrong, x.want, x.wrong)
		}
	}
}

func TestReportFlows(t *testing.T) {
	root, blocks := sample(t)
	var out bytes.Buffer
	err := reportFlows(&out, root, blocks, nil, &figures{})
	if err == nil || !strings.Contains(err.Error(), "60.0 % of the flows' statements are reached: want 95 %") {
		t.Errorf("error %v: want 60 %% to be too little", err)
	}
	if !strings.Contains(out.String(), "shared/flow/sale/buy        3 of    5 statements   60.0 %") ||
		strings.Count(out.String(), "not reached: ") != 2 {
		t.Errorf("printed\n%s", out.String())
	}
	for i := range blocks {
		blocks[i].times = 1
	}
	if err := reportFlows(&out, root, blocks, nil, &figures{}); err != nil {
		t.Errorf("all reached: %v", err)
	}
}

func TestReportScripts(t *testing.T) {
	c, err := branches.New()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	list := c.Branches()
	if err := reportScripts(&out, list, &figures{}); err == nil ||
		!strings.Contains(err.Error(), "no condition was counted") {
		t.Errorf("nothing counted: %v", err)
	}
	for i := range list { // both outcomes; then only the exceptions are wrong
		list[i].True, list[i].False = 1, 1
	}
	listed := len(branches.Impossible) + len(branches.Unplayed)
	if err := reportScripts(&out, list, &figures{}); err == nil ||
		strings.Count(err.Error(), "listed as not happening") != listed {
		t.Errorf("all taken: %v, want %d exceptions to be wrong", err, listed)
	}
}

func TestFigures(t *testing.T) {
	f := figures{reached: 1042, statements: 1096, taken: 245, ways: 264, listed: 19}
	const want = "Coverage, run of 2026-11-22: 20,000 seeds reach 1,042 of 1,096 statements of the flows (95.1 %) " +
		"and take 245 of 264 ways\nout of the scripts' conditions; the other 19 are listed, each with the reason. " +
		"The statements are without those that\nno world plays, which proof/sim/coverage/except.go names.\n"
	if got := f.text(20_000, time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestTablesHold checks that the source has every text that the command looks for.
func TestTablesHold(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range unreachable {
		text, err := os.ReadFile(filepath.Join(root, e.file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), e.text) {
			t.Errorf("%s has no %q", e.file, e.text)
		}
	}
	dir := t.TempDir()
	overlay, err := tapped(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(overlay)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &list); err != nil || len(list.Replace) != 2 {
		t.Errorf("overlay %s: %v, want two files", text, err)
	}
	for _, file := range list.Replace {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "tapped(r") {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, stockFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, stockFolder, stockFile), []byte("package redisstock\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tapped(dir, dir); err == nil || !strings.Contains(err.Error(), "0 times: want it once") {
		t.Errorf("a stock that is made otherwise: %v", err)
	}
}

// TestPlay checks that outside the counting binary seeds are played and nothing is counted.
func TestPlay(t *testing.T) {
	var out bytes.Buffer
	if err := play(&out, 2); err != nil {
		t.Fatal(err)
	}
	var p played
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Branches) == 0 || len(p.Violations) > 0 {
		t.Errorf("%d conditions, violations %v", len(p.Branches), p.Violations)
	}
	for _, b := range p.Branches {
		if b.True+b.False > 0 {
			t.Errorf("%+v: counted", b)
		}
	}
}

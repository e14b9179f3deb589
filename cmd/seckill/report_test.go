package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/report"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// TestReportOfARunningShop makes a report of a running shop and of its dump, checks it, damages it, and proves an
// order.
func TestReportOfARunningShop(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	sys := sold(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	denied, err := http.Post(sys.URL()+"/seckill/buy", "application/json", strings.NewReader("{}"))
	if err != nil || denied.Body.Close() != nil || denied.StatusCode != http.StatusForbidden {
		t.Fatalf("a purchase without a token: %v %v", denied, err)
	}
	code, out, fault := command(t, words("report make --url "+sys.URL()+" --item 2002 --again 1ms --out "+
		at("a.jsonl.gz")+" --html "+at("a.html"))...)
	notFinal := "seckill: item " + local.DemoLive + " was read before its sale's end: this report is not final\n"
	if code != exitOK || fault != notFinal || !strings.Contains(out, "has 4 orders in") {
		t.Fatalf("exit %d, %s%s", code, out, fault)
	}
	plain, err := os.Create(at("plain"))
	if err != nil || plain.Close() != nil {
		t.Fatal(err)
	}
	usual, err := os.Stat(at("plain"))
	must.OK(t, err)
	for _, name := range []string{"a.jsonl.gz", "a.html"} { // they are for everybody, as far as the umask allows
		if info, err := os.Stat(at(name)); err != nil || info.Mode().Perm() != usual.Mode().Perm()&0o644 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	verifier := regexp.MustCompile(`demo\.seckill\.example\+\S+`).FindString(out)
	code, out, _ = command(t, "report", "verify", at("a.jsonl.gz"), "--key", verifier)
	if code != exitOK || !strings.Contains(out, "As it was signed by "+verifier+": 4 orders") ||
		!strings.Contains(out, "Item "+local.DemoLive+" was read before its sale's end: not final.\n") {
		t.Errorf("exit %d, %s", code, out)
	}
	if _, out, _ = command(t, "report", "verify", at("a.jsonl.gz"), "--json"); !strings.Contains(out, `"final": false`) {
		t.Errorf("as JSON: %s", out)
	}
	if code, out, _ = command(t, "report", "show", at("a.jsonl.gz")); code != exitOK ||
		!strings.Contains(out, "I1 NoOversell") || !strings.Contains(out, "with other orders  4") ||
		!strings.Contains(out, "the run itself") || !regexp.MustCompile(`token_missing +1\n`).MatchString(out) {
		t.Errorf("exit %d, %s", code, out)
	}
	if page, err := os.ReadFile(at("a.html")); err != nil || !strings.Contains(string(page), "<polyline") ||
		!strings.Contains(string(page), `<th scope="row">token_missing</th><td>1</td>`) {
		t.Errorf("no page: %v", err)
	}

	resp, err := http.Get(sys.URL() + "/_local/dump?item=" + local.DemoLive)
	must.OK(t, err)
	defer resp.Body.Close()
	f, err := os.Create(at("dump"))
	must.OK(t, err)
	if _, err := f.ReadFrom(resp.Body); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if code, out, fault = command(t, "report", "key", "shop.example", "--out", at("key")); code != exitOK {
		t.Fatalf("exit %d, %s%s", code, out, fault)
	}
	refused(t, exitUsage, at("key")+" exists already, and nothing is replaced: choose another name",
		words("report key shop.example --out "+at("key"))...)
	if info, err := os.Stat(at("key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", info.Mode(), err)
	}
	remake := "report make --item 2002 --dump " + at("dump") + " --out " + at("b.jsonl") + " --key " + at("key")
	code, out, fault = command(t, words(remake)...)
	if code != exitOK || !strings.Contains(out, "has 4 orders in") {
		t.Fatalf("of a dump: exit %d, %s%s", code, out, fault)
	}
	text, err := os.ReadFile(at("b.jsonl"))
	must.OK(t, err)
	if !strings.Contains(string(text), `"kind":"refused","source":"",`) { // a dump has no requests
		t.Errorf("the report of a dump: %s", text)
	}
	order := regexp.MustCompile(`"order":"(\w+)"`).FindStringSubmatch(string(text))[1]
	_, salt, _ := command(t, "report", "salt", order, "--key", at("key"))
	proofOf(t, at, order, strings.TrimSpace(salt))
	damaged := strings.Replace(string(text), `"count":1,`, `"count":2,`, 1)
	must.OK(t, os.WriteFile(at("c.jsonl"), []byte(damaged), 0o600))
	code, out, fault = command(t, "report", "verify", at("c.jsonl"), "--key", at("key"))
	if code != exitFault || !strings.Contains(out, "line 3: was changed") ||
		!strings.Contains(fault, "not as it was signed") {
		t.Errorf("damaged: exit %d, %s%s", code, out, fault)
	}
	refused(t, exitUsage, "exists already", words(remake)...)
}

// proofOf proves an order to each of the four users who may have it: one of them does.
func proofOf(t *testing.T, at func(string) string, order, salt string) {
	t.Helper()
	own := 0
	for _, user := range []string{"9000", "9001", "9002", "9003", "9004"} {
		code, out, fault := command(t, words("report proof "+at("b.jsonl")+" --key "+at("key")+" --order "+order+
			" --user "+user+" --salt "+salt)...)
		var p report.Proof
		switch {
		case code == exitOK && json.Unmarshal([]byte(out), &p) == nil && p.IsBuyer(salt, user):
			own++
		case code != exitFault || !strings.Contains(fault, "it is not user"):
			t.Errorf("user %s: exit %d, %s%s", user, code, out, fault)
		}
	}
	if own != 1 {
		t.Errorf("%d users have order %s", own, order)
	}
}

func TestReportRefuses(t *testing.T) {
	t.Parallel()
	refuses(t, exitUsage, "report *", [][2]string{
		{"make --out x", "--item is missing"},
		{"make --item 0 --out x", "want an item id"},
		{"make --item 7", "--out is missing"},
		{"make --item 7 --out x --stack s", "--key is missing"},
		{"make --item 7 --out x --dump d", "--key is missing"},
		{"make --item 7 --out x --dump d --stack s", "contradicts"},
		{"make --item 7,8 --out x --dump d", "one --item"},
		{"make --item 7 --out x --again 2h", "--again"},
		{"verify", "FILE is missing"},
		{"verify /nonexistent", "no such file"},
		{"verify x --key nonsense", "want a verifier"},
		{"proof x", "--order is missing"},
		{"proof x --order o --user 1", "go together"},
		{"salt o", "--key is missing"},
		{"key shop", "--out is missing"},
		{"key a+b --out x", "want a name"},
	})
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/goleak"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
)

// TestMain runs the tests, or, as a command of TestSaleDay, the tool.
func TestMain(m *testing.M) {
	if base := os.Getenv(storyURL); base != "" {
		self, defaultURL = "seckill", base
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
	}
	goleak.VerifyTestMain(m)
}

func noEnv(string) string { return "" }

func TestBadFlagsFilesAndPortsAreOneLineAndExit2(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	t.Cleanup(func() { taken.Close() })
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	dir := t.TempDir()
	file := func(name, content string) string { return written(t, name, []byte(content)) }
	const badItems = "id,title,price,sk_price,start_time,end_time,stock,limit\n" +
		"1,表,2,1.005,2026-11-11T12:00:00Z,2026-11-12T12:00:00Z,3,1\n"
	refuses(t, exitUsage, "*", [][2]string{
		{"run --port " + port,
			"port " + port + " is in use: stop the program that uses it, or choose another one with --port"},
		{"run --port 65536", "--port 65536: want 1 to 65535"},
		{"run --port -1", "--port -1"},
		{"run --port http", `--port "http": want a whole number`},
		{"run --hold 4s", "--hold 4s: want 5s to 24h"},
		{"run --hold 24h1s", "--hold 24h0m1s: want 5s to 24h"},
		{"run --hold=-15m", "--hold -15m0s"},
		{"run --hold 15", `--hold "15": want a duration such as 30s`},
		{"run --network-retention-days -1", "want a whole number of 0 to 65535"},
		{"plan --shoppers x", `--shoppers "x": want a whole number (see: `},
		{"plan --first x", `--first "x": want a number`},
		{"plan --edge=x", `--edge "x": want true or false`},
		{"events replay", "--day is missing: want a day such as 2026-11-11"},
		{"blocks add 1004", `"1004": give --user 1004`},
		{"blocks remove 10.0.0.0/24", `"10.0.0.0/24": give --network 10.0.0.0/24`},
		{"blocks list x", `"x": unexpected argument`},
		{"run --stock 0", "--stock 0: want 1 to 1000000"},
		{"run --stock 1000001", "--stock 1000001"},
		{"run --limit 0", "--limit 0: want 1 to 1000"},
		{"run --refund-alone-yuan -1", "--refund-alone-yuan -1: want 0 to 1000000"},
		{"run --refund-alone-yuan 92233720368547759", "--refund-alone-yuan 92233720368547759: want 0 to 1000000"},
		{"run --refund-alone-daily -1", "--refund-alone-daily -1: want 0 to 1000000"},
		{"run --gateway-faults lost=1", `--gateway-faults: fault "lost" is not known; known: notification-lost, `},
		{"run --gateway-faults notification-lost=2", "--gateway-faults: fault notification-lost: share 2: want 0 to 1"},
		{"run --issuers https://id.example.com", "--issuers https://id.example.com: want ISSUER|CLIENT_ID"},
		{"run --staff-issuer https://a.example|b|c", "--staff-issuer https://a.example|b|c: want ISSUER|CLIENT_ID"},
		{"run --staff-issuer https://a.example|b --staff-claims groups|x",
			"--staff-claims groups|x: want groups' claim|prefix|"},
		{"run --issuers http://id.example.com|shop", "want an https address"},
		{"run --keys \"\"", "--keys: want a directory"},
		{"run --port 0 --keys " + file("keys", ""), "directory of keys: "},
		{"run --port 0 --keys " + filepath.Dir(file(local.AppPrivateFile, "x")),
			local.AppPrivateFile + ": neither PEM nor base64"},
		{"run --ports 1", "unknown flag: --ports, did you mean --port? (see"},
		{"orders list --itm 2002 --json", "unknown flag: --itm, did you mean --item? (see"},
		{"items import x.csv --ovewrite", "unknown flag: --ovewrite, did you mean --overwrite? (see"},
		{"run --nothing-like-this", "unknown flag: --nothing-like-this (see"},
		{"start", `unknown command "start"`},
		{"itms", `unknown command "itms" for "seckill", did you mean items? (see`},
		{"items stp", `unknown command "stp" for "seckill items", did you mean stop? (see`},
		{"run 8100", `"8100"`},
		{"sim --seeds 0", "--seeds: want at least 1, or --minutes"},
		{"sim --figures page.md", "--figures: wants "},
		{"sim --seeds 100000 --faults=crash --figures page.md", "--figures: wants "},
		{"run --items " + filepath.Join(dir, "none.csv"), "no such file"},
		{"run --items \"\"", "--items: want the name"},
		{"run --items " + dir, "is a directory"},
		{"run --items " + file("bad.csv", badItems), `line 2: sk_price "1.005"`},
		{"run --demo x", "--demo x: want shop, contract or none"},
		{"run --demo none --stock 2", "--demo none has no items"},
		{"run --demo shop --items " + file("y.json", "[]"), "want only one of them"},
		{"run --demo contract --limit 2", "one per shopper"},
		{"run --items " + file("x.json", "[]") + " --stock 5", "set them in the file"},
	})
}

// TestGroupsRefuseOtherWords: every command that has commands names a word that is not one of them.
func TestGroupsRefuseOtherWords(t *testing.T) {
	t.Parallel()
	groups := 0
	for _, c := range rootCommand(noEnv).Commands() {
		if c.HasSubCommands() {
			groups++
			refused(t, exitUsage, `"nonsense"`, words(c.Name()+" nonsense")...)
		}
	}
	if groups < 10 {
		t.Errorf("%d groups", groups)
	}
}

func TestHelpHasExamplesEverywhere(t *testing.T) {
	t.Parallel()
	try := func(args ...string) {
		t.Helper()
		code, stdout, stderr := command(t, args...)
		if code != exitOK || stderr != "" || !strings.Contains(stdout, "Examples:\n  seckill ") {
			t.Errorf("%v: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
	try()
	for _, top := range rootCommand(noEnv).Commands() {
		try(top.Name(), "--help")
		for _, c := range top.Commands() {
			try(top.Name(), c.Name(), "--help")
		}
	}
}

func TestRunHelpExplainsTheFaults(t *testing.T) {
	t.Parallel()
	_, stdout, _ := command(t, "run", "--help")
	for _, f := range fakegateway.FaultNames {
		if text := strings.Join(strings.Fields(stdout), " "); fakegateway.Meanings[f] == "" ||
			!strings.Contains(text, " "+string(f)+": "+fakegateway.Meanings[f]) {
			t.Errorf("no line about %s:\n%s", f, stdout)
		}
	}
}

func TestVersionIsOneWord(t *testing.T) {
	t.Parallel()
	if code, stdout, stderr := command(t, "version"); code != exitOK ||
		!regexp.MustCompile(`^\S+\n$`).MatchString(stdout) || stderr != "" {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// output can be read while it is being written.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// started runs a command until part has ended, and checks that the command then ends soon, without errors and without
// complaints.
func started(t *testing.T, getenv func(string) string, part func(printed string), args ...string) {
	t.Helper()
	if log := startedLog(t, getenv, part, args...); log != "" {
		t.Errorf("stderr %q", log)
	}
}

// startedLog is started for a command that may complain; it returns the complaints.
func startedLog(t *testing.T, getenv func(string) string, part func(printed string), args ...string) (log string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, stderr output
	exit := make(chan int, 1)
	go func() { exit <- run(ctx, append([]string{"run", "--port", "0"}, args...), &stdout, &stderr, getenv) }()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !strings.HasSuffix(stdout.String(), "/_local/state\n") {
		select {
		case code := <-exit:
			t.Fatalf("ended with %d: %s", code, stderr.String())
		case <-deadline:
			t.Fatalf("nothing to read but %q", stdout.String())
		case <-tick.C:
		}
	}
	part(stdout.String())
	http.DefaultClient.CloseIdleConnections()
	began := time.Now()
	cancel()
	if code := <-exit; code != exitOK || time.Since(began) > local.MaxClose {
		t.Errorf("ended with %d after %v", code, time.Since(began))
	}
	if !strings.HasSuffix(stdout.String(), " is gone.\n") {
		t.Errorf("stdout ends %q", stdout.String())
	}
	return stderr.String()
}

func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must.OK(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	must.OK(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	return resp.StatusCode, string(body)
}

func find(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("nothing like %s in\n%s", pattern, text)
	}
	return m[1]
}

func TestRunPrintsWhatWorks(t *testing.T) {
	t.Parallel()
	started(t, noEnv, func(printed string) {
		for _, label := range []string{"Storefront", "Status"} {
			if code, body := get(t, find(t, printed, label+` +(http://localhost:\d+/\S*)`), ""); code != 200 ||
				!strings.Contains(body, "<html") {
				t.Errorf("%s: %d %.80s", label, code, body)
			}
		}
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		for _, who := range []string{"A", "B"} {
			if code, body := get(t, base+"/order/list", find(t, printed, `(?m)^  `+who+`=(\S+)$`)); code != 200 {
				t.Errorf("token %s: %d %s", who, code, body)
			}
		}
		for _, want := range []string{"gone on exit", `"advance_seconds":91}`, "/seckill/buy", "/cashier?",
			"7 units, 2 per shopper"} {
			if !strings.Contains(printed, want) {
				t.Errorf("%q is not printed:\n%s", want, printed)
			}
		}
		if code, body := get(t, base+"/seckill/detail/"+local.DemoLive, ""); code != 200 ||
			!strings.Contains(body, `"max_sk_count":7,"sk_per_max_count":2`) {
			t.Errorf("the live item: %d %s", code, body)
		}
	}, "--hold", "30s", "--stock", "7", "--limit", "2")
}

func TestRunTakesAnItemsFileAndASecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "items.json")
	start, end := time.Now().Add(-time.Hour).Format(time.RFC3339), time.Now().Add(time.Hour).Format(time.RFC3339)
	err := os.WriteFile(path, []byte(`[{"id":77,"title":"我的表","price":2,"sk_price":1.5,"start_time":"`+start+
		`","end_time":"`+end+`","stock":3,"limit":1}]`), 0o600)
	must.OK(t, err)
	secret := func(name string) string { return map[string]string{"JWT_SECRET": "mine"}[name] }
	started(t, secret, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		code, body := get(t, base+"/seckill/ing", "")
		if code != 200 || !strings.Contains(body, `"id":"77"`) || strings.Contains(body, local.DemoLive) ||
			!strings.Contains(body, `"sk_price":1.50`) {
			t.Errorf("items on sale: %d %s", code, body)
		}
		if code, body := get(t, base+"/order/list", find(t, printed, `(?m)^  A=(\S+)$`)); code != 200 {
			t.Errorf("token A: %d %s", code, body)
		}
	}, "--items", path)
}

// TestRunTakesTheDateOfAudiences: from JWT_AUDIENCE_FROM on, only tokens for the shop are accepted.
func TestRunTakesTheDateOfAudiences(t *testing.T) {
	t.Parallel()
	env := func(name string) string {
		return map[string]string{"JWT_SECRET": "mine", "JWT_AUDIENCE_FROM": "2020-01-01"}[name]
	}
	started(t, env, func(printed string) {
		list := find(t, printed, `(?m)^  S=(\S+)$`) + "/order/list"
		bare := must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": 7, "sub": "1",
			"exp": time.Now().Add(time.Hour).Unix()}).SignedString([]byte("mine")))
		for token, want := range map[string]int{find(t, printed, `(?m)^  A=(\S+)$`): 200, bare: 403} {
			if code, body := get(t, list, token); code != want {
				t.Errorf("%d %s, want %d", code, body, want)
			}
		}
	})
	var errs bytes.Buffer
	wrong := func(string) string { return "soon" }
	if code := run(t.Context(), []string{"run", "--port", "0"}, io.Discard, &errs, wrong); code != exitUsage ||
		!strings.Contains(errs.String(), "JWT_AUDIENCE_FROM: want a date") {
		t.Errorf("exit %d: %s", code, &errs)
	}
}

// TestAFaultOfRedisIsLoggedOnceASecond: every purchase fails for the same reason, and one line per purchase would
// hide other errors.
func TestAFaultOfRedisIsLoggedOnceASecond(t *testing.T) {
	t.Parallel()
	redis := redistest.NewFake(t, memory.NewRedis())
	const purchases = 200
	var took time.Duration
	id := ""
	log := startedLog(t, noEnv, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		redis.RequirePassword("another")
		redis.Drop()
		began := time.Now()
		for i := range purchases { // each by another shopper, because each has a limit
			token, err := jwtauth.Sign(local.DefaultSecret, strconv.Itoa(1000+i), began.Add(time.Hour))
			must.OK(t, err)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/seckill/buy",
				strings.NewReader(`{"seckill_id":`+local.DemoLive+`,"count":1,"address":"a"}`))
			must.OK(t, err)
			req.Header.Set("Authorization", "Bearer "+token)
			resp, err := http.DefaultClient.Do(req)
			must.OK(t, err)
			resp.Body.Close()
			id = cmp.Or(id, resp.Header.Get("X-Request-Id")) // of the first one, which is logged
			if resp.StatusCode != http.StatusServiceUnavailable {
				t.Fatalf("status %d, want 503", resp.StatusCode)
			}
		}
		took = time.Since(began)
	}, "--redis", redis.Addr)
	lines, most := strings.Count(log, "request failed"), 1+int(took/time.Second)
	if lines < 1 || lines > most || id == "" || !strings.Contains(log, "trace="+id) {
		t.Errorf("%d purchases in %v: %d lines, want 1 to %d, with the request's id:\n%s", purchases, took, lines, most,
			log)
	}
}

// TestRunKeepsKeysWhereItIsTold also checks the default: beside a ledger that survives the run.
func TestRunKeepsKeysWhereItIsTold(t *testing.T) {
	config := t.TempDir()
	t.Setenv("HOME", config)
	t.Setenv("XDG_CONFIG_HOME", config)
	dir := filepath.Join(t.TempDir(), "kept")
	var was string
	for range 2 {
		started(t, noEnv, func(printed string) {
			if !strings.Contains(printed, "kept in "+dir) {
				t.Errorf("it does not say where keys are kept:\n%s", printed)
			}
			_, body := get(t, find(t, printed, `(http://localhost:\d+/_local/keys)`), "")
			key := find(t, body, `"alipay_public_key":"(MII[^"]+)"`)
			if was != "" && was != key {
				t.Error("the second run has another key")
			}
			was = key
		}, "--keys", dir)
	}
	started(t, noEnv, func(printed string) {
		if !strings.Contains(printed, "new at each start") {
			t.Errorf("it does not say that keys are not kept:\n%s", printed)
		}
	})
	if entries, err := os.ReadDir(config); err != nil || len(entries) != 0 {
		t.Errorf("a run whose data is gone left %v, %v", entries, err)
	}
	set := settings{dynamoDB: "http://localhost:8000"}
	if got, err := set.keysDir(false); err != nil || got != filepath.Join(config, "seckill", "keys") {
		t.Errorf("with a real ledger keys are kept in %q, %v", got, err)
	}
}

// TestTextsNameTheToolAsItWasCalled checks that the pattern covers each command, and leaves arguments and names
// alone.
func TestTextsNameTheToolAsItWasCalled(t *testing.T) {
	for _, name := range regexp.MustCompile(`(?m)^  ([a-z]+) {2,}`).FindAllStringSubmatch(help(t), -1) {
		if name[1] != "help" && !ownCommand.MatchString("seckill "+name[1]) {
			t.Errorf("%s is missing in the pattern", name[1])
		}
	}
	defer func(was string) { self = was }(self)
	self = "bin/seckill"
	for text, want := range map[string]string{
		"See: seckill payments o1; \"seckill run\"": "See: bin/seckill payments o1; \"bin/seckill run\"",
		"--stack seckill --path /seckill/test":      "--stack seckill --path /seckill/test",
	} {
		if got := asCalled(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func help(t *testing.T) string {
	t.Helper()
	_, text, _ := command(t, "--help")
	_, text, _ = strings.Cut(text, "Available Commands:\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

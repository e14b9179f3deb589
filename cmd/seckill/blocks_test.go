package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/block"
)

// blockList is a file with a header and a line for each of n users from 100000.
func blockList(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("subject,item,reason,until\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,,a list of scripts,\n", 100_000+i)
	}
	return written(t, "list.csv", []byte(b.String()))
}

func TestBlocksCommandsAgainstARunningShop(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	table := "  subject  item  until  by  made  reason\n  203.0.113.0/24  2002  TIME  liu  TIME  a farm\n"
	for _, s := range []step{
		{"list", exitOK, "No blocks.\n", ""},
		{"add --user 1001 --why by~script --who liu", exitOK, "Blocked: user 1001 for every item, for good.\n", ""},
		{"add --user 1001 --reason by~script --who ann", exitOK,
			"Nothing to do: user 1001 for every item is blocked already, for good, for this reason.\n", ""},
		{"add --user 1001 --item 2002 --why x --until 2999-01-01T08:00:00+08:00 --who liu", exitOK,
			"Blocked: user 1001 for item 2002, until TIME.\n", ""},
		{"add --network 203.0.113.0/24 --item 2002 --why a~farm --for 24h --who liu", exitOK,
			"Blocked: network 203.0.113.0/24 for item 2002, until TIME.\n" +
				"Items without checks still sell to this network: tickets are refused, not purchases.\n", ""},
		{"list --user 1001", exitOK, "  subject  item  until  by  made  reason\n" +
			"  1001  every item  for good  liu  TIME  by script\n  1001  2002  TIME  liu  TIME  x\n", ""},
		{"list --user 1001 --limit 1", exitOK, "  subject  item  until  by  made  reason\n" +
			"  1001  every item  for good  liu  TIME  by script\n" +
			"More: seckill blocks list --url URL --user 1001 --after '*'\n", ""},
		{"list --user 1001 --after *", exitOK, "  subject  item  until  by  made  reason\n" +
			"  1001  2002  TIME  liu  TIME  x\n", ""},
		{"remove --user 1001", exitOK, "Removed: the block of user 1001 for every item.\n", ""},
		{"remove --user 1001", exitOK, "Nothing to do: no block of user 1001 for every item.\n", ""},
		{"remove --user 1001 --item 2002 --json", exitOK, "{\n  \"removed\": true\n}\n", ""},
		{"list", exitOK, table, ""},
		{"list --network 203.0.113.0/24", exitOK, table, ""},
		{"add --user 1001 --item 99 --why x", exitUsage, "",
			"seckill: item 99: URL has no such item (see: seckill blocks add --help)\n"},
	} {
		s.line = "blocks " + s.line + " --url " + sys.URL()
		try(t, s)
	}
	sys.Clock.Advance(25 * time.Hour)
	shows(t, step{"blocks list --url " + sys.URL(), exitOK, "UTC+8 (over)", ""}) // a day later
}

func TestBlocksCommandsRefuseInOneLine(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	refuses(t, exitUsage, "blocks * --url "+sys.URL(), [][2]string{
		{"add --why x", "--user ID or --network RANGE is missing"},
		{"remove", "--user ID or --network RANGE is missing"},
		{"add --user 1 --network 10.0.0.0/24 --why x", "--user and --network: give one of them"},
		{"add --user ann --why x", `--user "ann": want a user id`},
		{`add --user "" --why x`, `--user "": want a user id`},
		{"add --user １００１ --why x", `--user "\uff11\uff10\uff10\uff11": want a user id`},
		{"add --network 1001 --why x", `--network "1001": want an address`},
		{"add --network 10.0.0.0/8 --why x", `--network "10.0.0.0/8": want a range of /32`},
		{"add --network 10.0.0.1/24 --why x", `the range is written 10.0.0.0/24`},
		{"add --user 1001", "--why is missing"},
		{"add --user 1001 --why ~", "--why is missing"},
		{"add --user 1001 --why " + strings.Repeat("因", 201), `--why "\u56e0\u56e0`},
		{"add --user 1001 --why x --item abc", `--item "abc": want 1 to 19 digits`},
		{"add --user 1001 --why x --until tomorrow", `--until "tomorrow": want a time such as`},
		{"add --user 1001 --why x --until 2020-01-01T00:00:00Z", "--until 2020-01-01T00:00:00Z: it has passed"},
		{"add --user 1001 --why x --for -1h", "--for -1h0m0s: want a duration such as 24h"},
		{"add --user 1001 --why x --for 1h --until 2999-01-01T00:00:00Z", "--until and --for: give one"},
		{"add --user 1001 --why x --who " + strings.Repeat("a", 101), "who must be 1 to 100"},
		{"list --limit 0", "--limit 0: want 1 to 1000000"},
		{"list --after x", "after"},
		{"import", "FILE is missing"},
		{"import none.csv", "no such file"},
		{"import " + written(t, "a.csv", []byte("subject,reason\n1001,x\n")) + " --rate 0", "--rate 0: want 1"},
		{"import " + written(t, "b.csv", []byte("user,reason\n1001,x\n")), `"user" is not a column`},
	})
	try(t, step{"blocks list --url " + sys.URL(), exitOK, "No blocks.\n", ""})
}

// TestBlocksImport checks that bad lines are named and change nothing, and imports 6,000 lines twice, at a pace: the
// second time, nothing is left to do.
func TestBlocksImport(t *testing.T) {
	t.Parallel()
	const n, rate = 6_000, 3_000
	sys := localtest.Start(t, local.Options{})
	bad := []byte("subject,item,reason,until\n1,,x,\n1,,y,\n2,99,x,\n" + strings.Repeat("x,,x,\n", 30))
	code, stdout, stderr := command(t, "blocks", "import", written(t, "bad.csv", bad), "--url", sys.URL())
	if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 21 ||
		!strings.Contains(stderr, "bad.csv: line 3: user 1 for every item is on line 2 already\n") ||
		!strings.Contains(stderr, "bad.csv: 31 lines are wrong, 11 more than these; nothing was changed") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = command(t, "blocks", "import", written(t, "bad.csv",
		[]byte("subject,reason,item\n1,x,\n2,x,99\n")), "--url", sys.URL())
	if code != exitUsage || stdout != "" || !strings.Contains(stderr, "bad.csv: line 3: item 99: "+sys.URL()+
		" has no such item\n") || !strings.Contains(stderr, "1 line is wrong; nothing was changed") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	try(t, step{"blocks list --url " + sys.URL(), exitOK, "No blocks.\n", ""}) // a bad line changes nothing
	list := blockList(t, n)
	for _, want := range []string{"6000 new, 0 changed, 0 unchanged", "0 new, 0 changed, 6000 unchanged"} {
		began := time.Now()
		code, stdout, stderr = command(t, "blocks", "import", list, "--rate", strconv.Itoa(rate), "--who", "liu",
			"--url", sys.URL())
		took := time.Since(began)
		if code != exitOK || stdout != "Imported 6000 blocks: "+want+".\n" {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
		said := regexp.MustCompile(`(?m)^seckill: \d+ of 6000 blocks, \d+ a second$`).FindAllString(stderr, -1)
		least := (n - block.MaxPut) * time.Second / rate // the last call waits for nothing
		if strings.HasPrefix(want, "6000") && (took < least || len(said) < 1) {
			t.Errorf("%d a second took %v and said\n%s", rate, took, stderr)
		}
	}
	_, stdout, _ = command(t, "blocks", "list", "--limit", "1000000", "--json", "--url", sys.URL())
	var all operator.BlockPage
	if err := json.Unmarshal([]byte(stdout), &all); err != nil || len(all.Blocks) != n || all.Next != "" ||
		all.Blocks[0].By != "liu" || all.Blocks[0].Reason != "a list of scripts" {
		t.Errorf("the list has %d blocks, next %q, %v", len(all.Blocks), all.Next, err)
	}
}

// TestBlocksImportBreaksOff checks that a call that fails is repeated, that an import which breaks off says how far it
// came, and that the same command goes on there.
func TestBlocksImportBreaksOff(t *testing.T) {
	defer func(d time.Duration) { batchPause = d }(batchPause)
	batchPause = time.Millisecond
	sys := localtest.Start(t, local.Options{})
	calls, fails := 0, func(int) bool { return false }
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; fails(calls) {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		r.URL.Scheme, r.URL.Host, r.RequestURI = "http", strings.TrimPrefix(sys.URL(), "http://"), ""
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	defer between.Close()
	list := blockList(t, 2000)
	imported := func() (int, string, string) {
		calls = 0
		return command(t, "blocks", "import", list, "--rate", "10000", "--url", between.URL)
	}
	// The first call asks for the time; then come four batches.
	fails = func(call int) bool { return call >= 4 }
	code, stdout, stderr := imported()
	if code != exitFault || stdout != "" || strings.Count(stderr, "; again in ") != 4 || !strings.Contains(stderr,
		"seckill: broken off at line 1002, with 1000 of 2000 blocks made: ") ||
		!strings.Contains(stderr, "give the same command again: it goes on there") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	fails = func(call int) bool { return call == 4 }
	code, stdout, stderr = imported()
	if code != exitOK || stdout != "Imported 2000 blocks: 1000 new, 0 changed, 1000 unchanged.\n" ||
		strings.Count(stderr, "; again in 1ms\n") != 1 {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

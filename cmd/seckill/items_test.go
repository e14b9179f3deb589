package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/adapter/httpapi"
	"github.com/your-org/seckill/shared/adapter/itemfile"
	"github.com/your-org/seckill/shared/seckill"
)

// command runs a command to its end.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs, noEnv)
	return code, out.String(), errs.String()
}

// commandTyped is command with something typed.
func commandTyped(t *testing.T, typed string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	defer func(r io.Reader) { stdin = r }(stdin)
	stdin = strings.NewReader(typed)
	return command(t, args...)
}

func written(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestItemsCommandsAgainstARunningShop(t *testing.T) {
	t.Parallel()
	later := local.DemoItems(time.Now(), 4, 1)[2]
	later.ID, later.Start, later.End = "31", time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	one := written(t, "one.json", itemfile.Format([]seckill.Listing{later}))
	later.Stock = 40
	more := later
	more.ID = "32"
	two := written(t, "two.json", itemfile.Format([]seckill.Listing{later, more}))
	later.Stock = 39
	fewer := written(t, "fewer.json", itemfile.Format([]seckill.Listing{more, later}))
	csv := written(t, "a.CSV",
		[]byte(
			"id,title,price,sk_price,start_time,end_time,stock,limit\n33,表,2,1,2026-01-01T00:00:00Z,"+
				"2999-01-01T00:00:00Z,5,1\n"))
	started(t, noEnv, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		for _, step := range []struct {
			args   []string
			code   int
			stdout string
			stderr string
		}{
			{[]string{"import", one}, exitOK, "Imported 1 item: 1 created.\n", ""},
			{[]string{"import", one}, exitOK, "Nothing to do: 1 item is up to date.\n", ""},
			{[]string{"import", two}, exitOK, "Imported 2 items: 1 created, 1 changed.\n", ""},
			{[]string{"import", two}, exitOK, "Nothing to do: 2 items are up to date.\n", ""},
			{[]string{"import", fewer}, exitUsage, "",
				"seckill: item 31: stock 39: it has 40, and stock only grows (see: seckill items import --help)\n"},
			{[]string{"import", csv}, exitOK, "Imported 1 item: 1 created.\n", ""},
			{[]string{"stop", "2002"}, exitOK, "Item 2002 is stopped (stopped, 10 of 10 left).\n", ""},
			{[]string{"stop", "2002"}, exitOK,
				"Nothing to do: item 2002 is already stopped (stopped, 10 of 10 left).\n", ""},
			{[]string{"resume", "2002"}, exitOK, "Item 2002 is resumed (online, 10 of 10 left).\n", ""},
			{[]string{"resume", "2002"}, exitOK,
				"Nothing to do: item 2002 is not stopped (online, 10 of 10 left).\n", ""},
			{[]string{"add-stock", "2002", "25"}, exitOK,
				"Item 2002 now has 25 units in total (online, 25 of 25 left).\n", ""},
			{[]string{"add-stock", "2002", "25"}, exitOK,
				"Nothing to do: item 2002 has 25 units in total (online, 25 of 25 left).\n", ""},
			{[]string{"add-stock", "2002", "5"}, exitUsage, "",
				"seckill: stock 5: item 2002 already has 25 units, and stock never shrinks (N is the new " +
					"total) (see: " +
					"seckill items add-stock --help)\n"},
			{[]string{"stop", "31"}, exitOK, "Item 31 is stopped (stopped, not loaded yet).\n", ""},
			{[]string{"stop", "999"}, exitUsage, "", "seckill: item 999: " + base +
				" has no such item (see: seckill items stop --help)\n"},
		} {
			code, stdout, stderr := command(t, append(append([]string{"items"}, step.args...), "--url", base+"/")...)
			if code != step.code || stdout != step.stdout || stderr != step.stderr {
				t.Errorf("%v: exit %d\n%s%swant exit %d\n%s%s", step.args, code, stdout, stderr, step.code, step.stdout,
					step.stderr)
			}
		}
		code, stdout, stderr := command(t, "items", "export", "--url", base)
		items, err := itemfile.Parse("export.json", []byte(stdout), time.Now())
		if code != exitOK || stderr != "" || err != nil || len(items) != 6 {
			t.Fatalf("export: exit %d, %d items, %v\n%s%s", code, len(items), err, stdout, stderr)
		}
		code, stdout, stderr = command(t, "items", "import", written(t, "export.json", []byte(stdout)), "--url", base)
		if code != exitOK || stdout != "Nothing to do: 6 items are up to date.\n" {
			t.Errorf("import of what was exported: exit %d\n%s%s", code, stdout, stderr)
		}
	})
}

func TestItemsCommandsRefuseInOneLine(t *testing.T) {
	t.Parallel()
	bad := written(t, "bad.csv",
		[]byte(
			"id,title,price,sk_price,start_time,end_time,stock,limit\n1,表,2,1.005,2026-11-11T12:00:00Z,"+
				"2026-11-12T12:00:00Z,3,1\n"))
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	garbled := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<html>")
	}))
	t.Cleanup(garbled.Close)
	trouble := func(code seckill.Code) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(httpapi.Status(code))
			fmt.Fprintf(w, `{"code":%q,"detail":"The shop is busy."}`, code)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := "http://" + nobody.Addr().String()
	nobody.Close()
	for _, tt := range []struct {
		behaviour string
		args      []string
		code      int
		want      string
	}{
		{"no file", []string{"import"}, exitUsage, "FILE is missing (see: seckill items import --help)"},
		{"file missing", []string{"import", bad + "x"}, exitUsage, "no such file"},
		{"a folder", []string{"import", filepath.Dir(bad)}, exitUsage, "is a directory"},
		{"bad line", []string{"import", bad}, exitUsage, bad + `: line 2: sk_price "1.005"`},
		{"argument too many", []string{"export", "x"}, exitUsage, `"x": unexpected argument`},
		{"no id", []string{"stop"}, exitUsage, "ID is missing"},
		{"id a word", []string{"resume", "../x"}, exitUsage, `ID "../x": want 1 to 19 digits`},
		{"no number", []string{"add-stock", "1"}, exitUsage, "N is missing"},
		{"number zero", []string{"add-stock", "1", "0"}, exitUsage, `stock "0": want 1 to 1000000`},
		{"number too large", []string{"add-stock", "1", "1000001"}, exitUsage, `stock "1000001"`},
		{"number a word", []string{"add-stock", "1", "+5x"}, exitUsage, `stock "+5x"`},
		{"unknown command", []string{"delete", "1"}, exitUsage, `unknown command "delete"`},
		{"address without a scheme", []string{"export", "--url", "localhost:8100"}, exitUsage,
			`--url "localhost:8100": want an address such as http://localhost:8100`},
		{"address with a path", []string{"export", "--url", "http://localhost:8100/x"}, exitUsage, "--url"},
		{"address empty", []string{"export", "--url", ""}, exitUsage, "--url"},
		{"nobody there", []string{"export", "--url", silent}, exitFault, "nothing answers at " + silent +
			`: start the shop with "seckill run"`},
		{"another server", []string{"stop", "1", "--url", other.URL}, exitFault, "answers 404 Not Found: is it a"},
		{"another server's page", []string{"stop", "1", "--url", garbled.URL}, exitFault,
			"what answered cannot be read"},
		{"another server's page as items", []string{"export", "--url", garbled.URL}, exitFault, "cannot be read"},
		{"a shop in trouble", []string{"stop", "1", "--url", trouble(seckill.CodeUnavailable)}, exitFault,
			"The shop is busy."},
		{"a shop that lost its stock", []string{"stop", "1", "--url", trouble(seckill.CodeNotReady)}, exitFault,
			"item 1: the change is recorded, but the stock is being rebuilt"},
	} {
		code, stdout, stderr := command(t, append([]string{"items"}, tt.args...)...)
		if code != tt.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit %d\n%s%s\nwant exit %d and one line with %q", tt.behaviour, code, stdout, stderr,
				tt.code, tt.want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestExportNamesWhatCannotBeRead: the file has all others, and the exit code says that it lacks something.
func TestExportNamesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	file := itemfile.Format(local.DemoItems(time.Now(), 1, 1)[:1])
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"result":{"items":%s,"unreadable":["items row 13: x","items row 14: \n"]}}`, file)
	}))
	t.Cleanup(s.Close)
	code, stdout, stderr := command(t, "items", "export", "--url", s.URL)
	want := "seckill: not exported, because it cannot be read (2 in all): items row 13: x; items row 14:\n"
	if code != exitFault || stdout != string(file) || stderr != want {
		t.Errorf("exit %d\n%s%s\nwant exit %d and %s", code, stdout, stderr, exitFault, want)
	}
}

func TestItemsHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"import"}, {"export"}, {"stop"}, {"resume"}, {"add-stock"}} {
		args = append(append([]string{"items"}, args...), "--help")
		code, stdout, stderr := command(t, args...)
		if code != exitOK || stderr != "" || !strings.Contains(stdout, "Examples:\n  seckill items ") ||
			!strings.Contains(stdout, "--url") || !strings.Contains(stdout, "--stack") {
			t.Errorf("%v: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
}

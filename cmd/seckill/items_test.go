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
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// command runs a command to its end.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs, noEnv)
	http.DefaultClient.CloseIdleConnections()
	return code, out.String(), errs.String()
}

// commandTyped is command with typed input.
func commandTyped(t *testing.T, typed string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	defer func(r io.Reader) { stdin = r }(stdin)
	stdin = strings.NewReader(typed)
	return command(t, args...)
}

func written(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.OK(t, os.WriteFile(path, data, 0o600))
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
		[]byte("id,title,price,sk_price,start_time,end_time,stock,limit\n33,表,2,1,2026-01-01T00:00:00Z,"+
			"2999-01-01T00:00:00Z,5,1\n"))
	started(t, noEnv, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		for _, s := range []step{
			{"import " + one, exitOK, "Imported 1 item: 1 created.\n", ""},
			{"import " + one, exitOK, "Nothing to do: 1 item is up to date.\n", ""},
			{"import " + two, exitOK, "Imported 2 items: 1 created, 1 changed.\n", ""},
			{"import " + two, exitOK, "Nothing to do: 2 items are up to date.\n", ""},
			{"import " + fewer, exitUsage, "",
				"seckill: item 31: stock: 39 is less than the 40 that it has, and stock only grows (see: seckill " +
					"items import --help)\n"},
			{"import " + csv, exitOK, "Imported 1 item: 1 created.\n", ""},
			{"stop 2002", exitOK, "Item 2002 is stopped (stopped, 10 of 10 left).\n", ""},
			{"stop 2002", exitOK, "Nothing to do: item 2002 is already stopped (stopped, 10 of 10 left).\n", ""},
			{"resume 2002", exitOK, "Item 2002 is resumed (online, 10 of 10 left).\n", ""},
			{"resume 2002", exitOK, "Nothing to do: item 2002 is not stopped (online, 10 of 10 left).\n", ""},
			{"add-stock 2002 25", exitOK, "Item 2002 now has 25 units in total (online, 25 of 25 left).\n", ""},
			{"add-stock 2002 25", exitOK, "Nothing to do: item 2002 has 25 units in total (online, 25 of 25 left).\n",
				""},
			{"add-stock 2002 5", exitUsage, "",
				"seckill: stock 5: item 2002 already has 25 units, and stock never shrinks (N is the new " +
					"total) (see: " + "seckill items add-stock --help)\n"},
			{"stop 31", exitOK, "Item 31 is stopped (stopped, not loaded yet).\n", ""},
			{"stop 999", exitUsage, "", "seckill: item 999: " + base +
				" has no such item (see: seckill items stop --help)\n"},
		} {
			s.line = "items " + s.line + " --url " + base + "/"
			try(t, s)
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

// TestAllFaultsOfAFileAtOnce: those that the tool finds and those that the shop finds, by line, whether the file is
// checked or imported; and a check of a good file changes nothing.
func TestAllFaultsOfAFileAtOnce(t *testing.T) {
	t.Parallel()
	const head = "id,title,price,sk_price,start_time,end_time,stock,limit\n"
	line := func(id, title, start string, stock int) string {
		return fmt.Sprintf("%s,%s,2,1,%s,2999-01-01T00:00:00Z,%d,1\n", id, title, start, stock)
	}
	good := line("41", "表", "2998-01-01T00:00:00Z", 5)
	right := written(t, "good.csv", []byte(head+good))
	bad := written(t, "bad.csv", []byte(head+good+line("2002", "表", "2998-01-01T00:00:00Z", 1)+
		line("42", "表", "soon", 5)+line("43", "", "2998-01-01T00:00:00Z", 0)))
	lines := []string{": line 3: item 2002: ", "stock: 1 is less than the 10", `: line 4: start_time "soon": want a time`,
		": line 5: title: want", ": 3 lines are wrong; nothing was changed"}
	started(t, noEnv, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		for _, args := range [][]string{{bad}, {bad, "--check"}} {
			code, stdout, stderr := command(t, append([]string{"items", "import", "--url", base}, args...)...)
			rest := stderr
			for _, want := range lines {
				_, after, found := strings.Cut(rest, want)
				if !found || code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 4 {
					t.Fatalf("%v: exit %d, no %q:\n%s%s", args, code, want, stdout, stderr)
				}
				rest = after
			}
		}
		for range 2 {
			try(t, step{"items import --check " + right + " --url " + base, exitOK,
				right + " is right: 1 would be created, 0 changed, 0 stay as they are. Nothing was changed.\n", ""})
		}
		try(t, step{"items import " + right + " --url " + base, exitOK, "Imported 1 item: 1 created.\n", ""})
	})
}

func TestItemsCommandsRefuseInOneLine(t *testing.T) {
	t.Parallel()
	bad := written(t, "bad.csv",
		[]byte("id,title,price,sk_price,start_time,end_time,stock,limit\n1,表,2,1.005,2026-11-11T12:00:00Z,"+
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
	must.OK(t, err)
	silent := "http://" + nobody.Addr().String()
	nobody.Close()
	refuses(t, exitUsage, "items *", [][2]string{
		{"import", "FILE is missing (see: seckill items import --help)"},
		{"import " + bad + "x", "no such file"},
		{"import " + filepath.Dir(bad), "is a directory"},
		{"import " + bad, bad + `: line 2: sk_price "1.005"`},
		{"export x", `"x": unexpected argument`},
		{"stop", "ID is missing"},
		{"resume ../x", `ID "../x": want 1 to 19 digits`},
		{"add-stock 1", "N is missing"},
		{"add-stock 1 0", `stock "0": want 1 to 1000000`},
		{"add-stock 1 1000001", `stock "1000001"`},
		{"add-stock 1 +5x", `stock "+5x"`},
		{"delete 1", `unknown command "delete"`},
		{"export --url localhost:8100", `--url "localhost:8100": want an address such as http://localhost:8100`},
		{"export --url http://localhost:8100/x", "--url"},
		{"export --url \"\"", "--url"},
	})
	refuses(t, exitFault, "items *", [][2]string{
		{"export --url " + silent, "nothing answers at " + silent + `: start the shop with "seckill run"`},
		{"stop 1 --url " + other.URL, "answers 404 Not Found: is it a"},
		{"stop 1 --url " + garbled.URL, "what answered cannot be read"},
		{"export --url " + garbled.URL, "cannot be read"},
		{"stop 1 --url " + trouble(seckill.CodeUnavailable), "The shop is busy."},
		{"stop 1 --url " + trouble(seckill.CodeNotReady),
			"item 1: the change is recorded, but the stock is being rebuilt"},
	})
}

// TestExportNamesWhatCannotBeRead checks that the file has all other items, and that the exit code reports that it is
// incomplete.
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

// TestTwoEditorsOfOneItem: two export, both import: the second one changes nothing and is told what differs.
func TestTwoEditorsOfOneItem(t *testing.T) {
	t.Parallel()
	later := local.DemoItems(time.Now(), 4, 1)[2]
	later.ID, later.Start, later.End = "31", time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	started(t, noEnv, func(printed string) {
		at := " --url " + find(t, printed, `(?m)^  S=(\S+)$`)
		shows(t, step{"items import " + written(t, "a.json", itemfile.Format([]seckill.Listing{later})) + at, exitOK,
			"1 created", ""})
		_, exported, _ := command(t, words("items export"+at)...)
		edit := func(from, to string) string {
			t.Helper()
			if !strings.Contains(exported, from) {
				t.Fatalf("%s is not in %s", from, exported)
			}
			return "items import " + written(t, "edited.json", []byte(strings.Replace(exported, from, to, 1))) + at
		}
		title := `"title": "` + later.Commodity.Title + `"`
		second := edit(title, `"title": "two"`)
		exported = strings.ReplaceAll(exported, `"detail": "`, `"detail": "<script>x</script>`)
		shows(t,
			step{edit(title, `"title": "one"`), exitOK, "1 changed", ""},
			step{second, exitUsage, "", "it has changed since version 1, which this was made from: it is at version " +
				"2 now, and this save differs from it in title: export again and redo the change, or give --overwrite"},
			step{second + " --overwrite", exitOK, "1 changed", ""},
			step{"items list" + at, exitOK, "two", ""},
			step{"items ls --json" + at, exitOK, `"title": "two"`, ""},
			step{"items show 31" + at, exitOK, "title", ""},
			step{"items show 31 --json" + at, exitOK, `"title": "two"`, ""},
			step{"items show 2002" + at, exitOK, "no: it is loaded for sale, since ", ""},
			step{"items show 999" + at, exitUsage, "", "has no such item"},
			step{edit(title, `"title": "three"`) + " --overwrite", exitOK, "changed",
				"item 31: removed from its description: <script>\n"})
	})
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// TestExportGoesOn: a page that fails is asked for again. What breaks off for good, or is killed, goes on from its last
// whole page, and the file is the same as without. Another export, or one of another day, begins anew.
func TestExportGoesOn(t *testing.T) {
	defer func(d time.Duration) { batchPause = d }(batchPause)
	batchPause = time.Millisecond
	const pages = 5
	asked := []int{}
	down, unreadable := func(int) bool { return false }, 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := askedPage(t, r)
		asked = append(asked, at)
		if down(at) {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		madePage(w, at, pages, unreadable)
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "orders.csv")
	text := func(name string) string {
		b, _ := os.ReadFile(name)
		return string(b)
	}
	export := func(code int, want, wantAsked string, more ...string) {
		t.Helper()
		asked = asked[:0]
		got, stdout, stderr := command(t, append([]string{"orders", "export", "--item", "2002", "--csv", file, "--url",
			srv.URL}, more...)...)
		if got != code || !strings.Contains(stdout+stderr, want) || fmt.Sprint(asked) != wantAsked {
			t.Fatalf("exit %d, asked for %v\n%s%s", got, asked, stdout, stderr)
		}
	}
	export(exitOK, "Exported 2500 orders to ", "[0 1 2 3 4]")
	whole := text(file)
	same := func() {
		t.Helper()
		left, _ := filepath.Glob(file + ".*")
		if text(file) != whole || left != nil {
			t.Fatalf("%d bytes, want %d; left %v", len(text(file)), len(whole), left)
		}
		_ = os.Remove(file)
	}
	same()

	down = func(at int) bool { return at == 2 && len(asked) < 5 }
	export(exitOK, "after 1000 orders: ", "[0 1 2 2 2 3 4]")
	same()

	breaks := func() {
		t.Helper()
		down = func(at int) bool { return at == 3 }
		export(exitFault, "broken off with 1500 so far: ", "[0 1 2 3 3 3 3 3]")
		if _, err := os.Stat(file); err == nil {
			t.Error("half a file has the name of a whole one")
		}
		down = func(int) bool { return false }
	}
	breaks()
	part, err := os.OpenFile(file+".part", os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	fmt.Fprint(part, "half a page, as of a process that was killed")
	part.Close()
	export(exitOK, "goes on after 1500 orders", "[3 4]")
	same()

	breaks()
	export(exitOK, "Exported 2500 orders", "[0 1 2 3 4]", "--state", "paid")
	same()

	change := func(f func(*partState)) {
		t.Helper()
		var s partState
		err := json.Unmarshal([]byte(text(file+".part.json")), &s)
		f(&s)
		b, _ := json.Marshal(&s)
		must.OK(t, errors.Join(err, os.WriteFile(file+".part.json", b, 0o600)))
	}
	breaks()
	change(func(s *partState) { s.Began = s.Began.Add(-partLife) })
	export(exitOK, "Exported 2500 orders", "[0 1 2 3 4]")
	same()

	breaks()
	down = func(at int) bool {
		change(func(s *partState) { s.Owner = "another process" })
		return false
	}
	export(exitUsage, "another process writes ", "[3]")
	down = func(int) bool { return false }

	change(func(s *partState) { // killed between the last page and the new name
		s.Next, s.Size = "", int64(len(whole))
		must.OK(t, os.WriteFile(file+".part", []byte(whole), 0o600))
	})
	export(exitOK, "Exported 1500 orders to ", "[]")
	same()

	unreadable = 2
	breaks()
	export(exitOK, "seckill: 10 orders cannot be read\n", "[3 4]") // also those before it broke off
	same()
}

// TestPartHasOneWriter: a second writer is refused, an owner that changed gets no name, and somebody else's file that
// is called NAME.part stays as it is.
func TestPartHasOneWriter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "orders.csv")
	p, err := openPart(file, "all")
	must.OK(t, err)
	if _, err := openPart(file, "all"); err == nil || !strings.Contains(err.Error(), "another process writes") {
		t.Errorf("a second writer: %v", err)
	}
	must.OK(t, errors.Join(p.add([]byte("page"), 1, ""), p.end(nil)))

	if p, err = openPart(file, "all"); err != nil {
		t.Fatal(err)
	}
	p.Owner = "another process"
	if err := errors.Join(p.save(), p.end(nil)); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("another owner: %v", err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "page" {
		t.Errorf("%q, %v: the file of before is lost", b, err)
	}

	foreign := filepath.Join(t.TempDir(), "f")
	must.OK(t, os.WriteFile(foreign+".part", []byte("somebody's"), 0o600))
	if _, err := openPart(foreign, "all"); err == nil || !strings.Contains(err.Error(), "is not part of an export") {
		t.Errorf("a foreign file: %v", err)
	}
	if b, err := os.ReadFile(foreign + ".part"); err != nil || string(b) != "somebody's" {
		t.Errorf("%q, %v: the foreign file is lost", b, err)
	}
}

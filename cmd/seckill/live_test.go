package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/driver/ledger"
)

// TestLive prints the figures of a running sale once and each second, and leaves no trace in the audit log.
func TestLive(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	at := " --url " + sys.URL()
	code, stdout, stderr := command(t, words("live 2002 --once"+at)...)
	for _, want := range []string{"Item 2002, ", ": online, ", " UTC+8\n", "stock ", "left ", "placed ", "given back ",
		"presses ", "requests a second ", "p99 of a press ",
		"queue orders ", "dead letters of closings ", "refunds due ", "drift ",
		"unknown payments ", "Ready."} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q (exit %d)\n%s%s", want, code, stdout, stderr)
		}
	}
	if strings.Contains(stdout, "\x1b") || strings.Contains(stdout, "never read") ||
		strings.Contains(stdout, "failed") {
		t.Errorf("%q", stdout)
	}
	t.Log(stdout)
	shows(t, step{"live 2009 --once" + at, exitUsage, "", "has no such item"},
		step{"live 2002 --json" + at, exitOK, `"held": 0`, ""}, step{"live 2002 --json" + at, exitOK, `"at": "`, ""})
	ctx, cancel := context.WithCancel(t.Context())
	out := stops{cancel: cancel, left: 2}
	if code := run(ctx, words("live 2002"+at), &out, &out, noEnv); code != exitOK ||
		strings.Count(out.String(), "Item 2002, ") != 2 {
		t.Errorf("exit %d\n%s", code, &out.Buffer)
	}
	if rows := sys.Rows.Dump(ledger.TableAudit); len(rows) != 0 {
		t.Errorf("audit log: %v", rows)
	}
}

// TestRedrive moves a parked message back, once, and the live screen says who did it.
func TestRedrive(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	at := " --url " + sys.URL()
	if err := sys.Orders.SendRaw([]byte("not a message"), 0); err != nil {
		t.Fatal(err)
	}
	parked := func(when string) {
		t.Helper()
		for until := time.Now().Add(10 * time.Second); len(sys.Orders.Parked()) != 1; time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%s: %d messages are parked, want 1", when, len(sys.Orders.Parked()))
			}
		}
	}
	parked("sent")
	try(t, step{"redrive orders" + at, exitOK, "About 1 message is moved back to orders.\n", ""})
	parked("moved back, and unreadable still")
	shows(t, step{"redrive closings" + at, exitOK, "Nothing to do", ""},
		step{"redrive acts" + at, exitUsage, "", "want orders or closings"})
	for _, want := range []string{"redrive queue=orders ", "changed, by ", "redrive queue=closings", "unchanged, by "} {
		shows(t, step{"live 2002 --once" + at, exitOK, want, ""})
	}
}

// stops ends a command after some writes.
type stops struct {
	bytes.Buffer
	cancel func()
	left   int
}

func (w *stops) Write(b []byte) (int, error) {
	if w.left--; w.left == 0 {
		w.cancel()
	}
	return w.Buffer.Write(b)
}

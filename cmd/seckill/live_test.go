package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/adapter/ledger"
)

// TestLive prints the figures of a running sale once and each second, and leaves no trace in the audit log.
func TestLive(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	at := " --url " + sys.URL()
	code, stdout, stderr := command(t, words("live 2002 --once"+at)...)
	for _, want := range []string{"Item 2002, ", ": online, ", "stock ", "left ", "placed ", "given back ", "presses ",
		"requests a second ", "p99 of a press ", "queue orders ", "dead letters of closings ", "refunds due ", "drift ",
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
	if code, _, stderr := command(t, words("live 2009 --once"+at)...); code != exitUsage ||
		!strings.Contains(stderr, "has no such item") {
		t.Errorf("an unknown item: %d %s", code, stderr)
	}
	if code, stdout, _ := command(t, words("live 2002 --json"+at)...); code != exitOK ||
		!strings.Contains(stdout, `"held": 0`) || !strings.Contains(stdout, `"at": "`) {
		t.Errorf("%d %s", code, stdout)
	}
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

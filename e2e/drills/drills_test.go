//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	if got, err := choose(""); err != nil || len(got) != len(drills)+len(limitedDrills) {
		t.Errorf("all: %d drills, %v", len(got), err)
	}
	got, err := choose("queue,redis-flush")
	if err != nil || len(got) != 2 || got[0].name != "queue" || got[1].name != "redis-flush" {
		t.Errorf("two: %v, %v", got, err)
	}
	if _, err := choose("queue,nothing"); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a drill that there is not: %v", err)
	}
}

func TestOutcomesAreAdded(t *testing.T) {
	t.Parallel()
	var l loadReport
	if err := json.Unmarshal([]byte(`{"arrived":9,"outcomes":[{"name":"refused","cause":"a","count":2},{"name":"refused","cause":"b","count":3},{"name":"placed","count":4}]}`), &l); err != nil {
		t.Fatal(err)
	}
	if l.Arrived != 9 || l.how("refused") != 5 || l.how("refused", "placed") != 9 || l.how("failed") != 0 {
		t.Errorf("%+v", l)
	}
}

// TestWhatDidNotLandFails: a fault that does not come to strike, or one of several, fails the drill, and what the others did is still told.
func TestWhatDidNotLandFails(t *testing.T) {
	t.Parallel()
	w := &world{stock: 100}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // the crowd
	defer cancel()
	d := drill{faults: []fault{
		func(context.Context, *world) (string, error) { return "one struck", nil },
		inTurn(
			func(context.Context, *world) (string, error) { return "two struck", nil },
			func(ctx context.Context, w *world) (string, error) { return "", w.sold(ctx, 0.5) },
			func(context.Context, *world) (string, error) {
				return "", errors.New("came though the one before it did not")
			},
		),
	}}
	w.accepted.Store(49)
	said, err := d.strike(ctx, w)
	if said != "one struck; two struck" || err == nil || !strings.Contains(err.Error(), "49 of 100") || strings.Contains(err.Error(), "came though") {
		t.Errorf("%q, %v", said, err)
	}
	w.accepted.Store(50)
	if err := w.sold(t.Context(), 0.5); err != nil {
		t.Error(err)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := server{script: "sleep", dir: t.TempDir()}
	if _, err := s.pid(); err == nil {
		t.Error("a server that was not started has a pid")
	}
	b, err := json.Marshal(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.dir+"/sleep.pid", b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.signal(syscall.SIGSTOP); err != nil || ended(cmd.Process.Pid) {
		t.Errorf("stopped: %v, ended: %v", err, ended(cmd.Process.Pid))
	}
	if err := s.kill(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("sleep was not killed")
	}
	if !ended(cmd.Process.Pid) {
		t.Error("a process that was waited for has not ended")
	}
}

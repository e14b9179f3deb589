//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/your-org/seckill/e2e/account"
	"github.com/your-org/seckill/e2e/lambdahost"
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

// TestWhatDidNotLandFails checks that a fault which does not happen, even one of several, fails the drill, and that
// the effects of the others are reported.
func TestWhatDidNotLandFails(t *testing.T) {
	t.Parallel()
	w := &rig{stock: 100}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // the crowd
	defer cancel()
	d := drill{faults: []fault{
		func(context.Context, *rig) (string, error) { return "one struck", nil },
		inTurn(
			func(context.Context, *rig) (string, error) { return "two struck", nil },
			func(ctx context.Context, w *rig) (string, error) { return "", w.sold(ctx, 0.5) },
			func(context.Context, *rig) (string, error) {
				return "", errors.New("came though the one before it did not")
			},
		),
	}}
	w.accepted.Store(49)
	said, err := d.strike(ctx, w)
	if said != "one struck; two struck" || err == nil || !strings.Contains(err.Error(), "49 of 100") ||
		strings.Contains(err.Error(), "came though") {
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

// TestReservedAsInTheTemplate checks that the drills' deployments reserve the same executions as the template.
func TestReservedAsInTheTemplate(t *testing.T) {
	t.Parallel()
	kept := regexp.MustCompile(
		`(?s)ReservedConcurrentExecutions: !If \[Reserves, (\d+),.{0,80}?/aws/lambda/\$\{Name\}-(\w+)"`)
	got := map[string]float64{}
	for _, file := range []string{"sale.yaml", "money.yaml", "office.yaml"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "infra", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kept.FindAllStringSubmatch(string(b), -1) {
			if got[m[2]], err = strconv.ParseFloat(m[1], 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !maps.Equal(got, reserved) {
		t.Errorf("the template keeps %v, the drills %v", got, reserved)
	}
}

// TestThrottlesFit checks that each drill with an account is deployed as a plan would be.
func TestThrottlesFit(t *testing.T) {
	t.Parallel()
	for _, d := range limitedDrills {
		a := d.account
		l := a.planned()
		if why := l.Fits(); len(why) > 0 {
			t.Errorf("%s: %v", d.name, why)
		}
	}
}

// TestNotificationsFindAnExecution checks that as many notifications as the throttle allows at once, also while the
// first instances start, find an execution each: no 503 from a gateway without an instance.
func TestNotificationsFindAnExecution(t *testing.T) {
	t.Parallel()
	const starting = 400 * time.Millisecond
	for _, d := range limitedDrills {
		now := time.Unix(0, 0)
		throttles, kept := d.account.scaled()
		a, err := account.New(account.Options{Limits: d.account.limits.Hundredth(), Throttles: throttles,
			Reserved: kept,
			Clock:    func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		let, refused := 0, 0
		for range starting / time.Millisecond {
			for a.Gateway.Let(http.MethodPost, "/seckill/alipay/notify") {
				let++
				if _, ok := a.Lambda.Begin("notify", false); !ok {
					refused++
				}
			}
			now = now.Add(time.Millisecond)
		}
		if refused > 0 || let < int(throttles[ofNotify].Burst) {
			t.Errorf("%s: %d of %d notifications found no execution", d.name, refused, let)
		}
	}
}

// TestNotReadyIsExcusedWhileNothingIsInstalled checks that a request that came after the installation must not get
// it.
func TestNotReadyIsExcusedWhileNothingIsInstalled(t *testing.T) {
	t.Parallel()
	notYet := lambdahost.Answer{Function: "buy", Status: http.StatusServiceUnavailable, Code: notReady, Retry: true}
	s := newSums()
	s.add(&notYet)
	if said := s.faults5xx(); said != "" {
		t.Errorf("before: %q", said)
	}
	s.installed()
	before := notYet
	before.Took = time.Hour
	s.add(&before)
	if said := s.faults5xx(); said != "" {
		t.Errorf("asked before, answered after: %q", said)
	}
	time.Sleep(time.Millisecond) // for a clock with that resolution
	s.add(&notYet)
	if said, want := s.faults5xx(), "buy 503 not_ready by itself: 1"; said != want {
		t.Errorf("after: %q, want %q", said, want)
	}
}

// TestUnavailableByTheFunction checks that a 503 counts only if buy itself answers it, with Retry-After and in time.
func TestUnavailableByTheFunction(t *testing.T) {
	t.Parallel()
	good := lambdahost.Answer{Function: "buy", Status: http.StatusServiceUnavailable, Code: "unavailable", Retry: true,
		Took: time.Second}
	for _, tt := range []struct {
		what   string
		change func(*lambdahost.Answer)
		want   string // of the error; "" means no error
	}{
		{"as it has to be", func(*lambdahost.Answer) {}, ""},
		{"by the gateway", func(a *lambdahost.Answer) { a.Gateway = true }, "map[503 by the gateway:1]"},
		{"without Retry-After", func(a *lambdahost.Answer) {
			a.Retry = false
		}, "map[503 unavailable, Retry-After false:1]"},
		{"accepted", func(a *lambdahost.Answer) {
			a.Status, a.Code = http.StatusOK, ""
		}, "map[200 , Retry-After true:1]"},
		{"late", func(a *lambdahost.Answer) { a.Took = buyLimit + 1 }, "map[later than 3s:1]"},
	} {
		w := &rig{sums: newSums()}
		from := time.Now()
		odd := good
		tt.change(&odd)
		w.sums.add(&good)
		w.sums.add(&odd)
		said, err := w.allUnavailable(from)
		if tt.want == "" && (err != nil || !strings.Contains(said, "2 purchases")) ||
			tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %q, %v; want %q", tt.what, said, err, tt.want)
		}
	}
}

// Package lambdatest runs a function's bootstrap as Lambda does, without a container: it serves the Lambda Runtime
// API (Instance) to one process, passes it events one at a time, and receives its answers. In:
// a binary, its environment, events. Out: answers, init errors, figures. It is for tests on Linux.
package lambdatest

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// Limits of a run.
const (
	startLimit = 60 * time.Second // from process start to the first request for an event, on a busy machine
	timeout    = 30 * time.Second // of an event: the deadline in the event
	// for its answer; longer than timeout, because nothing here freezes or kills the process
	answerWait = 60 * time.Second
	outputWait = 30 * time.Second // for what it wrote before its answer: pipe and connection are not ordered
	outputLook = 5 * time.Millisecond
)

// Function is one running bootstrap.
type Function struct {
	t       testing.TB
	api     *Instance
	cmd     *exec.Cmd
	out     output
	exited  chan struct{}
	ready   chan time.Duration // time from process start to the first request for an event
	readyIn time.Duration
}

// Build compiles mains (package paths) as they are deployed, for an architecture ("": this machine's), into a folder.
// It needs only the go command.
func Build(t testing.TB, arch, folder string, mains ...string) {
	t.Helper()
	args := append([]string{"build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-trimpath", "-buildvcs=false", "-o",
		folder + "/"}, mains...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if arch != "" {
		cmd.Env = append(cmd.Env, "GOARCH="+arch)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// Start runs a bootstrap with only these environment variables, until the test ends.
func Start(t testing.TB, binary string, environ map[string]string) *Function {
	t.Helper()
	f := &Function{t: t, api: NewInstance(), exited: make(chan struct{}), ready: make(chan time.Duration, 1)}
	server := httptest.NewServer(f.api)
	f.cmd = exec.CommandContext(context.Background(), binary)
	f.cmd.Env = Environment(filepath.Base(binary), strings.TrimPrefix(server.URL, "http://"))
	for name, value := range environ {
		f.cmd.Env = append(f.cmd.Env, name+"="+value)
	}
	f.cmd.Stdout, f.cmd.Stderr = &f.out, &f.out
	started := time.Now()
	if err := f.cmd.Start(); err != nil {
		server.Close()
		t.Fatal(err)
	}
	go func() {
		select {
		case <-f.api.Ready():
			f.ready <- time.Since(started)
		case <-f.exited:
		}
	}()
	go func() {
		_ = f.cmd.Wait() // its output says how it ended
		close(f.exited)
	}()
	t.Cleanup(func() {
		_ = f.cmd.Process.Kill()
		<-f.exited
		server.CloseClientConnections()
		server.Close()
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(binary), f.Output())
		}
	})
	return f
}

// Ready waits until the function asks for its first event, and returns the time since process start.
func (f *Function) Ready() time.Duration {
	f.t.Helper()
	if f.readyIn > 0 {
		return f.readyIn
	}
	select {
	case f.readyIn = <-f.ready:
	case msg := <-f.api.InitError():
		f.t.Fatalf("init failed: %s", msg)
	case <-f.exited:
		f.t.Fatalf("the process ended:\n%s", f.Output())
	case <-time.After(startLimit):
		f.t.Fatalf("no question for an event within %v", startLimit)
	}
	return f.readyIn
}

// InitError waits for the function to report a failed init and exit.
func (f *Function) InitError() string {
	f.t.Helper()
	select {
	case msg := <-f.api.InitError():
		select {
		case <-f.exited:
		case <-time.After(startLimit):
			f.t.Fatal("the process goes on after its init error")
		}
		if f.cmd.ProcessState.ExitCode() == 0 {
			f.t.Error("the process ended with 0 after an init error")
		}
		return msg
	case <-f.ready:
		f.t.Fatal("init succeeded")
	case <-f.exited:
		f.t.Fatalf("the process ended without an init error:\n%s", f.Output())
	case <-time.After(startLimit):
		f.t.Fatalf("no init error within %v", startLimit)
	}
	return ""
}

// Invoke passes an event to the function and waits for its answer. The error is what the function reported.
func (f *Function) Invoke(event []byte) ([]byte, error) {
	f.t.Helper()
	f.Ready()
	ctx, cancel := context.WithTimeout(f.t.Context(), answerWait)
	defer cancel()
	go func() {
		select {
		case <-f.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	out, err := f.api.Invoke(ctx, event, time.Now().Add(timeout))
	if err != nil && !Failed(err) {
		f.t.Fatalf("%v:\n%s", err, f.Output())
	}
	return out, err
}

// Resident returns the memory that the process has now, in bytes (VmRSS of proc(5)).
func (f *Function) Resident() int {
	f.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.cmd.Process.Pid))
	must.OK(f.t, err)
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	must.OK(f.t, err)
	return kib << 10
}

// Output returns what the function has written so far.
func (f *Function) Output() string { return f.out.String() }

// End kills the process and returns all that it wrote: what Says would wait for in vain.
func (f *Function) End() string {
	f.t.Helper()
	_ = f.cmd.Process.Kill()
	<-f.exited
	return f.Output()
}

// Says waits until the function has written a text; false if it has not within 30 s. What must not be written is
// looked for in End.
func (f *Function) Says(text string) bool {
	end, look := time.NewTimer(outputWait), time.NewTicker(outputLook)
	defer end.Stop()
	defer look.Stop()
	for !strings.Contains(f.Output(), text) {
		select {
		case <-look.C:
		case <-end.C:
			return false
		}
	}
	return true
}

// output keeps what a process writes; above a mebibyte it drops the oldest half.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() > 1<<20 {
		o.buf.Next(o.buf.Len() / 2)
	}
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Package lambdatest runs a function's bootstrap as Lambda does, without a container: it serves the Lambda Runtime API ("Using the Lambda
// runtime API for custom runtimes", AWS Lambda Developer Guide) to one process, hands it events one at a time, and takes its
// answers. In: a binary, its environment, events. Out: answers, init errors, figures. It is for tests on Linux.
package lambdatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Limits of a run.
const (
	startLimit = 60 * time.Second // from process start to the first question for an event, on a machine that is busy
	timeout    = 30 * time.Second // of an event: the deadline that the function is told
	answerWait = 60 * time.Second // for its answer; beyond timeout, since nothing here freezes or kills it
	outputWait = 30 * time.Second // for what it wrote before its answer: a pipe has no order with a connection
	outputLook = 5 * time.Millisecond
)

// arn is what a function is told of its name.
const arn = "arn:aws:lambda:eu-west-1:123456789012:function:seckill"

// Function is one running bootstrap.
type Function struct {
	t      testing.TB
	cmd    *exec.Cmd
	out    output
	exited chan struct{}

	ready     chan time.Duration // the first question for an event
	initError chan string
	events    chan call
	readyIn   time.Duration

	mu      sync.Mutex
	started time.Time
	calls   map[string]call // handed out, by request id
	count   int
}

type call struct {
	event  []byte
	answer chan answer
}

type answer struct {
	body []byte
	err  error
}

// Build compiles mains (package paths) as they are deployed, for an architecture ("" is this machine's), into a folder. It needs the go
// command and nothing else.
func Build(t testing.TB, arch, folder string, mains ...string) {
	t.Helper()
	args := append([]string{"build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-trimpath", "-buildvcs=false", "-o", folder + "/"}, mains...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if arch != "" {
		cmd.Env = append(cmd.Env, "GOARCH="+arch)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// Start runs a bootstrap in an environment that has these variables and nothing else, until the test ends.
func Start(t testing.TB, binary string, environ map[string]string) *Function {
	t.Helper()
	f := &Function{t: t, exited: make(chan struct{}), ready: make(chan time.Duration, 1), initError: make(chan string, 1),
		events: make(chan call), calls: map[string]call{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", f.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", f.response)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", f.failure)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		f.initError <- string(b)
		w.WriteHeader(http.StatusAccepted)
	})
	server := httptest.NewServer(mux)
	f.cmd = exec.CommandContext(context.Background(), binary)
	f.cmd.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(server.URL, "http://"), "AWS_LAMBDA_FUNCTION_NAME=" + filepath.Base(binary),
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256", "_HANDLER=bootstrap"}
	for name, value := range environ {
		f.cmd.Env = append(f.cmd.Env, name+"="+value)
	}
	f.cmd.Stdout, f.cmd.Stderr = &f.out, &f.out
	f.mu.Lock() // the process may ask before this goes on
	f.started = time.Now()
	err := f.cmd.Start()
	f.mu.Unlock()
	if err != nil {
		server.Close()
		t.Fatal(err)
	}
	go func() {
		_ = f.cmd.Wait() // how it ended is in what it said before
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

// Ready waits until the function asks for its first event, and says how long that took from process start.
func (f *Function) Ready() time.Duration {
	f.t.Helper()
	if f.readyIn > 0 {
		return f.readyIn
	}
	select {
	case f.readyIn = <-f.ready:
	case msg := <-f.initError:
		f.t.Fatalf("init failed: %s", msg)
	case <-f.exited:
		f.t.Fatalf("the process ended:\n%s", f.Output())
	case <-time.After(startLimit):
		f.t.Fatalf("no question for an event within %v", startLimit)
	}
	return f.readyIn
}

// InitError waits for the function to report that init failed, and to end.
func (f *Function) InitError() string {
	f.t.Helper()
	select {
	case msg := <-f.initError:
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

// Invoke hands over an event and waits for its answer. The error is what the function reported.
func (f *Function) Invoke(event []byte) ([]byte, error) {
	f.t.Helper()
	f.Ready()
	c := call{event, make(chan answer, 1)}
	late := time.NewTimer(answerWait)
	defer late.Stop()
	select {
	case f.events <- c:
	case <-f.exited:
		f.t.Fatalf("the process ended:\n%s", f.Output())
	case <-late.C:
		f.t.Fatalf("no question for an event within %v", answerWait)
	}
	select {
	case a := <-c.answer:
		return a.body, a.err
	case <-f.exited:
		f.t.Fatalf("the process ended:\n%s", f.Output())
	case <-late.C:
		f.t.Fatalf("no answer within %v", answerWait)
	}
	return nil, nil
}

// Resident is how many bytes of memory the process has now (VmRSS of proc(5)).
func (f *Function) Resident() int {
	f.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.cmd.Process.Pid))
	if err != nil {
		f.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		f.t.Fatal(err)
	}
	return kib << 10
}

// Output is what the function has written so far.
func (f *Function) Output() string { return f.out.String() }

// Says waits until the function has written a text; false: it has not within 30 s.
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

func (f *Function) next(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	since := time.Since(f.started)
	f.mu.Unlock()
	select {
	case f.ready <- since:
	default: // not the first question
	}
	select {
	case c := <-f.events:
		f.mu.Lock()
		f.count++
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", f.count)
		f.calls[id] = c
		f.mu.Unlock()
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(timeout).UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", arn)
		h.Set("Lambda-Runtime-Trace-Id", "Root=1-69120f5e-"+id[24:]+id[24:])
		h.Set("Content-Type", "application/json")
		_, _ = w.Write(c.event)
	case <-r.Context().Done():
	}
}

func (f *Function) response(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	f.finish(w, r, answer{b, err})
}

func (f *Function) failure(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	f.finish(w, r, answer{nil, errors.New(string(b))})
}

func (f *Function) finish(w http.ResponseWriter, r *http.Request, a answer) {
	f.mu.Lock()
	c, ok := f.calls[r.PathValue("id")]
	delete(f.calls, r.PathValue("id"))
	f.mu.Unlock()
	if !ok {
		http.Error(w, "no such invocation", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	c.answer <- a
}

// output keeps what a process writes; beyond a mebibyte the oldest half goes.
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

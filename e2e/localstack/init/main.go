// Command init is process 1 of a LocalStack Lambda container for the runtime provided.al2023. It replaces the one in
// LocalStack's image:
//
//	LocalStack --POST :9563/invoke--> init --Lambda Runtime API 127.0.0.1:9001--> /var/task/bootstrap
//	LocalStack <--POST $LOCALSTACK_RUNTIME_ENDPOINT/{status,invocations}/...-- init
//
// The protocol is that of localstack/services/lambda_/invocation/executor_endpoint.py (LocalStack 4.14). It handles
// one invocation at a time, as in Lambda. It omits extensions, X-Ray, the memory limit and response streaming.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const runtimeAPI = "127.0.0.1:9001"

// invocation is the body of LocalStack's POST :9563/invoke.
type invocation struct {
	ID      string `json:"invoke-id"`
	Arn     string `json:"invoked-function-arn"`
	Payload string `json:"payload"`
	Trace   string `json:"trace-id"`

	deadline time.Time
	once     sync.Once
	done     chan result // buffered 1
}

type result struct {
	kind string // "response" or "error": also the last part of the callback's path
	body []byte
}

func (v *invocation) finish(kind string, body []byte) {
	v.once.Do(func() { v.done <- result{kind, body} })
}

var (
	endpoint = os.Getenv("LOCALSTACK_RUNTIME_ENDPOINT")
	id       = os.Getenv("LOCALSTACK_RUNTIME_ID")
	timeout  = seconds(os.Getenv("AWS_LAMBDA_FUNCTION_TIMEOUT"), 30)
	logs     = &logBuffer{}
	queue    = make(chan *invocation) // from /invoke to the runtime's GET next
	client   = &http.Client{Timeout: 30 * time.Second}

	mu      sync.Mutex
	current *invocation // the invocation that the bootstrap is handling
	ready   bool        // the bootstrap has asked for its first invocation, or startup has failed
	child   *exec.Cmd
)

func main() {
	log.SetFlags(0)
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-sig; os.Exit(0) }()

	var paths []struct{ Path, Mode string }
	_ = json.Unmarshal([]byte(os.Getenv("LOCALSTACK_CHMOD_PATHS")), &paths)
	for _, p := range paths {
		if m, err := strconv.ParseUint(p.Mode, 8, 32); err == nil {
			_ = os.Chmod(p.Path, os.FileMode(m))
		}
	}

	api := http.NewServeMux()
	api.HandleFunc("/2018-06-01/runtime/", runtimeHandler)
	go func() { log.Fatal(http.ListenAndServe(runtimeAPI, api)) }()

	// Listen for invocations before the bootstrap starts: after status/ready LocalStack sends at once.
	inv := http.NewServeMux()
	inv.HandleFunc("/invoke", func(w http.ResponseWriter, r *http.Request) {
		v := &invocation{done: make(chan result, 1)}
		if err := json.NewDecoder(r.Body).Decode(v); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		go run(v)
	})
	go func() { log.Fatal(http.ListenAndServe(":9563", inv)) }()

	time.Sleep(5 * time.Millisecond) // lets both listeners start
	start()
	select {}
}

// start runs the bootstrap and reports its exit to the waiting caller.
func start() {
	c := exec.CommandContext(context.Background(), "/var/task/bootstrap") // until it exits, or timedOut
	c.Dir = "/var/task"
	c.Stdout, c.Stderr = logs, logs
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Env = append(os.Environ(), "AWS_LAMBDA_RUNTIME_API="+runtimeAPI, "PATH=/usr/local/bin:/usr/bin:/bin:/opt/bin",
		"LANG=en_US.UTF-8")
	err := c.Start()
	if err == nil {
		mu.Lock()
		child = c
		mu.Unlock()
		go func() { ended(c, c.Wait()) }()
		return
	}
	ended(nil, err)
}

func ended(c *exec.Cmd, err error) {
	why := "exit status 0"
	if err != nil {
		why = err.Error()
	}
	mu.Lock()
	if child != c { // killed by timedOut, which reports it
		mu.Unlock()
		return
	}
	child = nil
	v, started := current, ready
	ready = true
	mu.Unlock()
	if v != nil {
		v.finish("error", problem("Runtime.ExitError", "RequestId: "+v.ID+" Error: Runtime exited with error: "+why))
	} else if !started {
		fmt.Fprintln(logs, "bootstrap:", why)
		post("/status/"+id+"/error", problem("Runtime.ExitError", "Error: Runtime exited with error: "+why+"\n"+
			logs.take()))
	}
}

// run executes one invocation: pass it on, wait for the answer or the timeout, report logs and result.
func run(v *invocation) {
	begin := time.Now()
	v.deadline = begin.Add(timeout)
	fmt.Fprintf(logs, "START RequestId: %s Version: %s\n", v.ID, os.Getenv("AWS_LAMBDA_FUNCTION_VERSION"))
	mu.Lock()
	current = v
	dead := child == nil
	mu.Unlock()
	if dead { // after a timeout or a crash
		start()
	}
	var res result
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case queue <- v:
		select {
		case res = <-v.done:
		case <-late.C:
			res = timedOut(v)
		}
	case res = <-v.done:
	case <-late.C:
		res = timedOut(v)
	}
	time.Sleep(time.Millisecond) // what the bootstrap wrote just before its answer is still in the pipe
	d := time.Since(begin)
	fmt.Fprintf(logs,
		"END RequestId: %s\nREPORT RequestId: %s\tDuration: %.2f ms\tBilled Duration: %d ms\tMemory Size: %s MB\tMax "+
			"Memory Used: %s MB\n",
		v.ID, v.ID, float64(d.Microseconds())/1000, d.Milliseconds()+1, os.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"),
		os.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"))
	mu.Lock()
	current = nil
	mu.Unlock()
	b, _ := json.Marshal(map[string]string{"logs": logs.take()})
	post("/invocations/"+v.ID+"/logs", b)
	post("/invocations/"+v.ID+"/"+res.kind, res.body)
}

func timedOut(v *invocation) result {
	mu.Lock()
	if child != nil {
		_ = syscall.Kill(-child.Process.Pid, syscall.SIGKILL)
		child = nil
	}
	mu.Unlock()
	msg := fmt.Sprintf("%s %s Task timed out after %.2f seconds", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		v.ID, timeout.Seconds())
	fmt.Fprintln(logs, msg)
	v.finish("error", nil) // a later answer is dropped
	return result{"error", problem("Sandbox.Timedout", msg)}
}

// runtimeHandler serves the Lambda Runtime API.
func runtimeHandler(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/2018-06-01/runtime/")
	switch {
	case path == "invocation/next":
		mu.Lock()
		first := !ready
		ready = true
		mu.Unlock()
		if first {
			go post("/status/"+id+"/ready", []byte("{}"))
		}
		var v *invocation
		select {
		case v = <-queue:
		case <-r.Context().Done(): // the bootstrap disconnected
			return
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", v.ID)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(v.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", v.Arn)
		h.Set("Lambda-Runtime-Trace-Id", v.Trace)
		_, _ = io.WriteString(w, v.Payload)
	case path == "init/error":
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		first := !ready
		ready = true
		mu.Unlock()
		if first {
			post("/status/"+id+"/error", b)
		}
		w.WriteHeader(http.StatusAccepted)
	case strings.HasPrefix(path, "invocation/"):
		p := strings.Split(path, "/") // invocation/ID/response or invocation/ID/error
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		v := current
		mu.Unlock()
		if len(p) != 3 || v == nil || v.ID != p[1] || p[2] != "response" && p[2] != "error" {
			http.Error(w, `{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}`, http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		v.finish(p[2], b)
	default:
		http.NotFound(w, r)
	}
}

func post(path string, body []byte) {
	// client has a timeout
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, endpoint+path, bytes.NewReader(body))
	if err != nil {
		log.Println("init:", err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		log.Println("init:", err)
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

func problem(kind, msg string) []byte {
	b, _ := json.Marshal(map[string]string{"errorType": kind, "errorMessage": msg})
	return b
}

func seconds(s string, def int) time.Duration {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		n = def
	}
	return time.Duration(n) * time.Second
}

// logBuffer keeps the bootstrap's output until the end of the invocation, and copies it to the container's log
// (docker logs).
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() < 1<<20 {
		l.b.Write(p)
	}
	return os.Stderr.Write(p)
}

func (l *logBuffer) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	l.b.Reset()
	return s
}

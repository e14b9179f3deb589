package lambdatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ARN is the function's name in the Runtime API.
const ARN = "arn:aws:lambda:eu-west-1:123456789012:function:seckill"

const root = "/2018-06-01/runtime/"

// FunctionError is what a function reported instead of an answer.
type FunctionError string

func (e FunctionError) Error() string { return string(e) }

// Instance is Lambda's side of the Runtime API ("Using the Lambda runtime API for custom runtimes", AWS Lambda
// Developer Guide) for one bootstrap, an http.Handler: it gives the bootstrap its next event, and passes the answer to
// the caller of Invoke. The process finds it by AWS_LAMBDA_RUNTIME_API.
type Instance struct {
	ready     chan struct{}
	once      sync.Once
	initError chan string
	events    chan call

	mu    sync.Mutex
	calls map[string]call // delivered, by request id
	count int
}

type call struct {
	event    []byte
	deadline time.Time
	answer   chan answer
}

type answer struct {
	body []byte
	err  error
}

// NewInstance returns an endpoint.
func NewInstance() *Instance {
	return &Instance{ready: make(chan struct{}), initError: make(chan string, 1), events: make(chan call),
		calls: map[string]call{}}
}

// Ready returns a channel that closes when the bootstrap asks for its first event.
func (i *Instance) Ready() <-chan struct{} { return i.ready }

// InitError returns a channel that receives what the bootstrap reports if its init fails.
func (i *Instance) InitError() <-chan string { return i.initError }

// Invoke passes on an event and waits for its answer. The error is a FunctionError, or that of ctx. One event is under
// way at a time, as on Lambda: a second call waits until the bootstrap asks again.
func (i *Instance) Invoke(ctx context.Context, event []byte, deadline time.Time) ([]byte, error) {
	c := call{event, deadline, make(chan answer, 1)}
	select {
	case i.events <- c:
	case <-ctx.Done():
		return nil, fmt.Errorf("no question for an event: %w", ctx.Err())
	}
	select {
	case a := <-c.answer:
		return a.body, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("no answer: %w", ctx.Err())
	}
}

// ServeHTTP answers the bootstrap.
func (i *Instance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, root)
	id, what, _ := strings.Cut(strings.TrimPrefix(path, "invocation/"), "/")
	switch {
	case !ok:
		http.NotFound(w, r)
	case r.Method == http.MethodGet && path == "invocation/next":
		i.next(w, r)
	case r.Method == http.MethodPost && what == "response":
		b, err := io.ReadAll(r.Body)
		i.finish(w, id, answer{b, err})
	case r.Method == http.MethodPost && what == "error" && id != "init":
		b, _ := io.ReadAll(r.Body)
		i.finish(w, id, answer{nil, FunctionError(b)})
	case r.Method == http.MethodPost && path == "init/error":
		b, _ := io.ReadAll(r.Body)
		select {
		case i.initError <- string(b):
		default: // one report is enough
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		http.NotFound(w, r)
	}
}

func (i *Instance) next(w http.ResponseWriter, r *http.Request) {
	i.once.Do(func() { close(i.ready) })
	select {
	case c := <-i.events:
		i.mu.Lock()
		i.count++
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i.count)
		i.calls[id] = c
		i.mu.Unlock()
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(c.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", ARN)
		h.Set("Lambda-Runtime-Trace-Id", "Root=1-69120f5e-"+id[24:]+id[24:])
		h.Set("Content-Type", "application/json")
		if _, err := w.Write(c.event); err != nil {
			i.finish(nil, id, answer{nil, err})
		}
	case <-r.Context().Done():
	}
}

func (i *Instance) finish(w http.ResponseWriter, id string, a answer) {
	i.mu.Lock()
	c, ok := i.calls[id]
	delete(i.calls, id)
	i.mu.Unlock()
	if ok {
		c.answer <- a
	}
	switch {
	case w == nil:
	case ok:
		w.WriteHeader(http.StatusAccepted)
	default:
		http.Error(w, "no such invocation", http.StatusBadRequest)
	}
}

// Environment returns the variables that Lambda sets in addition to a function's settings. api is where its Instance
// is served: host:port, or host:port/path.
func Environment(function, api string) []string {
	return []string{"AWS_LAMBDA_RUNTIME_API=" + api, "AWS_LAMBDA_FUNCTION_NAME=" + function,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512", "_HANDLER=bootstrap"}
}

// Failed reports whether err is the function's own report instead of a missing answer.
func Failed(err error) bool {
	var e FunctionError
	return errors.As(err, &e)
}

//go:build linux

// Package lambdahost imitates Lambda's control plane on this machine, for drills: it runs several operating system
// processes of each function's deployed binary, each behind its own Lambda Runtime API, and gives each one event at a
// time. Events come from an HTTP front that behaves like API Gateway, from queues that it polls like Lambda's event
// source mapping, and from schedules. It replaces and counts processes that exit; it kills a process whose invocation
// is too slow. Drills kill and suspend processes by their function's name, and make queues deliver twice or out of
// order.
//
// With Options.Account the functions in Options.Cold have no process at first: when an event finds no idle one, a
// process is started cold, if the account allows it, and stays. An event for which the account has no execution is
// throttled at once, as on Lambda.
//
// Missing compared with AWS: the end of idle instances, retries of failed asynchronous events, limits of size.
package lambdahost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
)

// Timeouts are the functions' own, as in template.yaml.
var Timeouts = map[string]time.Duration{
	"buy": 10 * time.Second, "consume": 20 * time.Second, "notify": 10 * time.Second, "expire": 30 * time.Second,
	"refund": 55 * time.Second, "reconcile": 300 * time.Second, "repair": 55 * time.Second,
	"shop": 15 * time.Second, "stage": 60 * time.Second, "gateway": 20 * time.Second,
	"admin": 28 * time.Second, "pay": 10 * time.Second, "signin": 15 * time.Second, "admit": 10 * time.Second,
	"acts": 30 * time.Second,
}

const (
	headerTimeout = 10 * time.Second
	apiPrefix     = "/instances/" // path of the Runtime APIs, one API per process
)

// Outcomes of an invocation without an answer from the function.
var (
	ErrThrottled = errors.New("no instance was free")
	ErrLate      = errors.New("the function was late, and was killed")
	ErrDied      = errors.New("the function's process ended")
	ErrInit      = errors.New("the function's init failed, or took too long")
)

// Options configure a host.
type Options struct {
	Bin       string                   // folder of the binaries, each named after its function
	Logs      string                   // existing folder: each function's output goes to <function>.log
	Instances map[string]int           // processes per function; its keys are the functions
	Timeouts  map[string]time.Duration // of functions; nil means the package variable Timeouts
	Patience  time.Duration            // how long an HTTP request waits for a free instance before it is throttled
	Answered  func(Answer)             // receives the front's answers; may be nil
	// limits functions in Cold and requests to them; nil means no limits
	Account Account
	// functions without an instance at first; the value is the number of concurrent batches from a queue
	Cold map[string]int
	Own  map[string]map[string]string // settings of single functions, which override those given to Start
}

// Account enforces an AWS account's limits.
type Account interface {
	// Let reports whether API Gateway lets a request to a route pass.
	Let(method, resource string) bool
	// Begin takes an execution of a function until end is called; cold: in an instance that must be started.
	Begin(function string, cold bool) (end func(), ok bool)
}

// Answer is the outcome of a request at the front.
type Answer struct {
	Function string
	Resource string // the route, such as /order/{id}
	Status   int
	Code     string // code of a problem document
	Retry    bool   // whether it has Retry-After
	Gateway  bool   // from the front itself, not from the function
	Took     time.Duration
}

// Stats counts one function's invocations.
type Stats struct {
	Invoked, Answered int64
	Errors            int64 // reported by the function
	Throttled         int64 // found no free instance
	Late              int64 // killed at their deadline
	Lost              int64 // their process died, killed or crashed, during the event
	Started, Died     int64 // processes; Died does not include those that Close ends
	InitErrors        int64 // processes that never asked for an event
}

type counters struct {
	invoked, answered, errors, throttled, late, lost, started, died, initErrors atomic.Int64
}

// Host runs functions until Close.
type Host struct {
	URL string // URL of the front: http://127.0.0.1:port

	opt       Options
	api       string // host:port of the Runtime APIs
	servers   []*http.Server
	functions map[string]*function
	environ   map[string]string

	ctx   context.Context
	end   context.CancelFunc
	wg    sync.WaitGroup
	count atomic.Int64
	byID  sync.Map // path of a process's API → *runtimeapi.Instance
}

// New opens the front and the Runtime API on free loopback ports. The front exists before the functions, because they
// are configured with its URL.
func New(o Options) (*Host, error) {
	h := &Host{opt: o, functions: map[string]*function{}}
	if o.Timeouts == nil {
		h.opt.Timeouts = Timeouts
	}
	h.ctx, h.end = context.WithCancel(context.Background())
	var err error
	if h.api, err = h.serve(http.HandlerFunc(h.serveAPI)); err != nil {
		return nil, err
	}
	front, err := h.serve(h.front())
	if err != nil {
		h.Close()
		return nil, err
	}
	h.URL = "http://" + front
	return h, nil
}

func (h *Host) serve(handler http.Handler) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(h.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: headerTimeout}
	h.servers = append(h.servers, s)
	h.wg.Go(func() { _ = s.Serve(l) }) // until Close
	return l.Addr().String(), nil
}

// Start runs all functions with these settings, and waits until each has a process that asks for an event.
func (h *Host) Start(ctx context.Context, environ map[string]string) error {
	h.environ = environ
	for name, n := range h.opt.Instances {
		timeout, ok := h.opt.Timeouts[name]
		if !ok {
			return fmt.Errorf("there is no function %q", name)
		}
		log, err := os.OpenFile(filepath.Join(h.opt.Logs, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, cold := h.opt.Cold[name]
		f := &function{host: h, name: name, timeout: timeout, log: log, cold: cold, up: make(chan struct{})}
		h.functions[name] = f
		if cold {
			close(f.up)
			continue
		}
		for range n {
			h.wg.Go(f.supervise)
		}
	}
	for _, f := range h.functions {
		select {
		case <-f.up:
		case <-ctx.Done():
			return fmt.Errorf("function %s does not come up: %w\n%s", f.name, ctx.Err(), tail(f.log.Name()))
		}
	}
	return nil
}

// Close ends all processes and the servers.
func (h *Host) Close() {
	h.end()
	for _, s := range h.servers {
		_ = s.Close()
	}
	h.wg.Wait()
	for _, f := range h.functions {
		_ = f.log.Close()
	}
}

// Invoke passes an event to an instance of a function as soon as one is free, and returns its answer. The error is a
// runtimeapi.FunctionError, or one of ErrThrottled (wait ended before an instance was free), ErrLate, ErrDied. Once
// passed on, an event is executed even if wait ends.
func (h *Host) Invoke(wait context.Context, name string, event []byte) ([]byte, error) {
	f, ok := h.functions[name]
	if !ok {
		return nil, fmt.Errorf("there is no function %q", name)
	}
	if f.cold {
		return h.execute(f, event)
	}
	p := f.take(wait)
	if p == nil {
		f.throttled.Add(1)
		return nil, ErrThrottled
	}
	return h.hand(f, p, event)
}

// hand passes an event to an idle process.
func (h *Host) hand(f *function, p *process, event []byte) ([]byte, error) {
	f.invoked.Add(1)
	deadline := time.Now().Add(f.timeout)
	ctx, cancel := context.WithDeadline(p.ctx, deadline)
	defer cancel()
	out, err := p.api.Invoke(ctx, event, deadline)
	switch {
	case err == nil:
		f.answered.Add(1)
	case lambdatest.Failed(err):
		f.errors.Add(1)
	case p.ctx.Err() != nil:
		f.lost.Add(1)
		return nil, ErrDied
	default:
		f.late.Add(1)
		p.signal(syscall.SIGKILL)
		return nil, ErrLate
	}
	f.put(p)
	return out, err
}

// execute makes a function in Options.Cold handle an event: in an idle process, or in a new one if the account has an
// execution for it.
func (h *Host) execute(f *function, event []byte) ([]byte, error) {
	f.mu.Lock()
	p := f.idlest()
	f.mu.Unlock()
	end, ok := h.opt.Account.Begin(f.name, p == nil)
	if !ok {
		if p != nil {
			f.put(p)
		}
		f.throttled.Add(1)
		return nil, ErrThrottled
	}
	defer end()
	if p == nil {
		if p = f.start(); p == nil {
			return nil, ErrInit
		}
	}
	return h.hand(f, p, event)
}

// Signal sends a signal to every process of a function, and returns their number.
func (h *Host) Signal(name string, sig syscall.Signal) (sent int) {
	for _, p := range h.functions[name].living() {
		if p.signal(sig) {
			sent++
		}
	}
	return sent
}

// Stats returns a function's counts.
func (h *Host) Stats(name string) Stats {
	f := h.functions[name]
	return Stats{Invoked: f.invoked.Load(), Answered: f.answered.Load(), Errors: f.errors.Load(),
		Throttled: f.throttled.Load(), Late: f.late.Load(), Lost: f.lost.Load(),
		Started: f.started.Load(), Died: f.died.Load(), InitErrors: f.initErrors.Load()}
}

func (h *Host) serveAPI(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, apiPrefix)
	id, path, _ := strings.Cut(rest, "/")
	v, known := h.byID.Load(id)
	instance, isOne := v.(*lambdatest.Instance)
	if !ok || !known || !isOne {
		http.NotFound(w, r)
		return
	}
	r.URL.Path = "/" + path
	instance.ServeHTTP(w, r)
}

// tail returns the end of a log.
func tail(path string) string {
	const most = 4 << 10
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-most):])
}

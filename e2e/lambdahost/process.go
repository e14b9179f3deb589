//go:build linux

package lambdahost

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
)

const (
	coldLimit = 10 * time.Second // for an init ("Lambda execution environment lifecycle")
	// for an init of a function with a fixed number of instances: this machine may be busy
	initLimit  = time.Minute
	minBackoff = 50 * time.Millisecond
	maxBackoff = 2 * time.Second
	sound      = 5 * time.Second // a process that lived this long did not fail at once
)

// function has the processes of one function.
type function struct {
	counters
	host    *Host
	name    string
	timeout time.Duration
	log     *os.File
	cold    bool          // processes start when events need them
	up      chan struct{} // closed when the first process is ready
	first   sync.Once

	mu      sync.Mutex
	all     []*process
	idle    []*process // the most recently used is last, and is used next, as on Lambda
	waiting []chan *process
}

// process is one operating system process of a function.
type process struct {
	api *lambdatest.Instance
	cmd *exec.Cmd
	ctx context.Context // ends with the process
	end context.CancelFunc
}

// supervise keeps one process running.
func (f *function) supervise() {
	backoff := minBackoff
	for f.host.ctx.Err() == nil {
		since := time.Now()
		f.run()
		if time.Since(since) > sound {
			backoff = minBackoff
		}
		select {
		case <-f.host.ctx.Done():
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// run runs one process from its start to its exit.
func (f *function) run() {
	f.life(initLimit, f.put)
}

// start is run for a function that starts cold: it returns the process once it is ready for its first event, or nil if
// that never happens.
func (f *function) start() *process {
	ready := make(chan *process, 1)
	f.host.wg.Go(func() {
		defer close(ready)
		f.life(coldLimit, func(p *process) { ready <- p })
	})
	return <-ready
}

// life runs a process from its start to its exit. It calls ready when the process can take an event.
func (f *function) life(limit time.Duration, ready func(*process)) {
	h := f.host
	id := strconv.FormatInt(h.count.Add(1), 10)
	p := &process{api: lambdatest.NewInstance()}
	p.ctx, p.end = context.WithCancel(h.ctx)
	defer p.end()
	h.byID.Store(id, p.api)
	defer h.byID.Delete(id)
	p.cmd = exec.CommandContext(h.ctx, filepath.Join(h.opt.Bin, f.name))
	p.cmd.Env = lambdatest.Environment(f.name, h.api+apiPrefix+id)
	environ := maps.Clone(h.environ)
	maps.Copy(environ, h.opt.Own[f.name])
	for name, value := range environ {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stdout, p.cmd.Stderr = f.log, f.log
	// Ctrl-C goes to the host, which ends its processes; so does the host's own death
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	f.started.Add(1)
	if err := p.cmd.Start(); err != nil {
		f.initErrors.Add(1)
		return
	}
	f.mu.Lock()
	f.all = append(f.all, p)
	f.mu.Unlock()
	exited := make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // its exit is counted below
		close(exited)
		p.end()
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-p.api.Ready():
		ready(p)
		if !f.cold {
			f.first.Do(func() { close(f.up) })
		}
	case <-p.api.InitError():
		f.initErrors.Add(1)
	case <-late.C:
		f.initErrors.Add(1)
		p.signal(syscall.SIGKILL)
	case <-exited:
		if h.ctx.Err() == nil {
			f.initErrors.Add(1)
		}
	}
	<-exited
	f.mu.Lock()
	f.all = without(f.all, p)
	f.idle = without(f.idle, p)
	f.mu.Unlock()
	if h.ctx.Err() == nil {
		f.died.Add(1)
	}
}

// take waits for an idle process; nil if ctx ends first.
func (f *function) take(ctx context.Context) *process {
	f.mu.Lock()
	if p := f.idlest(); p != nil {
		f.mu.Unlock()
		return p
	}
	turn := make(chan *process, 1)
	f.waiting = append(f.waiting, turn)
	f.mu.Unlock()
	select {
	case p := <-turn:
		return p
	case <-ctx.Done():
	}
	f.mu.Lock()
	f.waiting = slices.DeleteFunc(f.waiting, func(c chan *process) bool { return c == turn })
	f.mu.Unlock()
	select {
	case p := <-turn: // it came at the last moment
		f.put(p)
	default:
	}
	return nil
}

// idlest returns an idle process, or nil if there is none. The caller has locked f.
func (f *function) idlest() *process {
	n := len(f.idle)
	if n == 0 {
		return nil
	}
	p := f.idle[n-1]
	f.idle = f.idle[:n-1]
	return p
}

// put passes a process without an event to the caller that has waited longest.
func (f *function) put(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case p.ctx.Err() != nil:
	case len(f.waiting) > 0:
		f.waiting[0] <- p
		f.waiting = f.waiting[1:]
	default:
		f.idle = append(f.idle, p)
	}
}

func (f *function) living() []*process {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all)
}

func (p *process) signal(s syscall.Signal) bool { return p.cmd.Process.Signal(s) == nil }

func without(list []*process, p *process) []*process {
	return slices.DeleteFunc(list, func(q *process) bool { return q == p })
}

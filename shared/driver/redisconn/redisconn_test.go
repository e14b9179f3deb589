package redisconn

import (
	"context"
	"errors"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
)

// patience bounds the wait for something that is fast on an idle machine.
const patience = time.Minute

// short is the timeout in tests that wait for a silent server; the others use patience. TestDefaultTimeout checks the
// real value.
const short = time.Second

func plainDial(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

// connect returns a Runner whose connections can be given faults.
func connect(t testing.TB, o Options) (*Runner, *redistest.Faults) {
	t.Helper()
	f := redistest.NewFaults(plainDial)
	r := must.Get(newRunner(o, nil, f.Dial))
	t.Cleanup(func() { r.Close() })
	return r, f
}

var (
	add   = redisstock.NewScript("add", "return redis.call('HINCRBY', KEYS[1], 'n', ARGV[1])")
	count = redisstock.NewScript("count", "return redis.call('HGET', KEYS[1], 'n')")
	keys  = []string{"{1}:item"}
)

// counted returns how often add has taken effect.
func counted(t testing.TB, m *memory.Redis) string {
	t.Helper()
	v := must.Get(m.Run(context.Background(), count, keys, nil))
	s, _ := v.(string)
	return s
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"nothing":             {Options{}, "no address"},
		"no port":             {Options{Addrs: []string{"localhost"}}, `"localhost": want host:port`},
		"no host":             {Options{Addrs: []string{":6379"}}, `":6379": want host:port`},
		"several, no cluster": {Options{Addrs: []string{"a:1", "b:1"}}, "2 addresses without cluster mode"},
		"name only":           {Options{Addrs: []string{"a:1"}, Username: "u"}, "a user name without a password"},
		"timeout":             {Options{Addrs: []string{"a:1"}, Timeout: -1}, "timeout -1ns"},
		"one":                 {Options{Addrs: []string{"a:1"}}, ""},
		"cluster": {Options{Addrs: []string{"a:1", "b:1"}, Cluster: true, TLS: true, Username: "u",
			Password: "p"}, ""},
	} {
		r, err := New(c.o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if r != nil {
			r.Close()
		}
	}
}

func TestReplies(t *testing.T) {
	r, _ := connect(t, Options{Addrs: []string{redistest.NewFake(t, memory.NewRedis()).Addr}, Timeout: patience})
	for source, want := range map[string]any{
		"return 'a|\\0\\255b'":               "a|\x00\xffb",
		"return ''":                          "",
		"return 3.9":                         int64(3),
		"return -9007199254740991":           int64(-9007199254740991),
		"return false":                       nil,
		"return true":                        int64(1),
		"return {}":                          []any{},
		"return {'a', 1, {false, 'b'}}":      []any{"a", int64(1), []any{nil, "b"}},
		"return {ok = 'FINE'}":               "FINE",
		"return ARGV[1] .. KEYS[1]":          "x{1}:item",
		"return {err = 'OWN of the script'}": errors.New("OWN of the script"),
		"return redis.call('HGET', KEYS[1], 'n', 'more')": errors.New("ERR wrong number"),
	} {
		got, err := r.Run(context.Background(), redisstock.NewScript("s", source), keys, []string{"x"})
		if e, ok := want.(error); ok {
			if err == nil || !strings.Contains(err.Error(), e.Error()) {
				t.Errorf("%s: %v, %v; want the error %v", source, got, err, e)
			}
		} else if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v; want %#v", source, got, err, want)
		}
	}
}

func TestUnexpectedReply(t *testing.T) {
	for _, v := range []any{1.5, true, []any{"a", []any{map[any]any{}}}} {
		if got, err := value(v); err == nil {
			t.Errorf("%#v became %#v, want an error", v, got)
		}
	}
	if _, err := value([]any{errors.New("OWN")}); err == nil || err.Error() != "OWN" {
		t.Errorf("an error in a list: %v", err)
	}
}

// TestScriptIsSentOnceByName checks that EVALSHA comes first, and EVAL only if the server does not know the script.
func TestScriptIsSentOnceByName(t *testing.T) {
	m := memory.NewRedis()
	s := redistest.NewFake(t, m)
	r, _ := connect(t, Options{Addrs: []string{s.Addr}, Timeout: patience})
	run := func() {
		t.Helper()
		must.Get(r.Run(context.Background(), add, keys, []string{"1"}))
	}
	run()
	run()
	run()
	if e, h := s.Ran("eval"), s.Ran("evalsha"); e != 1 || h != 2 {
		t.Errorf("three runs: %d EVAL, %d EVALSHA; want 1, 2", e, h)
	}
	s.ForgetScripts()
	run()
	if e, h := s.Ran("eval"), s.Ran("evalsha"); e != 2 || h != 2 || counted(t, m) != "4" {
		t.Errorf("after SCRIPT FLUSH: %d EVAL, %d EVALSHA, effect %s; want 2, 2, 4", e, h, counted(t, m))
	}
}

// modes returns the ways to reach one fake server.
func modes(s *redistest.Fake) map[string]Options {
	s.Owner(s.Addr)
	return map[string]Options{
		"single":  {Addrs: []string{s.Addr}, Timeout: patience},
		"cluster": {Addrs: []string{s.Addr}, Timeout: patience, Cluster: true},
	}
}

// TestNothingIsRepeated checks that whatever happens to a call on the wire, it is written once, takes effect at most
// once, and is an error; the next call works and gets its own reply.
func TestNothingIsRepeated(t *testing.T) {
	for _, fault := range append(redistest.WireFaults(), redistest.Refusals()...) {
		t.Run(fault.Name, func(t *testing.T) {
			t.Parallel()
			m := memory.NewRedis()
			for mode, o := range modes(redistest.NewFake(t, m)) {
				t.Run(mode, func(t *testing.T) {
					m.Flush()
					if fault.Err == nil && fault.Answer == "" {
						o.Timeout = short
					}
					spoiltOnce(t, m, o, fault)
				})
			}
		})
	}
}

func spoiltOnce(t *testing.T, m *memory.Redis, o Options, fault redistest.Fault) {
	t.Helper()
	r, f := connect(t, o)
	ctx := context.Background()
	for range 2 { // the second one by EVALSHA alone
		must.Get(r.Run(ctx, add, keys, []string{"0"}))
	}
	before := f.Calls()
	f.Arm(fault)
	v, err := r.Run(ctx, add, keys, []string{"1"})
	if err == nil || f.Armed() {
		t.Fatalf("answered %v, %v; want an error", v, err)
	}
	must.Equal(t, 1, f.Calls()-before, "written", "times")
	var hidden *final
	if errors.As(err, &hidden) || fault.Answer != "" && err.Error() != fault.Answer {
		t.Errorf("error %q, want the server's own", err)
	}
	want := "0"
	if !fault.Lost && !fault.Late {
		want = "1"
	}
	must.Equal(t, want, counted(t, m), "effect")
	if v, err := r.Run(ctx, count, keys, nil); err != nil || v != want {
		t.Errorf("the next call: %v, %v; want %s", v, err, want)
	}
	if err := f.RunLate(); err != nil {
		t.Error(err)
	}
	if got := counted(t, m); fault.Late && got != "1" {
		t.Errorf("a late call's effect %s", got)
	}
}

// TestNoScriptIsFollowed covers both modes, with a server that knows the script under another name.
func TestNoScriptIsFollowed(t *testing.T) {
	m := memory.NewRedis()
	s := redistest.NewFake(t, m)
	for mode, o := range modes(s) {
		m.Flush()
		r, f := connect(t, o)
		f.Arm(redistest.Fault{Answer: "NOSCRIPT No matching script. Please use EVAL."})
		if v, err := r.Run(context.Background(), add, keys, []string{"1"}); err != nil || v != int64(1) ||
			f.Calls() != 2 {
			t.Errorf("%s: %v, %v in %d calls; want 1 in 2", mode, v, err, f.Calls())
		}
	}
}

// TestRedirects checks that in cluster mode MOVED and ASK are followed, because they prove that the script did not
// run; a fault after a redirect is final. Without cluster mode redirects are errors.
func TestRedirects(t *testing.T) {
	for _, kind := range []string{"MOVED", "ASK"} {
		m := memory.NewRedis()
		a, b := redistest.NewFake(t, m), redistest.NewFake(t, m)
		a.Owner(a.Addr)
		b.Owner(a.Addr)
		a.Redirect(kind + " 1 " + b.Addr)
		if kind == "ASK" {
			b.Redirect("MOVED 1 " + a.Addr) // b accepts only what follows ASKING
		}
		r, f := connect(t, Options{Addrs: []string{a.Addr}, Cluster: true, Timeout: patience})
		ctx := context.Background()
		for want := range int64(2) {
			if v, err := r.Run(ctx, add, keys, []string{"1"}); err != nil || v != want+1 {
				t.Errorf("%s: %v, %v; want %d", kind, v, err, want+1)
			}
		}
		if b.Ran("evalsha")+b.Ran("eval") != 2 || a.Ran("evalsha")+a.Ran("eval") != 0 {
			t.Errorf("%s: scripts ran on the wrong node", kind)
		}
		// Play the redirect with a fault, too, so that the armed fault hits the second call.
		a.Redirect("")
		f.Instant = true
		for _, fault := range redistest.WireFaults() {
			before, calls := counted(t, m), f.Calls()
			f.Arm(redistest.Fault{Answer: kind + " 1 " + b.Addr}, fault)
			v, err := r.Run(ctx, add, keys, []string{"1"})
			if err == nil || f.Armed() || f.Calls()-calls != 2 {
				t.Errorf("%s, then %s: %v, %v in %d calls; want an error in 2", kind, fault.Name, v, err,
					f.Calls()-calls)
			}
			want := before
			if !fault.Lost && !fault.Late {
				want = string(before[0] + 1) // single digits
			}
			must.Equal(t, want, counted(t, m), kind, "then", fault.Name, "effect")
		}

		single, _ := connect(t, Options{Addrs: []string{a.Addr}, Timeout: patience})
		a.Redirect(kind + " 1 " + b.Addr)
		if v, err := single.Run(ctx, add, keys, []string{"1"}); err == nil || !strings.HasPrefix(err.Error(), kind) {
			t.Errorf("%s without cluster mode: %v, %v", kind, v, err)
		}
	}
}

// TestRedirectsEnd checks that nodes which redirect to each other cause no endless loop.
func TestRedirectsEnd(t *testing.T) {
	m := memory.NewRedis()
	a, b := redistest.NewFake(t, m), redistest.NewFake(t, m)
	a.Owner(a.Addr)
	a.Redirect("MOVED 1 " + b.Addr)
	b.Redirect("MOVED 1 " + a.Addr)
	r, f := connect(t, Options{Addrs: []string{a.Addr}, Cluster: true, Timeout: patience})
	if v, err := r.Run(context.Background(), add, keys, []string{"1"}); err == nil || f.Calls() != 1+maxRedirects {
		t.Errorf("%v, %v in %d calls", v, err, f.Calls())
	}
}

// TestPassword checks that a wrong or missing password is an error with the server's text, and that nothing runs.
func TestPassword(t *testing.T) {
	s := redistest.NewFake(t, memory.NewRedis())
	s.Owner(s.Addr)
	s.RequirePassword("right")
	for _, c := range []struct{ user, password, want string }{
		{"", "right", ""}, {"default", "right", ""}, {"", "wrong", "WRONGPASS"}, {"default", "wrong", "WRONGPASS"},
		{"", "", "NOAUTH"},
	} {
		for _, cluster := range []bool{false, true} {
			r, _ := connect(t, Options{Addrs: []string{s.Addr}, Cluster: cluster, Username: c.user,
				Password: c.password, Timeout: patience})
			_, err := r.Run(context.Background(), add, keys, []string{"1"})
			if c.want == "" && err != nil || c.want != "" && !redis.HasErrorPrefix(err, c.want) {
				t.Errorf("user %q, password %q, cluster %t: %v, want %q", c.user, c.password, cluster, err, c.want)
			}
		}
	}
}

// TestDefaultTimeout checks that whatever blocks a call, it ends within 1.2 s in total, and that the Runner recovers.
func TestDefaultTimeout(t *testing.T) {
	stuck := make(chan struct{})
	hang := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	mute := func(context.Context, string, string) (net.Conn, error) { // accepts and never greets
		near, far := net.Pipe()
		go func() { <-stuck; far.Close() }()
		return near, nil
	}
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
	defer close(stuck)
	for name, bad := range map[string]dialer{"dial hangs": hang, "greeting hangs": mute, "refused": refuse} {
		for _, cluster := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := redistest.NewFake(t, memory.NewRedis())
				s.Owner(s.Addr)
				var mu sync.Mutex
				dial := bad
				r, err := newRunner(Options{Addrs: []string{s.Addr}, Cluster: cluster}, nil,
					func(ctx context.Context, network, addr string) (net.Conn, error) {
						mu.Lock()
						d := dial
						mu.Unlock()
						return d(ctx, network, addr)
					})
				must.OK(t, err)
				defer r.Close()
				soon(t, name, func() {
					var wg sync.WaitGroup
					for range 2 * poolSize { // half of them first wait for a connection
						wg.Go(func() {
							if v, err := r.Run(context.Background(), add, keys, []string{"1"}); err == nil {
								t.Errorf("answered %v", v)
							}
						})
					}
					wg.Wait()
				})
				if r.Ping(context.Background()) == nil {
					t.Error("ping answered")
				}
				mu.Lock()
				dial = plainDial
				mu.Unlock()
				recovered(t, r)
			})
		}
	}
}

// soon checks that a call ends within 1.2 s. It repeats a slow call, because a busy machine may have delayed it; a
// call that is slow by itself is slow every time.
func soon(t testing.TB, name string, call func()) {
	t.Helper()
	var took []time.Duration
	for range 5 {
		begin := time.Now()
		call()
		if took = append(took, time.Since(begin)); took[len(took)-1] <= 1200*time.Millisecond {
			return
		}
	}
	t.Errorf("%s: took %v, want at most 1.2 s", name, took)
}

// recovered waits until scripts run again on as many connections as the pool has, concurrently.
func recovered(t testing.TB, r *Runner) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		errs := make([]error, poolSize+1)
		var wg sync.WaitGroup
		for i := range poolSize {
			wg.Go(func() { _, errs[i] = r.Run(context.Background(), count, keys, nil) })
		}
		wg.Wait()
		errs[poolSize] = r.Ping(context.Background())
		err := errors.Join(errs...)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not well again after %s: %v", patience, err)
		}
	}
}

// TestServerRestarts checks that connections which the server closed while idle are detected before a script is sent.
func TestServerRestarts(t *testing.T) {
	s := redistest.NewFake(t, memory.NewRedis())
	r := must.Get(New(Options{Addrs: []string{s.Addr}, Timeout: patience}))
	defer r.Close()
	for range 3 {
		must.Get(r.Run(context.Background(), add, keys, []string{"1"}))
		s.Drop()
		for end := time.Now().Add(patience); s.Connections() > 0; {
			if time.Now().After(end) {
				t.Fatal("the server's connections are still there")
			}
		}
	}
}

// TestCloseLeavesNothing checks that Close leaves no goroutine, in either mode.
func TestCloseLeavesNothing(t *testing.T) {
	s := redistest.NewFake(t, memory.NewRedis())
	before := goleak.IgnoreCurrent()
	for mode, o := range modes(s) {
		r := must.Get(New(o))
		if _, err := r.Run(context.Background(), add, keys, []string{"1"}); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		if _, err := r.Run(context.Background(), add, keys, []string{"1"}); err == nil {
			t.Errorf("%s: a closed Runner answers", mode)
		}
	}
	goleak.VerifyNone(t, before)
}

func TestContext(t *testing.T) {
	r, f := connect(t, Options{Addrs: []string{redistest.NewFake(t, memory.NewRedis()).Addr}, Timeout: patience})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if v, err := r.Run(ctx, add, keys, []string{"1"}); !errors.Is(err, context.Canceled) || f.Calls() != 0 {
		t.Errorf("cancelled before: %v, %v, %d calls", v, err, f.Calls())
	}
	ctx, cancel = context.WithTimeout(context.Background(), short)
	defer cancel()
	f.Arm(redistest.Fault{Lost: true})
	begin := time.Now()
	if v, err := r.Run(ctx, add, keys, []string{"1"}); err == nil || time.Since(begin) > patience/2 {
		t.Errorf("the caller's deadline: %v, %v after %s", v, err, time.Since(begin))
	}
}

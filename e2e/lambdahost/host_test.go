//go:build linux

package lambdahost_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/your-org/seckill/e2e/lambdahost"
	"github.com/your-org/seckill/shared/drivertest/must"
)

const patience = 30 * time.Second // how long a poll may take on a busy machine

// TestMain is also the function: the host starts this binary under a function's name.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_FUNCTION_NAME") != "" {
		if os.Getenv("DIE_AT_INIT") != "" {
			os.Exit(1)
		}
		lambda.Start(function)
		return
	}
	os.Exit(m.Run())
}

// seen is what the function reports about an HTTP event and its own process.
type seen struct {
	PID       int
	Setting   string
	Event     events.APIGatewayProxyRequest
	Remaining time.Duration // time until the deadline
}

// function answers HTTP events with what it saw, and fails as the body says; of a batch it fails the messages whose
// body is "fail".
func function(ctx context.Context, raw json.RawMessage) (any, error) {
	var batch events.SQSEvent
	if json.Unmarshal(raw, &batch) == nil && batch.Records != nil {
		out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		for i := range batch.Records {
			switch r := &batch.Records[i]; r.Body {
			case "fail":
				out.BatchItemFailures = append(out.BatchItemFailures,
					events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
			case "die":
				os.Exit(1)
			}
		}
		return out, nil
	}
	var e events.APIGatewayProxyRequest
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, err
	}
	switch e.Body {
	case "die":
		os.Exit(1)
	case "hang":
		select {}
	case "fail":
		return nil, errors.New("as told")
	case "nap":
		time.Sleep(50 * time.Millisecond)
	}
	deadline, _ := ctx.Deadline()
	b, err := json.Marshal(seen{os.Getpid(), os.Getenv("SETTING"), e, time.Until(deadline)})
	return events.APIGatewayProxyResponse{StatusCode: http.StatusCreated, Headers: map[string]string{"X-Answer": "yes"},
		MultiValueHeaders: map[string][]string{"X-Two": {"a", "b"}}, Body: string(b)}, err
}

// start runs a host whose functions are all this binary.
func start(t *testing.T, o lambdahost.Options) *lambdahost.Host {
	t.Helper()
	self, err := os.Executable()
	must.OK(t, err)
	o.Bin, o.Logs = t.TempDir(), t.TempDir()
	for name := range o.Instances {
		must.OK(t, os.Symlink(self, filepath.Join(o.Bin, name)))
	}
	if o.Patience == 0 {
		o.Patience = patience
	}
	h, err := lambdahost.New(o)
	must.OK(t, err)
	t.Cleanup(h.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	must.OK(t, h.Start(ctx, map[string]string{"SETTING": "first"}))
	return h
}

// ask sends a request to the front.
func ask(t *testing.T, h *lambdahost.Host, path, body string) (*http.Response, seen) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+path, strings.NewReader(body))
	must.OK(t, err)
	r.Header.Set("Idempotency-Key", "k")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return &http.Response{}, seen{}
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	var s seen
	if err := json.Unmarshal(b, &s); err != nil {
		t.Errorf("%s: %v", b, err)
	}
	return answer, s
}

// refused checks the response to a request for which the function gave no answer.
func refused(t *testing.T, r *http.Response) {
	t.Helper()
	if r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "1" ||
		r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v, want a problem 503 with Retry-After", r.StatusCode, r.Header)
	}
}

// eventually polls until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func TestFrontSpeaksAsAPIGateway(t *testing.T) {
	t.Parallel()
	h := start(t, lambdahost.Options{Instances: map[string]int{"shop": 1}})
	r, s := ask(t, h, "/order/o1/cancel?page=1&page=2", `{"a":"杭州"}`)
	if r.StatusCode != http.StatusCreated || r.Header.Get("X-Answer") != "yes" || len(r.Header.Values("X-Two")) != 2 {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	e := s.Event
	if e.HTTPMethod != http.MethodPost || e.Path != "/order/o1/cancel" || e.Resource != "/order/{id}/cancel" ||
		e.PathParameters["id"] != "o1" || e.Body != `{"a":"杭州"}` ||
		e.MultiValueHeaders["Idempotency-Key"][0] != "k" || e.Headers["Idempotency-Key"] != "k" ||
		e.QueryStringParameters["page"] != "2" ||
		len(e.MultiValueQueryStringParameters["page"]) != 2 || e.RequestContext.Identity.SourceIP != "127.0.0.1" ||
		e.RequestContext.RequestID == "" ||
		!strings.HasPrefix(e.Headers["X-Amzn-Trace-Id"], "Root=1-") || e.Headers["Host"] == "" {
		t.Errorf("%+v", e)
	}
	if timeout := lambdahost.Timeouts["shop"]; s.Remaining <= 0 || s.Remaining > timeout {
		t.Errorf("%v are left, want at most %v", s.Remaining, timeout)
	}
	answer, err := http.Get(h.URL + "/no/where") //nolint:noctx // like any client
	must.OK(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound || answer.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("no such route: %d %v", answer.StatusCode, answer.Header)
	}
}

func TestInstancesHaveOneEventAtATime(t *testing.T) {
	t.Parallel()
	h := start(t, lambdahost.Options{Instances: map[string]int{"buy": 2}})
	eventually(t, "both processes are up", func() bool { return h.Stats("buy").Started == 2 })
	var mu sync.Mutex
	var wg sync.WaitGroup
	pids := map[int]int{}
	began := time.Now()
	for range 8 {
		wg.Go(func() {
			_, s := ask(t, h, "/seckill/buy", "nap")
			mu.Lock()
			defer mu.Unlock()
			pids[s.PID]++
		})
	}
	wg.Wait()
	if len(pids) < 1 || len(pids) > 2 {
		t.Errorf("processes that answered: %v, want at most 2", pids)
	}
	if took := time.Since(began); took < 4*50*time.Millisecond {
		t.Errorf("8 naps of 50 ms took %v on two instances", took)
	}
	if s := h.Stats("buy"); s.Invoked != 8 || s.Answered != 8 || s.Throttled != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAFunctionThatFails(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	answered := map[int]int{}
	h := start(t, lambdahost.Options{Instances: map[string]int{"buy": 1},
		Timeouts: map[string]time.Duration{"buy": 2 * time.Second},
		Answered: func(a lambdahost.Answer) {
			mu.Lock()
			defer mu.Unlock()
			answered[a.Status]++
		}})
	_, first := ask(t, h, "/seckill/buy", "")
	for _, body := range []string{"fail", "die", "hang"} {
		r, _ := ask(t, h, "/seckill/buy", body)
		refused(t, r)
	}
	_, last := ask(t, h, "/seckill/buy", "")
	if last.PID == 0 || last.PID == first.PID {
		t.Errorf("answered by %d, then by %d: want another process", first.PID, last.PID)
	}
	if s := h.Stats("buy"); s.Errors != 1 || s.Lost != 1 || s.Late != 1 || s.Died != 2 || s.Answered != 2 ||
		s.Invoked != 5 {
		t.Errorf("%+v", s)
	}
	mu.Lock()
	defer mu.Unlock()
	if answered[http.StatusCreated] != 2 || answered[http.StatusServiceUnavailable] != 3 {
		t.Errorf("%v", answered)
	}
}

func TestNoFreeInstance(t *testing.T) {
	t.Parallel()
	h := start(t, lambdahost.Options{Instances: map[string]int{"buy": 1},
		Timeouts: map[string]time.Duration{"buy": 3 * time.Second}, Patience: 50 * time.Millisecond})
	hung := make(chan struct{})
	go func() {
		defer close(hung)
		_, _ = ask(t, h, "/seckill/buy", "hang")
	}()
	eventually(t, "the instance is busy", func() bool { return h.Stats("buy").Invoked == 1 })
	r, _ := ask(t, h, "/seckill/buy", "")
	refused(t, r)
	if s := h.Stats("buy"); s.Throttled != 1 {
		t.Errorf("%+v", s)
	}
	<-hung
}

func TestSignals(t *testing.T) {
	t.Parallel()
	h := start(t, lambdahost.Options{Instances: map[string]int{"buy": 2},
		Timeouts: map[string]time.Duration{"buy": time.Second}})
	eventually(t, "both processes are up", func() bool { return h.Signal("buy", syscall.SIGCONT) == 2 })
	_, before := ask(t, h, "/seckill/buy", "")
	if n := h.Signal("buy", syscall.SIGSTOP); n != 2 {
		t.Fatalf("%d stopped, want 2", n)
	}
	var r *http.Response
	eventually(t, "frozen processes answer nothing", func() bool { // a signal may arrive after the next request
		r, _ = ask(t, h, "/seckill/buy", "")
		return r.StatusCode != http.StatusCreated
	})
	refused(t, r)
	if s := h.Stats("buy"); s.Late != 1 {
		t.Errorf("a frozen process: %+v", s)
	}
	h.Signal("buy", syscall.SIGKILL)
	eventually(t, "killed processes are replaced", func() bool {
		return h.Stats("buy").Died >= 2 && h.Signal("buy", syscall.SIGCONT) == 2
	})
	if _, after := ask(t, h, "/seckill/buy", ""); after.PID == before.PID || after.PID == 0 {
		t.Errorf("answered by %d, then by %d", before.PID, after.PID)
	}
}

func TestWhatCannotStart(t *testing.T) {
	t.Parallel()
	h, err := lambdahost.New(lambdahost.Options{Bin: t.TempDir(), Logs: t.TempDir(),
		Instances: map[string]int{"buy": 1}})
	must.OK(t, err)
	defer h.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := h.Start(ctx, nil); err == nil || !strings.Contains(err.Error(), "buy") {
		t.Errorf("a binary that is not there: %v", err)
	}
	h, err = lambdahost.New(lambdahost.Options{Logs: t.TempDir(), Instances: map[string]int{"nothing": 1}})
	must.OK(t, err)
	defer h.Close()
	if err := h.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a function that there is not: %v", err)
	}
	if out, err := h.Invoke(t.Context(), "nothing", nil); err == nil {
		t.Errorf("invoked: %s", out)
	}
}

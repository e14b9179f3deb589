//go:build e2e

package suite

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
)

// Time limits of the suite, far above what an idle machine needs: a target may be ten times slower.
const (
	patience    = 5 * time.Minute // of a poll
	callTimeout = time.Minute     // of one HTTP call
	pollEvery   = 100 * time.Millisecond
	lanes       = 8 // concurrent cases
)

// description is the file that e2e/target writes.
type description struct {
	Outputs  map[string]string `json:"outputs"`
	Base     string            `json:"url"`      // of the API
	Redis    string            `json:"redis"`    // host:port; empty: out of reach
	Region   string            `json:"region"`   // of the stack
	Endpoint string            `json:"endpoint"` // of AWS's stand-in; empty: AWS itself
	// shell command that freezes or kills (action $2) the processes of the function named $1; empty: impossible
	Kill string `json:"kill"`
	// shell command that deploys again with the following parameters; empty: impossible
	Update string `json:"update"`
	Limits string `json:"limits"` // full or small
	Target string `json:"target"`
}

// stack is a deployed stack.
type stack struct {
	description
	*contracttest.Client
	secret    string        // signs the tokens
	key       string        // of the CDN; "": none is needed
	busy      chan struct{} // calls under way
	cfg       aws.Config
	tables    *dynamodb.Client
	queues    *sqs.Client
	functions *lambda.Client
	rules     *eventbridge.Client
	secrets   *secrets.Store
	operator  operator.Client // of the back office
	alone     sync.Mutex      // see undisturbed
	shown     sync.Mutex      // held by what a browser shows for minutes, and by what changes the whole stack
}

// The stacks: second is nil if there is only one.
var first, second *stack

// full reports whether to run the cases with many clients.
func (s *stack) full() bool { return s.Limits == "full" }

// clients returns the largest number of concurrent calls.
func (s *stack) clients() int {
	if s.full() {
		return 32
	}
	return 8
}

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	name := os.Getenv("SECKILL_E2E_STACK")
	if name == "" {
		return 0, fmt.Errorf("SECKILL_E2E_STACK is missing; make e2e TARGET=… sets it")
	}
	// Most cases wait most of the time, so run them in parallel whatever the number of processors.
	if err := flag.Set("test.parallel", strconv.Itoa(lanes)); err != nil {
		return 0, err
	}
	var err error
	if first, err = open(context.Background(), name); err != nil {
		return 0, err
	}
	if name := os.Getenv("SECKILL_E2E_STACK2"); name != "" {
		if second, err = open(context.Background(), name); err != nil {
			return 0, err
		}
	}
	code := m.Run()
	report.print(os.Stdout)
	return code, nil
}

// open reads a stack's file and its token secret.
func open(ctx context.Context, name string) (*stack, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &stack{}
	if err := json.Unmarshal(raw, &s.description); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.Limits != "full" && s.Limits != "small" {
		return nil, fmt.Errorf("%s: limits are %q, want full or small", name, s.Limits)
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(s.Region))
	if err != nil {
		return nil, err
	}
	if s.Endpoint != "" {
		cfg.BaseEndpoint = &s.Endpoint
	}
	s.cfg = cfg
	s.tables, s.queues, s.functions = dynamodb.NewFromConfig(cfg), sqs.NewFromConfig(cfg), lambda.NewFromConfig(cfg)
	s.rules, s.secrets = eventbridge.NewFromConfig(cfg), &secrets.Store{Client: secretsmanager.NewFromConfig(cfg),
		Path: s.Outputs["SecretsPath"]}
	s.busy = make(chan struct{}, s.clients())
	if s.Outputs["Edge"] == "only" {
		if s.key, err = s.edgeKey(ctx, cfg); err != nil {
			return nil, err
		}
	}
	s.Client = &contracttest.Client{URL: s.Base, Observe: report.call, HTTP: &http.Client{Timeout: callTimeout,
		Transport: bounded{s.busy, keyed{s.key, &http.Transport{MaxIdleConnsPerHost: s.clients()}}}}}
	if s.operator.Call, err = s.office(cfg); err != nil {
		return nil, err
	}
	s.secret, err = s.read(ctx, "jwt-secret")
	return s, err
}

// bounded limits the number of concurrent calls to the capacity of busy.
type bounded struct {
	busy chan struct{}
	next http.RoundTripper
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case b.busy <- struct{}{}:
		defer func() { <-b.busy }()
		return b.next.RoundTrip(r)
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// read returns one of the stack's secrets.
func (s *stack) read(ctx context.Context, name string) (string, error) {
	all, err := s.secrets.Read(ctx, secrets.Keys)
	if err != nil {
		return "", fmt.Errorf("secrets below %s: %w", s.secrets.Path, err)
	}
	return all[name], nil
}

// invoke makes a function, named by its output, handle an event.
func (s *stack) invoke(ctx context.Context, output string, event []byte) ([]byte, error) {
	name := s.Outputs[output]
	out, err := s.functions.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Qualifier: aws.String("live"),
		Payload: event})
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", name, err)
	}
	if out.FunctionError != nil {
		return nil, fmt.Errorf("function %s: %s: %s", name, *out.FunctionError, out.Payload)
	}
	return out.Payload, nil
}

// minute runs a function as its schedule does each minute.
func (s *stack) minute(t *testing.T, output string) {
	t.Helper()
	if err := s.scheduled(t.Context(), output); err != nil {
		t.Fatal(err)
	}
}

// scheduled calls a function as its schedule does.
func (s *stack) scheduled(ctx context.Context, output string) error {
	event :=
		`{"version":"0","id":"e2e","detail-type":"Scheduled Event","source":"aws.events","account":"000000000000","time":"` +
			time.Now().UTC().Format(time.RFC3339) + `","region":"` + s.Region + `","resources":[],"detail":{}}`
	_, err := s.invoke(ctx, output, []byte(event))
	return err
}

// shell runs one of the file's commands.
func (s *stack) shell(ctx context.Context, command string, args ...string) error {
	out, err := exec.CommandContext(ctx, "bash", append([]string{"-c", command, "e2e"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w\n%s", command, args, err, out)
	}
	return nil
}

// built builds a command of the project, and returns its path.
func built(t *testing.T, pkg string) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", tool, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return tool
}

// undisturbed separates cases that kill functions from those that need them alive for a moment.
func (s *stack) undisturbed(do func()) {
	s.alone.Lock()
	defer s.alone.Unlock()
	do()
}

// needs skips a case if the file says that the target lacks what it needs.
func (s *stack) needs(t *testing.T, has bool, what string) {
	t.Helper()
	if !has {
		t.Skipf("skipped: %s (target %s, limits %s)", what, s.Target, s.Limits)
	}
}

// Ids, each used once by any run. Items have 19 digits, more than a float64 can represent.
var (
	runID   = rand.Int64N(200_000_000_000)
	counter atomic.Int64
)

func newItemID() string {
	return strconv.FormatInt(9_000_000_000_000_000_000+runID*1_000_000+counter.Add(1), 10)
}

// newShoppers reserves the ids of n shoppers and returns the first.
func newShoppers(n int) int64 {
	return 1_000_000_000_000_000_000 + runID*1_000_000 + counter.Add(int64(n)) - int64(n) + 1
}

// background returns a test's context that does not end before its clean-up.
func background(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }

// eventually polls until holds returns "" instead of what is missing.
func eventually(t *testing.T, what string, holds func() string) {
	t.Helper()
	began, told := time.Now(), time.Now()
	for {
		asked := time.Now()
		missing := holds()
		if missing == "" {
			return
		}
		if time.Since(began) > patience {
			t.Fatalf("no %s within %v: %s", what, patience, missing)
		}
		if time.Since(told) > 15*time.Second {
			told = time.Now()
			t.Logf("waiting for %s for %.0f s: %.160s", what, time.Since(began).Seconds(), missing)
		}
		rest(background(t), asked)
	}
}

// rest pauses a poll twice as long as its last ask took: an ask may read whole tables, and must not slow a target down.
func rest(ctx context.Context, asked time.Time) { pause(ctx, max(pollEvery, 2*time.Since(asked))) }

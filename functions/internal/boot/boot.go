// Package boot is shared by the mains of the functions: it reads settings, builds drivers, and passes the step's
// handler to the Lambda runtime. In: a function that says which drivers a step needs. Out: a process that serves
// events, or an init error that names the wrong setting or secret.
//
// Putting the parts together makes no call. Init then makes one call to AWS, for the secrets, or none for a step
// without secrets: thousands of instances start in the first second of a sale, and calls that describe tables and
// queues have small quotas (ADR 20). `seckill doctor` checks in advance that they exist. What depends on a secret is
// built once the secrets are read, and rebuilt when one of them changes.
package boot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/logging"

	"github.com/your-org/seckill/shared/api/actlog"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	initTimeout   = 8 * time.Second // Lambda gives init 10 s
	reportTimeout = time.Second     // for reporting to Lambda why init failed
	secretsWait   = 2 * time.Second // how long a scheduled event waits for a running read of the secrets

	// a request that has what only newer secrets explain: forged ones must not make an instance read all the time
	renewAge  = 10 * time.Second
	renewWait = time.Second
)

// Settings are one function's (package config).
type Settings interface{ Common() config.Base }

// Boot holds the common parts of one instance.
type Boot struct {
	Clock seckill.Clock
	IDs   *system.IDs
	Meter *telemetry.Meter
	Log   *slog.Logger
	Stack string // its name, which the metrics' namespace is
	Step  string // the function's short name

	base    config.Base
	aws     aws.Config
	sources []config.Source               // of secrets
	made    []func(*config.Secrets) error // build what depends on secrets
	warm    []func(context.Context)       // run after the secrets are read: open connections
	load    func(context.Context) (*config.Secrets, error)
	secrets *config.Secrets
	awaited bool // a shopper, or the payment provider, waits for the answers
}

// Run builds a step's handler and serves events until the process ends. build only puts parts together.
func Run[S Settings](step string, build func(S, *Boot) apigw.Handler) {
	h, err := start(step, build)
	if err != nil {
		report(err)
		os.Exit(1)
	}
	lambda.Start(h)
}

func start[S Settings](step string, build func(S, *Boot) apigw.Handler) (apigw.Handler, error) {
	ctx, cancel := context.WithTimeout(context.Background(), initTimeout)
	defer cancel()
	environ := map[string]string{}
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		environ[name] = value
	}
	level, levelErr := telemetry.Level(os.Getenv)
	cfg, awsErr := awsConfig(environ)
	s, err := config.Read[S](environ)
	if err := errors.Join(err, levelErr, awsErr); err != nil {
		return nil, err
	}
	b := &Boot{Clock: system.Clock{}, IDs: system.NewIDs(nil), base: s.Common(), aws: cfg, Step: step}
	b.Stack = b.base.Namespace
	b.Meter = telemetry.NewMeter(os.Stdout, b.Clock, b.base.Namespace, step)
	b.Log = telemetry.RateLimited(telemetry.NewLog(os.Stdout, level), b.Clock)
	b.aws.Logger = logging.LoggerFunc(func(_ logging.Classification, format string, v ...any) {
		b.Log.Warn("aws client", "err", fmt.Sprintf(format, v...))
	})
	h := build(s, b)
	if err := b.open(ctx); err != nil {
		return nil, err
	}
	return b.each(h), nil
}

// open reads the secrets, builds what depends on them, and opens connections. An unreachable Redis does not fail
// init: the step answers 503 until Redis answers.
func (b *Boot) open(ctx context.Context) (err error) {
	if b.load == nil {
		return nil
	}
	if b.secrets, err = b.load(ctx); err != nil {
		return err
	}
	if err = b.make(); err != nil {
		return err
	}
	for _, w := range b.warm {
		w(ctx)
	}
	return nil
}

func (b *Boot) make() error {
	var errs []error
	for _, m := range b.made {
		errs = append(errs, m(b.secrets))
	}
	return errors.Join(errs...)
}

// each wraps every event.
func (b *Boot) each(h apigw.Handler) apigw.Handler {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		b.refresh()
		out, err := h(ctx, event)
		if flushErr := b.Meter.Flush(ctx); flushErr != nil {
			b.Log.Warn("metrics are late", "err", flushErr)
		}
		if b.secrets != nil && !b.awaited {
			b.secrets.Wait(secretsWait)
		}
		return out, err
	}
}

// refresh applies secrets that were read since the last event, and starts a new read when one is due; it never waits.
func (b *Boot) refresh() {
	if b.secrets == nil {
		return
	}
	changed, err := b.secrets.Refresh()
	if changed {
		err = b.make()
	}
	if err != nil {
		b.Log.Warn("secrets stay as they were", "err", err)
	}
}

// Renew applies secrets that are at most renewAge old, or returns why it cannot.
func (b *Boot) Renew() error {
	changed, err := b.secrets.Renew(renewAge, renewWait)
	if changed {
		err = errors.Join(err, b.make())
	}
	if err != nil {
		b.Log.Warn("secrets could not be read in time", "err", err)
	}
	return err
}

// Options completes o, the options of a step's HTTP handler, with what is the same for every step. who has the step's
// token secret, nil without one. A step with such a handler never waits for its secrets once it has started.
func (b *Boot) Options(o httpapi.Options, who httpapi.Who) httpapi.Options {
	b.awaited = true
	o.Log, o.Version = b.Log, b.base.Version
	o.Refusals = httpapi.NewRefusals(b.Meter.Refused, who, b.Log, b.Clock)
	o.Limits = httpapi.NewLimits(b.Clock)
	if who != nil {
		o.Acts = httpapi.NewActs(actlog.New(os.Stdout, who.Hash), b.Clock) // independent of LOG_LEVEL
	}
	return o
}

// report reports to Lambda and the log why init failed ("Initialization error", AWS Lambda runtime API).
func report(err error) {
	body, _ := json.Marshal(map[string]any{"errorType": "Runtime.InitFailed", "errorMessage": err.Error(),
		"stackTrace": []string{}})
	fmt.Fprintf(os.Stderr, "%s\n", body)
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	url := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/init/error"
	r, requestErr := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(string(body)))
	if requestErr != nil {
		return // not on Lambda
	}
	r.Header.Set("Lambda-Runtime-Function-Error-Type", "Runtime.InitFailed")
	if answer, err := http.DefaultClient.Do(r); err == nil {
		answer.Body.Close()
	}
}

// Package aws opens the drivers of AWS for the step that a function serves (app.Drivers), and passes the step to the
// Lambda runtime. In: a function that puts a step together. Out: a process that serves events, or an init error that
// names the wrong settings or secret.
//
// Putting a step together makes no call but one to AWS, for the secrets, or none for a step without secrets: thousands
// of instances start in the first second of a sale, and calls that describe tables and queues have small quotas
// (ADR 20). `seckill doctor` checks in advance that they exist. When a secret changes, the step is put together anew,
// from new drivers: no driver knows that secrets change.
package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/smithy-go/logging"

	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/telemetry"
)

const (
	initTimeout   = 8 * time.Second // Lambda gives init 10 s
	reportTimeout = time.Second     // for reporting to Lambda why init failed
	secretsWait   = 2 * time.Second // how long a scheduled event waits for a running read of the secrets

	// a request that has what only newer secrets explain: forged ones must not make an instance read all the time
	renewAge  = 10 * time.Second
	renewWait = time.Second
)

// Build puts a step together from its drivers.
type Build func(*Drivers) apigw.Handler

// Run builds a step and serves events until the process ends.
func Run(step string, build Build) {
	ctx, cancel := context.WithTimeout(context.Background(), initTimeout)
	r, err := start(ctx, step, build)
	cancel()
	if err != nil {
		report(err)
		os.Exit(1)
	}
	lambda.Start(apigw.Handler(r.handle))
}

func start(ctx context.Context, step string, build Build) (*running, error) {
	environ := map[string]string{}
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		environ[name] = value
	}
	level, levelErr := telemetry.Level(os.Getenv)
	cfg, awsErr := awsConfig(environ)
	base, err := config.Part[config.Base](environ)
	d := &Drivers{Step: step, environ: environ, base: base, sdk: cfg, clock: system.Clock{}, ids: system.NewIDs(nil)}
	d.Fail(err)
	d.Fail(awsErr)
	if levelErr != nil {
		d.Fail(config.Problems{levelErr.Error()})
	}
	d.meter = telemetry.NewMeter(os.Stdout, d.clock, base.Namespace, step)
	d.Log = telemetry.RateLimited(telemetry.NewLog(os.Stdout, level), d.clock)
	d.sdk.Logger = logging.LoggerFunc(func(_ logging.Classification, format string, v ...any) {
		d.Log.Warn("aws client", "err", fmt.Sprintf(format, v...))
	})
	return serve(ctx, d, build)
}

// serve builds the step, and connects to Redis. A Redis that does not answer does not fail init: the step answers 503
// until it answers.
func serve(ctx context.Context, d *Drivers, build Build) (*running, error) {
	client := secretsmanager.NewFromConfig(d.sdk, func(o *secretsmanager.Options) { o.Retryer = sdk.NopRetryer{} })
	r := &running{build: build}
	d.init, d.renew = ctx, r.renew
	d.secrets = config.NewSecrets(client, d.clock, d.base.Secrets)
	if err := r.swap(d); err != nil {
		return nil, err
	}
	d.secrets.Drop()
	for _, warm := range d.warm {
		warm(ctx)
	}
	return r, nil
}

// running is a step, as it was built last.
type running struct {
	build   Build
	drivers *Drivers
	handler apigw.Handler
	unused  []io.Closer // connections that end before the next event
}

// swap builds the step from new drivers. After an error the earlier step goes on.
func (r *running) swap(d *Drivers) error {
	h := r.build(d)
	was := r.drivers
	if err := d.problems(); err != nil {
		if was != nil && d.redis != was.redis {
			r.drop(d.redis)
		}
		return err
	}
	if was != nil && d.redis != was.redis {
		r.drop(was.redis)
	}
	r.drivers, r.handler = d, h
	return nil
}

// drop closes a connection once nothing uses it: the event that is being served may.
func (r *running) drop(c io.Closer) {
	if c != nil {
		r.unused = append(r.unused, c)
	}
}

// handle serves one event. Lambda passes an instance one at a time.
func (r *running) handle(ctx context.Context, event []byte) ([]byte, error) {
	_ = r.changed(r.drivers.secrets.Refresh()) // never waits
	for _, c := range r.unused {
		_ = c.Close()
	}
	r.unused = nil
	d := r.drivers
	out, err := r.handler(ctx, event)
	if flushErr := d.meter.Flush(ctx); flushErr != nil {
		d.Log.Warn("metrics are late", "err", flushErr)
	}
	if !d.awaited {
		d.secrets.Wait(secretsWait)
	}
	return out, err
}

// changed builds the step anew if secrets have changed.
func (r *running) changed(changed bool, err error) error {
	if changed {
		err = errors.Join(err, r.swap(r.drivers.anew()))
	}
	if err != nil {
		r.drivers.Log.Warn("secrets stay as they were", "err", err)
	}
	return err
}

// renew makes sure that the secrets are at most renewAge old, or returns why it cannot.
func (r *running) renew() error { return r.changed(r.drivers.secrets.Renew(renewAge, renewWait)) }

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

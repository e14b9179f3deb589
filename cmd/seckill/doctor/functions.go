package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/your-org/seckill/shared/adapter/operator"
)

// Live is the alias of every function that whoever calls it means: a version that a deployment has published.
const Live = "live"

// atOnce is how many functions are asked at the same time.
const atOnce = 4

// Events that change nothing, but for a minute's, which has its function do once more what it does each minute. Who
// answers one, in whatever words, has started: its settings and secrets are there. Tables and queues it does not look
// at when it starts; checks of their own do.
const (
	emptyBatch = `{"Records":[]}`
	anyRequest = `{"httpMethod":"GET","path":"/healthz","requestContext":{}}`
	aLook      = `{"operator":{"command":"reconciled","who":"seckill doctor","day":"2026-01-01"}}`
	aMinute    = `{"source":"aws.events","detail-type":"Scheduled Event","detail":{}}`
)

// probes has an event for each function, by the stack's output that names it.
var probes = map[string]string{"BuyFunction": anyRequest, "ConsumeFunction": emptyBatch, "NotifyFunction": anyRequest,
	"ExpireFunction": emptyBatch,
	"RefundFunction": aMinute, "ReconcileFunction": aLook, "RepairFunction": aMinute, "ShopFunction": anyRequest,
	"GatewayFunction": anyRequest, "StageFunction": aMinute}

// functions has each function start and handle an empty event.
func (d *Doctor) functions(ctx context.Context, c *check) {
	client := lambda.NewFromConfig(d.AWS)
	var ids []string
	for id := range probes {
		if d.outputs[id] != "" {
			ids = append(ids, id)
		} else if id != "GatewayFunction" || d.sandbox() {
			c.fault("the stack has no output %s: its template is another one, deploy this release", id)
		}
	}
	slices.Sort(ids)
	says := make([]func(), len(ids)) // in the order of names
	var wg sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for i, id := range ids {
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			says[i] = c.function(ctx, client, d.outputs[id], probes[id])
		})
	}
	wg.Wait()
	for _, say := range says {
		say()
	}
}

// function looks at what one function's alias serves, and gives what to say of it.
func (c *check) function(ctx context.Context, client *lambda.Client, name, event string) func() {
	alias, err := client.GetAlias(ctx, &lambda.GetAliasInput{FunctionName: &name, Name: aws.String(Live)})
	var f *lambda.GetFunctionConfigurationOutput
	if err == nil {
		f, err = client.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &name,
			Qualifier: aws.String(Live)})
	}
	if missing := (*types.ResourceNotFoundException)(nil); errors.As(err, &missing) {
		return func() { c.fault("%s, or its alias %s, is gone: "+byHand, name, Live) }
	}
	if err != nil {
		return func() { c.unasked("for function "+name, err) }
	}
	switch {
	case f.State == types.StateFailed:
		return func() { c.fault("%s cannot run: %s", name, aws.ToString(f.StateReason)) }
	case f.LastUpdateStatus == types.LastUpdateStatusFailed:
		return func() { c.fault("the last update of %s failed: %s", name, aws.ToString(f.LastUpdateStatusReason)) }
	case f.State == types.StatePending || f.LastUpdateStatus == types.LastUpdateStatusInProgress:
		return func() { c.fault("%s is being updated: wait a minute, then look again", name) }
	case alias.RoutingConfig != nil && len(alias.RoutingConfig.AdditionalVersionWeights) > 0:
		return func() { c.fault("%s goes over to a new version: wait five minutes, then look again", name) }
	case !strings.Contains(aws.ToString(f.Description), c.parameters["Deployment"]):
		return func() {
			c.fault(
				"%s serves version %s, which is not the last deployment's: what has changed since does not count; "+
					"make deploy publishes it", name, aws.ToString(f.Version))
		}
	}
	began := time.Now()
	out, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Qualifier: aws.String(Live),
		Payload: []byte(event)})
	// whatever it answered: Lambda takes the network away from who was idle for weeks
	if f.State == types.StateInactive {
		return func() { c.fault("%s was asleep, and is being woken: look again in a minute", name) }
	}
	if err != nil {
		return func() { c.unasked("whether "+name+" starts", err) }
	}
	if out.FunctionError != nil {
		return func() { c.fault("%s fails: %s", name, failure(out.Payload)) }
	}
	took := time.Since(began).Milliseconds()
	return func() { c.ok("%s starts, and answered in %d ms (version %s)", name, took, aws.ToString(f.Version)) }
}

// failure is what a function that failed said, with what to do.
func failure(payload []byte) string {
	var failed struct{ ErrorMessage, ErrorType string }
	if json.Unmarshal(payload, &failed) != nil || failed.ErrorMessage == "" {
		return "its log says why"
	}
	message := strings.Join(strings.Fields(failed.ErrorMessage), " ")
	switch {
	case strings.Contains(message, "settings:") && !strings.Contains(message, "the secret "):
		return message + ": correct the stack's parameters and deploy again"
	case strings.Contains(message, "the secret "):
		return message + ": seckill keys makes the secrets"
	}
	return message + " (its log has more)"
}

// tries of a measurement that a cold start has spoilt.
const tries = 3

// redis has the stage function look at Redis, which nobody else reaches.
func (d *Doctor) redis(ctx context.Context, c *check) {
	for range tries {
		began := time.Now()
		h, err := d.Operator.Health(ctx)
		ended := time.Now()
		var refused *operator.Refusal
		switch {
		case errors.As(err, &refused):
			c.unasked("the stage function, whose release does not know the question", err)
			return
		case err != nil:
			c.unasked("the stage function", err)
			return
		}
		d.health = &sight{reading{h.Now, began, ended}, h.Redis}
		if ended.Sub(began) < MaxSkew {
			break
		}
	}
	if len(d.health.redis) == 0 {
		c.fault("the functions know no Redis server: see the parameter RedisEndpoint")
	}
	for i := range d.health.redis {
		c.server(ctx, &d.health.redis[i])
	}
}

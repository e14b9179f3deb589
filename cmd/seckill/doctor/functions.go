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

	"github.com/your-org/seckill/shared/api/operator"
)

// Live is the alias by which each function is called. It points to the version that the last deployment published.
const Live = "live"

// atOnce is how many functions are called at the same time.
const atOnce = 4

// Events for the functions. Only aMinute changes anything: its function does once more what it does each minute. A
// function that answers, whatever it answers, has started with its settings and secrets; so has one that refuses an
// unsigned command. It does not check tables and queues at its start; other checks do.
const (
	emptyBatch = `{"Records":[]}`
	anyRequest = `{"httpMethod":"GET","path":"/healthz","requestContext":{}}`
	aLook      = `{"operator":{"command":"reconciled","who":"seckill doctor","day":"2026-01-01"}}`
	aList      = `{"operator":{"command":"acts","who":"seckill doctor","limit":1}}`
	nobodyLeft = `{"requestContext":{"eventType":"DISCONNECT","connectionId":"none"}}`
	notSigned  = "operator: not signed"
	aMinute    = `{"source":"aws.events","detail-type":"Scheduled Event","detail":{}}`
)

// probes has an event for each function, by the stack output with its name.
var probes = map[string]string{"BuyFunction": anyRequest, "ConsumeFunction": emptyBatch, "NotifyFunction": anyRequest,
	"ExpireFunction": emptyBatch,
	"RefundFunction": aMinute, "ReconcileFunction": aLook, "SigninFunction": anyRequest, "PayFunction": anyRequest,
	"AdmitFunction": anyRequest, "ActsFunction": aList, "AdminFunction": anyRequest,
	"RepairFunction": aMinute, "ShopFunction": anyRequest, "TellFunction": emptyBatch, "DeliverFunction": emptyBatch,
	"GatewayFunction": anyRequest, "StageFunction": aMinute, "ConnectFunction": nobodyLeft}

// wants reports whether the stack has to have a function, by the output with its name or one of its triggers.
func (d *Doctor) wants(id string) bool {
	switch function, _, _ := strings.Cut(id, "Function"); function {
	case "Gateway":
		return d.sandbox()
	case "Deliver":
		return d.parameters["WebhookUrl"] != ""
	case "Connect":
		return d.pushes()
	default:
		return true
	}
}

// functions makes each function handle an empty event.
func (d *Doctor) functions(ctx context.Context, c *check) {
	client := lambda.NewFromConfig(d.AWS)
	var ids []string
	for id := range probes {
		if d.outputs[id] != "" {
			ids = append(ids, id)
		} else if d.wants(id) {
			c.fault("the stack has no output %s: its template is of another release, deploy this one", id)
		}
	}
	slices.Sort(ids)
	says := make([]func(), len(ids)) // in the order of ids
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

// function checks what one function's alias serves, and returns a function that reports it.
func (c *check) function(ctx context.Context, client *lambda.Client, name, event string) func() {
	alias, err := client.GetAlias(ctx, &lambda.GetAliasInput{FunctionName: &name, Name: aws.String(Live)})
	var f *lambda.GetFunctionConfigurationOutput
	if err == nil {
		f, err = client.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &name,
			Qualifier: aws.String(Live)})
	}
	if missing := (*types.ResourceNotFoundException)(nil); errors.As(err, &missing) {
		return func() { c.fault("%s, or its alias %s, does not exist: "+byHand, name, Live) }
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
		return func() { c.fault("%s is being updated: wait a minute, then repeat the check", name) }
	case alias.RoutingConfig != nil && len(alias.RoutingConfig.AdditionalVersionWeights) > 0:
		return func() {
			c.fault("%s is shifting traffic to a new version: wait five minutes, then repeat the check", name)
		}
	case !strings.Contains(aws.ToString(f.Description), c.parameters["Deployment"]):
		return func() {
			c.fault("%s serves version %s, which the last deployment did not publish, so later changes have no "+
				"effect: run make deploy", name, aws.ToString(f.Version))
		}
	}
	began := time.Now()
	out, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Qualifier: aws.String(Live),
		Payload: []byte(event)})
	// Even if the function has answered: Lambda makes a function inactive after weeks without calls.
	if f.State == types.StateInactive {
		return func() { c.fault("%s was inactive and is starting: repeat the check in a minute", name) }
	}
	if err != nil {
		return func() { c.unasked("whether "+name+" starts", err) }
	}
	if out.FunctionError != nil && !strings.Contains(string(out.Payload), notSigned) {
		return func() { c.fault("%s fails: %s", name, failure(out.Payload)) }
	}
	took := time.Since(began).Milliseconds()
	return func() { c.ok("%s starts, and answered in %d ms (version %s)", name, took, aws.ToString(f.Version)) }
}

// failure returns a failed function's message, and what to do.
func failure(payload []byte) string {
	var failed struct{ ErrorMessage, ErrorType string }
	if json.Unmarshal(payload, &failed) != nil || failed.ErrorMessage == "" {
		return "see its log"
	}
	message := strings.Join(strings.Fields(failed.ErrorMessage), " ")
	switch {
	case strings.Contains(message, "settings:") && !strings.Contains(message, "the secret "):
		return message + ": correct the stack's parameters and deploy again"
	case strings.Contains(message, "the secret "):
		return message + ": create the secrets with \"seckill keys\""
	}
	return message + " (see its log)"
}

var errNoOffice = errors.New("the back office takes no command from you")

// tries is how often a measurement is made, because a cold start falsifies it.
const tries = 3

// redis asks the stage function about Redis, which only functions reach.
func (d *Doctor) redis(ctx context.Context, c *check) {
	if d.role == "" {
		c.unasked("the stage function", errNoOffice)
		return
	}
	client := d.As(d.role)
	for range tries {
		began := time.Now()
		h, err := operator.Give[operator.Health](ctx, &client, &operator.ReadHealth{})
		ended := time.Now()
		var refused *operator.Refusal
		switch {
		case errors.As(err, &refused):
			c.unasked("the stage function, whose release does not know this command", err)
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
		c.fault("the functions have no Redis server: check the parameter RedisEndpoint")
	}
	for i := range d.health.redis {
		c.server(ctx, &d.health.redis[i])
	}
}

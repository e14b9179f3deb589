package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/your-org/seckill/cmd/seckill/doctor"
	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

const alarmTopic = "arn:aws:sns:eu-central-1:123456789012:alarms"

// m is a JSON or CBOR object of an answer.
type m = map[string]any

// clinic is an account with one stack, "sale", as AWS shows it to `seckill doctor`. Tests break parts of it.
type clinic struct {
	url        string
	status     string
	outputs    map[string]string
	parameters map[string]string
	resources  map[string][2]string // logical id: type, physical id
	nested     map[string][2]string // of the nested stack
	routing    map[string]m         // of functions' aliases, by function
	health     string               // answer of GET /healthz
	healthCode int
	apiSkew    time.Duration
	cdn        map[string]string // outputs of the CDN's stack; nil if there is none
	cdnCode    int               // what the CDN answers
	stamp      string            // what its function writes on an answer
	pastCode   int               // what the API answers at its own address
	configs    map[string]m      // functions, by name
	failures   map[string]string // errors of functions' invocations
	ahead      time.Duration     // how far the stage function's clock is ahead
	nodes      []seckill.CacheNode
	secrets    map[string]string            // of the secret with all values
	others     map[string]map[string]string // of an audience, if they differ from its part of secrets
	rules      map[string][2]string         // state, target
	mappings   map[string]string            // state
	alarms     map[string]m
	subscribed []string // ARNs
	depths     map[string]string
	tables     map[string]ledger.Table
	backups    map[string]string
	warm       any
	limited    []string // methods with limits of their own
	accounts   m        // answers about quotas
	refused    map[string]bool
	roles      []seckill.Role // roles that the caller may take; nil means all roles
	older      bool           // the stack has no back office

	mu    sync.Mutex
	calls map[string]int
}

// pairs returns the shop's and the gateway's key pairs, and a stranger's; made once, because it takes time.
var pairs = sync.OnceValue(func() (out [3]fakegateway.KeyPair) {
	for i := range out {
		var err error
		if out[i], err = fakegateway.GenerateKeys(); err != nil {
			panic(err)
		}
	}
	return out
})

func newClinic(t *testing.T) *clinic {
	t.Helper()
	shop, gate := pairs()[0], pairs()[1]
	c := &clinic{status: "UPDATE_COMPLETE", health: `{"status":"ok","version":"r1"}`, healthCode: 200,
		parameters: map[string]string{"Release": "r1", "Deployment": "feedbeef", "RedisPassword": "true",
			"JwtKids": "2027", "ReserveConcurrency": "true",
			"ConsumeConcurrency": "20", "NotifyRate": "200", "NotifyBurst": "100", "NotifyConcurrency": "180",
			"SigninConcurrency": "20", "WebhookUrl": "https://erp.example.com/", "CreatePush": "true"},
		configs: map[string]m{}, failures: map[string]string{}, calls: map[string]int{}, refused: map[string]bool{},
		resources: map[string][2]string{"Sale": {"AWS::CloudFormation::Stack", "sale-Sale-1"}},
		nested:    map[string][2]string{}, rules: map[string][2]string{}, mappings: map[string]string{},
		alarms: map[string]m{},
		nodes: []seckill.CacheNode{{Address: "10.0.0.1:6379", Role: "master", Policy: "noeviction", Limit: 1000,
			Used: 100}},
		secrets: map[string]string{"jwt-secret": strings.Repeat("x", 32), "jwt-2027": strings.Repeat("y", 40),
			"alipay-private-key": shop.Private, "alipay-shop-public-key": shop.Public,
			"gateway-private-key": gate.Private, "alipay-public-key": gate.Public, "redis-password": "p",
			"webhook-secret": "whsec_x", "ticket-secret": "1764000000:a-secret-of-tickets"},
		subscribed: []string{"arn:aws:sns:1"}, depths: map[string]string{}, others: map[string]map[string]string{},
		backups: map[string]string{}, tables: map[string]ledger.Table{},
		warm:     m{"WriteUnitsPerSecond": 4000},
		limited:  doctor.Limited,
		accounts: m{"lambda": 1000, "stage": 5000, "account": 10000}}
	c.url = served(t, c).URL
	c.outputs = map[string]string{"Url": c.url + "/live", "ApiId": "api1", "ApiStage": "live", "StackPrefix": "sale-",
		"SecretsPath": "/seckill/sale", "Sandbox": "true",
		"AlarmTopic": alarmTopic, "RedisEndpoint": "10.0.0.1:6379"}
	for _, q := range []string{"Orders", "OrdersDeadLetter", "Closings", "ClosingsDeadLetter"} {
		c.outputs[q+"QueueUrl"] = c.url + "/123456789012/" + q
		c.depths[q] = "0"
	}
	for _, f := range []string{"Buy", "Consume", "Notify", "Expire", "Refund", "Reconcile", "Repair", "Shop", "Stage",
		"Gateway", "Signin", "Pay", "Tell", "Deliver", "Connect", "Admit", "Acts", "Admin"} {
		name := "sale-" + strings.ToLower(f)
		c.outputs[f+"Function"] = name
		c.configs[name] = m{"FunctionName": name, "State": "Active", "LastUpdateStatus": "Successful", "Version": "7",
			"Description": "feedbeef"}
	}
	for _, f := range []string{"Expire", "Refund", "Reconcile", "Repair", "Stage", "Gateway", "Deliver"} {
		every := map[string]string{"Reconcile": "Hour"}[f]
		c.nested[f+"Function"+cmp.Or(every, "Minute")] = [2]string{"AWS::Events::Rule", "rule-" + f}
		c.rules["rule-"+f] = [2]string{"ENABLED", "arn:aws:lambda:eu-central-1:123456789012:function:sale-" +
			strings.ToLower(f) + ":live"}
	}
	for _, id := range []string{"ConsumeFunctionOrders", "ExpireFunctionClosings", "TellFunctionChanges",
		"DeliverFunctionChanges"} {
		c.nested[id] = [2]string{"AWS::Lambda::EventSourceMapping", "uuid-" + id}
		c.mappings["uuid-"+id] = "Enabled"
	}
	for _, a := range []string{"drift", "faults"} {
		c.nested[a+"Alarm"] = [2]string{"AWS::CloudWatch::Alarm", "sale-" + a}
		c.alarms["sale-"+a] = m{"AlarmName": "sale-" + a, "ActionsEnabled": true, "AlarmActions": []string{alarmTopic},
			"StateValue": "OK", "AlarmDescription": "Severity 3: Runbook " + a}
	}
	c.nested["SaleAtRisk"] = [2]string{"AWS::CloudWatch::CompositeAlarm", "sale-sale-at-risk"}
	c.alarms["sale-sale-at-risk"] = m{"AlarmName": "sale-sale-at-risk", "ActionsEnabled": true,
		"AlarmActions": []string{alarmTopic}, "StateValue": "OK", "AlarmDescription": "The sale is at risk"}
	for _, table := range append(dynamoledger.Schema(), fakegateway.Table, wspush.Table) {
		c.tables["sale-"+table.Name] = table
		c.backups["sale-"+table.Name] = "ENABLED"
	}
	return c
}

// ServeHTTP answers a call to any service. Each of AWS's protocols names the call in its own way.
func (c *clinic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	_, target, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	rest, isCBOR := strings.CutPrefix(r.URL.Path, "/service/GraniteServiceVersion20100801/operation/")
	switch {
	case r.URL.Path == "/live/healthz":
		w.Header().Set("Date", time.Now().Add(c.apiSkew).UTC().Format(http.TimeFormat))
		w.WriteHeader(c.healthCode)
		_, _ = io.WriteString(w, c.health)
	case r.URL.Path == "/cdn/healthz":
		w.Header().Set("X-Now", c.stamp)
		w.WriteHeader(c.cdnCode)
		_, _ = io.WriteString(w, c.health)
	case strings.HasPrefix(r.URL.Path, "/_aws/execute-api/api1/live/operator/") && !c.older:
		c.mu.Lock()
		c.calls["operate"]++
		c.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		stage := &cloud{roles: c.roles, function: func(event []byte) ([]byte, string) { return c.stage(event), "" }}
		if why := c.failures["sale-stage"]; why != "" {
			stage.function = func([]byte) ([]byte, string) { return []byte(why), "Unhandled" }
		}
		stage.operate(w, r)
	case r.URL.Path == "/own/healthz":
		w.WriteHeader(c.pastCode)
	case isCBOR:
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		w.Header().Set("Content-Type", "application/cbor")
		c.answer(w, rest, func() (any, string) { return c.cloudwatch(), "" }, func(v any) {
			_, _ = w.Write(cbor.Encode(cborOf(v)))
		})
	case form.Get("StackName") == "sale-edge" &&
		(c.cdn == nil || !strings.Contains(r.Header.Get("Authorization"), "/us-east-1/cloudformation/")):
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id sale-edge "+
			"does not exist</Message></Error></ErrorResponse>")
	case form.Get("Action") != "":
		c.answer(w, form.Get("Action"), func() (any, string) {
			return c.query(form), ""
		}, func(v any) { _, _ = io.WriteString(w, v.(string)) })
	case target != "":
		c.answer(w, target, func() (any, string) {
			return c.json(target, body)
		}, func(v any) { _ = json.NewEncoder(w).Encode(v) })
	default:
		c.rest(w, r.URL.Path, body)
	}
}

// answer counts a call, and answers it unless it is refused: by its name, or by its name and subject.
func (c *clinic) answer(w http.ResponseWriter, call string, make func() (any, string), write func(any)) {
	c.mu.Lock()
	c.calls[call]++
	c.mu.Unlock()
	if c.refused[call] {
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
		w.WriteHeader(http.StatusForbidden)
		// the query protocol, for calls that matter
		if strings.HasPrefix(call, "List") || strings.HasPrefix(call, "DescribeStack") {
			_, _ = io.WriteString(w, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no right to "+call+
				"</Message></Error></ErrorResponse>")
			return
		}
		write(m{"__type": "AccessDeniedException", "message": "no right to " + call})
		return
	}
	v, fault := make()
	if fault != "" {
		w.Header().Set("X-Amzn-Errortype", fault)
		w.WriteHeader(http.StatusBadRequest)
		v = m{"__type": fault, "message": fault}
	}
	write(v)
}

func (c *clinic) cloudwatch() any {
	all, composite := []any{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(c.alarms)) {
		if name == "sale-sale-at-risk" {
			composite = append(composite, c.alarms[name])
		} else {
			all = append(all, c.alarms[name])
		}
	}
	return m{"MetricAlarms": all, "CompositeAlarms": composite}
}

func cborOf(v any) cbor.Value {
	switch v := v.(type) {
	case m:
		out := cbor.Map{}
		for k, e := range v {
			out[k] = cborOf(e)
		}
		return out
	case []any:
		out := cbor.List{}
		for _, e := range v {
			out = append(out, cborOf(e))
		}
		return out
	case []string:
		out := cbor.List{}
		for _, e := range v {
			out = append(out, cbor.String(e))
		}
		return out
	case bool:
		return cbor.Bool(v)
	case string:
		return cbor.String(v)
	}
	panic(fmt.Sprintf("%T", v))
}

func (c *clinic) query(form url.Values) string {
	pairs := func(tag, key, value string, of map[string]string) (out string) {
		for k, v := range of {
			var text strings.Builder
			_ = xml.EscapeText(&text, []byte(v))
			out += fmt.Sprintf("<member><%s>%s</%s><%s>%s</%s></member>", key, k, key, value, text.String(), value)
		}
		return "<" + tag + ">" + out + "</" + tag + ">"
	}
	result := ""
	switch action := form.Get("Action"); action {
	case "GetCallerIdentity":
		result = "<Arn>" + caller + "</Arn><Account>123456789012</Account>"
	case "DescribeStacks":
		parameters, outputs := c.parameters, c.outputs
		switch form.Get("StackName") {
		case "cache-stack":
			parameters = map[string]string{"MaxGigabytes": "5"}
		case "sale-Api-1":
			outputs = map[string]string{"Url": c.url + "/own"}
		case "sale-edge":
			outputs = c.cdn
		}
		result = "<Stacks><member><StackName>sale</StackName><StackStatus>" + c.status + "</StackStatus>" +
			pairs("Outputs", "OutputKey", "OutputValue", outputs) +
			pairs("Parameters", "ParameterKey", "ParameterValue", parameters) + "</member></Stacks>"
	case "ListStackResources":
		resources := c.resources
		if form.Get("StackName") != "sale" {
			resources = c.nested
		}
		for id, r := range resources {
			result += fmt.Sprintf("<member><LogicalResourceId>%s</LogicalResourceId><ResourceType>%s</ResourceType>"+
				"<PhysicalResourceId>%s</PhysicalResourceId></member>", id, r[0], r[1])
		}
		result = "<StackResourceSummaries>" + result + "</StackResourceSummaries>"
	case "ListSubscriptionsByTopic":
		for _, arn := range c.subscribed {
			result += "<member><SubscriptionArn>" + arn + "</SubscriptionArn></member>"
		}
		result = "<Subscriptions>" + result + "</Subscriptions>"
	}
	action := form.Get("Action")
	return fmt.Sprintf("<%sResponse><%sResult>%s</%sResult></%sResponse>", action, action, result, action, action)
}

func (c *clinic) json(call string, body []byte) (any, string) {
	var in struct {
		Name, Rule, QueueURL, TableName, SecretID string
	}
	_ = json.Unmarshal(body, &in)
	switch call {
	case "GetSecretValue":
		name := strings.TrimPrefix(in.SecretID, "/seckill/sale/")
		values := c.secrets
		if name != secrets.Keys {
			values = secrets.Of(name, c.secrets)
		}
		if others, ok := c.others[name]; ok {
			values = others
		}
		if values == nil {
			return nil, "ResourceNotFoundException"
		}
		text, _ := json.Marshal(values) // strings always marshal
		return m{"SecretString": string(text)}, ""
	case "DescribeRule":
		if rule, ok := c.rules[in.Name]; ok {
			return m{"Name": in.Name, "State": rule[0], "ScheduleExpression": "rate(1 minute)"}, ""
		}
		return nil, "ResourceNotFoundException"
	case "ListTargetsByRule":
		return m{"Targets": []any{m{"Id": "1", "Arn": c.rules[in.Rule][1]}}}, ""
	case "GetQueueAttributes":
		n, ok := c.depths[in.QueueURL[strings.LastIndexByte(in.QueueURL, '/')+1:]]
		if !ok {
			return nil, "com.amazonaws.sqs#QueueDoesNotExist"
		}
		return m{"Attributes": m{"ApproximateNumberOfMessages": n, "ApproximateNumberOfMessagesNotVisible": "0",
			"ApproximateNumberOfMessagesDelayed": map[bool]string{true: "2", false: "0"}[strings.HasSuffix(in.QueueURL,
				"/Closings")]}}, ""
	case "DescribeTable":
		t, ok := c.tables[in.TableName]
		if !ok {
			return nil, "ResourceNotFoundException"
		}
		return m{"Table": described(in.TableName, t, c.warm)}, ""
	case "DescribeTimeToLive":
		return m{"TimeToLiveDescription": m{"TimeToLiveStatus": "ENABLED",
			"AttributeName": c.tables[in.TableName].TTL}}, ""
	case "DescribeContinuousBackups":
		return m{"ContinuousBackupsDescription": m{"ContinuousBackupsStatus": "ENABLED",
			"PointInTimeRecoveryDescription": m{"PointInTimeRecoveryStatus": c.backups[in.TableName]}}}, ""
	}
	return nil, "UnknownOperationException"
}

func described(name string, t ledger.Table, warm any) m {
	kinds := []any{}
	keys := func(pk, sk string) []any {
		out := []any{m{"AttributeName": pk, "KeyType": "HASH"}}
		kinds = append(kinds, m{"AttributeName": pk, "AttributeType": "S"})
		if sk != "" {
			out = append(out, m{"AttributeName": sk, "KeyType": "RANGE"})
			kinds = append(kinds, m{"AttributeName": sk, "AttributeType": "S"})
		}
		return out
	}
	out, indexes := m{"TableName": name, "TableStatus": "ACTIVE", "KeySchema": keys(t.PK, t.SK),
		"WarmThroughput": warm}, []any{}
	for _, x := range t.Indexes {
		indexes = append(indexes, m{"IndexName": x.Name, "KeySchema": keys(x.PK, x.SK),
			"Projection": m{"ProjectionType": "ALL"}})
	}
	out["GlobalSecondaryIndexes"], out["AttributeDefinitions"] = indexes, kinds
	return out
}

// rest answers Lambda and API Gateway.
func (c *clinic) rest(w http.ResponseWriter, path string, body []byte) {
	write := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	give := func(v any) func() (any, string) { return func() (any, string) { return v, "" } }
	name, isFunction := strings.CutPrefix(path, "/2015-03-31/functions/")
	name, what, _ := strings.Cut(name, "/")
	uuid, isMapping := strings.CutPrefix(path, "/2015-03-31/event-source-mappings/")
	switch {
	case isFunction && what == "aliases/live":
		c.answer(w, "GetAlias", func() (any, string) {
			if c.configs[name] == nil {
				return nil, "ResourceNotFoundException"
			}
			return m{"Name": "live", "FunctionVersion": "7", "RoutingConfig": c.routing[name]}, ""
		}, write)
	case isFunction && what == "configuration":
		c.answer(w, "GetFunctionConfiguration", func() (any, string) {
			if c.configs[name] == nil {
				return nil, "ResourceNotFoundException"
			}
			return c.configs[name], ""
		}, write)
	case isFunction && what == "invocations":
		c.answer(w, "Invoke", give(nil), func(any) { c.invoke(w, name, body) })
	case isMapping:
		c.answer(w, "GetEventSourceMapping", give(m{"UUID": uuid, "State": c.mappings[uuid], "BatchSize": 10}), write)
	case strings.HasPrefix(path, "/2016-08-19/account-settings"):
		c.answer(w, "GetAccountSettings", give(m{"AccountLimit": m{"ConcurrentExecutions": c.accounts["lambda"]}}),
			write)
	case path == "/restapis/api1/stages/live":
		settings := m{"*/*": m{"throttlingRateLimit": c.accounts["stage"], "throttlingBurstLimit": 2500}}
		for _, method := range c.limited {
			settings[patchKey(method)] = m{"throttlingRateLimit": 9999, "throttlingBurstLimit": 2500}
		}
		c.answer(w, "GetStage", give(m{"stageName": "live", "methodSettings": settings}), write)
	case path == "/account":
		c.answer(w, "GetAccount", give(m{"throttleSettings": m{"rateLimit": c.accounts["account"]}}), write)
	default:
		http.NotFound(w, nil)
	}
}

func (c *clinic) invoke(w http.ResponseWriter, name string, event []byte) {
	if why := c.failures[name]; why != "" {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		_ = json.NewEncoder(w).Encode(m{"errorMessage": why, "errorType": "Runtime.InitFailed"})
		return
	}
	if strings.Contains(string(event), `"operator"`) { // reconcile and acts take none but signed ones
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		_ = json.NewEncoder(w).Encode(m{"errorMessage": "operator: not signed: no signed command"})
		return
	}
	_, _ = io.WriteString(w, "null")
}

// stage executes a command as the stage function does.
func (c *clinic) stage(event []byte) []byte {
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: system.Clock{}}))
	flow := stage.New(stage.Deps{Stock: redisstock.New(memory.NewRedis()), Items: memory.NewItems(),
		Clock: shifted(c.ahead), IDs: system.NewIDs(nil), Questions: l, Activities: l, Blocks: l})
	handler := operator.NewItemHandler(flow)
	handler.Look = func(context.Context) []seckill.CacheNode {
		out := slices.Clone(c.nodes)
		for i := range out {
			if out[i].Fault == "" && out[i].Time.IsZero() {
				out[i].Time = shifted(c.ahead).Now()
			}
		}
		return out
	}
	b, err := operator.Serve(telemetry.NewLog(io.Discard, slog.LevelInfo), handler)(context.Background(), event)
	if err != nil {
		panic(err) // the tool's own events are known
	}
	return b
}

// shifted is the machine's clock with this error.
type shifted time.Duration

func (s shifted) Now() time.Time { return time.Now().Add(time.Duration(s)) }

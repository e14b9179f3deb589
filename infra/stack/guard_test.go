package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/infra/plan"
)

// account is a fake AWS with one stack, "shop".
type account struct {
	sandbox  string
	messages string // of the queue of closings, delayed
	due      string // rows of the index of due orders
	warm     int    // current write units of an index of orders
	secret   string // that the account lacks
	formats  string // versions of what the stack's release writes
	calls    []string
}

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if _, call, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		switch {
		case call == "GetQueueAttributes" && strings.Contains(string(body), "/closings"):
			fmt.Fprintf(w, `{"Attributes":{"ApproximateNumberOfMessages":"0","ApproximateNumberOfMessagesDelayed":%q}}`,
				a.messages)
		case call == "GetQueueAttributes":
			fmt.Fprint(w, `{"Attributes":{"ApproximateNumberOfMessages":"0"}}`)
		case call == "Scan" && strings.Contains(string(body), "orders_due") && strings.Contains(string(body),
			`"shop-orders"`):
			fmt.Fprintf(w, `{"Items":[%s]}`, a.due)
		case call == "DescribeTable" && strings.Contains(string(body), `"none-`):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"ResourceNotFoundException","message":"Requested resource not found"}`)
		case call == "DescribeTable":
			warm := cmp.Or(a.warm, 4000)
			if !strings.Contains(string(body), `"shop-orders"`) {
				warm = 4000
			}
			fmt.Fprintf(w,
				`{"Table":{"WarmThroughput":{"WriteUnitsPerSecond":4000},"GlobalSecondaryIndexes":[{"IndexName":"orders_due",
				"WarmThroughput":{"WriteUnitsPerSecond":%d}}]}}`, warm)
		case call == "DescribeSecret" && strings.Contains(string(body), `"`+cmp.Or(a.secret, "none")+`"`):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"ResourceNotFoundException","message":"Secrets Manager can't find it."}`)
		case call == "DescribeSecret":
			fmt.Fprint(w, `{}`)
		case call == "Scan":
			fmt.Fprint(w, `{"Items":[]}`)
		}
		return
	}
	form, _ := url.ParseQuery(string(body))
	switch action := form.Get("Action"); {
	case action == "DescribeStacks" && form.Get("StackName") != "shop":
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, "<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id x does not "+
			"exist</Message></Error></ErrorResponse>")
	case action == "DescribeStacks":
		outputs := ""
		for k, v := range map[string]string{"Sandbox": a.sandbox, "StackPrefix": "shop-", "Formats": a.formats,
			"SecretsPath":      "/seckill/shop",
			"OrdersQueueUrl":   "http://" + r.Host + "/1/orders",
			"ClosingsQueueUrl": "http://" + r.Host + "/1/closings"} {
			outputs += "<member><OutputKey>" + k + "</OutputKey><OutputValue>" + v + "</OutputValue></member>"
		}
		warm := ""
		for _, p := range []string{"Warm=" + warmed("8000"), "CreateCache=true", "RedisPassword=false",
			"Size=small"} {
			name, value, _ := strings.Cut(p, "=")
			warm += "<member><ParameterKey>" + name + "</ParameterKey><ParameterValue>" + value +
				"</ParameterValue></member>"
		}
		fmt.Fprint(w, "<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>shop</StackName>"+
			"<StackStatus>UPDATE_COMPLETE</StackStatus><Parameters>"+warm+"</Parameters><Outputs>"+outputs+"</Outputs>"+
			"</member></Stacks></DescribeStacksResult></DescribeStacksResponse>")
	default:
		a.calls = append(a.calls, action+" "+form.Get("EnableTerminationProtection"))
		fmt.Fprintf(w, "<%sResponse><%sResult/></%sResponse>", action, action, action)
	}
}

// warmed is the parameter Warm with this for orders.
func warmed(orders string) string {
	return strings.Replace(warmDefault, "orders=4000", "orders="+orders, 1)
}

// written returns the versions of what this release writes.
func written(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../template.yaml")
	m := formats.FindSubmatch(text)
	if err != nil || m == nil {
		t.Fatalf("no formats: %v", err)
	}
	return string(m[1])
}

func TestGuard(t *testing.T) {
	const off, on = "UpdateTerminationProtection false", "UpdateTerminationProtection true"
	type env = map[string]string
	for name, tt := range map[string]struct {
		action, stack, typed string
		env                  env
		given                []string
		spoil                func(a *account)
		want                 string // part of the error; empty if the deployment is allowed
		calls                []string
	}{
		"deploy, typed":         {action: "deploy", typed: "shop\n"},
		"deploy, in a pipeline": {action: "deploy", env: env{"CONFIRM": "shop"}},
		"deploy, another name": {action: "deploy", typed: "shopp\n",
			want: `"shopp" is not "shop": nothing was done`},
		"deploy, nothing typed": {action: "deploy", want: `"" is not "shop"`},
		"deploy, the wrong CONFIRM": {action: "deploy", env: env{"CONFIRM": "prod"}, typed: "shop\n",
			want: `"prod" is not "shop"`},
		"deploy, new": {action: "deploy", stack: "none"},
		"deploy, a sandbox": {action: "deploy", spoil: func(a *account) {
			a.sandbox, a.messages = "true",
				"9"
		}},
		"deploy, messages": {action: "deploy", typed: "shop\n", spoil: func(a *account) { a.messages = "7" },
			want: "refused, shop is at work: Closings has 7 messages; messages and rows survive a deployment, but " +
				"do it between sales: BUSY=true goes on"},
		"deploy, open orders": {action: "deploy", typed: "shop\n",
			spoil: func(a *account) { a.due = `{"id":{"S":"o1"}}` }, want: "orders wait to be paid or closed"},
		"deploy, all the same": {action: "deploy", typed: "shop\n", env: env{"BUSY": "true"},
			spoil: func(a *account) { a.messages = "7" }},
		"deploy, as warm as before": {action: "deploy", typed: "shop\n",
			given: []string{"Warm=" + warmed("8000"), "Hold=15m"},
			spoil: func(a *account) { a.warm = 20_000 }},
		"deploy, warmer": {action: "deploy", typed: "shop\n", given: []string{"Warm=" + warmed("12000")}},
		"deploy, warmer than before, not than now": {action: "deploy", typed: "shop\n",
			given: []string{"Warm=" + warmed("12000")},
			spoil: func(a *account) { a.warm = 20_000 },
			want: "refused, Warm has orders=12000 is below 20000, which index orders_due takes: DynamoDB lowers no " +
				"table; give Warm=" + warmed("20000")},
		"deploy, another table warmer": {action: "deploy", typed: "shop\n",
			given: []string{"Warm=" + strings.Replace(warmed("8000"), "units=4000", "units=12000", 1)},
			spoil: func(a *account) { a.warm = 20_000 }},
		"deploy, less warm": {action: "deploy", typed: "shop\n", given: []string{"Warm=" + warmed("4000")},
			env:  env{"BUSY": "true"},
			want: "refused, Warm has orders=4000 is below 8000, which the stack has"},
		"deploy, less warm, a sandbox": {action: "deploy", given: []string{"Warm=" + warmed("4000")},
			spoil: func(a *account) { a.sandbox = "true" }, want: "below 8000"},
		"deploy, a parameter of an earlier release": {action: "deploy", typed: "shop\n",
			given: []string{"Hold=15m", "RefundAloneYuan=500"},
			want:  "refused, there is no parameter RefundAloneYuan: CHANGELOG.md says"},
		"deploy, step by step": {action: "deploy", typed: "shop\n", given: []string{"GradualDeployment=true"},
			spoil: func(a *account) { a.formats = written(t) }},
		"deploy, step by step, another version": {action: "deploy", typed: "shop\n",
			given: []string{"GradualDeployment=true"},
			spoil: func(a *account) { a.formats = strings.Replace(written(t), "rows=2", "rows=1", 1) },
			want: `the stack writes versions "` + strings.Replace(written(t), "rows=2", "rows=1", 1) +
				`" and this release writes "` + written(t) + `", which the one before cannot read`},
		"deploy, at once, another version": {action: "deploy", typed: "shop\n",
			given: []string{"GradualDeployment=false"},
			spoil: func(a *account) { a.formats = strings.Replace(written(t), "rows=2", "rows=1", 1) }},
		"deploy, rows in other tables": {action: "deploy", typed: "shop\n", env: env{"BUSY": "true"},
			spoil: func(a *account) { a.formats = "rows=2,items=2,catalog=1,messages=1" },
			want:  "refused, this release has rows in other tables than the stack"},
		"deploy, keys not run": {action: "deploy", typed: "shop\n", env: env{"BUSY": "true"},
			spoil: func(a *account) { a.secret = "/seckill/shop/admit" },
			want: "refused, there is no secret /seckill/shop/admit: run seckill keys --path /seckill/shop, which " +
				"makes what is new"},
		"deploy, keys not run, a sandbox": {action: "deploy",
			spoil: func(a *account) { a.sandbox, a.secret = "true", "/seckill/shop/admit" },
			want:  "refused, there is no secret /seckill/shop/admit"},
		"deploy, other secrets": {action: "deploy", typed: "shop\n", given: []string{"SecretsPath=/seckill/other"},
			spoil: func(a *account) { a.secret = "/seckill/shop/admit" }},
		"deploy, the cache's user": {action: "deploy", typed: "shop\n", given: []string{"RedisPassword=true"}},
		"deploy, the cache's size": {action: "deploy", typed: "shop\n", given: []string{"Size=planned",
			"Plan=CacheGigabytes=9,CacheEcpu=9000", "RedisPassword=false"}},
		"deploy, the cache's user and size": {action: "deploy", typed: "shop\n",
			given: []string{"RedisPassword=true", "Size=planned", "Plan=CacheGigabytes=9,CacheEcpu=9000"},
			want:  "refused, RedisPassword and CacheEcpu, CacheGigabytes change two fields of the cache"},
		"protect":            {action: "protect", calls: []string{on}},
		"protect, a sandbox": {action: "protect", spoil: func(a *account) { a.sandbox = "true" }},
		"destroy, typed":     {action: "destroy", typed: "shop\n", calls: []string{off}},
		"destroy, not":       {action: "destroy", typed: "no\n", want: `"no" is not "shop"`},
		"destroy, a sandbox": {action: "destroy", spoil: func(a *account) { a.sandbox = "true" }},
		"destroy, whatever": {action: "destroy", env: env{"BUSY": "true", "CONFIRM": "shop"},
			spoil: func(a *account) { a.messages = "1" }, want: "stop the sale, and wait until all is handled"},
		"something else": {action: "remove", want: "want deploy, failed, shields, protect or destroy, not remove"},
		"destroy, open order": {action: "destroy", typed: "shop\n",
			spoil: func(a *account) { a.due = `{"id":{"S":"o1"}}` }, want: "orders wait to be paid or closed"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &account{sandbox: "false", messages: "0", formats: written(t)}
			if tt.spoil != nil {
				tt.spoil(a)
			}
			server := httptest.NewServer(a)
			defer server.Close()
			for k, v := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "test",
				"AWS_SECRET_ACCESS_KEY": "test"} {
				t.Setenv(k, v)
			}
			var said bytes.Buffer
			stack := tt.stack
			if stack == "" {
				stack = "shop"
			}
			g := guard{action: tt.action, stack: stack, region: "eu-west-1", in: strings.NewReader(tt.typed),
				out: &said, env: func(k string) string { return tt.env[k] }, given: tt.given, root: os.DirFS("../..")}
			err := g.run(t.Context())
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if !slices.Equal(a.calls, tt.calls) {
				t.Errorf("called %v, want %v", a.calls, tt.calls)
			}
		})
	}
}

// TestWarmedTables checks that Warm names the tables whose warm throughput the template sets, and has the template's
// default.
func TestWarmedTables(t *testing.T) {
	text, err := os.ReadFile("../data.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^      TableName: !Sub "\$\{Name\}-(\w+)"\n      BillingMode: \w+\n`+
		`      WarmThroughput: .*!Ref (\w+)}`).FindAllSubmatch(text, -1) {
		got[string(m[1])] = "4000"
	}
	if want := plan.List(warmDefault); !maps.Equal(got, want) {
		t.Errorf("the template warms %v, the guard knows %v", got, want)
	}
	if text, err = os.ReadFile("../../template.yaml"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `Warm: {Type: String, Default: "`+warmDefault+`"`) {
		t.Errorf("the template's default is not %s", warmDefault)
	}
}

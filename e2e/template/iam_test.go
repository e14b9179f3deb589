//go:build sam

package main

import (
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRights compares each role with what its function's code can make AWS do: its settings, the parts that its main
// opens, and the port methods that its flows reach, as the production drivers send them.
func TestRights(t *testing.T) {
	tpl, wires, src := deployed(t, everything), wires(t), newSource(root)
	certificates := deployed(t, certified).functions()
	for step, f := range tpl.functions() {
		env := environment(f)
		if other := certificates[step]; other != nil { // a stack has Alipay's key or its certificates
			maps.Copy(env, environment(other))
		}
		need, err := needed(env, src, wires, step, f)
		if err != nil {
			t.Errorf("%s: %v", step, err)
			continue
		}
		have, err := tpl.rights(f)
		if err != nil {
			t.Error(err)
			continue
		}
		got := map[right]bool{}
		for _, r := range have {
			if got[r] {
				t.Errorf("%s: %s on %s twice", step, r.action, r.on)
			}
			got[r] = true
		}
		if diff := cmp.Diff(sorted(need), sorted(got), cmp.AllowUnexported(right{})); diff != "" {
			t.Errorf("%s: its code can (-), its role may (+):\n%s", step, diff)
		}
	}
}

// TestEveryCallIsReached: a flow's method that calls a port and that no step reaches is either dead code or missed by
// the analysis.
func TestEveryCallIsReached(t *testing.T) {
	src, reached, calling := newSource(root), map[string]bool{}, 0
	for step := range deployed(t, everything).functions() {
		main, err := src.main(step)
		if err != nil || len(main.flows) == 0 {
			continue
		}
		w := must.Get(src.walk(step, main.flows))
		for fn := range w.seen {
			reached[fn.FullName()] = true
		}
	}
	for fn := range src.bodies {
		if !strings.HasPrefix(fn.Pkg().Path(), flowPath) {
			continue
		}
		w := &walk{source: src, seen: map[*types.Func]bool{}, calls: map[call]bool{}, events: map[seckill.Event]bool{},
			shallow: true}
		w.visit(fn)
		if len(w.calls) > 0 {
			calling++
			if !reached[fn.FullName()] {
				t.Errorf("%s calls %v, and no step reaches it", fn.FullName(), slices.Collect(maps.Keys(w.calls)))
			}
		}
	}
	if calling < 20 {
		t.Errorf("found %d functions that call a port", calling)
	}
}

func sorted(rights map[right]bool) []right {
	return slices.SortedFunc(maps.Keys(rights), func(a, b right) int {
		return strings.Compare(a.on+" "+a.action, b.on+" "+b.action)
	})
}

func needed(env map[string]string, src *source, wires map[string][]right, step string, f *resource) (map[right]bool,
	error,
) {
	out := map[right]bool{}
	add := func(on string, actions ...string) {
		for _, a := range actions {
			out[right{a, on}] = true
		}
	}
	add(logID(step), "logs:CreateLogStream", "logs:PutLogEvents")

	if secret, ok := strings.CutPrefix(env["SECRETS"], "/seckill/default/"); ok {
		add("SecretsPath/"+secret, "secretsmanager:GetSecretValue")
		readable := secrets.Of(secret, everySecret)
		for name, entry := range env {
			if !strings.HasSuffix(name, "_NAME") {
				continue
			}
			if all := secrets.Of(secret, everySecret); all[entry] == "" {
				return nil, fmt.Errorf("%s is %q, which the secret %s does not have", name, entry, secret)
			}
			delete(readable, entry)
		}
		if env["JWT_KIDS"] != "" {
			delete(readable, "jwt-kid")
		}
		if len(readable) > 0 {
			return nil, fmt.Errorf("the secret %s has %v, which it is not told to read", secret,
				slices.Sorted(maps.Keys(readable)))
		}
	}
	if q := f.prop("DeadLetterQueue", "TargetArn"); q != nil { // Lambda parks what failed on the function's behalf
		add(target(q), "sqs:SendMessage")
	}
	for _, e := range events(f) {
		if e.kind == "SQS" { // Lambda receives the messages on the function's behalf
			add(target(e.props["Queue"]), "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
		}
		if e.kind == "DynamoDB" { // it reads the stream, and parks what failed, on the function's behalf, too
			add(target(e.props["Stream"]), "dynamodb:DescribeStream", "dynamodb:GetRecords",
				"dynamodb:GetShardIterator", "dynamodb:ListStreams")
			add(target(at(e.props["DestinationConfig"], "OnFailure", "Destination")), "sqs:SendMessage")
		}
	}

	main, err := src.main(step)
	if err != nil {
		return nil, err
	}
	queue := func(setting string) string { return target(env[queueVariables[setting]]) }
	dead := map[string]string{}
	for _, q := range main.queues {
		id := queue(q.queue)
		if q.dead != "" {
			dead[id] = queue(step + q.dead)
		}
	}

	var calls []call
	if len(main.flows) > 0 {
		if calls, err = src.reach(step, main.flows); err != nil {
			return nil, err
		}
	} else { // the fake gateway has no flow, only its trades
		for m := range wires {
			if port, method, _ := strings.Cut(m, "."); port == "Store" {
				calls = append(calls, call{port: port, method: method})
			}
		}
	}
	for _, c := range calls {
		for _, r := range wires[c.port+"."+c.method] {
			if rest, ok := strings.CutPrefix(r.on, "push/"); ok {
				add("Push/live/"+rest, r.action)
				continue
			}
			switch r.on {
			case "queue":
				add(queue(c.field), r.action)
			case "bus":
				add(target(env["EVENT_BUS"]), r.action)
			case "dead":
				// Depth counts a dead-letter queue only if there is one.
				if id := dead[queue(c.field)]; id != "" || c.method != "Depth" {
					add(id, r.action)
				}
			default:
				on, rows, isShared := strings.Cut(r.on, " ")
				name, index, _ := strings.Cut(on, "/")
				on = tableID(name)
				if index != "" {
					on += "/" + index
				}
				if isShared {
					on += " " + rows
				}
				add(on, r.action)
			}
		}
	}
	if main.names["Office"] { // it has commands executed
		for _, name := range operator.Functions() {
			add(strings.ToUpper(name[:1])+name[1:]+"Function:live", "lambda:InvokeFunction")
		}
	}
	if main.names["LiveSource"] { // it asks how many messages wait, and for metrics
		for _, variable := range queueVariables {
			add(target(env[variable]), "sqs:GetQueueAttributes")
		}
		add("*", "cloudwatch:GetMetricData")
	}
	if main.names["LiveQueue"] { // it has dead letters moved back, for which SQS needs the caller's rights
		for _, queue := range []string{"ORDERS", "CLOSINGS"} {
			add(target(env[queue+"_DEAD_LETTER_QUEUE_URL"]), "sqs:StartMessageMoveTask", "sqs:ListMessageMoveTasks",
				"sqs:ReceiveMessage", "sqs:DeleteMessage")
			add(target(env[queue+"_QUEUE_URL"]), "sqs:SendMessage")
		}
	}
	if main.names["NewPictureHandler"] {
		add("Bucket/pictures/*", "s3:PutObject")
	}
	if main.names["ServePictures"] {
		add("Bucket/pictures/*", "s3:GetObject")
	}
	if out[right{"sqs:SendMessage", ""}] {
		return nil, fmt.Errorf("it uses a queue that it is not told of")
	}
	return out, nil
}

// queueVariables maps the setting of each queue, as mains and flows call it; a step's Dead is the dead-letter queue
// of its own queue.
var queueVariables = map[string]string{"Orders": "ORDERS_QUEUE_URL", "Closings": "CLOSINGS_QUEUE_URL",
	"consumeDead": "ORDERS_DEAD_LETTER_QUEUE_URL", "expireDead": "CLOSINGS_DEAD_LETTER_QUEUE_URL"}

// Repeats, independently, what docs/ARCHITECTURE.md and the rules for payment keys promise.
func TestNobodyMayMoreThanItsPart(t *testing.T) {
	tpl := deployed(t, everything)
	may := map[string]map[string][]string{} // step, kind of resource, which resource
	for step, f := range tpl.functions() {
		rights := must.Get(tpl.rights(f))
		may[step] = map[string][]string{}
		for _, r := range rights {
			service, action, _ := strings.Cut(r.action, ":")
			if action != "GetQueueAttributes" && !slices.Contains(may[step][service], r.on) {
				may[step][service] = append(may[step][service], r.on)
			}
		}
	}
	must.Equal(t, []string{"ItemsTable", "QuotasTable"}, may["buy"]["dynamodb"], "buy reads two tables")
	must.Equal(t, []string{"OrdersQueue"}, may["buy"]["sqs"], "buy sends to one queue")
	must.Equal(t, []string{"OrdersTable", "PassingTable " + ledger.TableLogins}, may["pay"]["dynamodb"],
		"pay reads orders and sessions")
	must.Equal(t, []string{"OfficeTable identities", "PassingTable " + ledger.TableLogins}, may["signin"]["dynamodb"],
		"signin has identities and sessions")
	if diff := cmp.Diff([]string{"BlocksTable", "ItemsTable", "OfficeTable questions", "PassingTable attempts",
		"PassingTable " + ledger.TableLogins},
		slices.Sorted(slices.Values(may["admit"]["dynamodb"]))); diff != "" || may["admit"]["sqs"] != nil {
		t.Errorf("admit has five tables and no queue: %s, %v", diff, may["admit"]["sqs"])
	}
	must.Equal(t, []string{"PassingTable acts"}, slices.Compact(slices.Sorted(slices.Values(may["acts"]["dynamodb"]))),
		"acts has one table")
	if diff := cmp.Diff([]string{"OfficeTable audit", "PassingTable live", "PassingTable counts",
		"PaymentsTable/index/refunds_due", "PassingTable sessions"}, may["admin"]["dynamodb"]); diff != "" {
		t.Errorf("admin has five tables' rows: %s", diff)
	}
	for step, of := range may { // what moves dead letters back may read and delete them, too: nobody else does
		for _, q := range of["sqs"] {
			may := slices.Contains([]string{"admin", "consume", "expire"}, step)
			if strings.HasSuffix(q, "DeadLetterQueue") && !may {
				t.Errorf("%s has the queue %s", step, q)
			}
		}
	}
	must.Equal(t, []string{"ConnectionsTable"}, may["connect"]["dynamodb"], "connect has one table")
	if diff := cmp.Diff(map[string][]string{"tell": {"Push/live/POST/@connections/*"},
		"connect": {"Push/live/DELETE/@connections/*"}}, map[string][]string{"tell": may["tell"]["execute-api"],
		"connect": may["connect"]["execute-api"]}); diff != "" {
		t.Errorf("tell sends, connect ends: %s", diff)
	}
	if q := append(may["pay"]["sqs"], may["signin"]["sqs"]...); q != nil {
		t.Errorf("pay and signin have queues %v", q)
	}
	if q := may["notify"]["sqs"]; q != nil {
		t.Errorf("notify has queues %v", q)
	}
	for step := range may {
		if calls := may[step]["lambda"]; (len(calls) > 0) != (step == "admin") || len(calls) > 7 {
			t.Errorf("%s calls %v", step, calls)
		}
	}
	for step := range may {
		must.Equal(t, slices.Contains([]string{"admin", "shop"}, step), may[step]["s3"] != nil, step, "may on pictures")
	}
	payers := []string{"expire", "refund", "reconcile", "shop", "pay"}
	trusting := append([]string{"notify"}, payers...)
	for step := range may {
		for secret, readers := range map[string][]string{"alipay-private-key": payers, "alipay-public-key": trusting,
			"alipay-app-cert": payers, "alipay-cert": trusting, "alipay-root-cert": trusting,
			"gateway-private-key": {"gateway"}, "jwt-secret": {"buy", "shop", "pay", "signin", "connect", "admit"},
			"jwt-kid":            {"buy", "shop", "pay", "signin", "connect", "admit"},
			"jwt-audience-from":  {"buy", "shop", "pay", "signin", "connect", "admit"},
			"ticket-secret":      {"buy", "admit"},
			"command-key":        {"admin"}, // nobody else can give a command
			"command-public-key": {"stage", "refund", "reconcile", "repair", "tell", "deliver", "acts"},
			"report-salts":       {"shop"}, "signin-client-secrets": {"signin"},
			"redis-password": {"buy", "consume", "stage", "repair", "shop"}} {
			got := false
			for _, on := range may[step]["secretsmanager"] {
				got = got || secrets.Of(strings.TrimPrefix(on, "SecretsPath/"), everySecret)[secret] != ""
			}
			if got != slices.Contains(readers, step) {
				t.Errorf("%s reads %s: %v", step, secret, got)
			}
		}
	}
}

// TestAuditLogIsAppendOnly: the table itself refuses what would change or delete an entry, whoever asks; no function
// may do it anyway, and one alone writes. Other rows of the table can be deleted, so the refusal to delete names these:
// it holds for what it does not name, and for a call without a key.
func TestAuditLogIsAppendOnly(t *testing.T) {
	const table, rows = "OfficeTable", "OfficeTable audit"
	tpl := deployed(t, everything)
	changing := []string{"dynamodb:UpdateItem", "dynamodb:BatchWriteItem", "dynamodb:PartiQLUpdate",
		"dynamodb:PartiQLDelete", "dynamodb:DeleteItem"}
	denied, name := map[string][]any{}, str(tpl.resource(table).prop("TableName"))
	for _, s := range list(tpl.resource(table).prop("ResourcePolicy", "PolicyDocument"), "Statement") {
		if str(s, "Effect") == "Deny" && str(s, "Principal") == "*" &&
			strings.HasSuffix(str(s, "Resource"), ":table/"+name) {
			for _, action := range several(at(s, "Action")) {
				denied[fmt.Sprint(action)] = append(denied[fmt.Sprint(action)], at(s, "Condition"))
			}
		}
	}
	always := []any{nil}
	want := map[string][]any{changing[0]: always, changing[1]: always, changing[2]: always, changing[3]: always,
		changing[4]: {
			map[string]any{"ForAnyValue:StringNotLike": map[string]any{"dynamodb:LeadingKeys": []any{
				"activities#*", "questions#*"}}},
			map[string]any{"Null": map[string]any{"dynamodb:LeadingKeys": "true"}}}}
	must.Equal(t, want, denied, table, "does not deny to everybody what it should")
	for step, f := range tpl.functions() {
		rights := must.Get(tpl.rights(f))
		for _, r := range rights {
			if r.on == rows && (slices.Contains(changing, r.action) ||
				step != "admin" || r.action != "dynamodb:PutItem" && r.action != "dynamodb:Query") ||
				slices.Contains([]string{table, "PassingTable"}, r.on) {
				t.Errorf("%s may %s on %s", step, r.action, r.on)
			}
		}
	}
}

// everySecret is a stack's secret with all possible entries.
var everySecret = map[string]string{secrets.JWTSecret: "x", secrets.JWTPrefix + "kid": "x", secrets.RedisPassword: "x",
	secrets.ShopPrivate: "x", secrets.ShopPublic: "x",
	secrets.GatewayPrivate: "x", secrets.AlipayPublic: "x", secrets.AppCert: "x", secrets.AlipayCert: "x",
	secrets.RootCert: "x", secrets.WebhookSecret: "x", secrets.TicketSecret: "x",
	secrets.CommandKey: "x", secrets.CommandPublic: "x", secrets.StaffSecret: "x", secrets.ReportSalts: "x",
	secrets.SignInSecrets: "x", secrets.AudienceFrom: "x"}

// TestEveryKeyIsListed: the inventory of keys has each possible value once, each with its readers, and says all of it.
func TestEveryKeyIsListed(t *testing.T) {
	listed := map[string]int{}
	for _, k := range heldKeys {
		for _, n := range k.names {
			listed[strings.Replace(n, "KID", "kid", 1)]++
		}
		elsewhere := k.what != "" && k.where != "" && k.readers != ""
		if elsewhere == (len(k.names) > 0) || slices.Contains([]string{k.use, k.kind, k.maker, k.ends}, "") {
			t.Errorf("%v%s is not described whole", k.names, k.what)
		}
	}
	for name := range everySecret {
		if listed[name] != 1 {
			t.Errorf("%s is listed %d times, want once", name, listed[name])
		}
	}
	must.Equal(t, len(everySecret), len(listed), "values that are listed")
}

// TestEveryLogIsListed: the inventory of logs has each log group of a stack once, says all of it, and no function may
// write to another log; the CDN's log goes to its bucket alone.
func TestEveryLogIsListed(t *testing.T) {
	tpl := deployed(t, everything)
	listed := map[string]int{}
	for _, l := range slices.Concat(tpl.functionLogs(), heldLogs) {
		if slices.Contains([]string{l.what, l.events, l.form, l.where, l.kept, l.reads}, "") {
			t.Errorf("%s is not described whole", l.what)
		}
		if l.groups == "" {
			continue
		}
		listed[l.groups]++
		group := tpl.resource(l.groups)
		if group == nil || group.prop("RetentionInDays") == nil ||
			strings.Replace(str(group.prop("LogGroupName")), "shop", "NAME", 1) != l.where {
			t.Errorf("%s is not the log group %s, or keeps lines for ever", l.what, l.where)
		}
	}
	for _, r := range tpl.resources(kindLog) {
		must.Equal(t, 1, listed[r.id], r.id, "is listed")
	}
	for step, f := range tpl.functions() {
		for _, r := range must.Get(tpl.rights(f)) {
			if strings.HasPrefix(r.action, "logs:") && (r.on != logID(step) ||
				!slices.Contains([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, r.action)) {
				t.Errorf("%s may %s on %s", step, r.action, r.on)
			}
		}
	}
	edge := string(must.Get(os.ReadFile(filepath.Join(root, "infra", "edge.yaml"))))
	for text, want := range map[string]int{"AWS::Logs::DeliveryDestination": 1, "AWS::Logs::LogGroup": 0,
		"DestinationResourceArn: !GetAtt Logs.Arn": 1, "ExpirationInDays: !Ref LogRetention": 1} {
		must.Equal(t, want, strings.Count(edge, text), "infra/edge.yaml:", text)
	}
}

func TestIAMPage(t *testing.T) {
	want := must.Get(iamPage(deployed(t, everything)))
	got := must.Get(os.ReadFile(filepath.Join(root, "docs", "IAM.md")))
	must.Equal(t, string(want), string(got), "docs/IAM.md is not as `go run ./e2e/template >docs/IAM.md` writes it")
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func open(t *testing.T) *template {
	t.Helper()
	out, err := load(root, "template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOwnRules(t *testing.T) {
	for _, problem := range open(t).check() {
		t.Error(problem)
	}
	nested, err := filepath.Glob(filepath.Join(root, "infra", "*.yaml"))
	if err != nil || len(nested) < 3 {
		t.Fatal(nested, err)
	}
	for _, name := range nested {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range stars(text) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// A rule that notices nothing is none: each is broken once.
func TestEachRuleNotices(t *testing.T) {
	whole := open(t)
	if len(whole.check()) > 0 {
		t.Skip("it is broken already")
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"refused by LocalStack":      {"    Type: AWS::SNS::Topic\n", "    Type: AWS::CloudWatch::Dashboard\n", "AlarmTopic: LocalStack refuses"},
		"message size":               {"MaximumMessageSize: 262144", "MaximumMessageSize: 1024", "messages of 1024 bytes"},
		"no dead-letter queue":       {"      RedrivePolicy: {deadLetterTargetArn: !GetAtt OrdersDeadLetterQueue.Arn, maxReceiveCount: 100}\n", "", "OrdersQueue: a queue without a dead-letter queue"},
		"receives":                   {"maxReceiveCount: 100", "maxReceiveCount: 5", "parks after 5"},
		"dead letters go early":      {"MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: 3600", "OrdersDeadLetterQueue: keeps messages no longer"},
		"no alarm on dead letters":   {"MetricName: ApproximateNumberOfMessagesVisible", "MetricName: NumberOfMessagesSent", "OrdersDeadLetterQueue: a dead-letter queue without an alarm"},
		"no alarm on age":            {"MetricName: ApproximateAgeOfOldestMessage", "MetricName: NumberOfMessagesSent", "OrdersQueue: a queue without an alarm on its age"},
		"no alarm on errors":         {"MetricName: Errors", "MetricName: Duration", "BuyFunction: no alarm on Errors"},
		"visibility":                 {"VisibilityTimeout: 120", "VisibilityTimeout: 119", "OrdersQueue: its messages are hidden for 119 s"},
		"whole batches":              {"            FunctionResponseTypes: [ReportBatchItemFailures]\n", "", "one bad message"},
		"batch size":                 {"BatchSize: 10", "BatchSize: 100", "batches of 100"},
		"no bound":                   {"            ScalingConfig: {MaximumConcurrency: !FindInMap [Batches, AtOnce, !Ref ConsumeConcurrency]}\n", "", "without a bound"},
		"a bound of one":             {"            ScalingConfig: {MaximumConcurrency: 5}\n", "            ScalingConfig: {MaximumConcurrency: 1}\n", "ExpireFunction: takes from its queue without a bound"},
		"a choice without a bound":   {`"700": 700, `, "", "ConsumeFunction: takes from its queue without a bound"},
		"repeated schedule":          {"MaximumRetryAttempts: 0", "MaximumRetryAttempts: 2", "Lambda repeats"},
		"endpoint":                   {"          HOLD: !Ref Hold\n", "          AWS_ENDPOINT_URL: http://localhost\n", "for local stand-ins"},
		"function's name":            {`FunctionName: !Sub "${AWS::StackName}-buy"`, `FunctionName: !Sub "${AWS::StackName}-purchase"`, "want <stack>-buy"},
		"log group":                  {`LogGroupName: !Sub "/aws/lambda/${AWS::StackName}-buy"`, `LogGroupName: buy`, "BuyFunction: has no log group"},
		"outside":                    {"      VpcConfig: *inside\n", "", "ConsumeFunction: uses Redis from outside"},
		"retention":                  {`-buy", RetentionInDays: !Ref LogRetention}`, `-buy"}`, "BuyLog: a log group without retention"},
		"on demand":                  {"BillingMode: PAY_PER_REQUEST", "BillingMode: PROVISIONED", "UnitsTable: a table that is not on demand"},
		"recovery":                   {"PointInTimeRecoveryEnabled: true", "PointInTimeRecoveryEnabled: false", "UnitsTable: a table without point-in-time"},
		"deletion":                   {"DeletionPolicy: RetainExceptOnCreate", "DeletionPolicy: Delete", "UnitsTable: a table that goes"},
		"silent alarm":               {"AlarmActions: [!Ref AlarmTopic]", "AlarmActions: []", "tells nobody"},
		"no runbook":                 {"docs/runbooks/api-faults.md", "", "ApiFaultsAlarm: an alarm without a runbook"},
		"star":                       {"Resource: !GetAtt BuyLog.Arn", `Resource: "*"`, "without a reason"},
		"star in a list":             {"Resource: !GetAtt BuyLog.Arn", `Resource: ["*"]`, "without a reason"},
		"every action":               {"Action: [logs:CreateLogStream, logs:PutLogEvents], Resource: !GetAtt BuyLog.Arn", `Action: ["logs:*"], Resource: !GetAtt BuyLog.Arn`, "without a reason"},
		"Alipay, and no way to call": {"      LoggingConfig: {LogGroup: !Ref ExpireLog}\n", "      LoggingConfig: {LogGroup: !Ref ExpireLog}\n      VpcConfig: *inside\n", "ExpireFunction: calls Alipay"},
	} {
		text := bytes.Replace(whole.text, []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(text, whole.text) {
			t.Errorf("%s: template.yaml has no %q", name, c.old)
			continue
		}
		broken, err := newTemplate(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := broken.check()
		if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%s: noticed %q, want %q", name, got, c.want)
		}
	}
}

// Changed in the text, so that nothing but what is said differs from template.yaml.
func TestGradualVariant(t *testing.T) {
	text, err := gradual(open(t).text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := newTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	if problems := v.check(); len(problems) > 0 {
		t.Error(problems)
	}
	if got := str(v.tree, "Globals", "Function", "AutoPublishAlias"); got != "live" {
		t.Errorf("alias %q", got)
	}
	if n := len(open(t).text); len(text) < n || bytes.Count(text, []byte(":live/invocations")) != bytes.Count(text, []byte("/invocations")) {
		t.Error("not every route leads to the alias")
	}
	waiting := list(v.resource("BuyFunction").prop("ProvisionedConcurrencyConfig"), "Fn::If")
	if len(waiting) != 3 || waiting[0] != "BuyWaits" || str(waiting[1], "ProvisionedConcurrentExecutions", "Ref") != "BuyProvisioned" {
		t.Errorf("instances that wait: %v", waiting)
	}
	for n, want := range map[string]bool{"0": false, "350": true} {
		w := v.deploy(map[string]string{"BuyProvisioned": n, "Sandbox": "true", "RedisEndpoint": "redis:6379"})
		if got, err := w.condition("BuyWaits"); err != nil || got != want {
			t.Errorf("BuyProvisioned=%s: waits %v, %v", n, got, err)
		}
		if got, err := w.refusals(); err != nil || len(got) > 0 {
			t.Errorf("BuyProvisioned=%s: %q, %v", n, got, err)
		}
	}
	if _, err := gradual([]byte("Resources: {}\n")); err == nil {
		t.Error("made of a file that has no place for it")
	}
}

package main

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/your-org/seckill/infra/plan"
)

const root = "../.."

func open(t *testing.T) *template {
	t.Helper()
	out, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOwnRules(t *testing.T) {
	for _, problem := range open(t).check() {
		t.Error(problem)
	}
}

// Each rule is violated once, to check that it notices.
func TestEachRuleFindsItsFault(t *testing.T) {
	whole := open(t)
	if len(whole.check()) > 0 {
		t.Skip("it is broken already")
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"refused by LocalStack": {"    Type: AWS::SNS::Topic\n", "    Type: AWS::CloudWatch::Dashboard\n",
			"AlarmTopic: LocalStack refuses"},
		"in the clear": {"SqsManagedSseEnabled: true", "SqsManagedSseEnabled: false",
			"OrdersQueue: messages, which have addresses"},
		"message size": {"MaximumMessageSize: 262144", "MaximumMessageSize: 1024",
			"messages of 1024 bytes"},
		"no dead-letter queue": {
			"      RedrivePolicy: {deadLetterTargetArn: !GetAtt OrdersDeadLetterQueue.Arn, maxReceiveCount: 100}\n", "",
			"OrdersQueue: a queue without a dead-letter queue"},
		"receives": {"maxReceiveCount: 100", "maxReceiveCount: 5", "parks after 5"},
		"dead letters go early": {"MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: 3600",
			"OrdersDeadLetterQueue: keeps messages no longer"},
		"no alarm on dead letters": {`Visible
      Dimensions: [{Name: QueueName, Value: !Ref OrdersDead`,
			`Deleted
      Dimensions: [{Name: QueueName, Value: !Ref OrdersDead`, "OrdersDeadLetterQueue: a dead-letter queue without an alarm"},
		"no alarm on age": {"MetricName: ApproximateAgeOfOldestMessage", "MetricName: NumberOfMessagesSent",
			"OrdersQueue: a queue without an alarm on its age"},
		"no alarm on errors": {"MetricName: Errors", "MetricName: Duration", "BuyFunction: no alarm on Errors"},
		"a function without alarms": {"repair, shop, stage, signin, pay, tell, deliver, connect,",
			"repair, shop, signin, pay, tell, deliver, connect,", "StageFunction: no alarm on Throttles"},
		"visibility": {"VisibilityTimeout: 120", "VisibilityTimeout: 119",
			"OrdersQueue: its messages are hidden for 119 s"},
		"whole batches": {
			"MaximumConcurrency: 5}\n            FunctionResponseTypes: [ReportBatchItemFailures]\n",
			"MaximumConcurrency: 5}\n", "ExpireFunction: one bad message"},
		"whole batches of a stream": {
			"            FunctionResponseTypes: [ReportBatchItemFailures]\n            # The stream",
			"            # The stream",
			"TellFunction: one bad message"},
		"records that go nowhere": {
			"            DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt UntoldQueue.Arn}}\n", "",
			"TellFunction: drops what it could not handle"},
		"lines that go nowhere": {"      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt UnkeptQueue.Arn}\n", "",
			"ActsFunction: drops lines of a log"},
		"batch size": {"BatchSize: 10\n", "BatchSize: 100\n", "batches of 100"},
		"no bound": {
			"            ScalingConfig: {MaximumConcurrency: !FindInMap [Batches, AtOnce, !Ref ConsumeConcurrency]}\n",
			"", "without a bound"},
		"a bound of one": {"            ScalingConfig: {MaximumConcurrency: 5}\n",
			"            ScalingConfig: {MaximumConcurrency: 1}\n",
			"ExpireFunction: takes from its queue without a bound"},
		"a choice without a bound": {`"700": 700, `, `"700": 1, `, "ConsumeFunction: takes from its queue without a bound"},
		"repeated schedule":        {"MaximumRetryAttempts: 0", "MaximumRetryAttempts: 2", "Lambda repeats"},
		"endpoint": {"          HOLD: !Ref Hold\n", "          AWS_ENDPOINT_URL: http://localhost\n",
			"for local stand-ins"},
		"function's name": {`FunctionName: !Sub "${Name}-buy"`, `FunctionName: !Sub "${Name}-purchase"`,
			"want <stack>-buy"},
		"log group": {`LogGroup: !Sub "/aws/lambda/${Name}-buy"`, `LogGroup: buy`,
			"BuyFunction: has no log group"},
		"outside": {"      VpcConfig: *inside\n", "", "ConsumeFunction: uses Redis from outside"},
		"retention": {`-gateway", RetentionInDays: !Ref LogRetention}`, `-gateway"}`,
			"GatewayLog: a log group without retention"},
		"on demand": {"BillingMode: PAY_PER_REQUEST", "BillingMode: PROVISIONED",
			"UnitsTable: a table that is not on demand"},
		"recovery": {"PointInTimeRecoveryEnabled: true", "PointInTimeRecoveryEnabled: false",
			"UnitsTable: a table without point-in-time"},
		"deletion": {"DeletionPolicy: RetainExceptOnCreate", "DeletionPolicy: Delete",
			"UnitsTable: a table that goes"},
		"silent alarm": {"          AlarmActions: &tell [!Ref AlarmTopic]",
			"          AlarmActions: &tell []", "tells nobody"},
		"no runbook": {"The API answers 5xx. docs/runbooks/api-faults.md", "",
			"ApiFaultsAlarm: an alarm without a runbook"},
		"star":           {"Resource: !Ref OrdersQueueArn", `Resource: "*"`, "without a reason"},
		"star in a list": {"Resource: !Ref OrdersQueueArn", `Resource: ["*"]`, "without a reason"},
		"every action": {"Action: dynamodb:UpdateItem, Resource", `Action: ["dynamodb:*"], Resource`,
			"without a reason"},
		"too long": {"# along.\n", strings.Repeat("#\n", 400), "lines, want at most 400"},
		"too wide": {"# along.\n", "# along" + strings.Repeat(".", 120) + "\n",
			"columns, want at most 120"},
		"Alipay, and no way to call": {"      Role: !GetAtt ExpireRole.Arn\n",
			"      Role: !GetAtt ExpireRole.Arn\n      VpcConfig: {}\n", "ExpireFunction: calls Alipay"},
	} {
		files, changed := maps.Clone(whole.files), false
		for _, file := range slices.Sorted(maps.Keys(files)) {
			if text := bytes.Replace(files[file], []byte(c.old), []byte(c.new), 1); !changed &&
				!bytes.Equal(text, files[file]) {
				files[file], changed = text, true
			}
		}
		if !changed {
			t.Errorf("%s: no template has %q", name, c.old)
			continue
		}
		broken, err := flatten(files)
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

// TestReservedConcurrency checks that doctor and plan count the instances that the templates reserve.
func TestReservedConcurrency(t *testing.T) {
	kept := 0
	for _, f := range []string{"sale", "money", "shopper", "office"} {
		text, err := os.ReadFile(root + "/infra/" + f + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`ReservedConcurrentExecutions: !If \[Reserves, (\d+),`).FindAllSubmatch(
			text, -1) {
			n, _ := strconv.Atoi(string(m[1]))
			kept += n
		}
	}
	text, err := os.ReadFile(root + "/infra/events.yaml")
	if want := "ParallelizationFactor: " + strconv.Itoa(plan.TellAtOnce) + " "; err != nil ||
		!strings.Contains(string(text), want) {
		t.Errorf("infra/events.yaml has no %q, %v", want, err)
	}
	if kept != plan.Reserved {
		t.Errorf("the templates keep %d instances beside consume's, plan.Reserved is %d", kept, plan.Reserved)
	}
}

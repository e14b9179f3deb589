//go:build sam

package main

import (
	"slices"
	"strings"
	"testing"
)

func TestOwnRules(t *testing.T) {
	for _, problem := range append(deployed(t, everything).check(), deployed(t, sandbox).checkKinds()...) {
		t.Error(problem)
	}
}

// Each rule is violated once, to check that it notices.
func TestEachRuleFindsItsFault(t *testing.T) {
	for _, c := range []struct {
		path  string // of what is changed
		value any    // nil if left out
		want  string
	}{
		{"OrdersQueue/Properties/SqsManagedSseEnabled", false, "OrdersQueue: messages, which have addresses"},
		{"OrdersQueue/Properties/MaximumMessageSize", 1024, "messages of 1024 bytes"},
		{"OrdersQueue/Properties/RedrivePolicy", nil, "OrdersQueue: a queue without a dead-letter queue"},
		{"OrdersQueue/Properties/RedrivePolicy/maxReceiveCount", 5, "parks after 5"},
		{"OrdersDeadLetterQueue/Properties/MessageRetentionPeriod", 3600,
			"OrdersDeadLetterQueue: keeps messages no longer"},
		{"OrdersDeadLettersAlarm", nil, "OrdersDeadLetterQueue: a dead-letter queue without an alarm"},
		{"OrdersAgeAlarm/Properties/MetricName", "NumberOfMessagesSent",
			"OrdersQueue: a queue without an alarm on its age"},
		{"ErrorsbuyAlarm/Properties/MetricName", "Duration", "BuyFunction: no alarm on Errors"},
		{"ThrottlesstageAlarm", nil, "StageFunction: no alarm on Throttles"},
		{"OrdersQueue/Properties/VisibilityTimeout", 119, "OrdersQueue: its messages are hidden for 119 s"},
		{"ExpireFunction/Properties/Events/Closings/Properties/FunctionResponseTypes", nil,
			"ExpireFunction: one bad message"},
		{"TellFunction/Properties/Events/Changes/Properties/FunctionResponseTypes", nil,
			"TellFunction: one bad message"},
		{"TellFunction/Properties/Events/Changes/Properties/DestinationConfig", nil,
			"TellFunction: drops what it could not handle"},
		{"ActsFunction/Properties/DeadLetterQueue", nil, "ActsFunction: drops lines of a log"},
		{"ConsumeFunction/Properties/Events/Orders/Properties/BatchSize", 100, "batches of 100"},
		{"ConsumeFunction/Properties/Events/Orders/Properties/ScalingConfig", nil,
			"ConsumeFunction: takes from its queue without a bound"},
		{"ExpireFunction/Properties/Events/Closings/Properties/ScalingConfig/MaximumConcurrency", 1,
			"ExpireFunction: takes from its queue without a bound"},
		{"RefundFunction/Properties/EventInvokeConfig/MaximumRetryAttempts", 2, "Lambda repeats"},
		{"ExpireFunction/Properties/RecursiveLoop", nil, "ExpireFunction: sends to its own queue"},
		{"ExpireFunction/Properties/RecursiveLoop", "Terminate", "ExpireFunction: sends to its own queue"},
		{"ConsumeFunction/Properties/RecursiveLoop", nil, "ConsumeFunction: sends to its own queue"},
		{"BuyFunction/Properties/RecursiveLoop", "Allow", "BuyFunction: may go round without end"},
		{"TellFunction/Properties/Role", "ExpireRole.Arn", "TellFunction: writes to the table"},
		{"ActsFunction/Properties/LoggingConfig/LogGroup", "/aws/lambda/shop-buy", "ActsFunction: is sent its own log"},
		{"BuyFunction/Properties/Environment/Variables/AWS_ENDPOINT_URL", "http://localhost", "for local stand-ins"},
		{"BuyFunction/Properties/FunctionName", "shop-purchase", "want <stack>-buy"},
		{"BuyFunction/Properties/LoggingConfig/LogGroup", "buy", "BuyFunction: has no log group"},
		{"ConsumeFunction/Properties/VpcConfig", nil, "ConsumeFunction: uses Redis from outside"},
		{"GatewayLog/Properties/RetentionInDays", nil, "GatewayLog: a log group without retention"},
		{"UnitsTable/Properties/BillingMode", "PROVISIONED", "UnitsTable: a table that is not on demand"},
		{"UnitsTable/Properties/PointInTimeRecoverySpecification", nil, "UnitsTable: a table without point-in-time"},
		{"UnitsTable/DeletionPolicy", "Delete", "UnitsTable: a table that goes"},
		{"ApiFaultsAlarm/Properties/AlarmActions", nil, "tells nobody"},
		{"ApiFaultsAlarm/Properties/AlarmDescription", "The API answers 5xx.",
			"ApiFaultsAlarm: an alarm without a runbook"},
		{"ExpireFunction/Properties/VpcConfig", map[string]any{}, "ExpireFunction: calls Alipay"},
	} {
		stack := deployed(t, everything)
		part := stack.tree["Resources"]
		names := strings.Split(c.path, "/")
		for _, name := range names[:len(names)-1] {
			part = at(part, name)
		}
		of, isMap := part.(map[string]any)
		if last := names[len(names)-1]; !isMap {
			t.Errorf("there is no %s", c.path)
		} else if of[last] = c.value; c.value == nil {
			delete(of, last)
		}
		if got := stack.check(); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%s: noticed %q, want %q", c.path, got, c.want)
		}
	}
	stack := deployed(t, sandbox)
	stack.resource("AlarmTopic").all["Type"] = "AWS::CloudWatch::Dashboard"
	if got := stack.checkKinds(); len(got) != 1 || !strings.HasPrefix(got[0], "AlarmTopic: LocalStack refuses") {
		t.Errorf("what LocalStack refuses: %q", got)
	}
}

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// refused lists, by prefix, the types that LocalStack's free edition refuses even under a false condition.
var refused = []string{"AWS::ElastiCache::", "AWS::WAF", "AWS::ApiGatewayV2::", "AWS::CloudFront::", "AWS::Cognito::",
	"AWS::CloudWatch::Dashboard",
	"AWS::Logs::MetricFilter", "AWS::ApplicationAutoScaling::", "AWS::Budgets::", "AWS::CodeDeploy::", "AWS::EC2::"}

// check returns one sentence per violation of our own rules in a stack with everything.
func (t *template) check() (out []string) {
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	t.checkQueues(add)
	t.checkFunctions(add)
	for _, r := range t.resources(kindTable) {
		t.checkTable(r, add)
	}
	for _, r := range t.resources(kindLog) {
		if r.prop("RetentionInDays") == nil {
			add("%s: a log group without retention", r.id)
		}
	}
	for _, r := range t.resources(kindAlarm) {
		if !slices.ContainsFunc(list(r.prop(), "AlarmActions"), func(v any) bool { return target(v) == "AlarmTopic" }) {
			add("%s: an alarm that tells nobody", r.id)
		}
		if !strings.Contains(str(r.prop(), "AlarmDescription"), "docs/runbooks/") {
			add("%s: an alarm without a runbook", r.id)
		}
	}
	return out
}

// checkKinds is about a sandbox, of which a condition opens no stack.
func (t *template) checkKinds() (out []string) {
	for _, r := range t.resources("") {
		if slices.ContainsFunc(refused, func(p string) bool { return strings.HasPrefix(r.kind, p) }) {
			out = append(out, fmt.Sprintf("%s: LocalStack refuses %s: a condition should open its stack", r.id, r.kind))
		}
	}
	return out
}

func (t *template) checkQueues(add func(string, ...any)) {
	dead := map[string]bool{}
	queues := t.resources(kindQueue)
	for _, q := range queues {
		dead[target(q.prop("RedrivePolicy", "deadLetterTargetArn"))] = true
	}
	for _, f := range t.functions() {
		dead[target(f.prop("DeadLetterQueue", "TargetArn"))] = true
		for _, e := range events(f) { // of a stream
			dead[target(at(e.props["DestinationConfig"], "OnFailure", "Destination"))] = true
		}
	}
	for _, q := range queues {
		if q.prop("SqsManagedSseEnabled") != true {
			add("%s: messages, which have addresses, are kept in the clear", q.id)
		}
		if n := number(q.prop(), "MaximumMessageSize"); n != seckill.MaxMessage {
			add("%s: messages of %d bytes, want %d", q.id, n, seckill.MaxMessage)
		}
		if dead[q.id] {
			if !t.watched(q, "ApproximateNumberOfMessagesVisible") {
				add("%s: a dead-letter queue without an alarm", q.id)
			}
			continue
		}
		to := t.resource(target(q.prop("RedrivePolicy", "deadLetterTargetArn")))
		if to == nil {
			add("%s: a queue without a dead-letter queue", q.id)
			continue
		}
		if n := number(q.prop("RedrivePolicy"), "maxReceiveCount"); n != seckill.MaxReceives {
			add("%s: parks after %d receives, want %d", q.id, n, seckill.MaxReceives)
		}
		if number(to.prop(), "MessageRetentionPeriod") <= number(q.prop(), "MessageRetentionPeriod") {
			add("%s: keeps messages no longer than %s, and they come with their age", to.id, q.id)
		}
		if !t.watched(q, "ApproximateAgeOfOldestMessage") {
			add("%s: a queue without an alarm on its age", q.id)
		}
	}
}

// watched reports whether an alarm watches a resource's metric.
func (t *template) watched(r *resource, metric string) bool {
	return slices.ContainsFunc(t.resources(kindAlarm), func(a *resource) bool {
		return str(a.prop(), "MetricName") == metric && slices.ContainsFunc(list(a.prop(), "Dimensions"),
			func(d any) bool {
				value := at(d, "Value")
				return target(value) == r.id || r.kind == kindFunction && value == r.prop("FunctionName")
			})
	})
}

func (t *template) checkFunctions(add func(string, ...any)) {
	functions := t.functions()
	for _, step := range slices.Sorted(maps.Keys(functions)) {
		f := functions[step]
		if name := f.prop("FunctionName"); name != "shop-"+step {
			add("%s: is named %q, want <stack>-%s", f.id, name, step)
		}
		name := f.prop("LoggingConfig", "LogGroup")
		if group := t.resource(logID(step)); group == nil || name != "/aws/lambda/shop-"+step ||
			group.prop("LogGroupName") != name {
			add("%s: has no log group of its own name", f.id)
		}
		env := environment(f)
		for name := range env {
			if strings.HasPrefix(name, "AWS_") {
				add("%s: %s is for local stand-ins to set, not for the template", f.id, name)
			}
		}
		switch inside := f.prop("VpcConfig") != nil; {
		case inside && env["ALIPAY_GATEWAY"] != "" && env["REDIS_ADDRS"] == "":
			add("%s: calls Alipay from a network without a way out", f.id)
		case !inside && env["REDIS_ADDRS"] != "":
			add("%s: uses Redis from outside its network", f.id)
		}
		for _, e := range events(f) {
			t.checkEvent(f, e, add)
		}
		t.checkLoop(f, add)
		if f.condition != "" {
			continue // of a sandbox, which has no on-call operator
		}
		for _, metric := range []string{"Errors", "Throttles"} {
			if !t.watched(f, metric) {
				add("%s: no alarm on %s", f.id, metric)
			}
		}
	}
}

func (t *template) checkEvent(f *resource, e event, add func(string, ...any)) {
	switch e.kind {
	case "Schedule":
		if number(f.prop("EventInvokeConfig"), "MaximumRetryAttempts") != 0 {
			add("%s: Lambda repeats a schedule's event, which the next minute does anyway", f.id)
		}
	case "SQS":
		q := t.resource(target(e.props["Queue"]))
		if q == nil {
			add("%s: takes from a queue that is not in the template", f.id)
			return
		}
		if visible, timeout := number(q.prop(), "VisibilityTimeout"), number(f.prop(), "Timeout"); visible < 6*timeout {
			add("%s: its messages are hidden for %d s, want six times the timeout of %s, %d s", q.id, visible, f.id,
				timeout)
		}
		checkBatch(f, e, add)
		if n := number(e.props, "BatchSize"); n < 1 || n > seckill.MaxBatch {
			add("%s: batches of %d, want 1 to %d", f.id, n, seckill.MaxBatch)
		}
		if number(e.props["ScalingConfig"], "MaximumConcurrency") < 2 { // as Lambda requires
			add("%s: takes from its queue without a bound", f.id)
		}
	case "DynamoDB":
		checkBatch(f, e, add)
		if t.resource(target(at(e.props["DestinationConfig"], "OnFailure", "Destination"))) == nil {
			add("%s: drops what it could not handle while the stream kept it", f.id)
		}
	case "CloudWatchLogs":
		if t.resource(target(f.prop("DeadLetterQueue", "TargetArn"))) == nil {
			add("%s: drops lines of a log that it could not handle", f.id)
		}
	}
}

// checkLoop finds functions that cause their own events. Lambda stops such a chain after about 16 rounds, unless the
// function allows it: only one that sends to its own queue, and bounds that, does. Nothing stops one that writes to the
// table whose stream it reads, or to the log that it is sent.
func (t *template) checkLoop(f *resource, add func(string, ...any)) {
	rights, err := t.rights(f)
	if err != nil {
		add("%s: %v", f.id, err)
	}
	may := func(what, on string) bool {
		return slices.ContainsFunc(rights, func(r right) bool {
			return strings.HasPrefix(r.action, what) && (r.on == on || strings.HasPrefix(r.on, on+" "))
		})
	}
	round := false
	for _, e := range events(f) {
		switch e.kind {
		case "SQS":
			round = round || may("sqs:SendMessage", target(e.props["Queue"]))
		case "DynamoDB":
			table := "OrdersTable" // the only one with a stream
			if may("dynamodb:Put", table) || may("dynamodb:Update", table) || may("dynamodb:Delete", table) {
				add("%s: writes to the table of its own stream", f.id)
			}
		case "CloudWatchLogs":
			if e.props["LogGroupName"] == f.prop("LoggingConfig", "LogGroup") {
				add("%s: is sent its own log", f.id)
			}
		}
	}
	if allowed := f.prop("RecursiveLoop") == "Allow"; round && !allowed {
		add("%s: sends to its own queue, which Lambda stops after about 16 rounds", f.id)
	} else if allowed && !round {
		add("%s: may go round without end, and has no reason to", f.id)
	}
}

func checkBatch(f *resource, e event, add func(string, ...any)) {
	if !slices.Equal(list(e.props, "FunctionResponseTypes"), []any{any("ReportBatchItemFailures")}) {
		add("%s: one bad message fails its whole batch", f.id)
	}
}

func (t *template) checkTable(r *resource, add func(string, ...any)) {
	if str(r.prop(), "BillingMode") != "PAY_PER_REQUEST" {
		add("%s: a table that is not on demand", r.id)
	}
	if r.condition != "" {
		return // a sandbox's
	}
	if at(r.prop("PointInTimeRecoverySpecification"), "PointInTimeRecoveryEnabled") != true {
		add("%s: a table without point-in-time recovery", r.id)
	}
	if str(r.all, "DeletionPolicy") != "RetainExceptOnCreate" || str(r.all, "UpdateReplacePolicy") != "Retain" {
		add("%s: a table that goes with its stack", r.id)
	}
}

var star = regexp.MustCompile(`Resource: *\[?"\*"|Resource: *\[?'\*'|^ *- "\*"|"[a-z0-9]+:\*"`)

// stars finds permissions on every resource, or for every action, without a comment above their statement that begins
// with what it explains: Resource "*".
func stars(text []byte) (out []string) {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if !star.MatchString(line) {
			continue
		}
		first := i
		for first > 0 && !strings.Contains(lines[first], "Effect:") {
			first--
		}
		reason := ""
		if first > 0 {
			reason = strings.TrimSpace(lines[first-1])
		}
		if !strings.HasPrefix(reason, `# Resource "*": `) {
			out = append(out, fmt.Sprintf(`line %d: %s: without a reason (# Resource "*": …) above its statement`, i+1,
				strings.TrimSpace(line)))
		}
	}
	return out
}

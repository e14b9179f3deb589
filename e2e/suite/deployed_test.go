//go:build e2e

package suite

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// The stacks: second is nil if there is only one stack.
var first, second *stack

// at returns the stack that a case runs on.
func at(*testing.T) *stack { return first }

// other returns the second stack, or the only stack.
func other(*testing.T) *stack {
	if second != nil {
		return second
	}
	return first
}

// second returns a stack beside this one, or nil.
func (s *stack) second(*testing.T) *stack { return second }

// beside runs a case in parallel if there are two stacks.
func beside(t *testing.T) {
	if second != nil {
		t.Parallel()
	}
}

// onlyDeployed has the cases of TestShop that need a deployed stack.
func onlyDeployed(t *testing.T) {
	t.Run("Page", func(t *testing.T) { testPage(t, first) })
	t.Run("Edge", func(t *testing.T) { testEdge(t, other(t)) })
	t.Run("Update", func(t *testing.T) { testUpdate(t, first) })
}

// TestKill waits until others have finished what was killed.
func TestKill(t *testing.T) {
	t.Parallel()
	testKill(t, other(t))
}

const patience = 5 * time.Minute // how long a poll may take

// stack is a deployed stack.
type stack struct {
	known
	busy      chan struct{} // calls under way
	cfg       aws.Config
	tables    *dynamodb.Client
	queues    *sqs.Client
	functions *lambda.Client
	rules     *eventbridge.Client
	secrets   *secrets.Store
}

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	name := os.Getenv("SECKILL_E2E_STACK")
	if name == "" {
		return 0, fmt.Errorf("SECKILL_E2E_STACK is missing; make e2e TARGET=… sets it")
	}
	// Most cases wait most of the time, so run them in parallel whatever the number of processors.
	if err := flag.Set("test.parallel", strconv.Itoa(lanes)); err != nil {
		return 0, err
	}
	var err error
	if first, err = open(context.Background(), name); err != nil {
		return 0, err
	}
	if name := os.Getenv("SECKILL_E2E_STACK2"); name != "" {
		if second, err = open(context.Background(), name); err != nil {
			return 0, err
		}
	}
	code := m.Run()
	report.print(os.Stdout)
	return code, nil
}

// open reads a stack's file and its token secret.
func open(ctx context.Context, name string) (*stack, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &stack{}
	if err := json.Unmarshal(raw, &s.description); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.Limits != "full" && s.Limits != "small" {
		return nil, fmt.Errorf("%s: limits are %q, want full or small", name, s.Limits)
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(s.Region))
	if err != nil {
		return nil, err
	}
	if s.Endpoint != "" {
		cfg.BaseEndpoint = &s.Endpoint
	}
	s.cfg = cfg
	s.tables, s.queues, s.functions = dynamodb.NewFromConfig(cfg), sqs.NewFromConfig(cfg), lambda.NewFromConfig(cfg)
	s.rules, s.secrets = eventbridge.NewFromConfig(cfg), &secrets.Store{Client: secretsmanager.NewFromConfig(cfg),
		Path: s.Outputs["SecretsPath"]}
	s.busy = make(chan struct{}, s.clients())
	if s.Outputs["Edge"] == "only" {
		if s.key, err = s.edgeKey(ctx, cfg); err != nil {
			return nil, err
		}
	}
	s.Client = &contracttest.Client{URL: s.Base, Observe: report.call, HTTP: &http.Client{Timeout: callTimeout,
		Transport: bounded{s.busy, keyed{s.key, &http.Transport{MaxIdleConnsPerHost: s.clients()}}}}}
	if s.operator.Call, err = s.office(cfg); err != nil {
		return nil, err
	}
	s.secret, err = s.read(ctx, "jwt-secret")
	return s, err
}

// bounded limits the number of concurrent calls to the capacity of busy.
type bounded struct {
	busy chan struct{}
	next http.RoundTripper
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case b.busy <- struct{}{}:
		defer func() { <-b.busy }()
		return b.next.RoundTrip(r)
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// read returns one of the stack's secrets.
func (s *stack) read(ctx context.Context, name string) (string, error) {
	all, err := s.secrets.Read(ctx, secrets.Keys)
	if err != nil {
		return "", fmt.Errorf("secrets below %s: %w", s.secrets.Path, err)
	}
	return all[name], nil
}

// invoke makes a function, named by its output, handle an event.
func (s *stack) invoke(ctx context.Context, output string, event []byte) ([]byte, error) {
	name := s.Outputs[output]
	out, err := s.functions.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Qualifier: aws.String("live"),
		Payload: event})
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", name, err)
	}
	if out.FunctionError != nil {
		return nil, fmt.Errorf("function %s: %s: %s", name, *out.FunctionError, out.Payload)
	}
	return out.Payload, nil
}

// minute runs a function as its schedule does each minute.
func (s *stack) minute(t *testing.T, output string) {
	t.Helper()
	if err := s.scheduled(t.Context(), output); err != nil {
		t.Fatal(err)
	}
}

// scheduled calls a function as its schedule does: after a failure Lambda runs it up to two more times.
func (s *stack) scheduled(ctx context.Context, output string) (err error) {
	event :=
		`{"version":"0","id":"e2e","detail-type":"Scheduled Event","source":"aws.events","account":"000000000000","time":"` +
			time.Now().UTC().Format(time.RFC3339) + `","region":"` + s.Region + `","resources":[],"detail":{}}`
	for range 3 {
		if _, err = s.invoke(ctx, output, []byte(event)); err == nil {
			return nil
		}
	}
	return err
}

// shell runs one of the file's commands.
func (s *stack) shell(ctx context.Context, command string, args ...string) error {
	out, err := exec.CommandContext(ctx, "bash", append([]string{"-c", command, "e2e"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w\n%s", command, args, err, out)
	}
	return nil
}

// built builds a command of the project, and returns its path.
func built(t *testing.T, pkg string) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", tool, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return tool
}

// send puts a message on the queue that an output names.
func (s *stack) send(t *testing.T, output, body string) {
	t.Helper()
	if _, err := s.queues.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(s.Outputs[output]),
		MessageBody: &body}); err != nil {
		t.Fatal(err)
	}
}

// depth returns a queue's visible messages and those in flight.
func (s *stack) depth(t *testing.T, output string) (visible, inFlight string) {
	t.Helper()
	out, err := s.queues.GetQueueAttributes(t.Context(),
		&sqs.GetQueueAttributesInput{QueueUrl: aws.String(s.Outputs[output]),
			AttributeNames: []types.QueueAttributeName{
				types.QueueAttributeNameApproximateNumberOfMessages,
				types.QueueAttributeNameApproximateNumberOfMessagesNotVisible}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)],
		out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible)]
}

// pauseQueue disconnects a function from its queue until the returned function is called, or the case ends.
func (s *stack) pauseQueue(t *testing.T, function string) (resume func()) {
	t.Helper()
	out, err := s.functions.ListEventSourceMappings(t.Context(),
		&lambda.ListEventSourceMappingsInput{FunctionName: aws.String(s.Outputs[function])})
	if err != nil || len(out.EventSourceMappings) != 1 {
		t.Fatalf("%s has %d queues, %v, want one", function, len(out.EventSourceMappings), err)
	}
	id := out.EventSourceMappings[0].UUID
	enable := func(on bool, state string) {
		// The test's context has ended when its clean-up runs.
		if _, err := s.functions.UpdateEventSourceMapping(background(t), &lambda.UpdateEventSourceMappingInput{UUID: id,
			Enabled: &on}); err != nil {
			t.Errorf("queue of %s: %v", function, err)
			return
		}
		eventually(t, "queue of "+function+" "+state, func() string {
			got, err := s.functions.GetEventSourceMapping(background(t), &lambda.GetEventSourceMappingInput{UUID: id})
			if err != nil {
				return err.Error()
			}
			if aws.ToString(got.State) != state {
				return "it is " + aws.ToString(got.State)
			}
			return ""
		})
	}
	done := false
	resume = func() {
		if !done {
			done = true
			enable(true, "Enabled")
		}
	}
	t.Cleanup(resume)
	enable(false, "Disabled")
	return resume
}

// pauseSchedule disables a function's schedule until the case ends. still reports whether it is disabled.
func (s *stack) pauseSchedule(t *testing.T, function string) (still func() bool) {
	t.Helper()
	f, err := s.functions.GetFunctionConfiguration(t.Context(),
		&lambda.GetFunctionConfigurationInput{FunctionName: aws.String(s.Outputs[function])})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.rules.ListRuleNamesByTarget(t.Context(),
		&eventbridge.ListRuleNamesByTargetInput{TargetArn: aws.String(aws.ToString(f.FunctionArn) + ":live")})
	if err != nil || len(out.RuleNames) != 1 {
		t.Fatalf("%s has the schedules %v, %v, want one", function, out, err)
	}
	rule := out.RuleNames[0]
	t.Cleanup(func() {
		if _, err := s.rules.EnableRule(background(t), &eventbridge.EnableRuleInput{Name: &rule}); err != nil {
			t.Errorf("schedule %s stays off: %v", rule, err)
		}
	})
	if _, err := s.rules.DisableRule(t.Context(), &eventbridge.DisableRuleInput{Name: &rule}); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		got, err := s.rules.DescribeRule(t.Context(), &eventbridge.DescribeRuleInput{Name: &rule})
		if err != nil {
			t.Fatal(err)
		}
		return got.State == "DISABLED"
	}
}

// listen sends every event on the stack's bus to a queue. It returns a function that reads the queue and then has the
// kind of each event since listen, by the event's id; and the number of events that came more than once.
func (s *stack) listen(t *testing.T) (heard func() map[string]string, again *int) {
	t.Helper()
	ctx, name := background(t), "e2e-events-"+newItemID() // two cases may listen
	q, err := s.queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.queues.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: q.QueueUrl}) })
	attrs, err := s.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: q.QueueUrl,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		t.Fatal(err)
	}
	on := aws.String(s.Outputs["EventBus"])
	if _, err = s.rules.PutRule(ctx, &eventbridge.PutRuleInput{Name: &name, EventBusName: on,
		EventPattern: aws.String(`{"source":["` + bus.Source + `"]}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err = s.rules.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: &name, EventBusName: on,
		Targets: []ebtypes.Target{{Id: &name, Arn: aws.String(attrs.Attributes["QueueArn"])}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = s.rules.RemoveTargets(ctx, &eventbridge.RemoveTargetsInput{Rule: &name, EventBusName: on,
			Ids: []string{name}})
		_, _ = s.rules.DeleteRule(ctx, &eventbridge.DeleteRuleInput{Name: &name, EventBusName: on})
	})
	all, again := map[string]string{}, new(int)
	return func() map[string]string {
		for {
			out, err := s.queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl,
				MaxNumberOfMessages: 10})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Messages) == 0 {
				break
			}
			for _, m := range out.Messages {
				var e struct{ Detail bus.Event }
				if err := json.Unmarshal([]byte(*m.Body), &e); err != nil || strings.Contains(*m.Body, "address") {
					t.Fatalf("event %s: %v", *m.Body, err)
				}
				if all[e.Detail.ID] != "" {
					*again++
				}
				all[e.Detail.ID] = e.Detail.Type
				if _, err := s.queues.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: q.QueueUrl,
					ReceiptHandle: m.ReceiptHandle}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return maps.Clone(all)
	}, again
}

// connections opens the stack's own table of connections.
func (s *stack) connections() *wspush.Store {
	return wspush.NewConnections(dynamoledger.New(s.cfg, dynamoledger.Options{Prefix: s.Outputs["StackPrefix"],
		Tables: []ledger.Table{wspush.Table}}), system.Clock{})
}

// gateway signs as the stack's fake gateway does.
func (s *stack) gateway(t *testing.T) *fakegateway.Gateway {
	t.Helper()
	name := s.Outputs["GatewayFunction"]
	conf, err := s.functions.GetFunctionConfiguration(t.Context(),
		&lambda.GetFunctionConfigurationInput{FunctionName: aws.String(name)})
	if err != nil {
		t.Fatal(err)
	}
	var keys [2]string
	for i, secret := range []string{"gateway-private-key", "alipay-shop-public-key"} {
		if keys[i], err = s.read(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	env := conf.Environment.Variables
	g, err := fakegateway.New(fakegateway.Options{Clock: system.Clock{}, AppID: env["ALIPAY_APP_ID"],
		SellerID: env["ALIPAY_SELLER_ID"], PrivateKey: keys[0], MerchantPublicKey: keys[1]})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// flush makes the stack's Redis lose everything.
func (s *stack) flush(ctx context.Context) error {
	d := net.Dialer{Timeout: callTimeout}
	conn, err := d.DialContext(ctx, "tcp", s.Redis)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(callTimeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(conn, "FLUSHALL\r\n"); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && strings.TrimSpace(answer) != "+OK" {
		err = fmt.Errorf("redis: %s", answer)
	}
	return err
}

// staffAccounts returns what makes accounts at the stack's issuer of staff, each with the groups of roles. It skips the
// test if the stack has none.
func (s *stack) staffAccounts(t *testing.T) func(name string, roles ...seckill.Role) {
	t.Helper()
	issuer, _, _ := strings.Cut(s.Outputs["StaffIssuer"], "|")
	if issuer == "" {
		t.Skipf("skipped: the stack has no issuer of staff (target %s)", s.Target)
	}
	pool := issuer[strings.LastIndexByte(issuer, '/')+1:]
	return func(name string, roles ...seckill.Role) {
		t.Helper()
		s.cognito(t, "AdminCreateUser", map[string]any{"UserPoolId": pool, "Username": name})
		s.cognito(t, "AdminSetUserPassword", map[string]any{"UserPoolId": pool, "Username": name,
			"Password": staffPassword, "Permanent": true})
		for _, r := range roles {
			group := "seckill-" + string(r)
			s.cognito(t, "CreateGroup", map[string]any{"UserPoolId": pool, "GroupName": group})
			s.cognito(t, "AdminAddUserToGroup", map[string]any{"UserPoolId": pool, "Username": name,
				"GroupName": group})
		}
	}
}

// table calls each with every row of a table of the ledger.
func (s *stack) table(ctx context.Context, name string, each func(*record.Line) error) error {
	return audit.ReadTable(ctx, s.tables, s.Outputs["StackPrefix"], name, each)
}

// source is what an audit of an item reads. The suite reaches neither Redis nor the queues' depths.
func (s *stack) source(item string) audit.Source {
	return &audit.Sale{Item: item, DynamoDB: s.tables, Prefix: s.Outputs["StackPrefix"],
		NoRedis: "the suite cannot reach it"}
}

// balanced is for targets of which more can be seen.
func (s *stack) balanced(*testing.T) {}

// kills says whether there is a command that kills functions.
func (s *stack) kills() bool { return s.Kill != "" }

// pass lets time pass: on a stack it does so by itself.
func (s *stack) pass(*testing.T, time.Duration) {}

// advances is for clocks that can be moved.
func (s *stack) advances(*testing.T) {}

// parked takes messages out of the orders queue's dead-letter queue.
func (s *stack) parked(t *testing.T) (bodies []string) {
	t.Helper()
	queue := aws.String(s.Outputs["OrdersDeadLetterQueueUrl"])
	out, err := s.queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue, MaxNumberOfMessages: 10,
		VisibilityTimeout: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Messages {
		bodies = append(bodies, aws.ToString(m.Body))
		if _, err := s.queues.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: queue,
			ReceiptHandle: m.ReceiptHandle}); err != nil {
			t.Fatal(err)
		}
	}
	return bodies
}

// endedUntold waits until a shopper has no connection, and leaves a connection of theirs whose end nobody reported.
func (s *stack) endedUntold(t *testing.T, user string) {
	t.Helper()
	store := s.connections()
	eventually(t, "end of the connections", func() string {
		if left, err := store.Of(t.Context(), user); err != nil || len(left) > 0 {
			return fmt.Sprint(left, err)
		}
		return ""
	})
	now := time.Now()
	if _, err := store.Open(t.Context(), seckill.Pass{User: user, Nonce: newItemID(), Expires: now},
		seckill.Connection{ID: "ended" + newItemID(), User: user, Since: now}); err != nil {
		t.Fatal(err)
	}
}

// atIssuer signs a person in at the issuer's page with a password, and returns where it sends the browser back to.
func (b *staff) atIssuer(page *url.URL, name string) (back *url.URL) {
	b.t.Helper()
	status, text, _ := b.send(http.MethodGet, page.String(), "")
	form := url.Values{"username": {name}, "password": {staffPassword}}
	for _, m := range hidden.FindAllStringSubmatch(text, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	if status != http.StatusOK || form.Get("state") == "" {
		b.t.Fatalf("the issuer's page: %d %s", status, text)
	}
	status, text, back = b.send(http.MethodPost, page.Scheme+"://"+page.Host+"/login", form.Encode(), "Content-Type",
		"application/x-www-form-urlencoded")
	if back == nil {
		b.t.Fatalf("the issuer's answer: %d %s", status, text)
	}
	return back
}

const staffPassword = "Correct horse 1!"

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

func (f *figures) print(w io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range f.cases {
		fmt.Fprintln(w, line)
	}
	if f.calls == 0 {
		return
	}
	took := f.last.Sub(f.first)
	fmt.Fprintf(w, "%d calls in %.1f s, %.0f/s, waits included; answered 5xx: %v; %s\n", f.calls, took.Seconds(),
		float64(f.calls)/took.Seconds(), f.failed, percentiles("buy", f.buys))
}

// percentiles formats the median and the 99th percentile.
func percentiles(what string, all []time.Duration) string {
	if len(all) == 0 {
		return "no " + what
	}
	all = slices.Clone(all)
	slices.Sort(all)
	at := func(p int) time.Duration { return all[min(len(all)*p/100, len(all)-1)].Round(time.Millisecond) }
	return fmt.Sprintf("%d %s: p50 %v, p99 %v", len(all), what, at(50), at(99))
}

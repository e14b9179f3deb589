package account_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	agtypes "github.com/aws/aws-sdk-go-v2/service/apigateway/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/smithy-go"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/your-org/seckill/e2e/account"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
)

var begin = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// made returns an account with a deployed stack.
func made(t *testing.T, o account.Options) *account.Account {
	t.Helper()
	a, err := account.New(o)
	must.OK(t, err)
	return a
}

// open serves an account, and returns the settings of clients that do not retry.
func open(t *testing.T, o account.Options) (*account.Account, aws.Config) {
	t.Helper()
	a := made(t, o)
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return a, aws.Config{
		Region:       "eu-west-1",
		BaseEndpoint: &server.URL,
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}
}

// code returns the code of an AWS error.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

// hundred checks that a limit allows its number of calls, refuses one more with the service's own error, and allows
// one again after the time of a refill.
func hundred(t *testing.T, clock *memory.Clock, limit int, refill time.Duration, want string, do func() error) {
	t.Helper()
	for n := range limit {
		if err := do(); err != nil {
			t.Fatalf("call %d of %d: %v", n+1, limit, err)
		}
	}
	if err := do(); code(err) != want {
		t.Errorf("call %d, one over the limit: %v, want %s", limit+1, err, want)
	}
	clock.Advance(refill)
	if err := do(); err != nil {
		t.Errorf("%v later: %v", refill, err)
	}
	if err := do(); code(err) != want {
		t.Errorf("%v later, the second: %v, want %s", refill, err, want)
	}
}

func TestHundredth(t *testing.T) {
	t.Parallel()
	l := account.AWS().Hundredth()
	want := account.Limits{
		Secrets:         100,
		Control:         25,
		APIRate:         100,
		APIBurst:        50,
		Concurrency:     10,
		Unreserved:      1,
		Growth:          10,
		PerInstance:     10,
		PartitionReads:  30,
		PartitionWrites: 10,
		TableReads:      120,
		TableWrites:     40,
		ECPU:            300,
	}
	if l != want {
		t.Errorf("got %+v\nwant %+v", l, want)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	_, cfg := open(t, account.Options{
		Limits: account.Limits{Secrets: 100}, Clock: clock.Now, Secrets: map[string]string{"a": "1"},
	})
	client := secretsmanager.NewFromConfig(cfg)
	get := func(name string) func() error {
		return func() error {
			out, err := client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &name})
			if err == nil && aws.ToString(out.SecretString) != "1" {
				t.Errorf("%+v", out)
			}
			return err
		}
	}
	hundred(t, clock, 100, time.Second/100, "ThrottlingException", get("a"))
	clock.Advance(time.Second)
	if err := get("b")(); code(err) != "ResourceNotFoundException" {
		t.Error(err)
	}
}

func TestGatewayOfTheAccount(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	a := made(t, account.Options{Limits: account.Limits{APIRate: 100, APIBurst: 50}, Clock: clock.Now})
	hundred(t, clock, 50, time.Second/100, "429", let(a, http.MethodGet, "/seckill/time"))
}

func let(a *account.Account, method, resource string) func() error {
	return func() error {
		if a.Gateway.Let(method, resource) {
			return nil
		}
		return errors.New("429")
	}
}

// Each method has its own bucket, even if one setting applies to all.
func TestGatewayOfAMethod(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	a := made(t, account.Options{Limits: account.Limits{APIRate: 1000, APIBurst: 1000}, Clock: clock.Now,
		Throttles: map[string]account.Throttle{"*/*": {Rate: 50, Burst: 25}, "/notify/POST": {Rate: 20, Burst: 10}}})
	hundred(t, clock, 25, time.Second/50, "429", let(a, http.MethodPost, "/buy"))
	hundred(t, clock, 25, time.Second/50, "429", let(a, http.MethodGet, "/time"))
	hundred(t, clock, 10, time.Second/20, "429", let(a, http.MethodPost, "/notify"))
}

// A stage's throttle can be set to 0 and back, for all methods without a setting of their own.
func TestUpdateStage(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	a, cfg := open(t,
		account.Options{Limits: account.Limits{APIRate: 1000, APIBurst: 1000}, Clock: clock.Now, Scale: 100,
			Throttles: map[string]account.Throttle{
				"*/*":          {Rate: 50, Burst: 25},
				"/notify/POST": {Rate: 20, Burst: 10},
			}, Resources: []string{"/buy", "/notify", "/time"}})
	client := apigateway.NewFromConfig(cfg)
	try := func(path, value string) error {
		_, err := client.UpdateStage(t.Context(), &apigateway.UpdateStageInput{
			RestApiId: aws.String("api"), StageName: aws.String("live"),
			PatchOperations: []agtypes.PatchOperation{{Op: agtypes.OpReplace, Path: &path, Value: &value}},
		})
		return err
	}
	set := func(path, value string) {
		t.Helper()
		must.OK(t, try(path, value))
	}
	for _, path := range []string{
		"/buy/POST/throttling/rateLimit", "/~1buy~1now/POST/throttling/rateLimit", "/~1buy/BUY/throttling/rateLimit",
		"~1buy/POST/throttling/rateLimit", "/*/POST/throttling/rateLimit", "/~1buy/*/throttling/rateLimit",
		"/~1buy/POST/throttling/rate", "/~1buy/POST/throttlingRateLimit",
	} {
		if err := try(path, "0"); code(err) != "BadRequestException" {
			t.Errorf("path %s, which API Gateway does not know: %v", path, err)
		}
	}
	set("/*/*/throttling/rateLimit", "0")
	if let(a, http.MethodPost, "/buy")() == nil || let(a, http.MethodPost, "/notify")() != nil {
		t.Error("at rate 0: buy passes, or notify does not")
	}
	set("/*/*/throttling/rateLimit", "5000")
	set("/~1buy/POST/throttling/rateLimit", "100")
	set("/~1buy/POST/throttling/burstLimit", "200")
	hundred(t, clock, 2, time.Second, "429", let(a, http.MethodPost, "/buy"))
	if err := let(a, http.MethodGet, "/time")(); err != nil {
		t.Error(err)
	}
	out, err := client.GetStage(t.Context(),
		&apigateway.GetStageInput{RestApiId: aws.String("api"), StageName: aws.String("live")})
	if err != nil || out.MethodSettings["~1buy/POST"].ThrottlingRateLimit != 100 ||
		out.MethodSettings["*/*"].ThrottlingBurstLimit != 2500 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	a := made(t,
		account.Options{Limits: account.Limits{Concurrency: 100, Growth: 1000, PerInstance: 10}, Clock: clock.Now,
			Reserved: map[string]float64{"stage": 1, "notify": 4}},
	)
	begun := map[string]int{}
	var ends []func()
	for _, function := range []string{"buy", "shop", "stage", "notify"} {
		for {
			end, ok := a.Lambda.Begin(function, true)
			if !ok {
				break
			}
			ends = append(ends, end)
			begun[function]++
			if function == "buy" && begun[function] == 60 {
				break // shop uses the rest of the shared pool
			}
		}
	}
	if fmt.Sprint(begun) != "map[buy:60 notify:4 shop:35 stage:1]" {
		t.Errorf("executions at a time: %v, want 95 shared and those reserved", begun)
	}
	ends[0]()
	ends[0]()
	if _, ok := a.Lambda.Begin("shop", false); !ok {
		t.Error("one has ended, yet none can begin")
	}
	if _, ok := a.Lambda.Begin("shop", false); ok {
		t.Error("one has ended, and two begin")
	}
	if n := a.Counts()[account.OfConcurrency]; n.Passed != 101 || n.Refused != 4 {
		t.Errorf("counts %+v", n)
	}
}

// Lambda refuses reservations that leave less than 100 executions to all other functions.
func TestUnreserved(t *testing.T) {
	t.Parallel()
	l := account.Limits{Concurrency: 220, Unreserved: 100}
	for _, tt := range []struct {
		stage float64
		want  string
	}{{30, "<nil>"}, {31, "InvalidParameterValueException: Specified ReservedConcurrentExecutions for function " +
		"decreases account's UnreservedConcurrentExecution below its minimum value of [100]."}} {
		o := account.Options{Limits: l, Reserved: map[string]float64{"notify": 90, "stage": tt.stage}}
		if _, err := account.New(o); fmt.Sprint(err) != tt.want {
			t.Errorf("90 and %v of 220: %v, want %s", tt.stage, err, tt.want)
		}
	}
	if _, err := account.New(account.Options{Limits: account.Limits{Concurrency: 50, Unreserved: 100}}); err != nil {
		t.Errorf("a small account without reservations: %v", err)
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	a := made(t,
		account.Options{Limits: account.Limits{Concurrency: 5000, Growth: 1000, PerInstance: 10}, Clock: clock.Now},
	)
	start := func(function string) func() error {
		return func() error {
			if _, ok := a.Lambda.Begin(function, true); !ok {
				return errors.New("429")
			}
			return nil
		}
	}
	hundred(t, clock, 1000, 10*time.Millisecond, "429", start("buy"))
	hundred(t, clock, 1000, 10*time.Millisecond, "429", start("shop"))
	if _, ok := a.Lambda.Begin("buy", false); !ok {
		t.Error("an instance that is there counts as growth")
	}
}

func TestInvocationsASecond(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	a := made(t,
		account.Options{Limits: account.Limits{Concurrency: 10, Growth: 1000, PerInstance: 10}, Clock: clock.Now},
	)
	hundred(t, clock, 100, 10*time.Millisecond, "429", func() error {
		end, ok := a.Lambda.Begin("buy", false)
		if !ok {
			return errors.New("429")
		}
		end()
		return nil
	})
}

// An operator's call for which there is no execution gets Lambda's own refusal.
func TestInvokeThrottled(t *testing.T) {
	t.Parallel()
	_, cfg := open(
		t,
		account.Options{Stack: "shop", Invoke: func(_ context.Context, function string, event []byte) ([]byte, error) {
			if function == "stage" {
				return event, nil
			}
			return nil, account.ErrThrottled
		}},
	)
	client := lambda.NewFromConfig(cfg)
	stage := &lambda.InvokeInput{FunctionName: aws.String("shop-stage"), Payload: []byte(`{"a":1}`)}
	if out, err := client.Invoke(t.Context(), stage); err != nil ||
		string(out.Payload) != `{"a":1}` {
		t.Errorf("%+v, %v", out, err)
	}
	_, err := client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("shop-buy")})
	if code(err) != "TooManyRequestsException" {
		t.Error(err)
	}
}

// server imitates a DynamoDB with one table and an index, each row one unit.
func server(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		switch _, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); call {
		case "DescribeTable":
			fmt.Fprint(w, `{"Table":{"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],`+
				`"GlobalSecondaryIndexes":[{"IndexName":"due",`+
				`"KeySchema":[{"AttributeName":"shard","KeyType":"HASH"}]}]}}`)
		case "TransactWriteItems":
			fmt.Fprint(w, `{"ConsumedCapacity":[{"TableName":"orders","CapacityUnits":4,"Table":{"CapacityUnits":4}}]}`)
		case "PutItem":
			fmt.Fprint(w, `{"ConsumedCapacity":{"TableName":"orders","CapacityUnits":2,"Table":{"CapacityUnits":1},`+
				`"GlobalSecondaryIndexes":{"due":{"CapacityUnits":1}}}}`)
		default:
			if !strings.Contains(string(b), `"ReturnConsumedCapacity":"INDEXES"`) {
				t.Errorf("%s does not ask what it consumes: %s", call, b)
			}
			fmt.Fprint(w, `{"ConsumedCapacity":{"TableName":"orders","CapacityUnits":1,"Table":{"CapacityUnits":1}}}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// ping sends one PING and returns how long its answer took.
func ping(t *testing.T, conn net.Conn) time.Duration {
	t.Helper()
	from := time.Now()
	if _, err := io.WriteString(conn, "*1\r\n$4\r\nPING\r\n"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 7)
	if _, err := io.ReadFull(conn, b); err != nil || string(b) != "+PONG\r\n" {
		t.Fatalf("%q, %v", b, err)
	}
	return time.Since(from)
}

// cached opens a cache with this rate of units, and a connection to it.
func cached(t *testing.T, clock account.Clock, units float64) (*account.Account, *account.Cache, net.Conn) {
	t.Helper()
	a := made(t, account.Options{Limits: account.Limits{ECPU: units}, Clock: clock})
	cache, err := a.NewCache(redistest.NewFake(t, memory.NewRedis()).Addr)
	must.OK(t, err)
	t.Cleanup(cache.Close)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", cache.Addr)
	must.OK(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return a, cache, conn
}

// The cache delays what exceeds its limit: 100 units pass at once, the next waits for the refill.
func TestCache(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(begin)
	a, _, conn := cached(t, clock.Now, 100)
	for range 100 {
		ping(t, conn)
	}
	if n := a.Counts()[account.OfCache]; n != (account.Count{Passed: 100}) {
		t.Errorf("%+v, want all 100 at once", n)
	}
	if took := ping(t, conn); took < 10*time.Millisecond {
		t.Errorf("the one over the limit took %v, want a hundredth of a second", took)
	}
	clock.Advance(time.Second)
	ping(t, conn)
	if n := a.Counts()[account.OfCache]; n != (account.Count{Passed: 101, Refused: 1}) {
		t.Errorf("%+v, want one held back", n)
	}
}

// Functions may use a password; the server behind needs no password.
func TestCacheAnswersAuth(t *testing.T) {
	t.Parallel()
	_, cache, _ := cached(t, nil, plenty)
	for _, user := range []string{"", "shop"} {
		client := redis.NewClient(&redis.Options{
			Addr: cache.Addr, Username: user, Password: "any", Protocol: 2, DisableIdentity: true, MaxRetries: -1,
			ReadTimeout:              time.Minute,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		if err := client.Ping(t.Context()).Err(); err != nil {
			t.Error(err)
		}
		_ = client.Close()
	}
}

// Slow delays each answer.
func TestSlow(t *testing.T) {
	t.Parallel()
	_, cache, conn := cached(t, nil, plenty)
	for _, slow := range []time.Duration{0, 200 * time.Millisecond} {
		cache.Slow(slow)
		if took := ping(t, conn); took < slow {
			t.Errorf("slow %v: an answer after %v", slow, took)
		}
	}
}

//go:build real

package functions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/provision"
	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

// sqsVariable names the variable with the URL of SQS and Secrets Manager.
const sqsVariable = "SECKILL_TEST_SQS"

const patience = time.Minute // how long a poll may take on a busy machine

// realDeployment is what functions talk to, on this machine's real servers.
type realDeployment struct {
	t                *testing.T
	rows             *dynamoledger.Rows
	orders, closings *sqsqueue.Queue
	gateway          *fakegateway.Gateway
	f                map[string]*lambdatest.Function
	env              map[string]string
}

func newRealDeployment(t *testing.T) *realDeployment {
	t.Helper()
	endpoint := os.Getenv(sqsVariable)
	if endpoint == "" {
		t.Fatalf("%s is not set: it is the endpoint that `e2e/servers/ministack.sh start DIR` prints", sqsVariable)
	}
	ctx := t.Context()
	cfg := aws.Config{Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	prefix := dynamotest.Create(t)
	w := &realDeployment{t: t, f: map[string]*lambdatest.Function{}}
	w.rows = dynamoledger.New(dynamotest.Config(t, nil), dynamoledger.Options{Prefix: prefix})

	client, queues := sqs.NewFromConfig(cfg), map[string]string{}
	open := func(name string) *sqsqueue.Queue {
		o := must.Get(provision.Queue(ctx, client, prefix+name))
		upper := strings.ToUpper(name)
		queues[upper+"_QUEUE_URL"], queues[upper+"_DEAD_LETTER_QUEUE_URL"] = o.URL, o.DeadLetterURL
		return sqsqueue.New(client, o)
	}
	w.orders, w.closings = open("orders"), open("closings")
	manager := secretsmanager.NewFromConfig(cfg)
	text := must.Get(json.Marshal(secrets()))
	if _, err := manager.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String("/" + prefix + "all"),
		SecretString: aws.String(string(text))}); err != nil {
		t.Fatal(err)
	}
	var url string
	w.gateway, url = gateway(t)
	env := environ(prefix, redistest.Start(t).Addr, url, queues)
	env["SECRETS"] = "/" + prefix + "all"
	env["AWS_ENDPOINT_URL"], env["AWS_ENDPOINT_URL_DYNAMODB"] = endpoint, os.Getenv(dynamotest.Variable)
	env["CONNECTIONS_URL"] = "http://127.0.0.1:1/live" // nobody is connected
	w.env = env
	w.start()
	return w
}

// start starts instances of all functions and replaces earlier ones.
func (w *realDeployment) start() {
	w.t.Helper()
	for _, step := range steps {
		w.f[step] = lambdatest.Start(w.t, binary(w.t, step), w.env)
	}
	for _, step := range steps {
		w.f[step].Ready()
	}
}

// pump passes a queue's messages to its step, as Lambda does, and returns the number of distinct messages handled: a
// send whose answer was lost is repeated, and a queue may deliver twice.
func (w *realDeployment) pump(queue *sqsqueue.Queue, step string) int {
	w.t.Helper()
	done := map[string]bool{}
	for {
		got, err := queue.Receive(w.t.Context(), seckill.MaxBatch)
		must.OK(w.t, err)
		if len(got) == 0 {
			return len(done)
		}
		w.handled(step, got)
		for _, d := range got {
			must.OK(w.t, queue.Delete(w.t.Context(), d))
			done[string(d.Body)] = true
		}
	}
}

// hand passes deliveries to a step and returns those that failed.
func (w *realDeployment) hand(step string, deliveries []seckill.Delivery) (failed []string) {
	w.t.Helper()
	records := []map[string]any{}
	for _, d := range deliveries {
		records = append(records, map[string]any{"messageId": d.ID, "receiptHandle": d.Receipt, "body": string(d.Body),
			"eventSource": "aws:sqs",
			"attributes":  map[string]string{"ApproximateReceiveCount": fmt.Sprint(d.Receives)}})
	}
	event, err := json.Marshal(map[string]any{"Records": records})
	must.OK(w.t, err)
	out, err := w.f[step].Invoke(event)
	must.OK(w.t, err)
	var r struct {
		BatchItemFailures []struct{ ItemIdentifier string }
	}
	must.OK(w.t, json.Unmarshal(out, &r))
	for _, f := range r.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed
}

// handled passes deliveries to a step until none fails: on a busy machine one may run out of time.
func (w *realDeployment) handled(step string, deliveries []seckill.Delivery) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		failed := w.hand(step, deliveries)
		if len(failed) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("come back: %q", failed)
		}
	}
}

func (w *realDeployment) shop(method, path, user string) response {
	w.t.Helper()
	return ask(w.t, w.f["shop"], call(w.t, method, path, "", user))
}

// await has consume place what is queued until a shopper's order has a state. A receive may return none though there
// are some.
func (w *realDeployment) await(state, user, item string) (r response) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; w.pump(w.orders, "consume") {
		if r = w.shop("GET", "/seckill/order/"+item, user); r.text("state") == state {
			return r
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("shopper %s: %+v, want %s", user, r, state)
		}
	}
}

// paid pays an order and delivers the notification twice.
func (w *realDeployment) paid(user, item string) {
	w.t.Helper()
	form := pay(w.t, w.gateway, w.await("pending_payment", user, item).text("alipay_order"))
	for range 2 {
		if r := ask(w.t, w.f["notify"], call(w.t, "POST", notifyPath, form.Encode(), "")); r.Status != 200 ||
			r.Body != "success" {
			w.t.Errorf("notify: %+v", r)
		}
	}
	must.Equal(w.t, "paid", w.shop("GET", "/seckill/order/"+item, user).text("state"), "after the notify")
}

// soldOnce checks that units 1..n have one row each, of distinct orders.
func (w *realDeployment) soldOnce(item string, n int) {
	w.t.Helper()
	l := ledger.New(w.rows)
	orders, units := map[string]bool{}, []int{}
	for bucket := range seckill.BucketsFor(n) {
		rows, err := l.Units(context.Background(), item, bucket)
		must.OK(w.t, err)
		for _, r := range rows {
			orders[r.Order] = true
			units = append(units, r.Unit)
		}
	}
	slices.Sort(units)
	if len(orders) != n || len(units) != n || units[0] != 1 || units[n-1] != n {
		w.t.Errorf("units %v of %d orders, want 1..%d, each of its own", units, len(orders), n)
	}
}

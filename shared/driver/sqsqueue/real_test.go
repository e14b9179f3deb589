//go:build real

package sqsqueue_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/shared/driver/provision"
	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	endpointVariable = "SECKILL_TEST_SQS" // the output of e2e/servers/ministack.sh start
	lookEvery        = 50 * time.Millisecond
	lookFor          = 10 * time.Second
)

func realClient(t *testing.T) *sqs.Client {
	t.Helper()
	endpoint := os.Getenv(endpointVariable)
	if endpoint == "" {
		t.Fatalf("%s is not set: it is the endpoint that `e2e/servers/ministack.sh start DIR` prints", endpointVariable)
	}
	var client *sqs.Client
	move := func(ctx context.Context, from, to string) error { return moveAll(ctx, client, from, to) }
	client = sqs.New(sqs.Options{Region: "eu-west-1", BaseEndpoint: &endpoint,
		HTTPClient:  &http.Client{Transport: mover{&oldReceipts{given: map[string]bool{}}, move}},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	return client
}

// mover answers StartMessageMoveTask, which MiniStack does not know, and does what SQS does then.
type mover struct {
	http.RoundTripper
	move func(ctx context.Context, from, to string) error // by the queues' names
}

func (m mover) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("X-Amz-Target") != "AmazonSQS.StartMessageMoveTask" {
		return m.RoundTripper.RoundTrip(r)
	}
	var in struct{ SourceArn, DestinationArn string }
	name := func(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	if err := m.move(r.Context(), name(in.SourceArn), name(in.DestinationArn)); err != nil {
		return nil, err
	}
	return answer(r, http.StatusOK, map[string]string{"TaskHandle": "t-1"}), nil
}

// moveAll moves the messages of a queue to another queue.
func moveAll(ctx context.Context, client *sqs.Client, from, to string) error {
	source, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &from})
	if err != nil {
		return err
	}
	target, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &to})
	if err != nil {
		return err
	}
	for {
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: source.QueueUrl,
			MaxNumberOfMessages: seckill.MaxBatch})
		if err != nil || len(out.Messages) == 0 {
			return err
		}
		for _, m := range out.Messages {
			_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: target.QueueUrl, MessageBody: m.Body})
			if err == nil {
				_, err = client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: source.QueueUrl,
					ReceiptHandle: m.ReceiptHandle})
			}
			if err != nil {
				return err
			}
		}
	}
}

// oldReceipts corrects MiniStack, which refuses an outdated receipt as unknown. SQS does not: "If you use an old
// ReceiptHandle, the request will succeed, but the message might not be deleted" ("DeleteMessage", Amazon SQS API
// Reference). MiniStack still refuses receipts that it never issued.
//
// It also keeps the SDK from sending twice on a busy machine, because tests would count both messages. It waits for
// an answer without a limit and reads it whole before the SDK closes the request's body: if the answer came before
// the transport's last read of that body, closing it would close the connection. faults_test.go covers the driver's
// behaviour in that case.
type oldReceipts struct {
	mu    sync.Mutex
	given map[string]bool
}

func (o *oldReceipts) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	r = r.WithContext(context.WithoutCancel(r.Context()))
	target := r.Header.Get("X-Amz-Target")
	var sent []byte
	if target == "AmazonSQS.DeleteMessage" {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var in struct{ ReceiptHandle string }
	if sent != nil && json.Unmarshal(sent, &in) == nil && o.given[in.ReceiptHandle] &&
		bytes.Contains(answer, []byte("ReceiptHandleIsInvalid")) {
		resp = &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
			Request: r}
		answer = []byte("{}")
	}
	var out struct {
		Messages []struct{ ReceiptHandle string }
	}
	if json.Unmarshal(answer, &out) == nil {
		for _, m := range out.Messages {
			o.given[m.ReceiptHandle] = true
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(answer)), int64(len(answer))
	return resp, nil
}

// created creates a queue for one test; unless 0, visible and receives replace what provision.Queue set.
func created(t *testing.T, client *sqs.Client, visible time.Duration, receives int) sqsqueue.Options {
	t.Helper()
	opt := must.Get(provision.Queue(t.Context(), client, "test-"+rand.Text()))
	t.Cleanup(func() {
		for _, url := range []string{opt.URL, opt.DeadLetterURL} {
			if _, err := client.DeleteQueue(context.Background(), &sqs.DeleteQueueInput{QueueUrl: &url}); err != nil {
				t.Errorf("DeleteQueue(%s): %v", url, err)
			}
		}
	})
	if visible != 0 {
		policy := attributes(t, client, opt.URL)["RedrivePolicy"]
		_, err := client.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: &opt.URL,
			Attributes: map[string]string{
				"VisibilityTimeout": fmt.Sprint(int(visible / time.Second)),
				"RedrivePolicy": strings.Replace(policy, fmt.Sprint(seckill.MaxReceives), fmt.Sprint(receives),
					1)}})
		must.OK(t, err)
	}
	return opt
}

func attributes(t *testing.T, client *sqs.Client, url string) map[string]string {
	t.Helper()
	out, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	must.OK(t, err)
	return out.Attributes
}

func TestRealConforms(t *testing.T) {
	client := realClient(t)
	const visible, receives = 2 * time.Second, 3
	drivertest.Queue(t, func(t *testing.T) drivertest.QueueEnv {
		opt := created(t, client, visible, receives)
		return drivertest.QueueEnv{
			Queue:       sqsqueue.New(client, opt),
			Advance:     time.Sleep, // the server's clock cannot be moved
			Visible:     visible,
			MaxReceives: receives,
			SendRaw: func(ctx context.Context, body []byte) error {
				_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &opt.URL,
					MessageBody: aws.String(string(body))})
				return err
			},
			Parked: func(ctx context.Context) ([]string, error) {
				var bodies []string
				err := eachParked(ctx, client, opt, func(m types.Message) { bodies = append(bodies, *m.Body) })
				return bodies, err
			},
		}
	})
}

// eachParked reads the messages in the dead-letter queue and leaves them visible there.
func eachParked(ctx context.Context, client *sqs.Client, opt sqsqueue.Options, look func(types.Message)) error {
	var receipts []string
	for {
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &opt.DeadLetterURL,
			MaxNumberOfMessages: seckill.MaxBatch, MessageAttributeNames: []string{"All"}})
		if err != nil {
			return err
		}
		if len(out.Messages) == 0 {
			break
		}
		for _, m := range out.Messages {
			look(m)
			receipts = append(receipts, *m.ReceiptHandle)
		}
	}
	for _, r := range receipts {
		if _, err := client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &opt.DeadLetterURL,
			ReceiptHandle: &r}); err != nil {
			return err
		}
	}
	return nil
}

func TestRealCreation(t *testing.T) {
	client := realClient(t)
	opt := created(t, client, 0, 0)
	name := opt.URL[strings.LastIndexByte(opt.URL, '/')+1:]
	q := sqsqueue.New(client, opt)
	sent := message(1)
	must.OK(t, q.Send(t.Context(), sent, 0))

	again, err := provision.Queue(t.Context(), client, name)
	if err != nil || again != opt {
		t.Fatalf("a second Queue gave %+v, error %v, want %+v", again, err, opt)
	}
	ds, err := q.Receive(t.Context(), seckill.MaxBatch)
	if err != nil || len(ds) != 1 || string(ds[0].Body) != string(sent.Encode()) {
		t.Errorf("after a second Queue the queue gave %+v, error %v, want the message", ds, err)
	}
	own, dead := attributes(t, client, opt.URL), attributes(t, client, opt.DeadLetterURL)
	for _, c := range []struct{ name, got, want string }{
		{"visibility", own["VisibilityTimeout"], "30"},
		{"retention", own["MessageRetentionPeriod"], "345600"},
		{"size", own["MaximumMessageSize"], "262144"},
		{"dead-letter retention", dead["MessageRetentionPeriod"], "1209600"},
		{"redrive", strings.ReplaceAll(own["RedrivePolicy"], " ", ""), `{"deadLetterTargetArn":"` + dead["QueueArn"] +
			`","maxReceiveCount":100}`},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}

	if _, err := client.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: &opt.URL,
		Attributes: map[string]string{"VisibilityTimeout": "31"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := provision.Queue(t.Context(), client, name); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("Queue over a queue with other attributes: error %v, want one that names it", err)
	}
}

func TestRealDepthNamesWhatIsMissing(t *testing.T) {
	client := realClient(t)
	opt := created(t, client, 0, 0)
	gone := opt.URL + "-gone"
	for _, c := range []struct {
		name  string
		opt   sqsqueue.Options
		names []string
	}{
		{"both there", opt, nil},
		{"queue missing", sqsqueue.Options{URL: gone, DeadLetterURL: opt.DeadLetterURL}, []string{gone}},
		{"dead-letter queue missing", sqsqueue.Options{URL: opt.URL, DeadLetterURL: gone}, []string{gone}},
		{"both missing", sqsqueue.Options{URL: gone, DeadLetterURL: gone + "-too"}, []string{gone, gone + "-too"}},
	} {
		var got []string
		_, err := sqsqueue.New(client, c.opt).Depth(t.Context())
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				got = append(got, strings.TrimPrefix(line, "sqsqueue: depth: there is no queue "))
			}
		}
		if !slices.Equal(got, c.names) {
			t.Errorf("%s: error %v, want it to name %v", c.name, err, c.names)
		}
	}
}

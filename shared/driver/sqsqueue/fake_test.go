package sqsqueue_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/your-org/seckill/shared/driver/sqsqueue"
)

const (
	queueURL = "https://sqs.eu-west-1.amazonaws.com/000000000000/orders"
	deadURL  = queueURL + "-dead"
)

// fakeSQS answers below the SDK, without a network: it executes requests and breaks tries as a test says. It waits
// only for contexts, so that it works with testing/synctest.
type fakeSQS struct {
	faults []fault // faults of the first tries; with always the last fault stays
	always bool
	// receives replaces the receive count of received messages
	receives *string
	task     string // the state of the newest move of messages

	mu    sync.Mutex
	calls []call   // tries, in order
	done  []string // what was executed: the operation and the queue's name
}

type call struct {
	op string
	in map[string]any
}

// fault breaks one try: before replaces its execution, after follows it.
type fault struct {
	name   string
	before func(r *http.Request) (*http.Response, error)
	after  func(r *http.Request, good *http.Response) (*http.Response, error)
}

func (f *fakeSQS) client() *sqs.Client {
	return sqs.New(sqs.Options{Region: "eu-west-1", HTTPClient: &http.Client{Transport: f},
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("test", "test", ""))})
}

func (f *fakeSQS) queue() *sqsqueue.Queue {
	return sqsqueue.New(f.client(), sqsqueue.Options{URL: queueURL, DeadLetterURL: deadURL})
}

func (f *fakeSQS) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c := call{op: strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")}
	if err := json.Unmarshal(body, &c.in); err != nil {
		return nil, fmt.Errorf("fake: %w", err)
	}
	f.mu.Lock()
	f.calls = append(f.calls, c)
	var now fault
	switch n := len(f.calls); {
	case n <= len(f.faults):
		now = f.faults[n-1]
	case f.always:
		now = f.faults[len(f.faults)-1]
	}
	f.mu.Unlock()

	if now.before != nil {
		return now.before(r)
	}
	good := f.carryOut(c, r)
	if now.after != nil {
		return now.after(r, good)
	}
	return good, nil
}

func (f *fakeSQS) carryOut(c call, r *http.Request) *http.Response {
	at := fmt.Sprint(c.in["QueueUrl"])
	f.mu.Lock()
	f.done = append(f.done, c.op+" "+at[strings.LastIndexByte(at, '/')+1:])
	f.mu.Unlock()
	out := map[string]any{}
	switch c.op {
	case "SendMessage":
		sum := md5.Sum([]byte(c.in["MessageBody"].(string)))
		out["MessageId"], out["MD5OfMessageBody"] = "m-1", hex.EncodeToString(sum[:])
	case "ReceiveMessage":
		receives := "7"
		if f.receives != nil {
			receives = *f.receives
		}
		out["Messages"] = []map[string]any{{"MessageId": "m-1", "ReceiptHandle": "r-1", "Body": "body",
			"Attributes": map[string]string{"ApproximateReceiveCount": receives}}}
	case "GetQueueAttributes":
		out["Attributes"] = map[string]string{"QueueArn": "arn:" + at, "ApproximateNumberOfMessages": "4",
			"ApproximateNumberOfMessagesNotVisible": "5", "ApproximateNumberOfMessagesDelayed": "6"}
	case "StartMessageMoveTask":
		out["TaskHandle"] = "t-1"
	case "ListMessageMoveTasks":
		out["Results"] = []map[string]any{{"Status": f.task}}
	case "CreateQueue":
		out["QueueUrl"] = "https://sqs.eu-west-1.amazonaws.com/000000000000/" + fmt.Sprint(c.in["QueueName"])
	}
	return answer(r, http.StatusOK, out)
}

// answer returns SQS's JSON.
func answer(r *http.Request, status int, body any) *http.Response {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return respond(r, status, io.NopCloser(bytes.NewReader(b)))
}

func respond(r *http.Request, status int, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: body, Request: r,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}}
}

// refusal returns an SQS error with its code.
func refusal(status int, code string) fault {
	return fault{name: fmt.Sprintf("%d %s", status, code), before: func(r *http.Request) (*http.Response, error) {
		return answer(r, status, map[string]any{"__type": "com.amazonaws.sqs#" + code,
			"message": "refused by the test"}), nil
	}}
}

var (
	fine       = fault{name: "fine"}
	throttled  = refusal(400, "RequestThrottled")
	throttled2 = refusal(400, "ThrottlingException")
	internal   = refusal(500, "InternalFailure")
	busy       = fault{name: "503 without SQS's form", before: func(r *http.Request) (*http.Response, error) {
		return respond(r, http.StatusServiceUnavailable, io.NopCloser(strings.NewReader("<html>busy</html>"))), nil
	}}
	refused = fault{name: "connection refused", before: func(*http.Request) (*http.Response, error) {
		return nil, errors.New("dial tcp: connection refused")
	}}
	lost = fault{name: "done, then cut before the answer", after: func(_ *http.Request,
		_ *http.Response) (*http.Response, error) {
		return nil, io.EOF
	}}
	halfAnswer = fault{name: "done, then cut within the answer", after: func(r *http.Request,
		good *http.Response) (*http.Response, error) {
		b, _ := io.ReadAll(good.Body)
		return respond(r, good.StatusCode, io.NopCloser(io.MultiReader(bytes.NewReader(b[:len(b)/2]),
			broken{io.ErrUnexpectedEOF}))), nil
	}}
	silent = fault{name: "silent", before: func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}}
	silentDone = fault{name: "done, then silent", after: func(r *http.Request, _ *http.Response) (*http.Response,
		error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}}
	halfOpen = fault{name: "done, then silent within the answer",
		after: func(r *http.Request, good *http.Response) (*http.Response, error) {
			b, _ := io.ReadAll(good.Body)
			return respond(r, good.StatusCode, io.NopCloser(io.MultiReader(bytes.NewReader(b[:len(b)/2]),
				stuck{r.Context()}))), nil
		}}
	slow = fault{name: "done, answered after 900 ms", after: func(r *http.Request, good *http.Response) (*http.Response,
		error) {
		select {
		case <-time.After(900 * time.Millisecond):
			return good, nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}}
	stranger = fault{name: "200 by something else", before: func(r *http.Request) (*http.Response, error) {
		return respond(r, http.StatusOK, io.NopCloser(strings.NewReader("{}"))), nil
	}}
	noQueue     = refusal(400, "QueueDoesNotExist")
	badReceipt  = refusal(404, "ReceiptHandleIsInvalid")
	notInFlight = refusal(400, "MessageNotInflight")
	denied      = refusal(403, "AccessDeniedException")
	badBody     = refusal(400, "InvalidMessageContents")
)

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// stuck is a body that stops arriving.
type stuck struct{ ctx context.Context }

func (s stuck) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

package dynamoledger_test

import (
	"bytes"
	"context"
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
)

// wire sits between the SDK and a server: the nth request gets the nth fault of the script; later requests pass.
type wire struct {
	server http.RoundTripper
	script []fault
	short  bool // the request's deadline has already passed

	mu       sync.Mutex
	requests []request
}

// request is one HTTP request as sent.
type request struct {
	Target string // the operation's name
	Host   string
	Body   string
}

// fault answers a request instead of the server or after it.
type fault func(server http.RoundTripper, r *http.Request) (*http.Response, error)

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, target, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.mu.Lock()
	n := len(w.requests)
	w.requests = append(w.requests, request{target, r.URL.Host, string(body)})
	w.mu.Unlock()
	if n < len(w.script) {
		if w.short {
			over, cancel := context.WithDeadline(r.Context(), time.Unix(0, 0))
			defer cancel()
			r = r.WithContext(over)
		}
		return w.script[n](w.server, r)
	}
	return pass(w.server, r)
}

func (w *wire) calls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.requests)
}

// config returns the configuration of a client that uses the wire.
func (w *wire) config() aws.Config {
	return aws.Config{Region: "eu-west-1", BaseEndpoint: aws.String("http://dynamodb.test"),
		HTTPClient:  &http.Client{Transport: w},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
}

func pass(server http.RoundTripper, r *http.Request) (*http.Response, error) {
	return server.RoundTrip(r)
}

var errCut = errors.New("connection reset by peer")

// lost executes the request and cuts the connection before the answer.
func lost(server http.RoundTripper, r *http.Request) (*http.Response, error) {
	resp, err := server.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	return nil, io.ErrUnexpectedEOF
}

// half executes the request and cuts the connection within the answer.
func half(server http.RoundTripper, r *http.Request) (*http.Response, error) {
	resp, err := server.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"Consumed`), failing{}))
	return resp, nil
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// unreachable never connects.
func unreachable(http.RoundTripper, *http.Request) (*http.Response, error) { return nil, errCut }

// slow passes on neither the request nor an answer.
func slow(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// mute executes the request and never answers: the connection is half closed.
func mute(server http.RoundTripper, r *http.Request) (*http.Response, error) {
	resp, err := server.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	return slow(server, r)
}

// done500 executes the request and answers 500.
func done500(server http.RoundTripper, r *http.Request) (*http.Response, error) {
	resp, err := server.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	return refuse(500, "InternalServerError")(server, r)
}

// answer returns a fixed answer.
func answer(status int, body string) fault {
	return func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Status: http.StatusText(status), ProtoMajor: 1, ProtoMinor: 1,
			Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}, nil
	}
}

// refuse answers with an exception.
func refuse(status int, code string) fault {
	return answer(status, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"canned"}`, code))
}

// cancel answers that the transaction was cancelled, with reasons for its first rows and None for the rest.
func cancel(codes ...string) fault {
	return func(server http.RoundTripper, r *http.Request) (*http.Response, error) {
		var in struct{ TransactItems []any }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return nil, err
		}
		reasons := make([]string, len(in.TransactItems))
		for i := range reasons {
			reasons[i] = `{"Code":"None"}`
			if i < len(codes) {
				reasons[i] = fmt.Sprintf(`{"Code":%q}`, codes[i])
			}
		}
		return answer(400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[`+
				strings.Join(reasons, ",")+`]}`)(server, r)
	}
}

// times repeats a fault.
func times(n int, f fault) []fault {
	out := make([]fault, n)
	for i := range out {
		out[i] = f
	}
	return out
}

// store is a server that knows two rules of transactions: for an executed token it answers success and does nothing,
// and it refuses to write the same first row twice.
type store struct {
	mu      sync.Mutex
	tokens  map[string]string // token → body
	written map[string]bool   // first rows
	commits int
}

func (s *store) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	type write struct {
		TableName string
		Key, Item map[string]any
	}
	var in struct {
		ClientRequestToken string
		TransactItems      []struct{ Put, Update write }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	put, update := in.TransactItems[0].Put, in.TransactItems[0].Update
	first := fmt.Sprint(put.TableName, put.Item["id"], put.Item["order"], put.Item["trade_no"], update.TableName,
		update.Key)
	known := s.tokens[in.ClientRequestToken]
	switch {
	case in.ClientRequestToken == "":
		return nil, errors.New("a transaction without a token")
	case known != "" && known != string(body):
		return refuse(400, "IdempotentParameterMismatchException")(nil, r)
	case known != "":
	case s.written[first]:
		r.Body = io.NopCloser(bytes.NewReader(body))
		return cancel("ConditionalCheckFailed")(nil, r)
	default:
		s.tokens[in.ClientRequestToken] = string(body)
		s.written[first] = true
		s.commits++
	}
	return answer(200, `{}`)(nil, r)
}

package apigw_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	must.OK(t, err)
	return b
}

// changed returns the recorded request with some fields replaced; "requestContext.x" names a nested field.
func changed(t *testing.T, fields map[string]any) []byte {
	t.Helper()
	var e map[string]any
	must.OK(t, json.Unmarshal(recorded(t, "apigateway.json"), &e))
	for name, v := range fields {
		in := e
		if outer, inner, ok := strings.Cut(name, "."); ok {
			in, name = e[outer].(map[string]any), inner
		}
		in[name] = v
	}
	b, err := json.Marshal(e)
	must.OK(t, err)
	return b
}

// seen is what a handler sees of a request.
type seen struct {
	Method, Path, Query, Host, Remote, Trace, ID, Body string
	Length                                             int64
}

// serve passes an event to a handler that records the request.
func serve(t *testing.T, event []byte) (seen, http.Header) {
	t.Helper()
	var s seen
	var header http.Header
	h := apigw.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s = seen{r.Method, r.URL.Path, r.URL.RawQuery, r.Host, r.RemoteAddr, seckill.Trace(r.Context()),
			r.Header.Get("X-Request-Id"), string(b), r.ContentLength}
		header = r.Header
	}))
	if _, err := h(lambdacontext.NewContext(context.Background(),
		&lambdacontext.LambdaContext{AwsRequestID: "lambdas-own"}), event); err != nil {
		t.Fatal(err)
	}
	return s, header
}

func TestRecordedRequest(t *testing.T) {
	got, header := serve(t, recorded(t, "apigateway.json"))
	body := `{"seckill_id":"2002","count":1,"address":"浙江省杭州市西湖区文三路 1 号"}`
	const id = "TxQ0HFj6liAEPMA="
	want := seen{"POST", "/seckill/buy", "", "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com", "203.0.113.7", id, "",
		body, int64(len(body))}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if header.Get("Content-Type") != "application/json" || header.Get("Idempotency-Key") != "attempt-1" ||
		len(header["Authorization"]) != 1 {
		t.Errorf("header %v", header)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields map[string]any
		want   func(*seen)
	}{
		"base64 body": {map[string]any{"isBase64Encoded": true,
			"body": base64.StdEncoding.EncodeToString([]byte{0xff, 'a'})},
			func(s *seen) { s.Body, s.Length = "\xffa", 2 }},
		"no body": {map[string]any{"body": nil, "httpMethod": "GET"}, func(s *seen) {
			s.Body, s.Length, s.Method = "", 0, "GET"
		}},
		"query, several values": {map[string]any{"queryStringParameters": map[string]string{"page": "3"},
			"multiValueQueryStringParameters": map[string][]string{"page": {"2", "3"}}},
			func(s *seen) { s.Query = "page=2&page=3" }},
		"query, single values": {map[string]any{"queryStringParameters": map[string]string{"page": "2", "q": "a b&c"}},
			func(s *seen) {
				s.Query = "page=2&q=a+b%26c"
			}},
		"headers, single values": {map[string]any{"multiValueHeaders": nil, "headers": map[string]string{"host": "h",
			"x-amzn-trace-id": "t"}},
			func(s *seen) { s.Host = "h" }},
		"address by the CDN": {map[string]any{"headers": map[string]string{"x-viewer-address": "2001:db8::1"},
			"multiValueHeaders":       nil,
			"requestContext.identity": map[string]string{"sourceIp": "198.51.100.2", "apiKeyId": "k1"}},
			func(s *seen) { s.Remote, s.Host = "2001:db8::1", "" }},
		"address by a client": {map[string]any{"headers": map[string]string{"x-viewer-address": "2001:db8::1"},
			"multiValueHeaders": nil}, func(s *seen) { s.Host = "" }},
		"ids that a client chose": {map[string]any{"multiValueHeaders": map[string][]string{"x-request-id": {"mine"},
			"x-amzn-trace-id": {"Root=1-mine"}}, "requestContext.requestId": "mine"},
			func(s *seen) { s.Host, s.ID = "", "mine" }},
		"no id by the gateway": {map[string]any{"requestContext.extendedRequestId": ""}, func(s *seen) {
			s.Trace = "lambdas-own"
		}},
		"stage in the path": {map[string]any{"path": "/Prod/seckill/buy"}, func(*seen) {}},
		"stage in the path, catch-all": {map[string]any{"path": "/Prod/seckill/buy", "resource": "/{proxy+}",
			"pathParameters": map[string]string{"proxy": "seckill/buy"}}, func(*seen) {}},
		"stage of a route's name": {map[string]any{"requestContext.stage": "seckill"}, func(*seen) {}},
		"stage of a route's name, proxied": {map[string]any{"requestContext.stage": "seckill", "resource": "/{proxy+}",
			"pathParameters": map[string]string{"proxy": "seckill/buy"}}, func(*seen) {}},
		"no stage": {map[string]any{"requestContext.stage": ""}, func(*seen) {}},
		"escaped path": {map[string]any{"path": "/order/a%2Fb"}, func(s *seen) {
			s.Path = "/order/a/b"
		}},
		"badly escaped path": {map[string]any{"path": "/order/%zz"}, func(s *seen) {
			s.Path = "/order/%zz"
		}},
	} {
		want, _ := serve(t, recorded(t, "apigateway.json"))
		c.want(&want)
		got, _ := serve(t, changed(t, c.fields))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestStageWithoutSlash checks that https://HOST/live leads to https://HOST/live/, and that nothing else is redirected.
func TestStageWithoutSlash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, asked, stage, query, want string
	}{
		"stage":              {"/", "/Prod", "Prod", "", "Prod/"},
		"with a query":       {"/", "/Prod", "Prod", "en", "Prod/?lang=en"},
		"stand-in's address": {"/", "/restapis/a/Prod", "Prod", "", "Prod/"},
		"no path":            {"", "/Prod", "Prod", "", "Prod/"},
		"with its slash":     {"/", "/Prod/", "Prod", "", ""},
		"custom domain":      {"/", "/", "Prod", "", ""},
		"a path":             {"/docs", "/Prod/docs", "Prod", "", ""},
		"no stage":           {"/", "/", "", "", ""},
	} {
		fields := map[string]any{"path": c.path, "requestContext.path": c.asked, "requestContext.stage": c.stage,
			"httpMethod": "GET"}
		if c.query != "" {
			fields["queryStringParameters"] = map[string]string{"lang": c.query}
		}
		out, err := apigw.HTTP(http.NotFoundHandler())(context.Background(), changed(t, fields))
		must.OK(t, err)
		var a events.APIGatewayProxyResponse
		must.OK(t, json.Unmarshal(out, &a))
		redirected := a.StatusCode == http.StatusPermanentRedirect
		if redirected != (c.want != "") || redirected && a.Headers["Location"] != c.want {
			t.Errorf("%s: got %d to %q, want %q", name, a.StatusCode, a.Headers["Location"], c.want)
		}
	}
}

func TestNotARequest(t *testing.T) {
	t.Parallel()
	h := apigw.HTTP(http.NotFoundHandler())
	for name, event := range map[string][]byte{
		"not JSON":   []byte("{"),
		"a schedule": recorded(t, "schedule.json"),
		"version 2.0": []byte(
			`{"version":"2.0","rawPath":"/seckill/buy","requestContext":{"http":{"method":"POST"}}}`),
		"broken base64":  changed(t, map[string]any{"isBase64Encoded": true, "body": "%%%"}),
		"path of no use": changed(t, map[string]any{"path": "seckill"}),
	} {
		if out, err := h(lambdacontext.NewContext(context.Background(),
			&lambdacontext.LambdaContext{AwsRequestID: "lambdas-own"}), event); err == nil || out != nil {
			t.Errorf("%s: %s, %v; want an error", name, out, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"nothing": {func(http.ResponseWriter, *http.Request) {},
			`{"statusCode":200,"headers":{},"multiValueHeaders":{},"body":""}`},
		"text": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{"application/json"}
			w.WriteHeader(http.StatusConflict)
			w.WriteHeader(http.StatusOK)
			_, _ = io.WriteString(w, `{"a":`)
			_, _ = io.WriteString(w, `"卖完"}`)
		},
			`{"statusCode":409,"headers":{"Content-Type":"application/json"},"multiValueHeaders":{},"body":"{\"a\":\"卖完\"}"}`},
		"binary": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte{0x89, 0xff})
		},
			`{"statusCode":200,"headers":{"Content-Type":"image/png"},"multiValueHeaders":{},"body":"if8=","isBase64Encoded":true}`},
		"header with several values": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
			w.WriteHeader(http.StatusNoContent)
		}, `{"statusCode":204,"headers":{},"multiValueHeaders":{"Set-Cookie":["a=1","b=2"]},"body":""}`},
		"no type": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "success") },
			`{"statusCode":200,"headers":{"Content-Type":"text/plain; charset=utf-8"},"multiValueHeaders":{},"body":"success"}`},
		"interim status": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
		}, `{"statusCode":418,"headers":{},"multiValueHeaders":{},"body":""}`},
	} {
		// TestAnswersAreGuarded covers the headers that httpapi.Headers adds
		bare := func(w http.ResponseWriter, r *http.Request) {
			clear(w.Header())
			c.serve(w, r)
		}
		out, err := apigw.HTTP(http.HandlerFunc(bare))(context.Background(), recorded(t, "apigateway.json"))
		if err != nil || string(out) != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", name, out, err, c.want)
		}
	}
}

// An aborted answer fails the call; any other panic is left to the runtime.
func TestAnswerBrokenOff(t *testing.T) {
	t.Parallel()
	event := recorded(t, "apigateway.json")
	panicking := func(v any) apigw.Handler {
		return apigw.HTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			panic(v)
		}))
	}
	if out, err := panicking(http.ErrAbortHandler)(context.Background(), event); out != nil || err == nil ||
		err.Error() != "apigw: the answer was broken off" {
		t.Errorf("%s, %v; want an error", out, err)
	}
	defer func() {
		if v := recover(); v != "a bug" {
			t.Errorf("recovered %v, want the handler's own panic", v)
		}
	}()
	out, err := panicking("a bug")(context.Background(), event)
	t.Errorf("%s, %v; want a panic", out, err)
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.Background(), at)
	defer cancel()
	got := map[string]time.Duration{}
	note := func(ctx context.Context, name string) {
		d, _ := ctx.Deadline()
		got[name] = at.Sub(d)
	}
	h := apigw.HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { note(r.Context(), "request") }))
	s := apigw.Schedule(func(ctx context.Context) error { note(ctx, "schedule"); return nil })
	for name, call := range map[string]func() ([]byte, error){
		"request":  func() ([]byte, error) { return h(ctx, recorded(t, "apigateway.json")) },
		"schedule": func() ([]byte, error) { return s(ctx, recorded(t, "schedule.json")) },
	} {
		if _, err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if want := map[string]time.Duration{"request": 250 * time.Millisecond,
		"schedule": 2 * time.Second}; !maps.Equal(got, want) {
		t.Errorf("ends before the deadline: %v, want %v", got, want)
	}
}

// TestAnswersAreGuarded checks that every answer has the headers for browsers; API Gateway's clients use https.
func TestAnswersAreGuarded(t *testing.T) {
	for proto, want := range map[string]string{"https": "max-age=31536000", "http": ""} {
		event := changed(t, map[string]any{"multiValueHeaders": map[string][]string{"X-Forwarded-Proto": {proto}}})
		out, err := apigw.HTTP(http.NotFoundHandler())(t.Context(), event)
		var answer struct{ Headers map[string]string }
		if err != nil || json.Unmarshal(out, &answer) != nil {
			t.Fatalf("%s, %v", out, err)
		}
		if got := answer.Headers["Strict-Transport-Security"]; got != want {
			t.Errorf("%s: Strict-Transport-Security %q, want %q", proto, got, want)
		}
		if got := answer.Headers["Cross-Origin-Opener-Policy"]; (got == "same-origin") != (want != "") {
			t.Errorf("%s: Cross-Origin-Opener-Policy %q", proto, got)
		}
		if got := answer.Headers["Content-Security-Policy"]; got != httpapi.Policy {
			t.Errorf("%s: policy %q", proto, got)
		}
	}
}

package wspush_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

const connection = "L0SM9cOFvHcCIhw=" // as API Gateway makes them

var (
	now   = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	event = seckill.OrderEvent{Order: "oa", Sequence: 2, User: "1001", From: seckill.PendingPayment,
		State: seckill.Paid, At: now, PayBy: now}
	login = credentials.NewStaticCredentialsProvider("id", "key", "session")
)

// client returns a client of a server's stage.
func client(t *testing.T, s *httptest.Server, stage string) *wspush.Client {
	t.Helper()
	return wspush.New(aws.Config{Region: "eu-west-1", Credentials: login, HTTPClient: s.Client()}, s.URL+stage,
		memory.NewClock(now))
}

// TestCalls checks what API Gateway gets: which path, which frame, and a signature that AWS's own signer makes of it.
func TestCalls(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got, body = r, string(b)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	c := client(t, server, "/live")
	for _, tt := range []struct {
		method, body string
		call         func() error
	}{
		{"POST", string(wspush.Message(&event)), func() error { return c.Send(t.Context(), connection, &event) }},
		{"DELETE", "", func() error { return c.Close(t.Context(), connection) }},
	} {
		must.OK(t, tt.call())
		if got.Method != tt.method || got.RequestURI != "/live/@connections/L0SM9cOFvHcCIhw%3D" || body != tt.body {
			t.Errorf("%s %s %s, want %s with %s", got.Method, got.RequestURI, body, tt.method, tt.body)
		}
		again, err := http.NewRequestWithContext(t.Context(), got.Method, "http://"+got.Host+got.RequestURI,
			strings.NewReader(body))
		must.OK(t, err)
		user := must.Get(login.Retrieve(t.Context()))
		must.OK(t, v4.NewSigner().SignHTTP(t.Context(), user, again, fmt.Sprintf("%x", sha256.Sum256([]byte(body))),
			"execute-api", "eu-west-1", now))
		if sign := got.Header.Get("Authorization"); sign != again.Header.Get("Authorization") ||
			!strings.Contains(sign, "Credential=id/20261111/eu-west-1/execute-api/aws4_request") {
			t.Errorf("%s: signature %s, want %s", tt.method, sign, again.Header.Get("Authorization"))
		}
	}
}

// TestAnswers checks what each answer means, and that no error names a connection.
func TestAnswers(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client has gone
		switch stage, _, _ := strings.Cut(r.URL.Path[1:], "/"); stage {
		case "gone":
			w.WriteHeader(http.StatusGone)
		case "busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "moved":
			http.Redirect(w, r, "/gone/@connections/x", http.StatusTemporaryRedirect)
		case "endless":
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		case "silent":
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, tt := range []struct {
		stage       string
		sent, close string // what their errors say
	}{
		{"here", "", ""},
		{"gone", seckill.ErrConnectionGone.Error(), ""},
		{"busy", "answered 429", "answered 429"},
		{"moved", "answered 307", "answered 307"},
		{"endless", "", ""},
		{"silent", "deadline exceeded", "deadline exceeded"},
	} {
		calls.Store(0)
		c, begun := client(t, server, "/"+tt.stage), time.Now()
		for _, call := range []struct {
			err  error
			want string
		}{{c.Send(t.Context(), connection, &event), tt.sent}, {c.Close(t.Context(), connection), tt.close}} {
			if call.err == nil && call.want != "" || call.err != nil && (call.want == "" ||
				!strings.Contains(call.err.Error(), call.want) || strings.Contains(call.err.Error(), "L0SM9")) {
				t.Errorf("%s: %v, want %q", tt.stage, call.err, call.want)
			}
		}
		if took := time.Since(begun); calls.Load() != 2 || took > 30*time.Second {
			t.Errorf("%s: %d calls, want one for each; took %v", tt.stage, calls.Load(), took)
		}
	}
	must.Is(t, seckill.ErrConnectionGone, client(t, server, "/gone").Send(t.Context(), connection, &event), "gone")
}

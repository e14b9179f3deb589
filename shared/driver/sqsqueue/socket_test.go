package sqsqueue_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/your-org/seckill/shared/driver/sqsqueue"
)

// TestBrokenConnections breaks real connections in the ways that the table of faults plays: each must appear as what
// it plays, and another try must succeed.
func TestBrokenConnections(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(net.Conn) // what the server does instead of answering, after executing the request
	}{
		{"closed before the answer", func(net.Conn) {}},
		{"reset before the answer", func(c net.Conn) {
			if err := c.(*net.TCPConn).SetLinger(0); err != nil {
				t.Error(err)
			}
		}},
		{"closed within the head", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-") }},
		{"closed within the body", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: "+
				"100\r\n\r\n{\"MessageId\":")
		}},
		{"closed within a chunk", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{\"MessageId\":")
		}},
		{"no HTTP", func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeSQS{}
			var tries atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				resp, err := f.RoundTrip(r)
				if err != nil {
					t.Error(err)
					return
				}
				if tries.Add(1) == 1 {
					conn, _, err := w.(http.Hijacker).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					c.cut(conn)
					conn.Close()
					return
				}
				io.Copy(w, resp.Body)
			}))
			defer srv.Close()
			q := sqsqueue.New(socketClient(t, srv), sqsqueue.Options{URL: queueURL})
			if err := q.Send(t.Context(), message(1), 0); err != nil {
				t.Errorf("Send: %v", err)
			}
			if tries.Load() != 2 || len(f.done) != 2 {
				t.Errorf("%d tries, sent %d times, want 2 and 2", tries.Load(), len(f.done))
			}
		})
	}
}

// TestDeadConnections checks that an instance which was frozen, and finds its idle connections closed, loses nothing
// and returns no error.
func TestDeadConnections(t *testing.T) {
	f := &fakeSQS{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := f.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		io.Copy(w, resp.Body)
	}))
	defer srv.Close()
	q := sqsqueue.New(socketClient(t, srv), sqsqueue.Options{URL: queueURL})
	const sends = 20
	for i := range sends {
		if err := q.Send(t.Context(), message(i), 0); err != nil {
			t.Fatalf("Send %d: %v", i, err)
		}
		srv.CloseClientConnections()
	}
	sent := map[string]bool{}
	for _, c := range f.calls {
		sent[fmt.Sprint(c.in["MessageBody"])] = true
	}
	if len(sent) != sends {
		t.Errorf("%d different messages sent, want %d", len(sent), sends)
	}
}

// unhurried waits for an answer without a limit: a try that ends because the machine is busy would be taken for the
// reaction to the broken connection.
type unhurried struct{ *http.Transport }

func (u unhurried) RoundTrip(r *http.Request) (*http.Response, error) {
	return u.Transport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
}

func socketClient(t *testing.T, srv *httptest.Server) *sqs.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return sqs.New(sqs.Options{Region: "eu-west-1", BaseEndpoint: &srv.URL,
		HTTPClient:  &http.Client{Transport: unhurried{transport}},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
}

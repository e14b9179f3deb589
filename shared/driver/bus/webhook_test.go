package bus_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// Key, id, timestamp, body and signature are the example of the specification (Standard Webhooks, "Signature scheme").
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var event = seckill.OrderEvent{Order: "oabcdefghijklmnopqrstuvwxyz", Sequence: 2, Item: "1", User: "7", Count: 1,
	State: seckill.Paid, From: seckill.PendingPayment, At: time.Unix(1614265330, 0)}

func client(t *testing.T, url string, secrets ...string) *bus.Webhooks {
	t.Helper()
	c, err := bus.NewWebhooks(bus.WebhookConfig{URL: url, Secrets: secrets, Shop: "demo",
		Clock: memory.NewClock(time.Unix(1614265330, 0))})
	must.OK(t, err)
	return c
}

// TestPost checks what the endpoint receives.
func TestPost(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	old := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	must.OK(t, client(t, server.URL+"/hook?a=b", secret, old).Post(t.Context(), &event))
	if got.Method != http.MethodPost || got.RequestURI != "/hook?a=b" || !bytes.Equal(body, bus.Encode("demo",
		&event)) {
		t.Errorf("%s %s %s", got.Method, got.RequestURI, body)
	}
	for name, want := range map[string]string{"Content-Type": bus.ContentType, "Webhook-Id": event.ID(),
		"Webhook-Timestamp": "1614265330"} {
		must.Equal(t, want, got.Header.Get(name), name)
	}
	signatures := strings.Fields(got.Header.Get("Webhook-Signature"))
	if len(signatures) != 2 || signatures[0] == signatures[1] || !strings.HasPrefix(signatures[0], "v1,") ||
		!strings.HasPrefix(signatures[1], "v1,") {
		t.Errorf("signatures %q, want one by each secret", signatures)
	}
}

// TestOnlySuccessAcknowledges checks that no other answer does, that redirects are not followed, and that neither
// error nor wait depends on how much the endpoint says.
func TestOnlySuccessAcknowledges(t *testing.T) {
	t.Parallel()
	followed := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/200":
			w.WriteHeader(http.StatusOK)
		case "/202":
			w.WriteHeader(http.StatusAccepted)
		case "/302":
			http.Redirect(w, r, "/followed", http.StatusFound)
		case "/307":
			http.Redirect(w, r, "/followed", http.StatusTemporaryRedirect)
		case "/followed":
			followed = true
		case "/410":
			w.WriteHeader(http.StatusGone)
		case "/500":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(bytes.Repeat([]byte("secret"), 1<<20))
		case "/endless":
			for w.WriteHeader(http.StatusOK); r.Context().Err() == nil; {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		case "/abort":
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	for path, want := range map[string]bool{"/200": true, "/202": true, "/302": false, "/307": false, "/410": false,
		"/500": false, "/abort": false, "/endless": true} {
		err := client(t, server.URL+path+"?token=secret", secret).Post(t.Context(), &event)
		if (err == nil) != want {
			t.Errorf("%s: %v, want acknowledged: %v", path, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || len(err.Error()) > 200) {
			t.Errorf("%s: the error says too much: %v", path, err)
		}
	}
	if followed {
		t.Error("a redirect was followed")
	}
	server.Close()
	if err := client(t, server.URL+"/200?token=secret", secret).Post(t.Context(), &event); err == nil ||
		strings.Contains(err.Error(), "token") {
		t.Errorf("a closed port: %v", err)
	}
}

// TestASilentEndpoint checks that a post ends after its time.
func TestASilentEndpoint(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended }))
	defer server.Close()
	defer close(ended)
	began := time.Now()
	err := client(t, server.URL, secret).Post(context.Background(), &event)
	if took := time.Since(began); err == nil || took < seckill.PostTimeout/2 || took > 2*seckill.PostTimeout {
		t.Errorf("%v after %v, want an error after %v", err, took, seckill.PostTimeout)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	short := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, bus.MinSecret-1))
	long := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, bus.MaxSecret+1))
	for _, tt := range []struct {
		url     string
		secrets []string
		ok      bool
	}{
		{"https://erp.example.com/hook", []string{secret}, true},
		{"https://10.0.0.7:8443/hook?token=x", []string{secret, secret}, true},
		{"http://localhost:9000/", []string{secret}, true},
		{"http://127.0.0.1:9000/", []string{secret}, true},
		{"http://[::1]:9000/", []string{secret}, true},
		{"http://erp.example.com/hook", []string{secret}, false},
		{"http://10.0.0.7/hook", []string{secret}, false},
		{"http://localhost.example.com/", []string{secret}, false},
		{"https://user:S3C@erp.example.com/", []string{secret}, false},
		{"https://erp.example.com/#x", []string{secret}, false},
		{"https:///hook", []string{secret}, false},
		{"ftp://erp.example.com/", []string{secret}, false},
		{"https://erp.example.com/" + strings.Repeat("a", 2048), []string{secret}, false},
		{"", []string{secret}, false},
		{"https://erp.example.com/hook", nil, false},
		{"https://erp.example.com/hook", []string{secret, secret, secret}, false},
		{"https://erp.example.com/hook", []string{secret, ""}, false},
		{"https://erp.example.com/hook", []string{strings.TrimPrefix(secret, "whsec_")}, false},
		{"https://erp.example.com/hook", []string{"whsec_S3C"}, false},
		{"https://erp.example.com/hook", []string{short}, false},
		{"https://erp.example.com/hook", []string{long}, false},
	} {
		_, err := bus.NewWebhooks(bus.WebhookConfig{URL: tt.url, Secrets: tt.secrets,
			Clock: memory.NewClock(time.Now())})
		if (err == nil) != tt.ok {
			t.Errorf("%s, %d secrets: %v, want accepted %v", tt.url, len(tt.secrets), err, tt.ok)
		}
		if err != nil && strings.Contains(err.Error(), "S3C") {
			t.Errorf("the error has a secret: %v", err)
		}
	}
}

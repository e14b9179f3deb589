// Here Standard Webhooks' own libraries verify what package bus signs: the one for Go, and the one for Node.js, which
// e2e/webhooks/install.sh installs.

package bus_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	current  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	before   = "whsec_c2Vja2lsbC1sb2NhbC1ydW4taGFzLW5vLXNlY3JldHM="
	stranger = "whsec_b3RoZXIgb3RoZXIgb3RoZXIgb3RoZXIgb3RoZXI="
)

// posted is a webhook as its receiver gets it.
type posted struct {
	Header http.Header
	Body   []byte
}

// post posts an event, signed with two secrets.
func post(t *testing.T) posted {
	t.Helper()
	var got posted
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got.Header = r.Header
		got.Body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	c, err := bus.NewWebhooks(bus.WebhookConfig{URL: server.URL, Secrets: []string{current, before}, Shop: "demo",
		Clock: system.Clock{}})
	must.OK(t, err)
	must.OK(t, c.Post(t.Context(), &seckill.OrderEvent{Order: seckill.KeyedOrderID("2002", "7", "k"), Sequence: 1,
		Title: "茅台 <500ml>", State: seckill.PendingPayment, At: time.Now()}))
	return got
}

// check calls verify with each secret, and with a changed body and id.
func check(t *testing.T, verify func(secret string, p posted) error) {
	t.Helper()
	p := post(t)
	for secret, want := range map[string]bool{current: true, before: true, stranger: false} {
		if err := verify(secret, p); (err == nil) != want {
			t.Errorf("%s: %v, want verified %v", secret, err, want)
		}
	}
	changed := posted{p.Header, append([]byte(" "), p.Body...)}
	if err := verify(current, changed); err == nil {
		t.Error("a changed body is verified")
	}
	other := posted{p.Header.Clone(), p.Body}
	other.Header.Set("Webhook-Id", "another")
	if err := verify(current, other); err == nil {
		t.Error("another id is verified")
	}
}

func TestTheLibraryForGoVerifies(t *testing.T) {
	t.Parallel()
	check(t, func(secret string, p posted) error {
		return must.Get(standardwebhooks.NewWebhook(secret)).Verify(p.Body, p.Header)
	})
}

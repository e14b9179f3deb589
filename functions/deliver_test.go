package functions_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// erp is a shop's endpoint.
type erp struct {
	mu     sync.Mutex
	status int
	ids    []string
}

func (e *erp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.status == http.StatusNoContent && strings.HasPrefix(r.Header.Get("Webhook-Signature"), "v1,") &&
		!strings.Contains(string(body), "西湖") {
		e.ids = append(e.ids, r.Header.Get("Webhook-Id"))
	}
	w.WriteHeader(e.status)
}

func (e *erp) answer(status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status = status
}

func (e *erp) got() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.ids, " ")
}

// TestDeliverFunction checks that changes of the stream are posted in order, that what the endpoint refuses is in the
// ledger and neither holds up the stream nor is lost, and that the schedule posts it again.
func TestDeliverFunction(t *testing.T) {
	w := newDeployment(t)
	to := &erp{status: http.StatusServiceUnavailable}
	server := httptest.NewServer(to)
	defer server.Close()
	l, o, _ := paidTrade(t, w)
	f := w.start(t, "deliver", "WEBHOOK_URL", server.URL+"/?token=secret")
	run(t, f, streamed(t), done)
	if to.got() != "" || !f.Says(`"webhooks_failed":1`) {
		t.Errorf("posted %q: %s", to.got(), f.Output())
	}
	to.answer(http.StatusNoContent)
	due := seckill.Webhook{Order: o.ID, Known: 1, Due: time.Now().Add(-time.Second)}
	if err := l.SaveWebhook(t.Context(), due); err != nil {
		t.Fatal(err)
	}
	run(t, f, recorded(t, "schedule.json"), "null")
	if to.got() != o.ID+".1" || !f.Says(`"webhooks_acknowledged":1`) {
		t.Errorf("posted %q: %s", to.got(), f.Output())
	}
	if got, err := l.Webhook(t.Context(), o.ID); err != nil || got.Sent != 1 || !got.Due.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if strings.Contains(f.Output(), "secret") {
		t.Errorf("the log has the URL's token:\n%s", f.Output())
	}
	operators := staff(f)
	done := must.Get(operator.Give[operator.Redelivered](t.Context(), &operators, &operator.Redeliver{}))
	must.Equal(t, 0, done.Orders, "redeliver")
	if _, err := f.Invoke([]byte(`{}`)); err == nil {
		t.Error("an event of no kind is accepted")
	}
}

// TestDeliverFunctionPosts checks that the changes of a batch are posted from the stream at once.
func TestDeliverFunctionPosts(t *testing.T) {
	w := newDeployment(t)
	to := &erp{status: http.StatusNoContent}
	server := httptest.NewServer(to)
	defer server.Close()
	f := w.start(t, "deliver", "WEBHOOK_URL", server.URL)
	run(t, f, streamed(t), done)
	first, _, _ := strings.Cut(to.got(), " ")
	order, sequence, err := seckill.ParseEventID(first)
	if err != nil || sequence != 1 {
		t.Fatalf("posted %q: %s", to.got(), f.Output())
	}
	// The fake table checks no condition, so one writer's row may replace another's.
	if got, err := ledger.New(w.rows).Webhook(t.Context(), order); err != nil || got.Sent < 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

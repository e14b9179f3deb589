package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	before = "whsec_c2Vja2lsbC1sb2NhbC1ydW4taGFzLW5vLXNlY3JldHM="
)

var at = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// shop posts events as a shop does.
type shop struct {
	*testing.T
	file   string
	list   *list
	server *httptest.Server
	client *bus.Webhooks
}

func newShop(t *testing.T) *shop {
	s := &shop{T: t, file: filepath.Join(t.TempDir(), "list.csv")}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.list.ServeHTTP(w, r)
	}))
	t.Cleanup(s.server.Close)
	s.start()
	s.client = s.signing(at, secret)
	return s
}

// start starts the consumer, again if it ran.
func (s *shop) start() {
	s.Helper()
	if s.list != nil {
		s.list.journal.Close()
	}
	var err error
	if s.list, err = open(s.file, before+" "+secret); err != nil {
		s.Fatal(err)
	}
	s.list.now = func() time.Time { return at }
	list := s.list
	s.Cleanup(func() { list.journal.Close() })
}

func (s *shop) signing(when time.Time, secrets ...string) *bus.Webhooks {
	s.Helper()
	c, err := bus.NewWebhooks(bus.WebhookConfig{URL: s.server.URL, Secrets: secrets, Shop: "demo",
		Clock: memory.NewClock(when)})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func change(order string, sequence int, from, to seckill.State) *seckill.OrderEvent {
	return &seckill.OrderEvent{Order: order, Sequence: sequence, Item: "2002", Title: "Red, coat", Count: 2, From: from,
		State: to, At: at.Add(time.Duration(sequence) * time.Second)}
}

func (s *shop) post(e *seckill.OrderEvent) {
	s.Helper()
	if err := s.client.Post(context.Background(), e); err != nil {
		s.Errorf("%s: %v", e.ID(), err)
	}
}

// want checks which orders the list has.
func (s *shop) want(when string, orders ...string) {
	s.Helper()
	b, err := os.ReadFile(s.file)
	if err != nil {
		s.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	got := []string{}
	for _, line := range lines[1:] {
		order, rest, _ := strings.Cut(line, ",")
		if got = append(got, order); !strings.HasPrefix(rest, `2002,"Red, coat",2,2026-11-11T02:00:`) {
			s.Errorf("%s: line %s", when, line)
		}
	}
	if lines[0] != "order,item,title,count,paid" || !slices.Equal(got, append([]string{}, orders...)) {
		s.Errorf("%s: %q, want %v", when, lines, orders)
	}
}

// TestText: a title that a spreadsheet would take for a formula is text.
func TestText(t *testing.T) {
	for cell, want := range map[string]string{"": "", "茶": "茶", "=1+1": "'=1+1", "1e5": "'1e5", "'x": "''x"} {
		if got := text(cell); got != want {
			t.Errorf("%q is %q, want %q", cell, got, want)
		}
	}
}

func TestPickList(t *testing.T) {
	s := newShop(t)
	s.want("nothing")
	s.post(change("oa", 1, "", seckill.PendingPayment))
	s.want("placed")
	s.post(change("ob", 2, seckill.PendingPayment, seckill.Paid))
	s.want("paid, told before placed")
	s.start()
	s.post(change("ob", 1, "", seckill.PendingPayment))
	s.want("both, after a restart", "ob")
	s.post(change("oa", 2, seckill.PendingPayment, seckill.Paid))
	s.want("paid", "oa", "ob")
	s.post(change("ob", 3, seckill.Paid, seckill.Paid))
	s.want("a second payment", "oa", "ob")
	s.post(change("ob", 4, seckill.Paid, seckill.RefundOwed))
	s.want("it goes back", "oa")
	s.post(change("ob", 2, seckill.PendingPayment, seckill.Paid))
	s.want("told again", "oa")
	s.start()
	s.want("after a restart", "oa")
}

// TestACutLine checks that an event that was not written whole is taken when it comes again.
func TestACutLine(t *testing.T) {
	s := newShop(t)
	s.post(change("oa", 1, "", seckill.PendingPayment))
	s.post(change("oa", 2, seckill.PendingPayment, seckill.Paid))
	info, err := s.list.journal.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.list.journal.Truncate(info.Size() - 20); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.want("cut")
	s.post(change("oa", 2, seckill.PendingPayment, seckill.Paid))
	s.start()
	s.want("again", "oa")
}

// TestOnlyTheShop checks that nobody else changes the list.
func TestOnlyTheShop(t *testing.T) {
	s := newShop(t)
	e := change("oa", 1, "", seckill.Paid)
	const other = "whsec_b3RoZXIgb3RoZXIgb3RoZXIgb3RoZXIgb3RoZXI="
	for what, c := range map[string]*bus.Webhooks{
		"another secret": s.signing(at, other), "an old post": s.signing(at.Add(-6*time.Minute), secret),
		"one of the future": s.signing(at.Add(6*time.Minute), secret),
	} {
		if err := c.Post(t.Context(), e); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("%s: %v, want 401", what, err)
		}
	}
	for _, h := range []http.Header{{}, {"Webhook-Signature": {"v1,"}}, {"Webhook-Timestamp": {"x"}}} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"type":"order.paid","data":{"order":"oa"}}`))
		r.Header = h
		if s.list.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
			t.Errorf("%v: %d, want 401", h, w.Code)
		}
	}
	s.want("nothing")
	if err := s.signing(at, other, before).Post(t.Context(), e); err != nil {
		t.Errorf("a secret that is being replaced: %v", err)
	}
	s.want("authentic", "oa")
}

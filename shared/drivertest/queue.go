package drivertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// QueueEnv is a queue under test, new and empty for every test.
type QueueEnv struct {
	Queue seckill.OperatedQueue
	// Advance moves the queue's clock, or sleeps if the clock is real.
	Advance func(d time.Duration)
	// Visible is the queue's visibility timeout in whole seconds, at least 2 s. For a real queue it should be short,
	// because each test waits for it several times, but long enough for a few calls.
	Visible time.Duration
	// MaxReceives is the number of receives after which the queue itself parks a message, at least 3.
	MaxReceives int
	// SendRaw enqueues a body that is not an encoded Message.
	SendRaw func(ctx context.Context, body []byte) error
	// Parked returns the bodies in the dead-letter queue, each once, in any order.
	Parked func(ctx context.Context) ([]string, error)
	// Exact: the queue gives guarantees that a queue on one machine can give and SQS does not. It delivers nothing
	// twice within the visibility timeout or after its deletion; a Receive finds whatever is visible; Depth does not
	// lag; times have milliseconds; and an outdated receipt neither deletes nor delays.
	Exact bool
}

// Limits of waiting for an inexact queue.
const (
	polls    = 60          // empty receives before an expected message counts as lost
	pollWait = time.Second // pause between them
	quiet    = 3           // visibility timeouts without a delivery after which the queue counts as empty
)

type queueEnv struct{ QueueEnv }

func order(n int) seckill.Message {
	return seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{
		Request: seckill.Request{Order: orderID(n), Item: "9223372036854775807", User: fmt.Sprint(1_000 + n), Count: 2,
			Given:   Given(),
			Created: time.UnixMilli(1_794_398_400_123).UTC()},
		Units: []int{2*n + 1, 2*n + 2}}}
}

func orderID(n int) string {
	return seckill.RandomOrderID("1001", [17]byte{15: byte(n >> 8), 14: byte(n)})
}

func (e *queueEnv) send(t *testing.T, m seckill.Message, delay time.Duration) (body string) {
	t.Helper()
	if err := e.Queue.Send(t.Context(), m, delay); err != nil {
		t.Fatalf("Send(delay %v): %v", delay, err)
	}
	return string(m.Encode())
}

func (e *queueEnv) sendRaw(t *testing.T, body string) {
	t.Helper()
	if err := e.SendRaw(t.Context(), []byte(body)); err != nil {
		t.Fatalf("SendRaw(%.60q): %v", body, err)
	}
}

func (e *queueEnv) receive(t *testing.T, limit int) []seckill.Delivery {
	t.Helper()
	ds, err := e.Queue.Receive(t.Context(), limit)
	if err != nil {
		t.Fatalf("Receive(%d): %v", limit, err)
	}
	if len(ds) > limit {
		t.Fatalf("Receive(%d) gave %d messages", limit, len(ds))
	}
	for _, d := range ds {
		if d.ID == "" || d.Receipt == "" || len(d.Body) == 0 || d.Receives < 1 {
			t.Fatalf("delivery is not whole: %+v", d)
		}
	}
	return ds
}

// one receives one message, which must be available.
func (e *queueEnv) one(t *testing.T) seckill.Delivery {
	t.Helper()
	for range polls {
		if ds := e.receive(t, 1); len(ds) == 1 {
			return ds[0]
		}
		if e.Exact {
			break
		}
		e.Advance(pollWait)
	}
	t.Fatal("no message, want one")
	return seckill.Delivery{}
}

// none checks that nothing can be received now.
func (e *queueEnv) none(t *testing.T, why string) {
	t.Helper()
	if ds := e.receive(t, seckill.MaxBatch); len(ds) > 0 {
		t.Fatalf("%s: received %s (receives %d), want nothing", why, ds[0].Body, ds[0].Receives)
	}
}

func (e *queueEnv) delete(t *testing.T, d seckill.Delivery) {
	t.Helper()
	if err := e.Queue.Delete(t.Context(), d); err != nil {
		t.Fatalf("Delete(%s): %v", d.ID, err)
	}
}

func (e *queueEnv) delay(t *testing.T, d seckill.Delivery, wait time.Duration) {
	t.Helper()
	if err := e.Queue.Delay(t.Context(), d, wait); err != nil {
		t.Fatalf("Delay(%s, %v): %v", d.ID, wait, err)
	}
}

// drain receives and deletes until nothing arrived for some visibility timeouts, and counts deliveries by body. It
// fails if a message keeps returning.
func (e *queueEnv) drain(t *testing.T) map[string]int {
	t.Helper()
	got := map[string]int{}
	for idle := time.Duration(0); idle < quiet*e.Visible; {
		ds := e.receive(t, seckill.MaxBatch)
		for _, d := range ds {
			if got[string(d.Body)]++; got[string(d.Body)] > 20 {
				t.Fatalf("%s was delivered more than 20 times in spite of being deleted", d.Body)
			}
			e.delete(t, d)
		}
		if len(ds) > 0 {
			idle = 0
			continue
		}
		e.Advance(pollWait)
		idle += pollWait
	}
	return got
}

// drained calls drain and checks that exactly these bodies arrived, once each if the queue is exact.
func (e *queueEnv) drained(t *testing.T, want ...string) {
	t.Helper()
	got := e.drain(t)
	for _, body := range want {
		switch n := got[body]; {
		case n == 0:
			t.Errorf("lost: %.200s", body)
		case n > 1 && e.Exact:
			t.Errorf("delivered %d times: %.200s", n, body)
		}
		delete(got, body)
	}
	for body := range got {
		t.Errorf("delivered, but not expected: %.200s", body)
	}
	if e.Exact {
		d := e.depth(t)
		if d.Visible+d.InFlight+d.Delayed != 0 {
			t.Errorf("depth of a drained queue: %+v", d)
		}
	}
}

func (e *queueEnv) depth(t *testing.T) seckill.Depth {
	t.Helper()
	d, err := e.Queue.Depth(t.Context())
	if err != nil {
		t.Fatalf("Depth: %v", err)
	}
	return d
}

// parked waits until the dead-letter queue has these bodies, and checks that it has no others. Unless the queue is
// exact, a body may occur twice.
func (e *queueEnv) parked(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	var got []string
	for range polls {
		var err error
		if got, err = e.Parked(t.Context()); err != nil {
			t.Fatalf("Parked: %v", err)
		}
		slices.Sort(got)
		if !e.Exact {
			got = slices.Compact(got)
		}
		if slices.Equal(got, want) {
			return
		}
		if e.Exact {
			break
		}
		e.Advance(pollWait)
	}
	t.Fatalf("parked:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
}

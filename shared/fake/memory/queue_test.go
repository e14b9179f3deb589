package memory_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

func TestQueueConforms(t *testing.T) {
	const visible = 5 * time.Second
	for name, opt := range map[string]memory.QueueOptions{
		"in order":         {},
		"shuffled":         {Shuffle: true, Seed: 1},
		"other limits":     {Name: "orders#1", Shuffle: true, Seed: 2, Visible: 2 * time.Second, MaxReceives: 3},
		"some duplicates":  {Shuffle: true, Seed: 3, Duplicate: 0.3, Visible: visible, MaxReceives: 6},
		"everything twice": {Shuffle: true, Seed: 4, Duplicate: 1, Visible: visible, MaxReceives: 6},
	} {
		t.Run(name, func(t *testing.T) {
			drivertest.Queue(t, func(*testing.T) drivertest.QueueEnv { return newEnv(opt) })
		})
	}
}

func newEnv(opt memory.QueueOptions) drivertest.QueueEnv {
	clock := newClock()
	q := memory.NewQueue(clock, opt)
	return drivertest.QueueEnv{
		Queue:       q,
		Advance:     func(d time.Duration) { clock.Advance(d) },
		Visible:     cmp.Or(opt.Visible, seckill.DefaultVisible),
		MaxReceives: cmp.Or(opt.MaxReceives, seckill.MaxReceives),
		SendRaw:     func(_ context.Context, body []byte) error { return q.SendRaw(body, 0) },
		Parked: func(context.Context) ([]string, error) {
			var bodies []string
			for _, p := range q.Parked() {
				bodies = append(bodies, string(p.Body))
			}
			return bodies, nil
		},
		Exact: opt.Duplicate == 0,
	}
}

func newClock() *memory.Clock { return memory.NewClock(time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)) }

func mustSend(t testing.TB, q *memory.Queue, delay time.Duration, bodies ...string) {
	t.Helper()
	for _, b := range bodies {
		must.OK(t, q.SendRaw([]byte(b), delay))
	}
}

func mustReceive(t testing.TB, q *memory.Queue, limit int) []seckill.Delivery {
	return must.Get(q.Receive(t.Context(), limit))
}

func mustDelete(t testing.TB, q *memory.Queue, d seckill.Delivery) {
	t.Helper()
	must.OK(t, q.Delete(t.Context(), d))
}

// order receives and deletes everything visible, one by one, and returns the bodies.
func order(t *testing.T, q *memory.Queue) (out []string) {
	t.Helper()
	for ds := mustReceive(t, q, 1); len(ds) > 0; ds = mustReceive(t, q, 1) {
		out = append(out, string(ds[0].Body))
		mustDelete(t, q, ds[0])
	}
	return out
}

func TestQueueOrderFollowsTheSeed(t *testing.T) {
	var sent []string
	for i := range 50 {
		sent = append(sent, fmt.Sprintf("m%02d", i))
	}
	run := func(opt memory.QueueOptions) []string {
		q := memory.NewQueue(newClock(), opt)
		mustSend(t, q, 0, sent...)
		return order(t, q)
	}
	if got := run(memory.QueueOptions{Seed: 9}); !slices.Equal(got, sent) {
		t.Errorf("without Shuffle: %q, want the order of sending", got)
	}
	a, b, c := run(memory.QueueOptions{Shuffle: true, Seed: 1}), run(memory.QueueOptions{Shuffle: true, Seed: 1}),
		run(memory.QueueOptions{Shuffle: true, Seed: 2})
	if !slices.Equal(a, b) {
		t.Errorf("one seed, two orders:\n%q\n%q", a, b)
	}
	if slices.Equal(a, sent) || slices.Equal(a, c) {
		t.Errorf("two seeds:\n%q\n%q\nwant them to differ, and from the order of sending", a, c)
	}
	slices.Sort(a)
	if !slices.Equal(a, sent) {
		t.Errorf("shuffled messages %q, want each once", a)
	}
}

func TestQueueDuplicates(t *testing.T) {
	clock := newClock()
	q := memory.NewQueue(clock, memory.QueueOptions{Duplicate: 1})
	mustSend(t, q, 0, "x")
	first := mustReceive(t, q, 10)
	second := mustReceive(t, q, 10) // while the first is in flight
	if len(first) != 1 || len(second) != 1 || second[0].ID != first[0].ID || second[0].Receives != 2 {
		t.Fatalf("deliveries %+v and %+v, want the same message twice", first, second)
	}
	if ds := mustReceive(t, q, 10); len(ds) != 0 {
		t.Fatalf("a third delivery in flight: %+v", ds)
	}
	mustDelete(t, q, second[0])
	clock.Advance(seckill.DefaultVisible) // it returns within one visibility timeout
	third := mustReceive(t, q, 10)
	if len(third) != 1 || third[0].ID != first[0].ID || third[0].Receives != 3 {
		t.Fatalf("after its deletion came %+v, want the message once more", third)
	}
	mustDelete(t, q, third[0])
	if at, ok := q.Next(); ok {
		t.Errorf("deleted twice, and still something at %v", at)
	}
}

func TestQueueParksWithReason(t *testing.T) {
	clock := newClock()
	q := memory.NewQueue(clock, memory.QueueOptions{MaxReceives: 1})
	mustSend(t, q, 0, "by hand", "by count")
	ds := mustReceive(t, q, 10)
	long := strings.Repeat("原因", 1_000)
	must.OK(t, q.Park(t.Context(), ds[0], long))
	ds[0].Body[0] = '!' // the parked copy must not share memory with it
	mustDelete(t, q, ds[0])
	clock.Advance(seckill.DefaultVisible)
	mustReceive(t, q, 10)
	want := []memory.ParkedMessage{{Body: []byte("by hand"), Reason: long[:999], Receives: 1, At: newClock().Now()},
		{Body: []byte("by count"), Reason: "received 1 times", Receives: 1, At: clock.Now()}}
	must.Equal(t, want, q.Parked(), "parked")
}

func TestQueueNext(t *testing.T) {
	ctx := context.Background()
	clock := newClock()
	start := clock.Now()
	q := memory.NewQueue(clock, memory.QueueOptions{})
	check := func(name string, want time.Time, wantOK bool) {
		t.Helper()
		if at, ok := q.Next(); !at.Equal(want) || ok != wantOK {
			t.Errorf("%s: Next %v, %v, want %v, %v", name, at, ok, want, wantOK)
		}
	}
	check("empty", time.Time{}, false)
	mustSend(t, q, 900*time.Second, "late")
	check("one delayed", start.Add(900*time.Second), true)
	mustSend(t, q, 10*time.Second, "early")
	check("one delayed less", start.Add(10*time.Second), true)
	clock.Advance(10 * time.Second)
	_, err := q.Depth(ctx) // Depth must not consume the signal that a message is there
	must.OK(t, err)
	check("due", clock.Now(), true)
	d := mustReceive(t, q, 10)[0]
	check("received", clock.Now().Add(seckill.DefaultVisible), true)
	must.OK(t, q.Delay(ctx, d, time.Hour))
	check("hidden for an hour", start.Add(900*time.Second), true)
	mustDelete(t, q, d)
	clock.Advance(890 * time.Second)
	mustDelete(t, q, mustReceive(t, q, 1)[0])
	check("all deleted", time.Time{}, false)
}

func TestQueueReadyIsPoked(t *testing.T) {
	ctx := context.Background()
	clock := newClock()
	q := memory.NewQueue(clock, memory.QueueOptions{})
	check := func(name string, want bool) {
		t.Helper()
		select {
		case <-q.Ready():
			if !want {
				t.Errorf("%s: poked", name)
			}
		default:
			if want {
				t.Errorf("%s: not poked", name)
			}
		}
	}
	check("empty", false)
	mustSend(t, q, 0, "a", "b")
	check("two sends", true)
	check("two sends, second look", false)
	a := mustReceive(t, q, 1)[0]
	check("one left behind", true)
	b := mustReceive(t, q, 1)[0]
	check("none left behind", false)
	mustSend(t, q, time.Minute, "c")
	check("a delayed send, for it may be the next due", true)
	must.OK(t, q.Delay(ctx, a, 0))
	check("shown again", true)
	must.OK(t, q.Park(ctx, b, "test"))
	mustDelete(t, q, b)
	check("parked and deleted", false)
	must.Get(q.Redrive(ctx))
	check("redriven", true)
}

func TestQueueSendRawTakesWhatSQSTakes(t *testing.T) {
	q := memory.NewQueue(newClock(), memory.QueueOptions{})
	taken := []string{"x", strings.Repeat("x", seckill.MaxMessage), "\t\n\r ", "\ufffd", "😀"}
	mustSend(t, q, 0, taken...)
	for _, body := range []string{"", strings.Repeat("x", seckill.MaxMessage+1), "a\x00b", "a\x1bb", "a\xffb",
		"half a character: \xe4\xb8", "a surrogate: \xed\xa0\x80", "no character: \ufffe", "nor: \uffff"} {
		if q.SendRaw([]byte(body), 0) == nil {
			t.Errorf("SendRaw took %.60q", body)
		}
	}
	if got := order(t, q); !slices.Equal(got, taken) {
		t.Errorf("then came %.60q", got)
	}
}

func TestQueueSharesNoMemoryWithCallers(t *testing.T) {
	clock := newClock()
	q := memory.NewQueue(clock, memory.QueueOptions{})
	body := []byte("body")
	must.OK(t, q.SendRaw(body, 0))
	body[0] = '!'
	first := mustReceive(t, q, 1)[0]
	if string(first.Body) != "body" {
		t.Errorf("received %q: the queue kept the sender's bytes", first.Body)
	}
	first.Body[0] = '!'
	clock.Advance(seckill.DefaultVisible)
	if got := mustReceive(t, q, 1)[0]; string(got.Body) != "body" {
		t.Errorf("received %q: the queue gave away its own bytes", got.Body)
	}
}

func TestQueueHoldsNoMoreThanItsCapacity(t *testing.T) {
	ctx := context.Background()
	q := memory.NewQueue(newClock(), memory.QueueOptions{Capacity: 3})
	for range 20 { // deleted messages leave nothing behind
		mustSend(t, q, 0, "a", "b", "c")
		if got := order(t, q); len(got) != 3 {
			t.Fatalf("received %q, want three", got)
		}
	}
	mustSend(t, q, 0, "a", "b")
	d := mustReceive(t, q, 1)[0]
	must.OK(t, q.Park(ctx, d, "test")) // one more message fits
	if q.SendRaw([]byte("c"), 0) == nil || q.Park(ctx, d, "test") == nil {
		t.Error("a full queue took a message")
	}
	mustDelete(t, q, d)
	mustSend(t, q, 0, "c")
	depth, err := q.Depth(ctx)
	if want := (seckill.Depth{Visible: 2, Parked: 1}); err != nil || depth != want {
		t.Errorf("depth %+v, error %v, want %+v", depth, err, want)
	}
}

func TestNewQueueRefusesOptionsOutOfRange(t *testing.T) {
	for _, opt := range []memory.QueueOptions{{Visible: -1}, {Visible: 13 * time.Hour}, {MaxReceives: -1},
		{Capacity: -1}, {Duplicate: -0.1}, {Duplicate: 1.1}} {
		t.Run(fmt.Sprintf("%+v", opt), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			memory.NewQueue(newClock(), opt)
		})
	}
}

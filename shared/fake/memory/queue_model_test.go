package memory_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// sentMessage is the model's state of a message.
type sentMessage struct {
	due      time.Time // it must not be received earlier
	receives int
	receipt  string // the newest receipt
	deleted  bool   // deleted by its newest receipt
	dead     bool   // parked by the queue itself
}

const parkReason = "by the model"

// queueModel runs a queue at random and compares it with a plain map of what was sent.
type queueModel struct {
	clock  *memory.Clock
	q      *memory.Queue
	opt    memory.QueueOptions
	exact  bool
	sent   map[string]*sentMessage // by body; bodies are unique
	held   []seckill.Delivery      // every delivery so far, stale ones included
	parked map[string]bool         // parked by Park, which copies
}

func (m *queueModel) send(t *rapid.T) {
	delay := time.Duration(rapid.SampledFrom([]int{0, 0, 1, 30, 900}).Draw(t, "delay_seconds")) * time.Second
	body := fmt.Sprintf("message %d", len(m.sent))
	if err := m.q.SendRaw([]byte(body), delay); err != nil {
		t.Fatalf("SendRaw(%q, %v): %v", body, delay, err)
	}
	m.sent[body] = &sentMessage{due: m.clock.Now().Add(delay)}
}

func (m *queueModel) receive(t *rapid.T) {
	limit := rapid.IntRange(1, seckill.MaxBatch).Draw(t, "limit")
	m.take(t, limit)
}

// take receives, compares each delivery with the model and returns the deliveries.
func (m *queueModel) take(t *rapid.T, limit int) []seckill.Delivery {
	now := m.clock.Now()
	ds, err := m.q.Receive(context.Background(), limit)
	if err != nil || len(ds) > limit {
		t.Fatalf("Receive(%d): %d messages, error %v", limit, len(ds), err)
	}
	for _, d := range ds {
		s := m.sent[string(d.Body)]
		switch {
		case s == nil:
			t.Fatalf("received %q, which was not sent", d.Body)
		case m.exact && s.deleted:
			t.Fatalf("received %q, which was deleted", d.Body)
		case (m.exact || s.receives == 0) && now.Before(s.due):
			t.Fatalf("received %q at %v, want not before %v", d.Body, now, s.due)
		case d.Receives != s.receives+1:
			t.Fatalf("received %q with receives %d, want %d", d.Body, d.Receives, s.receives+1)
		case d.Receives > m.opt.MaxReceives:
			t.Fatalf("received %q with receives %d, want at most %d", d.Body, d.Receives, m.opt.MaxReceives)
		}
		s.receives, s.receipt, s.due = d.Receives, d.Receipt, now.Add(m.opt.Visible)
		m.held = append(m.held, d)
	}
	m.noteDead(t)
	return ds
}

// noteDead records which messages the queue has parked by itself.
func (m *queueModel) noteDead(t *rapid.T) {
	for _, p := range m.q.Parked() {
		s := m.sent[string(p.Body)]
		if p.Reason == parkReason || s.dead {
			continue
		}
		if s.receives != m.opt.MaxReceives || m.exact && s.deleted {
			t.Fatalf("the queue parked %q: %+v", p.Body, *s)
		}
		s.dead = true
	}
}

// old draws any earlier delivery, preferring the newest.
func (m *queueModel) old(t *rapid.T) (seckill.Delivery, *sentMessage) {
	if len(m.held) == 0 {
		t.Skip("nothing was received yet")
	}
	back := rapid.IntRange(0, len(m.held)-1).Draw(t, "back")
	d := m.held[len(m.held)-1-back]
	return d, m.sent[string(d.Body)]
}

func (m *queueModel) delete(t *rapid.T) {
	d, s := m.old(t)
	if err := m.q.Delete(context.Background(), d); err != nil {
		t.Fatalf("Delete(%q): %v", d.Receipt, err)
	}
	s.deleted = s.deleted || d.Receipt == s.receipt && !s.dead
}

func (m *queueModel) delay(t *rapid.T) {
	d, s := m.old(t)
	wait := time.Duration(rapid.SampledFrom([]int{0, 1, 60}).Draw(t, "wait_seconds")) * time.Second
	now := m.clock.Now()
	err := m.q.Delay(context.Background(), d, wait)
	inFlight := d.Receipt == s.receipt && !s.deleted && !s.dead && now.Before(s.due)
	if m.exact && (err == nil) != inFlight {
		t.Fatalf("Delay(%q, %v): %v, in flight %v", d.Receipt, wait, err, inFlight)
	}
	if err == nil {
		s.due = now.Add(wait)
	}
}

func (m *queueModel) park(t *rapid.T) {
	d, s := m.old(t)
	if m.parked[string(d.Body)] {
		t.Skip("parked already")
	}
	if err := m.q.Park(context.Background(), d, parkReason); err != nil {
		t.Fatalf("Park: %v", err)
	}
	m.parked[string(d.Body)] = true
	if err := m.q.Delete(context.Background(), d); err != nil {
		t.Fatalf("Delete(%q): %v", d.Receipt, err)
	}
	s.deleted = s.deleted || d.Receipt == s.receipt && !s.dead
}

func (m *queueModel) advance(t *rapid.T) {
	m.clock.Advance(time.Duration(rapid.SampledFrom([]int{1, 999, 1_000, 15_000, 29_999, 30_000, 900_000}).Draw(t,
		"ms")) * time.Millisecond)
}

// check compares depth and times with the model after every step.
func (m *queueModel) check(t *rapid.T) {
	depth, err := m.q.Depth(context.Background())
	if err != nil {
		t.Fatalf("Depth: %v", err)
	}
	alive, visible, parked := 0, 0, len(m.parked)
	for _, s := range m.sent {
		if s.dead {
			parked++
		} else if !s.deleted {
			alive++
			if !m.clock.Now().Before(s.due) {
				visible++
			}
		}
	}
	total := depth.Visible + depth.InFlight + depth.Delayed
	if depth.Parked != parked || m.exact && (total != alive || depth.Visible != visible) || total < alive {
		t.Fatalf("depth %+v, want %d messages, %d of them visible, and %d parked", depth, alive, visible, parked)
	}
	if at, ok := m.q.Next(); ok != (total > 0) || ok && at.After(m.clock.Now()) != (depth.Visible == 0) {
		t.Fatalf("Next %v, %v with depth %+v at %v", at, ok, depth, m.clock.Now())
	}
}

// finish receives and deletes to the end: every message must be deleted, parked or delivered.
func (m *queueModel) finish(t *rapid.T) {
	for {
		for ds := m.take(t, seckill.MaxBatch); len(ds) > 0; ds = m.take(t, seckill.MaxBatch) {
			for _, d := range ds {
				if err := m.q.Delete(context.Background(), d); err != nil {
					t.Fatalf("Delete(%q): %v", d.Receipt, err)
				}
				m.sent[string(d.Body)].deleted = true
			}
		}
		at, ok := m.q.Next()
		if !ok {
			break
		}
		m.clock.Advance(at.Sub(m.clock.Now()))
	}
	parked := map[string]int{}
	for _, p := range m.q.Parked() {
		parked[string(p.Body)]++
	}
	for body, s := range m.sent {
		want := 0 // copies in the dead-letter queue
		if m.parked[body] {
			want++
		}
		if s.dead {
			want++
		}
		if !s.deleted && !s.dead || parked[body] != want {
			t.Errorf("%q ended with %d copies in the dead-letter queue, want %d: %+v", body, parked[body], want, *s)
		}
	}
}

func TestQueueLosesNothing(t *testing.T) {
	tests := []struct {
		name string
		opt  memory.QueueOptions
	}{
		{"in order", memory.QueueOptions{Visible: 30 * time.Second, MaxReceives: 3}},
		{"shuffled", memory.QueueOptions{Visible: 30 * time.Second, MaxReceives: 3, Shuffle: true}},
		{"repeating", memory.QueueOptions{Visible: 30 * time.Second, MaxReceives: 5, Shuffle: true, Duplicate: 0.4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, rapid.MakeCheck(func(t *rapid.T) {
			opt := tt.opt
			opt.Seed = rapid.Uint64().Draw(t, "seed")
			clock := newClock()
			m := &queueModel{clock: clock, q: memory.NewQueue(clock, opt), opt: opt, exact: opt.Duplicate == 0,
				sent: map[string]*sentMessage{}, parked: map[string]bool{}}
			t.Repeat(map[string]func(*rapid.T){
				"send": m.send, "receive": m.receive, "delete": m.delete, "delay": m.delay, "park": m.park,
				"advance": m.advance, "": m.check,
			})
			m.finish(t)
		}))
	}
}

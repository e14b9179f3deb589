package local

import (
	"strconv"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestRecent: events are remembered while a pass is good, and the oldest is forgotten when there are too many.
func TestRecent(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	r := newRecent(clock)
	wants := func(when, user string, sequences ...int) {
		t.Helper()
		got := r.Of(user)
		if len(got) != len(sequences) {
			t.Fatalf("%s: %d events, want %d", when, len(got), len(sequences))
		}
		for i, e := range got {
			if e.Sequence != sequences[i] {
				t.Errorf("%s: event %d has sequence %d, want %d", when, i, e.Sequence, sequences[i])
			}
		}
	}
	r.Add(seckill.OrderEvent{User: "7", Sequence: 1})
	clock.Advance(seckill.PassLife - time.Second)
	r.Add(seckill.OrderEvent{User: "7", Sequence: 2})
	wants("all", "7", 1, 2)
	clock.Advance(time.Second)
	wants("the first one's time is over, and nothing came", "7", 2)
	r.Add(seckill.OrderEvent{User: "8", Sequence: 1})
	wants("the first one's time is over", "7", 2)
	for i := range maxRecent - 1 {
		r.Add(seckill.OrderEvent{User: "x" + strconv.Itoa(i)})
	}
	wants("too many", "7")
	wants("the second oldest stays", "8", 1)
	if len(r.of) != maxRecent || len(r.ends) != maxRecent {
		t.Errorf("%d users and %d ends, want %d", len(r.of), len(r.ends), maxRecent)
	}
}

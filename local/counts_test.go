package local_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// TestCounts checks an item's counts, of what happened before somebody asked for them and after, with and without
// events, and that a run which nobody asks counts nothing.
func TestCounts(t *testing.T) {
	t.Parallel()
	for name, events := range map[string]string{"alone": "", "beside events": filepath.Join(t.TempDir(), "events")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, local.Options{Items: []seckill.Listing{live("7", 10, 1), live("8", 10, 1)}, Events: events})
			paid := func(user string) {
				t.Helper()
				_, pay := w.bought(user, "7")
				if a := w.payAtCashier(pay); a.status != 200 {
					t.Fatal(a)
				}
				w.awaitState(user, "7", seckill.Paid)
			}
			paid("1001")
			w.bought("1002", "7")
			w.pass(seckill.DefaultHold + time.Minute)
			w.awaitState("1002", "7", seckill.Expired)
			if n := w.Meter.Counts()[seckill.EventCounted]; n != 0 {
				t.Errorf("%d orders were counted for nobody", n)
			}
			w.counts("7", seckill.Count{Placed: 2, Paid: 1, GivenBack: 1})
			w.counts("8", seckill.Count{})

			paid("1003")
			w.bought("1001", "8")
			w.waitIdle()
			n := w.Meter.Counts()[seckill.EventCounted]
			now := seckill.Count{Placed: 3, Paid: 2, GivenBack: 1}
			w.counts("7", now)
			w.counts("8", seckill.Count{Placed: 1})
			if w.Meter.Counts()[seckill.EventCounted] != n {
				t.Error("orders are counted only by the second question")
			}
			for cursor, steps := "", 0; steps == 0 || cursor != ""; steps++ {
				step, err := gives[operator.Recounted](w, &operator.Recount{Item: "7", Cursor: cursor})
				if err != nil || steps > 9 {
					t.Fatal(steps, err)
				}
				cursor = step.Next
				w.Clock.Advance(time.Duration(step.Wait) * time.Second)
			}
			w.counts("7", now)
		})
	}
}

// counts checks an item's counts, in all and by minute.
func (w *shopTest) counts(item string, want seckill.Count) {
	w.t.Helper()
	c, err := gives[operator.Counts](w, &operator.ReadCounts{Item: item})
	var minutes seckill.Count
	for _, m := range c.Minutes {
		minutes = minutes.Plus(m.Count)
	}
	if err != nil || c.Recounting || c.Total != want || minutes != want {
		w.t.Errorf("item %s: %+v, %v, want %+v", item, c, err, want)
	}
}

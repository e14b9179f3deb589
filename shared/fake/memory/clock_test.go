package memory_test

import (
	"testing"
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
)

func TestClockStandsStillUntilAdvanced(t *testing.T) {
	start := time.Date(2026, 11, 11, 20, 0, 0, 123_456_789, time.FixedZone("CST", 8*3600))
	want := time.Date(2026, 11, 11, 12, 0, 0, 123_000_000, time.UTC)
	c := memory.NewClock(start)
	// == instead of Equal, because location, digits and monotonic part must be those that storage returns.
	if got := c.Now(); got != want {
		t.Errorf("now %v, want %v", got, want)
	}
	want = want.Add(90 * time.Minute)
	if got := c.Advance(90 * time.Minute); got != want {
		t.Errorf("Advance returned %v, want %v", got, want)
	}
	if got := c.Now(); got != want {
		t.Errorf("after Advance %v, want %v", got, want)
	}
}

func TestRealClockRunsAheadByWhatWasAdded(t *testing.T) {
	c := memory.NewRealClock()
	c.Advance(time.Hour)
	c.Advance(time.Minute)
	low := time.Now().Add(61*time.Minute - time.Millisecond)
	got := c.Now()
	high := time.Now().Add(61 * time.Minute)
	if got.Before(low) || got.After(high) {
		t.Errorf("now %v, want between %v and %v", got, low, high)
	}
	if got != time.UnixMilli(got.UnixMilli()).UTC() {
		t.Errorf("now %#v, want UTC milliseconds without a monotonic part", got)
	}
}

func TestClockWakesEveryWaiterOnceForEachAdvance(t *testing.T) {
	for name, c := range map[string]*memory.Clock{"standing": memory.NewClock(time.Unix(0, 0)),
		"running": memory.NewRealClock()} {
		t.Run(name, func(t *testing.T) {
			a, b := c.Changed(), c.Changed()
			if closed(a) {
				t.Fatal("changed before Advance")
			}
			c.Advance(time.Second)
			if !closed(a) || !closed(b) {
				t.Error("a waiter was not woken")
			}
			if closed(c.Changed()) {
				t.Error("changed again without Advance")
			}
		})
	}
}

func TestClockRefusesToGoBack(t *testing.T) {
	c := memory.NewClock(time.Unix(100, 0))
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
		if got := c.Now(); got.Unix() != 100 {
			t.Errorf("now %v, want it unmoved", got)
		}
	}()
	c.Advance(-time.Millisecond)
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

package functions_test

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Goals for an instance. Memory is checked here; times are only printed, because on a machine that is busy with other
// tests they prove nothing.
const (
	residentGoal = 64 << 20
	growthGoal   = 16 << 20 // while manyEvents are served; half of it is the heap's own
	starts       = 10       // of each function, for a median
)

// manyEvents is how many events an instance serves while its memory is watched.
var manyEvents = flag.Int("events", 2500, "events of TestMemoryAfterManyEvents and TestMemoryOfBatches")

// TestMemoryAfterManyEvents checks that an instance which has served many purchases, three in four of them refused,
// has not grown.
func TestMemoryAfterManyEvents(t *testing.T) {
	manyEvents := *manyEvents
	w := newDeployment(t)
	w.loaded(t, live("2002", manyEvents/4))
	f := w.start(t, "buy")
	first := f.Ready()
	before := f.Resident()
	begun := time.Now()
	sold := 0
	for i := range manyEvents {
		event := bytes.ReplaceAll(purchase(t, "2002", fmt.Sprint(1001+i)), []byte("203.0.113.7"),
			fmt.Appendf(nil, "203.0.%d.%d", i/256, i%256)) // all from one network would be too many
		if r := ask(t, f, event); r.Status == 200 {
			sold++
		} else if r.text("code") != "sold_out" {
			t.Fatalf("purchase %d: %+v", i, r)
		}
	}
	took := time.Since(begun)
	if sold != manyEvents/4 {
		t.Errorf("%d sold, want %d", sold, manyEvents/4)
	}
	after := f.Resident()
	t.Logf(
		"buy: first event after %.1f ms; resident %.1f MiB at the start, %.1f MiB after %d events; %.2f ms an event, "+
			"this test's part included",
		first.Seconds()*1000, mib(before), mib(after), manyEvents, took.Seconds()*1000/float64(manyEvents))
	grown(t, before, after)
}

// grown checks an instance's memory before and after many events.
func grown(t *testing.T, before, after int) {
	t.Helper()
	if after > residentGoal || after-before > growthGoal {
		t.Errorf("resident %.1f MiB, %.1f at the start; want at most %.0f, and %.0f more", mib(after), mib(before),
			mib(residentGoal), mib(growthGoal))
	}
}

// TestStart prints how long each function takes from process start to its first request for an event, including its
// calls at init. It runs with -v only.
func TestStart(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("it only prints")
	}
	w := newDeployment(t)
	for _, step := range steps {
		took := make([]time.Duration, starts)
		var resident int
		for i := range took {
			f := w.start(t, step)
			took[i], resident = f.Ready(), f.Resident()
		}
		slices.Sort(took)
		t.Logf("%-8s ready after %.1f ms (median of %d, fastest %.1f), resident %.1f MiB", step,
			took[starts/2].Seconds()*1000, starts, took[0].Seconds()*1000, mib(resident))
	}
}

func mib(n int) float64 { return float64(n) / (1 << 20) }

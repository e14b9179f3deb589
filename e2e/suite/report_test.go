package suite

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/contracttest"
)

// report prints at the end what was called, how fast, and how long each case took.
var report = &figures{failed: map[string]int{}}

type figures struct {
	mu          sync.Mutex
	calls       int
	failed      map[string]int // 5xx answers by status and code
	first, last time.Time
	buys        []time.Duration
	cases       []string
}

// call records an answer.
func (f *figures) call(method, path string, a contracttest.Answer, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if f.calls++; f.calls == 1 {
		f.first = now.Add(-took)
	}
	f.last = now
	if a.Status >= 500 {
		f.failed[strings.TrimSpace(fmt.Sprint(a.Status, " ", a.Text("code")))]++
	}
	if method == "POST" && path == "/seckill/buy" {
		f.buys = append(f.buys, took)
	}
}

// timed records how long a case takes; more returns additional text at its end.
func (f *figures) timed(t *testing.T, more func() string) {
	t.Helper()
	began := time.Now()
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if t.Skipped() {
			return
		}
		line := fmt.Sprintf("%-28s %6.1f s", strings.TrimPrefix(t.Name(), "Test"), time.Since(began).Seconds())
		if more != nil {
			line += "  " + more()
		}
		f.cases = append(f.cases, line)
	})
}

func (f *figures) print(w io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range f.cases {
		fmt.Fprintln(w, line)
	}
	if f.calls == 0 {
		return
	}
	took := f.last.Sub(f.first)
	fmt.Fprintf(w, "%d calls in %.1f s, %.0f/s, waits included; answered 5xx: %v; %s\n", f.calls, took.Seconds(),
		float64(f.calls)/took.Seconds(), f.failed, percentiles("buy", f.buys))
}

// percentiles formats the median and the 99th percentile.
func percentiles(what string, all []time.Duration) string {
	if len(all) == 0 {
		return "no " + what
	}
	all = slices.Clone(all)
	slices.Sort(all)
	at := func(p int) time.Duration { return all[min(len(all)*p/100, len(all)-1)].Round(time.Millisecond) }
	return fmt.Sprintf("%d %s: p50 %v, p99 %v", len(all), what, at(50), at(99))
}

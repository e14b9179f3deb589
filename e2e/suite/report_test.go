package suite

import (
	"fmt"
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

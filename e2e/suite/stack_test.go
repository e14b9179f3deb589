package suite

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
)

// Time limits of the suite, far above what an idle machine needs: a target may be ten times slower.
const (
	callTimeout = time.Minute // of one HTTP call
	pollEvery   = 100 * time.Millisecond
	lanes       = 8 // concurrent cases
)

// description is the file that e2e/target writes.
type description struct {
	Outputs  map[string]string `json:"outputs"`
	Base     string            `json:"url"`      // of the API
	Redis    string            `json:"redis"`    // host:port; empty if the tests cannot reach it
	Region   string            `json:"region"`   // of the stack
	Endpoint string            `json:"endpoint"` // of AWS's stand-in; empty for AWS itself
	// shell command that freezes or kills (action $2) the processes of the function named $1; empty if no command can
	Kill string `json:"kill"`
	// shell command that deploys again with the parameters that follow it; empty if no command can
	Update string `json:"update"`
	Limits string `json:"limits"` // full or small
	Target string `json:"target"`
}

// known is what is known of every stack.
type known struct {
	description
	*contracttest.Client
	secret   string          // signs the tokens
	key      string          // of the CDN; "" if none is needed
	operator operator.Client // of the back office
	alone    sync.Mutex      // see undisturbed
	shown    sync.Mutex      // held by what a browser shows for minutes, and by what changes the whole stack
}

// full reports whether to run the cases with many clients.
func (s *known) full() bool { return s.Limits == "full" }

// clients returns the largest number of concurrent calls.
func (s *known) clients() int {
	if s.full() {
		return 32
	}
	return 8
}

// undisturbed separates cases that kill functions from cases that need them alive for a moment.
func (s *known) undisturbed(do func()) {
	s.alone.Lock()
	defer s.alone.Unlock()
	do()
}

// needs skips a case if the file says that the target lacks what it needs.
func (s *known) needs(t *testing.T, has bool, what string) {
	t.Helper()
	if !has {
		t.Skipf("skipped: %s (target %s, limits %s)", what, s.Target, s.Limits)
	}
}

// Ids, each used once by any run. Items have 19 digits, more than a float64 can represent.
var (
	runID   = rand.Int64N(200_000_000_000)
	counter atomic.Int64
)

func newItemID() string {
	return strconv.FormatInt(9_000_000_000_000_000_000+runID*1_000_000+counter.Add(1), 10)
}

// newShoppers reserves the ids of n shoppers and returns the first.
func newShoppers(n int) int64 {
	return 1_000_000_000_000_000_000 + runID*1_000_000 + counter.Add(int64(n)) - int64(n) + 1
}

// background returns a test's context that does not end before its clean-up.
func background(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }

// eventually polls until holds returns "" instead of what is missing.
func eventually(t *testing.T, what string, holds func() string) {
	t.Helper()
	began, told := time.Now(), time.Now()
	for {
		asked := time.Now()
		missing := holds()
		if missing == "" {
			return
		}
		if time.Since(began) > patience {
			t.Fatalf("no %s within %v: %s", what, patience, missing)
		}
		if time.Since(told) > 15*time.Second {
			told = time.Now()
			t.Logf("waiting for %s for %.0f s: %.160s", what, time.Since(began).Seconds(), missing)
		}
		rest(background(t), asked)
	}
}

// rest pauses a poll twice as long as its last ask took: an ask may read whole tables, and must not slow a target down.
func rest(ctx context.Context, asked time.Time) { pause(ctx, max(pollEvery, 2*time.Since(asked))) }

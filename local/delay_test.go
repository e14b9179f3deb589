package local

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestDelayedRefusals: refusals of a caller wait, at most maxDelayed of them, and nothing else does.
func TestDelayedRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := delayed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			status, _ := strconv.Atoi(r.URL.Path[1:])
			w.WriteHeader(status)
		}))
		ask := func(path string) time.Duration {
			began := time.Now()
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil))
			return time.Since(began)
		}
		for path, want := range map[string]time.Duration{"/200": 0, "/409": 0, "/425": 0, "/503": 0,
			"/400": refusalDelay, "/401": refusalDelay, "/403": refusalDelay, "/422": refusalDelay,
			"/429": refusalDelay} {
			if got := ask(path); got != want {
				t.Errorf("%s took %v, want %v", path, got, want)
			}
		}
		var all sync.WaitGroup
		var atOnce atomic.Int64
		for range maxDelayed + 50 {
			all.Go(func() {
				if ask("/401") == 0 {
					atOnce.Add(1)
				}
			})
		}
		all.Wait()
		if got := atOnce.Load(); got != 50 {
			t.Errorf("%d of %d went out undelayed, want 50", got, maxDelayed+50)
		}
		if got := ask("/401"); got != refusalDelay {
			t.Errorf("afterwards one took %v", got)
		}
	})
}

package system

import (
	"context"
	"time"
)

// Pause waits. It says false at once when the context's time would be over by then, and when the context ends
// meanwhile.
func Pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

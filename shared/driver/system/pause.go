package system

import (
	"context"
	"time"
)

// Pause waits for d. It returns false at once if the context's deadline comes first, and false if the context ends
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

package system_test

import (
	"sync/atomic"
	"testing"

	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// TestSeveral: each number is done once, however many there are.
func TestSeveral(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 16, 100} {
		done := make([]atomic.Int64, n)
		system.Several(16)(n, func(i int) { done[i].Add(1) })
		for i := range done {
			must.Equal(t, 1, done[i].Load(), i, n, "was done", "times")
		}
	}
}

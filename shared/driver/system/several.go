package system

import (
	"sync"
	"sync/atomic"
)

// Several returns a function that calls do for 0 to n-1, at most limit at once, and returns when all have ended. With a
// limit of 1 it calls do in order, in the caller's goroutine.
func Several(limit int) func(n int, do func(i int)) {
	if limit == 1 {
		return func(n int, do func(i int)) {
			for i := range n {
				do(i)
			}
		}
	}
	return func(n int, do func(i int)) {
		var next atomic.Int64
		var running sync.WaitGroup
		for range min(n, limit) {
			running.Go(func() {
				for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
					do(i)
				}
			})
		}
		running.Wait()
	}
}

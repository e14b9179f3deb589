package local

import (
	"context"
	"sync/atomic"
	"time"
)

// worker does one kind of work: at its start, when ready fires, when next is due, and when the clock was moved. It
// waits in between.
type worker struct {
	step  func(ctx context.Context, stop <-chan struct{}) (more bool)
	next  func() (time.Time, bool) // when work is due; false if time alone brings none
	ready <-chan struct{}          // may be nil
	due   func(now time.Time) bool // work could begin now
}

// activity counts running workers, for WaitIdle.
type activity struct {
	busy  atomic.Int64
	turns atomic.Uint64 // steps that have begun
}

func (a *activity) begin() {
	a.busy.Add(1)
	a.turns.Add(1)
}

func (a *activity) end() { a.busy.Add(-1) }

package sim

import "iter"

// routine is a coroutine that runs the bodies of one process after another: with one for each process, each stack would
// grow anew.
type routine struct {
	body  func()
	yield func(ended bool) bool
	next  func() (ended, ok bool)
	stop  func()
}

// routine is one that has nothing to do.
func (s *Sim) routine() *routine {
	if n := len(s.idle); n > 0 {
		r := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return r
	}
	r := &routine{}
	r.next, r.stop = iter.Pull(func(yield func(bool) bool) {
		r.yield = yield
		for {
			r.live()
			if !yield(true) {
				return
			}
		}
	})
	return r
}

// live runs a body until it ends or dies.
func (r *routine) live() {
	defer func() {
		if thrown := recover(); thrown != nil {
			if _, dead := thrown.(death); !dead {
				panic(thrown)
			}
		}
	}()
	r.body()
}

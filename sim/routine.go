package sim

// routine is a coroutine that runs the bodies of one process after another: with one for each process, each stack would
// grow anew.
type routine struct {
	body  func()
	yield func(ended bool) bool
	next  func() (ended, ok bool)
	stop  func()
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

// death is what a dying process panics with.
type death struct{}

package sim

// routine is a coroutine that runs the bodies of successive processes: with one coroutine per process, each stack
// would have to grow again.
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

// death is the panic value of a dying process.
type death struct{}

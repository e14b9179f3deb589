package account

import (
	"fmt"
	"math"
	"sync"
)

// Names of limits in Counts.
const (
	OfConcurrency = "Lambda: concurrent executions"
	OfGrowth      = "Lambda: instances a function gains"
	OfInvocations = "Lambda: invocations a second"
)

// Lambda is the account's concurrency: a function with a reservation has its own pool; the others share what no
// reservation takes.
type Lambda struct {
	limits   Limits
	clock    Clock
	counts   *counts
	reserved map[string]float64

	mu      sync.Mutex
	running map[string]float64 // executions, by pool
	growth  map[string]*bucket // by function
	calls   map[string]*bucket // by pool
}

const unreserved = "" // the pool of functions without a reservation

// newLambda returns the pools of an account. Reservations have the scale of these limits. If they leave less than
// Limits.Unreserved, the error is Lambda's own, and the stack cannot be deployed.
func (a *Account) newLambda(reserved map[string]float64) (*Lambda, error) {
	l := &Lambda{
		limits:   a.limits,
		clock:    a.clock,
		counts:   &a.counts,
		reserved: reserved,
		running:  map[string]float64{},
		growth:   map[string]*bucket{},
		calls:    map[string]*bucket{},
	}
	if len(reserved) > 0 && l.rest() < a.limits.Unreserved {
		//nolint:staticcheck // Lambda's own text, with its full stop
		return nil, fmt.Errorf("InvalidParameterValueException: Specified ReservedConcurrentExecutions for function "+
			"decreases account's UnreservedConcurrentExecution below its minimum value of [%v].", a.limits.Unreserved)
	}
	return l, nil
}

// rest returns what no reservation takes.
func (l *Lambda) rest() float64 {
	rest := l.limits.Concurrency
	for _, n := range l.reserved {
		rest -= n
	}
	return math.Max(0, rest)
}

// pool returns a function's pool and its size.
func (l *Lambda) pool(function string) (string, float64) {
	if n, ok := l.reserved[function]; ok {
		return function, n
	}
	return unreserved, l.rest()
}

// Begin requests an execution of a function; cold: in an instance that must be started for it. The caller must call
// end when it is over. A refusal takes nothing: Lambda answers TooManyRequestsException.
func (l *Lambda) Begin(function string, cold bool) (end func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pool, size := l.pool(function)
	if l.calls[pool] == nil {
		l.calls[pool] = aSecond(l.clock, l.limits.PerInstance*size)
	}
	if l.growth[function] == nil {
		l.growth[function] = newBucket(l.clock, l.limits.Growth/GrowthTime.Seconds(), l.limits.Growth)
	}
	refused := func(limit string) (func(), bool) {
		l.counts.add(limit, false)
		return nil, false
	}
	switch {
	case l.running[pool]+1 > size:
		return refused(OfConcurrency)
	case !l.calls[pool].open():
		return refused(OfInvocations)
	case cold && !l.growth[function].take():
		return refused(OfGrowth)
	}
	l.calls[pool].charge(1)
	l.running[pool]++
	l.counts.add(OfConcurrency, true)
	if cold {
		l.counts.add(OfGrowth, true)
	}
	return sync.OnceFunc(func() {
		l.mu.Lock()
		l.running[pool]--
		l.mu.Unlock()
	}), true
}

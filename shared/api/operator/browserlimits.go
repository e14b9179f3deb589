package operator

import (
	"net/http"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/api/bucket"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/seckill"
)

// Rates, in the memory of one process. Staff sign in a few times a day, several behind one address.
var (
	signings = bucket.Rate{Every: 2 * time.Second, Burst: 20}
	failures = bucket.Rate{Every: time.Minute, Burst: 20} // entries of the audit log, whoever fails
)

const (
	networks = 1024 // networks that a process remembers
	everyone = "*"
)

// Waits of people who come back from the issuer.
const (
	busyWait = 3 * time.Second // of one call of the issuer
	awayWait = 30 * time.Second
)

// limits bound how often a network tries to sign in, and how many failures the audit log gets. They are safe for
// concurrent use.
type limits struct {
	clock    seckill.Clock
	signings *bucket.Buckets // by network
	failures *bucket.Buckets // one

	mu        sync.Mutex
	busy      bool      // a code is being spent
	awayUntil time.Time // the issuer did not answer
}

func newLimits(clock seckill.Clock) *limits {
	return &limits{clock: clock, signings: bucket.New(signings, networks), failures: bucket.New(failures, 1)}
}

// exchange lets one code be spent at a time, and no code for a while after the issuer did not answer. Otherwise a
// caller could keep every instance waiting for the issuer, and commands would find no free instance. wait is 0, or how
// long the caller has to wait.
func (l *limits) exchange() (wait time.Duration, away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait := l.awayUntil.Sub(l.clock.Now()); wait > 0 {
		return wait, true
	}
	if l.busy {
		return busyWait, false
	}
	l.busy = true
	return 0, false
}

// exchanged ends an exchange.
func (l *limits) exchanged(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy = false; away {
		l.awayUntil = l.clock.Now().Add(awayWait)
	}
}

// ofNetwork refuses a sign-in whose network tries too often. An address of this machine or of a private network has no
// limit, as on the public routes.
func (l *limits) ofNetwork(r *http.Request) error {
	from, ok := httpapi.NetworkOf(r.RemoteAddr)
	if !ok || from.Addr().IsLoopback() || from.Addr().IsPrivate() {
		return nil
	}
	key := from.Addr().As16()
	if wait := l.signings.TakeBytes(key[:], l.clock.Now()); wait > 0 {
		return &seckill.Error{Code: seckill.CodeTooMany, Token: seckill.LimitNetwork, RetryAfter: wait}
	}
	return nil
}

// recorded reports whether the audit log gets one more failure.
func (l *limits) recorded() bool { return l.failures.Take(everyone, l.clock.Now()) == 0 }

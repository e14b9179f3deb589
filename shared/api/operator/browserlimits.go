package operator

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/api/bucket"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/seckill"
)

// Rates, in the memory of one process. Staff sign in a few times a day, several behind one address.
var (
	signings  = bucket.Rate{Every: 2 * time.Second, Burst: 20}
	failures  = bucket.Rate{Every: time.Minute, Burst: 20} // entries of the audit log, whoever fails
	spendings = bucket.Rate{Every: signInLife, Burst: 1}   // codes of one sign-in
)

const (
	networks = 1024 // networks that a process remembers, and sign-ins that were tried
	everyone = "*"
)

// Waits of people who come back from the issuer.
const (
	turnWait = 2 * time.Second // for whoever is signed in before
	busyWait = 3 * time.Second // of one call of the issuer
	awayWait = 30 * time.Second
)

// limits bound how often a network tries to sign in, and how many failures the audit log gets. They are safe for
// concurrent use.
type limits struct {
	clock    seckill.Clock
	signings *bucket.Buckets // by network
	spent    *bucket.Buckets // by sign-in: this process asks for no second code of it
	failures *bucket.Buckets // one
	turn     chan struct{}   // holds one while a code is being spent

	mu        sync.Mutex
	awayUntil time.Time // the issuer did not answer
}

func newLimits(clock seckill.Clock) *limits {
	return &limits{clock: clock, signings: bucket.New(signings, networks), spent: bucket.New(spendings, networks),
		failures: bucket.New(failures, 1), turn: make(chan struct{}, 1)}
}

// exchange lets a process spend one code at a time, in the order of arrival, and none for a while after the issuer did
// not answer. Otherwise a caller could keep every instance waiting for the issuer, and commands would find no free
// instance. It blocks for turnWait at most. wait is 0, or how long the caller has to wait.
func (l *limits) exchange(ctx context.Context) (wait time.Duration, away bool) {
	if wait := l.away(); wait > 0 {
		return wait, true
	}
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return busyWait, false
	}
	if wait := l.away(); wait > 0 { // for whoever was before
		<-l.turn
		return wait, true
	}
	return 0, false
}

// away returns how long the issuer counts as away.
func (l *limits) away() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.awayUntil.Sub(l.clock.Now()))
}

// exchanged ends an exchange.
func (l *limits) exchanged(away bool) {
	if away {
		l.mu.Lock()
		l.awayUntil = l.clock.Now().Add(awayWait)
		l.mu.Unlock()
	}
	<-l.turn
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

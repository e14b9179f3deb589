package staffdoor

import (
	"net/http"
	"time"

	"github.com/your-org/seckill/shared/adapter/bucket"
	"github.com/your-org/seckill/shared/adapter/httpapi"
	"github.com/your-org/seckill/shared/seckill"
)

// Rates, in the memory of one process. Staff sign in a few times a day, several behind one address.
var (
	signings = bucket.Rate{Every: 2 * time.Second, Burst: 20}
	failures = bucket.Rate{Every: time.Minute, Burst: 20} // entries of the audit log, whoever fails
)

const (
	networks = 1024 // that a process remembers
	everyone = "*"
)

// limits bound how often a network tries to sign in, and how many failures the audit log gets. They are safe for
// concurrent use.
type limits struct {
	clock    seckill.Clock
	signings *bucket.Buckets // by network
	failures *bucket.Buckets // one
}

func newLimits(clock seckill.Clock) limits {
	return limits{clock, bucket.New(signings, networks), bucket.New(failures, 1)}
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

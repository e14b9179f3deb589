package httpapi

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/your-org/seckill/shared/api/bucket"
	"github.com/your-org/seckill/shared/seckill"
)

// callers is how many users, or networks, a process remembers for each route, in 144 KiB.
const callers = 8192

// rule is how often one user, and one network, may call a route in one process. A zero Rate sets no limit.
type rule struct {
	pattern       string
	user, network bucket.Rate
}

// Rates. A page sends a purchase again after a second, and asks for its order every two. A carrier's network has
// thousands of shoppers, so its rate is that of a whole instance and stops only a script that hammers it.
var (
	presses  = bucket.Rate{Every: 100 * time.Millisecond, Burst: 60}
	reads    = bucket.Rate{Every: 100 * time.Millisecond, Burst: 60}
	forms    = bucket.Rate{Every: 500 * time.Millisecond, Burst: 20}
	crowds   = bucket.Rate{Every: 2 * time.Millisecond, Burst: 1000}
	signings = bucket.Rate{Every: 20 * time.Millisecond, Burst: 100}
)

// rules has every public route. Notifications have no limit: they come from few addresses, by the thousand, and if one
// is refused, the shop does not hear of that money for a while.
var rules = []rule{
	{"/seckill/buy", presses, crowds},
	{"/seckill/ing", bucket.Rate{}, crowds},
	{"/seckill/will", bucket.Rate{}, crowds},
	{"/seckill/detail/{seckill_id}", bucket.Rate{}, crowds},
	{"/seckill/status/{seckill_id}", bucket.Rate{}, crowds},
	{"/seckill/time", bucket.Rate{}, crowds},
	{"/healthz", bucket.Rate{}, crowds},
	{"/seckill/order/{seckill_id}", reads, crowds},
	{"/order/list", reads, crowds},
	{"/order/{id}", reads, crowds},
	{"/order/{id}/cancel", forms, crowds},
	{"/order/{id}/payment", forms, crowds},
	{"/order/{id}/received", forms, crowds},
	{"/order/{id}/refund-request", forms, crowds},
	{"/order/{id}/push", forms, crowds},
	{"/seckill/challenge", forms, crowds},
	{"/seckill/ticket", forms, crowds},
	{"/signin", bucket.Rate{}, signings},
	{"/signin/sessions", reads, crowds},
	{"/signin/end", forms, crowds},
	{"/seckill/alipay/notify", bucket.Rate{}, bucket.Rate{}},
}

// Limits bounds how often one user and one network may call each route, in the memory of one process: many instances
// allow as many times that. It is safe for concurrent use.
type Limits struct {
	clock          seckill.Clock
	users, network map[string]*bucket.Buckets // by the route's pattern
}

// NewLimits returns the limits of every public route.
func NewLimits(clock seckill.Clock) *Limits {
	l := &Limits{clock, map[string]*bucket.Buckets{}, map[string]*bucket.Buckets{}}
	for _, r := range rules {
		if r.user != (bucket.Rate{}) {
			l.users[r.pattern] = bucket.New(r.user, callers)
		}
		if r.network != (bucket.Rate{}) {
			l.network[r.pattern] = bucket.New(r.network, callers)
		}
	}
	return l
}

// ofNetwork refuses a request whose network calls too often. Only the address that the server in front gave counts,
// no header. Addresses of this machine and of private networks have no limit: no shopper on the internet has such an
// address, and whatever has one, such as a proxy, stands for many shoppers.
func (l *Limits) ofNetwork(r *http.Request, pattern string) error {
	if l == nil {
		return nil
	}
	buckets := l.network[pattern]
	from := oneOf(r.RemoteAddr)
	if buckets == nil || !from.IsValid() {
		return nil
	}
	key := from.Addr().As16() // AsSlice would allocate
	return tooMany(buckets.TakeBytes(key[:], l.clock.Now()), seckill.LimitNetwork)
}

// ofUser refuses a request whose user, by a verified token, calls too often.
func (l *Limits) ofUser(user, pattern string) error {
	if l == nil {
		return nil
	}
	buckets := l.users[pattern]
	if buckets == nil {
		return nil
	}
	return tooMany(buckets.Take(user, l.clock.Now()), seckill.LimitUser)
}

func tooMany(wait time.Duration, whose seckill.Reason) error {
	if wait == 0 {
		return nil
	}
	return &seckill.Error{Code: seckill.CodeTooMany, Token: whose, RetryAfter: wait}
}

// caller finds out who sent a request, and bounds how often they do.
type caller struct {
	auth     Auth
	limits   *Limits
	sessions seckill.SessionReader // nil: a later step asks, as consume does for a purchase
}

// account returns whose token the caller has. It refuses one whose session has ended.
func (c caller) account(r *http.Request) (seckill.Claims, error) {
	token, err := bearerToken(r)
	if err != nil {
		return seckill.Claims{}, err
	}
	who, err := c.auth.Claims(token)
	if err == nil {
		err = c.limits.ofUser(who.User, r.Pattern)
	}
	if err == nil && c.sessions != nil {
		err = seckill.CheckSession(r.Context(), c.sessions, who.User, who.Session)
	}
	return who, err
}

// user returns the caller's user id, as account does.
func (c caller) user(r *http.Request) (string, error) {
	who, err := c.account(r)
	return who.User, err
}

// owner returns the caller, and refuses a text that is not an order's id.
func (c caller) owner(r *http.Request, id string) (string, error) {
	user, err := c.user(r)
	if err == nil && !seckill.ValidOrderID(id) {
		err = seckill.Refuse(seckill.CodeOrderUnknown)
	}
	return user, err
}

// NetworkOf returns the part of a client's network address that the client cannot choose freely: an IPv4 address, or
// the first 64 bits of an IPv6 address, because a household controls the rest. remote comes from the server in front,
// with or without a port.
func NetworkOf(remote string) (part netip.Prefix, ok bool) {
	addr := AddressOf(remote)
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	part, err := addr.Prefix(bits)
	return part, err == nil && addr.IsValid()
}

// oneOf returns the network of an address for rules about networks, or the zero network for an address that stands for
// many shoppers, as with limits.
func oneOf(remote string) netip.Prefix {
	from, ok := NetworkOf(remote)
	if !ok || from.Addr().IsLoopback() || from.Addr().IsPrivate() {
		return netip.Prefix{}
	}
	return from
}

// AddressOf returns a client's whole network address, as NetworkOf reads it; the zero Addr if there is none.
func AddressOf(remote string) netip.Addr {
	addr, err := netip.ParseAddr(remote)
	if err != nil {
		both, err := netip.ParseAddrPort(remote)
		if err != nil {
			return netip.Addr{}
		}
		addr = both.Addr()
	}
	return addr.Unmap().WithZone("")
}

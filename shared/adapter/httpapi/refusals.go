package httpapi

import (
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// refusalEvery is how often a process logs refusals of one reason.
const refusalEvery = 10 * time.Second

// Who returns the user of a request.
type Who interface {
	Auth
	// Hash returns a short keyed hash of a text: without the secret it can neither be computed nor reversed by trying.
	Hash(text string) string
}

// Refusals counts by reason what a handler refuses, or fails to do, and logs one request of each reason at most every
// 10 s: when many are refused for one cause, or by one client, most of these lines show it. A line has no user and no
// network address but a hash of each, which is the same all day (UTC) and another one the next. Safe for concurrent
// use; it keeps as much as there are reasons.
type Refusals struct {
	count func(seckill.Reason)
	who   Who
	log   *slog.Logger
	clock seckill.Clock

	mu   sync.Mutex
	said map[seckill.Reason]*said
}

// said is a reason's last line.
type said struct {
	at    time.Time
	since int // refusals that no line has counted
}

// NewRefusals makes what Options take. who nil, where there is no secret of tokens: nothing is logged.
func NewRefusals(count func(seckill.Reason), who Who, log *slog.Logger, clock seckill.Clock) *Refusals {
	return &Refusals{count: count, who: who, log: log, clock: clock, said: map[seckill.Reason]*said{}}
}

// note receives every refusal; pattern is the route's, "" when there is none.
func (f *Refusals) note(r *http.Request, pattern string, e *seckill.Error) {
	if f == nil {
		return
	}
	reason := e.Reason()
	f.count(reason)
	if f.who == nil {
		return
	}
	now := f.clock.Now()
	n := f.due(reason, now)
	if n == 0 {
		return
	}
	attrs := []slog.Attr{slog.String("reason", string(reason)), slog.Int("count", n), slog.String("route", pattern)}
	day := now.UTC().Format(time.DateOnly)
	if id, err := user(r, f.who); err == nil {
		attrs = append(attrs, slog.String("user_hash", f.who.Hash(day+"|user|"+id)))
	}
	if from := network(r.RemoteAddr); from != "" {
		attrs = append(attrs, slog.String("network_hash", f.who.Hash(day+"|network|"+from)))
	}
	f.log.LogAttrs(r.Context(), slog.LevelInfo, "refused", attrs...)
}

// due returns how many refusals a line of now stands for, 0 when it is too early for one. A clock that was set back is
// no reason to wait.
func (f *Refusals) due(reason seckill.Reason, now time.Time) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.said[reason]
	if s == nil {
		s = &said{}
		f.said[reason] = s
	}
	s.since++
	if age := now.Sub(s.at); age >= 0 && age < refusalEvery {
		return 0
	}
	n := s.since
	*s = said{at: now}
	return n
}

// network is what a client cannot choose freely of where it comes from: an IPv4 address, or the first 64 bits of an
// IPv6 one, of which a household has all others. remote is what the server in front says, with a port or without; ""
// when it says nothing that can be read.
func network(remote string) string {
	addr, err := netip.ParseAddr(remote)
	if err != nil {
		both, err := netip.ParseAddrPort(remote)
		if err != nil {
			return ""
		}
		addr = both.Addr()
	}
	addr = addr.Unmap()
	if addr.Is4() {
		return addr.String()
	}
	return netip.PrefixFrom(addr.WithZone(""), 64).Masked().String()
}

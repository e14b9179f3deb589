package httpapi

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/api/actlog"
	"github.com/your-org/seckill/shared/seckill"
)

// refusalEvery is the shortest time between two log lines of one reason in a process.
const refusalEvery = 10 * time.Second

// Who identifies the user of a request without revealing it.
type Who interface {
	Auth
	// Hash returns a short keyed hash of a text: without the secret nobody can compute it or find the text by trying.
	Hash(text string) string
}

// Refusals counts refused and failed requests by reason and logs at most one request of each reason per 10 s: if one
// cause or one client dominates, so do its lines. Instead of user and network address, a line has a hash of each,
// which is constant for a day (UTC). It is safe for concurrent use; its memory is bounded by the number of reasons.
type Refusals struct {
	count func(seckill.Reason)
	who   Who
	log   *slog.Logger
	clock seckill.Clock

	mu   sync.Mutex
	said map[seckill.Reason]*said
}

// said is the state of a reason's last line.
type said struct {
	at    time.Time
	since int // refusals since that line
}

// NewRefusals returns Refusals for Options. If who is nil, because there is no token secret, nothing is logged.
func NewRefusals(count func(seckill.Reason), who Who, log *slog.Logger, clock seckill.Clock) *Refusals {
	return &Refusals{count: count, who: who, log: log, clock: clock, said: map[seckill.Reason]*said{}}
}

// note receives every refusal; pattern is the route's pattern, or "" without a route.
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
	id, _ := caller{auth: f.who}.user(r) // "" without a good token
	from, _ := NetworkOf(r.RemoteAddr)
	ofUser, ofNetwork := actlog.Hashes(f.who.Hash, now, id, from)
	if ofUser != "" {
		attrs = append(attrs, slog.String("user_hash", ofUser))
	}
	if ofNetwork != "" {
		attrs = append(attrs, slog.String("network_hash", ofNetwork))
	}
	f.log.LogAttrs(r.Context(), slog.LevelInfo, "refused", attrs...)
}

// due returns how many refusals a line logged now stands for, 0 if it is too early. It does not wait if the clock was
// set back.
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

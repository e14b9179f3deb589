package httpapi

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/api/actlog"
	"github.com/your-org/seckill/shared/seckill"
)

// What a process logs.
const (
	refusalEvery = 10 * time.Second // between two lines of one reason
	maxWhole     = 600              // lines in a minute of what is logged whole: some 200 KB
)

// loggedWhole has the reasons of which each refusal is logged, because no page of a shopper causes them: what is forged
// or another's, and blocked users.
var loggedWhole = map[seckill.Reason]bool{seckill.TokenAlgorithm: true, seckill.TokenKey: true,
	seckill.TokenSignature: true, seckill.TicketSignature: true, seckill.TicketForeign: true,
	seckill.OrderForeign: true, seckill.Reason(seckill.CodeBlocked): true}

// Who identifies the user of a request without revealing it.
type Who interface {
	Auth
	// Hash returns a short keyed hash of a text: without the secret nobody can compute it or find the text by trying.
	Hash(text string) string
}

// Refusals counts refused and failed requests by reason. It logs every refused authorization, refused sign-in and
// sign-in, up to maxWhole a minute; beyond that, and of all other reasons, one request in 10 s: if one cause or one
// client dominates, so do its lines. Instead of user and network address, a line has a hash of each, which is constant
// for a day (UTC). It is safe for concurrent use; its memory is bounded by the number of reasons.
type Refusals struct {
	count func(seckill.Reason)
	who   Who
	log   *slog.Logger
	clock seckill.Clock

	mu     sync.Mutex
	said   map[seckill.Reason]*said
	minute time.Time // when the present minute began
	lines  int       // of what is logged whole, in it
}

// signedIn stands for a reason among lines.
const signedIn seckill.Reason = "signed in"

// said is the state of a reason's last line.
type said struct {
	at    time.Time
	since int // requests since that line
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
	if n := f.due(reason, now, loggedWhole[reason] || e.Code == seckill.CodeSignIn); n > 0 {
		id, _ := caller{auth: f.who}.user(r) // "" without a good token
		f.line(r, now, "refused", id, slog.String("reason", string(reason)), slog.Int("count", n),
			slog.String("route", pattern))
	}
}

// signedIn is told of every shopper who signed in or whose page renewed a session.
func (f *Refusals) signedIn(r *http.Request, user string, kind seckill.GrantKind) {
	if f == nil || f.who == nil {
		return
	}
	now := f.clock.Now()
	if n := f.due(signedIn, now, true); n > 0 {
		f.line(r, now, string(signedIn), user, slog.String("grant", string(kind)), slog.Int("count", n))
	}
}

// line logs a request with hashes of its user, who may be "", and network.
func (f *Refusals) line(r *http.Request, now time.Time, message, id string, attrs ...slog.Attr) {
	from, _ := NetworkOf(r.RemoteAddr)
	ofUser, ofNetwork := actlog.Hashes(f.who.Hash, now, id, from)
	if ofUser != "" {
		attrs = append(attrs, slog.String("user_hash", ofUser))
	}
	if ofNetwork != "" {
		attrs = append(attrs, slog.String("network_hash", ofNetwork))
	}
	f.log.LogAttrs(r.Context(), slog.LevelInfo, message, attrs...)
}

// due returns how many requests a line logged now stands for, 0 if it is too early. It does not wait if the clock was
// set back.
func (f *Refusals) due(reason seckill.Reason, now time.Time, each bool) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.said[reason]
	if s == nil {
		s = &said{}
		f.said[reason] = s
	}
	s.since++
	if age := now.Sub(f.minute); age < 0 || age >= time.Minute {
		f.minute, f.lines = now, 0
	}
	if each = each && f.lines < maxWhole; each {
		f.lines++
	}
	if age := now.Sub(s.at); !each && age >= 0 && age < refusalEvery {
		return 0
	}
	n := s.since
	*s = said{at: now}
	return n
}

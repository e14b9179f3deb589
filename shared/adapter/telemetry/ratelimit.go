package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a rate-limited log.
const (
	logEvery    = time.Second // how often a process says the same thing
	maxRemember = 1000        // things said, remembered
)

// RateLimited makes a log say the same thing once a second: while Redis does not answer, every purchase fails for the
// same reason, and a thousand equal lines hide the one that differs. Lines are the same when their message and the
// attributes of sameKeys are; the first one after a silence says how many were left out. Only warnings and errors are
// rationed.
func RateLimited(log *slog.Logger, clock seckill.Clock) *slog.Logger {
	return slog.New(&rateLimited{log.Handler(), &seen{clock: clock}})
}

// sameKeys are the attributes that make a line another one: what failed, and for whom it has to be mended.
var sameKeys = []string{"code", "order", "message", "queue", "schedule"}

type rateLimited struct {
	slog.Handler
	seen *seen
}

type seen struct {
	clock seckill.Clock

	mu    sync.Mutex
	lines map[string]*line
}

type line struct {
	at      time.Time
	omitted int
}

// Handle implements slog.Handler.
func (c *rateLimited) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return c.Handler.Handle(ctx, r)
	}
	key := strings.Builder{}
	key.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		if slices.Contains(sameKeys, a.Key) {
			key.WriteString("\x00" + a.Key + "\x00" + a.Value.String())
		}
		return true
	})
	omitted, say := c.seen.say(key.String())
	if !say {
		return nil
	}
	if omitted > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("omitted", omitted))
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (c *rateLimited) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &rateLimited{c.Handler.WithAttrs(attrs), c.seen}
}

// WithGroup implements slog.Handler.
func (c *rateLimited) WithGroup(name string) slog.Handler {
	return &rateLimited{c.Handler.WithGroup(name), c.seen}
}

// say tells whether a line may be written now, and how many like it were not since the last one.
func (s *seen) say(key string) (omitted int, ok bool) {
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[key]
	if l != nil {
		if age := now.Sub(l.at); age >= 0 && age < logEvery {
			l.omitted++
			return 0, false
		}
		omitted = l.omitted
	}
	if s.lines == nil || len(s.lines) >= maxRemember {
		s.lines = map[string]*line{}
	}
	s.lines[key] = &line{at: now}
	return omitted, true
}

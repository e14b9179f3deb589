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
	logEvery    = time.Second // shortest time between two equal lines of a process
	maxRemember = 1000        // distinct lines that are remembered
)

// RateLimited returns a logger that writes equal lines at most once a second: while Redis does not answer, every
// purchase fails for the same reason, and a thousand equal lines would hide the one that differs. Lines are equal if
// their message and the attributes in sameKeys are; the next line says how many were omitted. It limits only warnings
// and errors.
func RateLimited(log *slog.Logger, clock seckill.Clock) *slog.Logger {
	return slog.New(&rateLimited{log.Handler(), &seen{clock: clock}})
}

// sameKeys lists the attributes that distinguish lines: what failed, and what has to be repaired.
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

// say reports whether a line may be written now, and how many equal lines were omitted since the last such line.
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

package local

import (
	"slices"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// maxRecent bounds the events that are remembered, some 25 MB; the oldest is forgotten first.
const maxRecent = 100_000

// recent implements seckill.Recent in memory.
type recent struct {
	clock seckill.Clock

	mu   sync.Mutex
	of   map[string][]seckill.OrderEvent // by user, oldest first
	ends []recentEnd                     // oldest first
}

// recentEnd says when the oldest event of a user is forgotten.
type recentEnd struct {
	user string
	at   time.Time
}

func newRecent(clock seckill.Clock) *recent {
	return &recent{clock: clock, of: map[string][]seckill.OrderEvent{}}
}

func (r *recent) Add(e seckill.OrderEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.forget(1)
	r.of[e.User] = append(r.of[e.User], e)
	r.ends = append(r.ends, recentEnd{e.User, now.Add(seckill.PassLife)})
}

// forget forgets events whose time is over, and the oldest ones until there is room for n more. It returns the time.
func (r *recent) forget(n int) time.Time {
	now := r.clock.Now()
	for len(r.ends) > 0 && (len(r.ends)+n > maxRecent || !now.Before(r.ends[0].at)) {
		user := r.ends[0].user
		if r.ends = r.ends[1:]; len(r.of[user]) > 1 {
			r.of[user] = r.of[user][1:]
		} else {
			delete(r.of, user)
		}
	}
	return now
}

func (r *recent) Of(user string) []seckill.OrderEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(0)
	return slices.Clone(r.of[user])
}

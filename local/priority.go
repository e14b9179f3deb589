package local

import (
	"net/http"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// In one process on a few cores a signature, which takes a core for a millisecond and a half, keeps some fifty
// purchases waiting. Deployed, the steps have machines of their own; here payments give way: to a crowd that buys and
// to orders that wait to be placed, one signature at a time. A shopper who would have to wait for long is asked to come
// again instead, and keeps no connection from the others.
const (
	giveWay   = 500 * time.Millisecond // at most, for each signature: payments go on in a crowd that does not end
	signLine  = 8                      // shoppers who wait for a signature, the one that is being made included
	quietLook = 2 * time.Millisecond

	backlog    = 50                     // so many orders that wait to be placed are urgent
	crowdSlot  = 100 * time.Millisecond // so many purchases in it are a crowd,
	crowdCount = 200
	crowdStays = 2 * crowdSlot // which is there for so long
)

// priority lets payments wait for what is more urgent.
type priority struct {
	queued func() int    // orders that wait to be placed
	line   chan struct{} // a place for each shopper who waits for a signature

	sign sync.Mutex // one at a time
	last time.Time  // when the last was made

	mu    sync.Mutex
	slot  time.Time
	count int       // of purchases in the slot
	seen  time.Time // when there was a crowd
}

// purchases watches the purchases that a handler gets.
func (c *priority) purchases(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.came(time.Now())
		next.ServeHTTP(w, r)
	})
}

func (c *priority) came(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.slot) >= crowdSlot {
		c.slot, c.count = now, 0
	}
	if c.count++; c.count >= crowdCount {
		c.seen = now
	}
}

func (c *priority) crowded(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Sub(c.seen) < crowdStays
}

// urgent says whether payments have to wait, whose last signature was made then.
func (c *priority) urgent(last time.Time) bool {
	now := time.Now()
	return now.Sub(last) < giveWay && (c.crowded(now) || c.queued() >= backlog)
}

// pause waits until there is nothing more urgent.
func (c *priority) pause() {
	for begin := time.Now(); c.urgent(begin); {
		time.Sleep(quietLook)
	}
}

// yieldingPayments are payments that give way.
type yieldingPayments struct {
	seckill.Payments
	*priority
}

// Prepare is the payments' own. ErrSignLater when there is something more urgent.
func (p yieldingPayments) Prepare(o seckill.Order) (string, error) {
	select {
	case p.line <- struct{}{}:
		defer func() { <-p.line }()
	default:
		return "", seckill.ErrSignLater
	}
	p.sign.Lock()
	defer p.sign.Unlock()
	if p.urgent(p.last) {
		return "", seckill.ErrSignLater
	}
	text, err := p.Payments.Prepare(o)
	p.last = time.Now()
	return text, err
}

package local

import (
	"net/http"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// A signature takes a core for 1.5 ms, in which the process could serve about fifty purchases. In a stack, purchases
// and payments run on different machines; here payments wait while there is a crowd of purchases, or while many orders
// wait to be placed, and signatures are made one at a time. If the queue for signatures is full, the shopper is asked
// to retry, so that no connection stays occupied.
const (
	giveWay   = 500 * time.Millisecond // the longest wait of a signature, so that payments progress
	signLine  = 8                      // shoppers who wait for a signature, including the current one
	quietLook = 2 * time.Millisecond

	backlog    = 50                     // this many unplaced orders have priority
	crowdSlot  = 100 * time.Millisecond // this many purchases per slot are a crowd,
	crowdCount = 200
	crowdStays = 2 * crowdSlot // which counts as present for this long
)

// priority makes payments wait for purchases and unplaced orders.
type priority struct {
	queued func() int    // number of unplaced orders
	line   chan struct{} // a slot for each shopper who waits for a signature

	sign sync.Mutex // one at a time
	last time.Time  // when the last signature was made

	mu    sync.Mutex
	slot  time.Time
	count int       // of purchases in the slot
	seen  time.Time // when a crowd was last seen
}

// purchases counts the purchases that a handler gets.
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

// urgent reports whether payments have to wait. last is when the last signature was made.
func (c *priority) urgent(last time.Time) bool {
	now := time.Now()
	return now.Sub(last) < giveWay && (c.crowded(now) || c.queued() >= backlog)
}

// pause waits while payments have to wait.
func (c *priority) pause() {
	for begin := time.Now(); c.urgent(begin); {
		time.Sleep(quietLook)
	}
}

// yieldingPayments are payments that wait for what has priority.
type yieldingPayments struct {
	seckill.Payments
	*priority
}

// Prepare implements seckill.Payments. It returns ErrSignLater while payments have to wait.
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

package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// changes collects for one taker the ids of orders whose rows were written, each once until it is taken. It is as
// large as the ledger at most.
type changes struct {
	wants func() bool   // nil means always
	ready chan struct{} // has an element when ids were added

	mu  sync.Mutex
	ids []string
	at  []time.Time // when each of ids was added
	has map[string]bool
}

// taker is told of writes of orders' rows. A write is not certain if its transaction failed: its effect is unknown.
type taker interface {
	wrote(w *ledger.Write, certain bool)
}

// takers are told of each write. All are added before the system starts. Each taker has its own backlog, so that a slow
// taker delays no other.
type takers []taker

func newChanges(wants func() bool) *changes {
	return &changes{wants: wants, ready: make(chan struct{}, 1), has: map[string]bool{}}
}

// watch returns the changes from now on, while wants returns true; if wants is nil, always.
func (t *takers) watch(wants func() bool) *changes {
	c := newChanges(wants)
	*t = append(*t, c)
	return c
}

// wrote implements taker.
func (c *changes) wrote(w *ledger.Write, _ bool) {
	if c.wants != nil && !c.wants() {
		return
	}
	c.back(w.PK)
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// back adds an order again after its pass failed. It does not wake the follower, which would meet the same fault again.
func (c *changes) back(order string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.has[order] {
		c.has[order], c.ids, c.at = true, append(c.ids, order), append(c.at, time.Now())
	}
}

// take removes the oldest ids.
func (c *changes) take(most int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(most, len(c.ids))
	ids := c.ids[:n:n]
	c.ids, c.at = c.ids[n:], c.at[n:]
	for _, id := range ids {
		delete(c.has, id)
	}
	return ids
}

func (c *changes) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ids) > 0
}

// lag returns how long the oldest id waits.
func (c *changes) lag() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.at) == 0 {
		return 0
	}
	return time.Since(c.at[0])
}

// watchedRows tells the takers which orders were written.
type watchedRows struct {
	ledger.Rows
	takers *takers
}

// Transact implements ledger.Rows.
func (r watchedRows) Transact(ctx context.Context, writes []ledger.Write) error {
	err := r.Rows.Transact(ctx, writes)
	if errors.As(err, new(*ledger.Canceled)) {
		return err
	}
	for i := range writes {
		if writes[i].Table == ledger.TableOrders {
			for _, c := range *r.takers {
				c.wrote(&writes[i], err == nil)
			}
		}
	}
	return err
}

package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Connections remembers who is connected to this process. It implements seckill.Connections, is safe for concurrent
// use, and never fails. What it remembers of a pass it forgets some time after the pass has ended.
type Connections struct {
	clock seckill.Clock

	mu     sync.Mutex
	of     map[string][]string  // ids by user, oldest first
	users  map[string]string    // by id
	used   map[string]time.Time // when the pass ends, by its nonce
	forgot time.Time            // when passes that had ended were last forgotten
}

var _ seckill.Connections = (*Connections)(nil)

// NewConnections returns Connections without any connection.
func NewConnections(clock seckill.Clock) *Connections {
	return &Connections{clock: clock, of: map[string][]string{}, users: map[string]string{},
		used: map[string]time.Time{}}
}

// Open implements seckill.Connections.
func (c *Connections) Open(_ context.Context, p seckill.Pass, conn seckill.Connection) (replaced string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetPasses()
	if _, ok := c.used[p.Nonce]; ok {
		return "", seckill.ErrPass
	}
	c.used[p.Nonce] = p.Expires
	if ids := c.of[conn.User]; len(ids) == seckill.MaxConnections {
		replaced = ids[0]
		c.forget(replaced)
	}
	c.of[conn.User], c.users[conn.ID] = append(slices.Clone(c.of[conn.User]), conn.ID), conn.User
	return replaced, nil
}

// forgetPasses forgets passes that nobody can use any more. It runs rarely, so that it costs little.
func (c *Connections) forgetPasses() {
	now := c.clock.Now()
	if now.Sub(c.forgot) < seckill.PassLife {
		return
	}
	c.forgot = now
	for nonce, ends := range c.used {
		if now.Sub(ends) > seckill.PassLife {
			delete(c.used, nonce)
		}
	}
}

// Forget implements seckill.Connections.
func (c *Connections) Forget(_ context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(id)
	return nil
}

func (c *Connections) forget(id string) {
	user, ok := c.users[id]
	if !ok {
		return
	}
	delete(c.users, id)
	rest := slices.DeleteFunc(slices.Clone(c.of[user]), func(other string) bool { return other == id })
	if c.of[user] = rest; len(rest) == 0 {
		delete(c.of, user)
	}
}

// Of implements seckill.Connections.
func (c *Connections) Of(_ context.Context, user string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[user], nil // never changed in place
}

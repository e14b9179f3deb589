package jwtauth

import (
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/seckill"
)

// Makers has for each key what it makes; the proofs are checked with every key. The oldest key picks questions, so that
// a new one changes none. It is safe for concurrent use.
type Makers struct {
	clock   seckill.Clock
	keys    TicketKeys
	tickets []*Tickets
	proofs  []*altcha.Proofs
	picker  *altcha.Proofs
}

// NewMakers returns the makers of at least one key.
func NewMakers(keys TicketKeys, clock seckill.Clock) (all *Makers, err error) {
	all = &Makers{clock: clock, keys: keys, tickets: make([]*Tickets, len(keys)),
		proofs: make([]*altcha.Proofs, len(keys))}
	if all.picker, err = altcha.New([][]byte{[]byte(keys[0].Secret)}, clock); err != nil {
		return nil, err
	}
	for i := range keys {
		if all.tickets[i], err = NewTickets(keys.Secrets(i+1), clock); err != nil {
			return nil, err
		}
		secrets := [][]byte{[]byte(keys[i].Secret)} // the first makes proofs; altcha derives keys of its own
		for j := range keys {
			if j != i {
				secrets = append(secrets, []byte(keys[j].Secret))
			}
		}
		if all.proofs[i], err = altcha.New(secrets, clock); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// now returns the place of the key whose time it is.
func (m *Makers) now() int { return m.keys.Maker(m.clock.Now()) }

// Make implements seckill.TicketMaker.
func (m *Makers) Make(user, item string, expires time.Time) (string, error) {
	return m.tickets[m.now()].Make(user, item, expires)
}

// Pick implements seckill.Picker.
func (m *Makers) Pick(user, item string, slot int64, n int) int {
	return m.picker.Pick(user, item, slot, n)
}

// Proofs returns the maker and checker of proofs of work.
func (m *Makers) Proofs() seckill.Proofs { return proofs{m} }

// proofs makes and checks proofs with the key whose time it is at each call.
type proofs struct{ *Makers }

// Make implements seckill.Proofs.
func (p proofs) Make(user, item string, w seckill.Work, expires time.Time) ([]byte, error) {
	return p.proofs[p.now()].Make(user, item, w, expires)
}

// Check implements seckill.Proofs.
func (p proofs) Check(solution []byte, user, item string) (took time.Duration, ok bool) {
	return p.proofs[p.now()].Check(solution, user, item)
}

// TicketChecker checks tickets with keys that may change. It is safe for concurrent use.
type TicketChecker struct {
	atomic.Pointer[Tickets]
	Renew func() error // has the keys read, unless that was a moment ago, and stores what checks with them
}

// Check implements seckill.TicketChecker. An instance without events reads no secrets, so the first ticket that it gets
// may have a key that it does not know. Check then reads the keys before it refuses the ticket, and returns
// CodeUnavailable if it cannot read them. Until then it accepts a key that was dropped meanwhile.
func (c *TicketChecker) Check(ticket, user, item string) error {
	if c.Load().Newer(ticket) {
		if err := c.Renew(); err != nil {
			return seckill.AsError(err)
		}
	}
	return c.Load().Check(ticket, user, item)
}

package boot

import (
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/adapter/altcha"
	"github.com/your-org/seckill/shared/adapter/config"
	"github.com/your-org/seckill/shared/adapter/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

// TicketChecker opens the checker of tickets.
func (b *Boot) TicketChecker(s config.Tickets) seckill.TicketChecker {
	c := &ticketChecker{renew: b.renew}
	renewed(b, &c.Pointer, func(secrets *config.Secrets) (*jwtauth.Tickets, error) {
		keys, err := ticketKeys(s, secrets)
		if err != nil {
			return nil, err
		}
		return jwtauth.NewTickets(keys.Secrets(len(keys)), b.Clock)
	}, s.Keys())
	return c
}

func ticketKeys(s config.Tickets, secrets *config.Secrets) (jwtauth.TicketKeys, error) {
	source := s.Keys()
	keys, err := jwtauth.ParseTicketKeys(string(secrets.Of(source)))
	if err != nil {
		return nil, source.Wrong(err)
	}
	return keys, nil
}

// ticketChecker checks with keys that may change.
type ticketChecker struct {
	atomic.Pointer[jwtauth.Tickets]
	renew func() error
}

// Check implements seckill.TicketChecker. An instance without events reads no secrets, so the first ticket that it gets
// may have a key that it does not know. It refuses none for that before it has read the keys: CodeUnavailable if it
// cannot.
func (c *ticketChecker) Check(ticket, user, item string) error {
	if c.Load().Newer(ticket) {
		if err := c.renew(); err != nil {
			return seckill.AsError(err)
		}
	}
	return c.Load().Check(ticket, user, item)
}

// TicketMaker makes tickets and proofs of work with the key whose time it is.
type TicketMaker struct {
	atomic.Pointer[ticketMakers]
	clock seckill.Clock
}

// ticketMakers has for each key what it makes; the proofs are checked with every key. The oldest key picks questions,
// so that a new one changes none.
type ticketMakers struct {
	keys    jwtauth.TicketKeys
	tickets []*jwtauth.Tickets
	proofs  []*altcha.Proofs
	picker  *altcha.Proofs
}

// TicketMaker opens the maker of tickets and proofs of work.
func (b *Boot) TicketMaker(s config.Tickets) *TicketMaker {
	m := &TicketMaker{clock: b.Clock}
	renewed(b, &m.Pointer, func(secrets *config.Secrets) (*ticketMakers, error) {
		keys, err := ticketKeys(s, secrets)
		if err != nil {
			return nil, err
		}
		return newTicketMakers(keys, b.Clock)
	}, s.Keys())
	return m
}

func newTicketMakers(keys jwtauth.TicketKeys, clock seckill.Clock) (all *ticketMakers, err error) {
	all = &ticketMakers{keys: keys, tickets: make([]*jwtauth.Tickets, len(keys)),
		proofs: make([]*altcha.Proofs, len(keys))}
	if all.picker, err = altcha.New([][]byte{[]byte(keys[0].Secret)}, clock); err != nil {
		return nil, err
	}
	for i := range keys {
		if all.tickets[i], err = jwtauth.NewTickets(keys.Secrets(i+1), clock); err != nil {
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

// Make implements seckill.TicketMaker.
func (m *TicketMaker) Make(user, item string, expires time.Time) (string, error) {
	all := m.Load()
	return all.tickets[all.keys.Maker(m.clock.Now())].Make(user, item, expires)
}

// Pick implements seckill.Picker.
func (m *TicketMaker) Pick(user, item string, slot int64, n int) int {
	return m.Load().picker.Pick(user, item, slot, n)
}

// now returns the proofs of the key whose time it is.
func (m *TicketMaker) now() *altcha.Proofs {
	all := m.Load()
	return all.proofs[all.keys.Maker(m.clock.Now())]
}

// Proofs returns the maker and checker of proofs of work.
func (m *TicketMaker) Proofs() seckill.Proofs { return &proofs{m} }

// proofs are a TicketMaker's.
type proofs struct{ of *TicketMaker }

// Make implements seckill.Proofs.
func (p *proofs) Make(user, item string, w seckill.Work, expires time.Time) ([]byte, error) {
	return p.of.now().Make(user, item, w, expires)
}

// Check implements seckill.Proofs.
func (p *proofs) Check(solution []byte, user, item string) (took time.Duration, ok bool) {
	return p.of.now().Check(solution, user, item)
}

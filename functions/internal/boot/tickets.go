package boot

import (
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/tickets"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/seckill"
)

// TicketChecker opens the checker of tickets.
func (b *Boot) TicketChecker(s config.Tickets) seckill.TicketChecker {
	c := &tickets.Checker{Renew: b.Renew}
	Renewed(b, &c.Pointer, func(secrets *config.Secrets) (*jwtauth.Tickets, error) {
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

// TicketMaker makes tickets and proofs of work, with keys that may change.
type TicketMaker struct {
	atomic.Pointer[tickets.Makers]
}

// TicketMaker opens the maker of tickets and proofs of work.
func (b *Boot) TicketMaker(s config.Tickets) *TicketMaker {
	m := &TicketMaker{}
	Renewed(b, &m.Pointer, func(secrets *config.Secrets) (*tickets.Makers, error) {
		keys, err := ticketKeys(s, secrets)
		if err != nil {
			return nil, err
		}
		return tickets.New(keys, b.Clock)
	}, s.Keys())
	return m
}

// Make implements seckill.TicketMaker.
func (m *TicketMaker) Make(user, item string, expires time.Time) (string, error) {
	return m.Load().Make(user, item, expires)
}

// Pick implements seckill.Picker.
func (m *TicketMaker) Pick(user, item string, slot int64, n int) int {
	return m.Load().Pick(user, item, slot, n)
}

// Proofs returns the maker and checker of proofs of work.
func (m *TicketMaker) Proofs() seckill.Proofs { return &proofs{m} }

// proofs are a TicketMaker's.
type proofs struct{ of *TicketMaker }

// Make implements seckill.Proofs.
func (p *proofs) Make(user, item string, w seckill.Work, expires time.Time) ([]byte, error) {
	return p.of.Load().Proofs().Make(user, item, w, expires)
}

// Check implements seckill.Proofs.
func (p *proofs) Check(solution []byte, user, item string) (took time.Duration, ok bool) {
	return p.of.Load().Proofs().Check(solution, user, item)
}

package sim

import (
	"time"

	"github.com/your-org/seckill/shared/adapter/jwtauth"
	"github.com/your-org/seckill/shared/flow/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// tickets are an instance's maker and checker of tickets: they know the secrets of the moment.
type tickets struct {
	w     *World
	clock seckill.Clock
	of    int // value of changes
	*jwtauth.Tickets
}

func (t *tickets) now() *jwtauth.Tickets {
	if t.of != t.w.door.changes {
		made, err := jwtauth.NewTickets(t.w.door.secrets, t.clock)
		if err != nil {
			panic(err)
		}
		t.Tickets, t.of = made, t.w.door.changes
	}
	return t.Tickets
}

// Make implements seckill.TicketMaker.
func (t *tickets) Make(user, item string, expires time.Time) (string, error) {
	text, err := t.now().Make(user, item, expires)
	t.w.door.kids[text] = t.w.door.kid()
	return text, err
}

// Check implements seckill.TicketChecker.
func (t *tickets) Check(ticket, user, item string) error { return t.now().Check(ticket, user, item) }

// passes reports of a purchase that is sent now whether it may reserve something, and whether its ticket must not be
// refused.
func (w *World) passes(p buy.Purchase) (may, must bool) {
	if w.item(p.Item).Checks == seckill.ChecksOff {
		return true, true
	}
	g, ok := w.door.given[p.Ticket]
	if !ok || g.holder != (holder{p.User, p.Item}) || w.door.secrets[w.door.kids[p.Ticket]] == "" {
		return false, false
	}
	now := w.Clock.Now()
	return now.Before(g.expires.Add(seckill.SkewBound)), now.Before(g.expires.Add(-seckill.SkewBound))
}

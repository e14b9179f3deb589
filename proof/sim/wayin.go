package sim

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// wayIn returns the ticket that a shopper sends with a purchase: mostly their own, for which they may have to pass the
// checks first.
func (s *Sim) wayIn(i *Instance, user string, it *seckill.Item, a uint64) string {
	d, h := s.door, holder{user, it.ID}
	own, any := d.newest[h], s.anyTicket(a)
	if it.Checks == seckill.ChecksOff {
		if pick(a, 36, 16) == 0 { // a client that sends what it has
			return forged(any, user, pick(a, 40, 4))
		}
		return ""
	}
	switch pick(a, 36, 16) {
	case 0:
		return ""
	case 1:
		return forged(any, user, pick(a, 40, 4))
	case 2:
		return any
	case 3:
		return s.signedBy(s.door.keys()[0].Secret, h,
			s.Clock.Now().Add(-seckill.SkewBound-time.Second)) // its time is over
	case 4:
		return s.signedBy("a secret that was never one", h, it.End)
	case 5:
		if len(own) > 0 {
			return own[0]
		}
	}
	if len(own) > 0 {
		return own[len(own)-1]
	}
	p, err := i.admitted(buy.Purchase{User: user, Item: it.ID})
	if err != nil {
		s.trace.step(s.Clock.Now(), s.current, "gets no ticket: ", string(seckill.CodeOf(err)))
	}
	return p.Ticket
}

// anyTicket returns somebody's newest ticket, "" if nobody has one.
func (s *Sim) anyTicket(a uint64) string {
	for n := range s.plan.Shoppers {
		user := strconv.Itoa(1 + (pick(a, 44, s.plan.Shoppers)+n)%s.plan.Shoppers)
		for _, it := range s.allItems() {
			if list := s.door.newest[holder{user, it.ID}]; len(list) > 0 {
				return list[len(list)-1]
			}
		}
	}
	return ""
}

// signedBy returns a ticket that admit did not give, with the oldest key's name.
func (s *Sim) signedBy(secret string, h holder, expires time.Time) string {
	t, err := jwtauth.NewTickets(map[string]string{s.door.keys()[0].Kid(): secret}, s.Clock)
	if err != nil {
		panic(err)
	}
	text, err := t.Make(h.user, h.item, expires)
	if err != nil {
		panic(err)
	}
	return text
}

// forged changes a ticket as one might who has no secret: n chooses how.
func forged(ticket, user string, n int) string {
	parts := strings.Split(ticket, ".")
	if len(parts) != 3 {
		return "a.ticket.of-mine"
	}
	switch n % 4 {
	case 0: // another user in the text that is signed
		claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
		at := strings.Index(string(claims), `"sub":"`)
		parts[1] = base64.RawURLEncoding.EncodeToString([]byte(string(claims)[:at] + `"sub":"` + user + `"}`))
	case 1: // no signature
		parts[2] = ""
	case 2: // an algorithm without one
		parts[0] = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"k001","typ":"seckill-ticket"}`))
	default:
		first := "A"
		if parts[2][:1] == first {
			first = "B"
		}
		parts[2] = first + parts[2][1:]
	}
	return strings.Join(parts, ".")
}

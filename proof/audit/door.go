package audit

import (
	"maps"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// block is a row that keeps a user from the item, or from every item.
type block struct {
	name        string
	made, until int64
}

// addBlock adds a row of the blocks table, if it is about a user and the item.
func (s *sale) addBlock(d *decoder) {
	subject, of := d.text("subject"), d.text("item")
	user, one := strings.CutPrefix(subject, "user:")
	if d.bad == "" && (!one || of != s.id && of != seckill.Everywhere) {
		return
	}
	d.ours = true
	b := block{"blocks " + subject + "/" + of, d.number("made"), d.number("until")}
	if d.done(a4, b.name); d.bad == "" {
		s.blocks[user] = append(s.blocks[user], b)
	}
}

// checkBlocked checks A4: no order of a user was placed while a block's row of that user stood. A row says when it was
// written last; an operator hears of it some seconds later, and only from then on nothing is placed.
func (s *sale) checkBlocked() {
	if !s.use(a4, ledger.TableOrders, ledger.TableBlocks) {
		return
	}
	rows := 0
	for _, list := range s.blocks {
		rows += len(list)
	}
	for _, o := range s.orders {
		for _, b := range s.blocks[o.user.id] {
			if o.state != seckill.Rejected && o.placed > b.made+stopHeld+skew && o.placed < b.until-skew {
				s.broken(a4, "orders "+o.id, "was placed at %s for user %s, whom %s blocks since %s", dated(o.placed),
					o.user.id, b.name, dated(b.made))
			}
		}
	}
	s.looked(a4, rows, "blocks of users")
	if rows == 0 {
		s.needs(a4, "a block of a user: none stands, and one that was removed leaves no row")
	}
}

// checkTickets checks the part of A1 that a journal shows: every acknowledged purchase came with a ticket, and no
// ticket served two users. why says what is wrong with the journal.
func (s *sale) checkTickets(t *journalView, why string) {
	switch {
	case s.item.checks == "":
		s.needs(a1, "an item with checks: of this one everybody buys without a ticket")
		return
	case why != "":
		s.needs(a1, "%s", why)
		return
	case !t.complete():
		s.needs(a1, "the end of the journal: it stops after line %d", t.Lines)
	}
	if !s.use(a1, ledger.TableOrders) {
		return
	}
	user := map[uint64]string{} // by ticket
	ids := slices.SortedFunc(maps.Keys(t.acked), func(a, b string) int {
		return int(t.acked[a].line) - int(t.acked[b].line)
	})
	for _, id := range ids {
		a := t.acked[id]
		switch other := user[a.ticket]; {
		case a.ticket == 0:
			s.broken(a1, lineOf(a.line), "acknowledges order %s, though user %s sent no ticket", id, a.user)
		case other != "" && other != a.user:
			s.broken(a1, lineOf(a.line), "acknowledges order %s of user %s for a ticket with which user %s bought", id,
				a.user, other)
		default:
			user[a.ticket] = a.user
		}
	}
	others := 0
	for _, o := range s.orders {
		u := t.users[o.user.id]
		if u == nil {
			others++ // I9 looks at those
		} else if o.state != seckill.Rejected && !u.ticket {
			s.broken(a1, "orders "+o.id, "is of user %s, who never sent a ticket", o.user.id)
		}
	}
	s.looked(a1, len(ids), "acknowledged purchases")
	if others > 0 {
		s.needs(a1, "requests of users outside the journal, who have %d orders", others)
	}
}

package audit

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// checkJournal checks what needs the journal: I4, I9, I11, A1, L4, and that nothing was sold before the start (I10).
func (s *sale) checkJournal(t *journalView) {
	why := ""
	switch {
	case t == nil:
		why = "a journal of who asked for what (seckill load --journal)"
	case t.fault != "":
		why = "a valid journal: " + t.fault
	}
	if why != "" {
		for _, g := range []int{i4, i9, i11} {
			s.needs(g, "%s", why)
		}
		s.checkSold(nil, why)
		s.checkTickets(nil, why)
		return
	}
	s.moved = s.clockMoved(t)
	if s.use(i4, ledger.TableOrders) {
		s.checkKeys(t)
	}
	if s.use(i9, ledger.TableOrders) {
		s.checkPhantoms(t)
	}
	if s.use(i11, ledger.TableOrders) {
		s.checkAcks(t)
	}
	s.checkEarly(t)
	s.checkSold(t, "")
	s.checkTickets(t, "")
	if !t.complete() {
		for _, g := range []int{i4, i9, i11, l4} {
			s.needs(g, "the end of the journal: it stops after line %d", t.Lines)
		}
	}
}

// clockMoved returns by how much a seckill run's clock was ahead when the journal was written: the median difference
// between reservation and answer. It is at most s.ahead, so that differences of servers' clocks still count against
// I10.
func (s *sale) clockMoved(t *journalView) int64 {
	var apart []int64
	for id, a := range t.acked {
		if o := s.byID[id]; o != nil {
			apart = append(apart, o.created-a.at)
		}
	}
	if len(apart) == 0 {
		return 0
	}
	slices.Sort(apart)
	by := min(apart[len(apart)/2], s.ahead)
	if by <= skew {
		return 0
	}
	return by
}

// checkKeys checks I4 by the journal. addOrder finds order rows that exist twice.
func (s *sale) checkKeys(t *journalView) {
	for _, f := range t.twice {
		s.broken(i4, f.Row, "%s", f.What)
	}
	for name, u := range t.users {
		for key, id := range u.keys {
			if o := s.byID[id]; id != "" && (s.foreign[id] || o != nil && o.user.id != name) {
				s.broken(i4, "orders "+id, "was the answer to key %q of user %s, but is not theirs", key, name)
			}
		}
	}
	s.looked(i4, t.keyed, "keys whose answers named an order")
}

// checkPhantoms checks I9: each order of the journal's users was requested with its count and address, and no user has
// more orders than requests.
func (s *sale) checkPhantoms(t *journalView) {
	mine := map[string][]*order{}
	others := 0
	for _, o := range s.orders {
		name := o.user.id
		if t.users[name] == nil && !t.inRange(name) {
			others++
			continue
		}
		mine[name] = append(mine[name], o)
	}
	s.looked(i9, len(s.orders)-others, "orders of the journal's users")
	if others > 0 {
		s.needs(i9, "requests of users outside the journal, who have %d orders", others)
	}
	for name, orders := range mine {
		s.checkAsked(name, orders, t)
	}
}

// inRange reports whether a user id belongs to the crowd.
func (t *journalView) inRange(name string) bool {
	n, err := strconv.ParseInt(name, 10, 64)
	return err == nil && t.Start.FirstUser > 0 && n >= t.Start.FirstUser && n <= t.Start.LastUser
}

// checkAsked checks one user's orders.
func (s *sale) checkAsked(name string, orders []*order, t *journalView) {
	type body struct {
		count   int
		address uint64
	}
	var asks []ask
	if u := t.users[name]; u != nil {
		asks = u.asks
	}
	room, keys, all := map[body]int{}, map[ask]bool{}, map[string]bool{}
	most := 0
	for _, a := range asks {
		b := body{a.count, a.address}
		if a.key == "" {
			room[b]++
			most++
			continue
		}
		once := ask{key: a.key, count: a.count, address: a.address}
		if !keys[once] {
			keys[once] = true
			room[b]++
		}
		if !all[a.key] {
			all[a.key] = true
			most++
		}
	}
	missing := func(o *order, what string, args ...any) {
		if !t.complete() {
			return // the request may be in the part that is cut off
		}
		s.broken(i9, "orders "+o.id, what, args...)
	}
	slices.SortFunc(orders, func(a, b *order) int {
		return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
	})
	for i, o := range orders {
		b := body{int(o.count), o.address}
		switch {
		case o.erased: // below
		case room[b] < 1:
			missing(o, "of %d units, and user %s did not ask for %d units to this address so often", o.count, name,
				o.count)
		case i >= most:
			missing(o, "is order %d of user %s, who asked for %d", i+1, name, most)
		}
		if !o.erased {
			room[b]--
		}
	}
	left := map[int]int{} // requests that no address has been found for, by count
	for b, n := range room {
		left[b.count] += max(n, 0)
	}
	for i, o := range orders {
		if !o.erased {
			continue
		}
		switch left[int(o.count)]--; {
		case left[int(o.count)] < 0:
			missing(o, "of %d units, and user %s did not ask for %d units so often", o.count, name, o.count)
		case i >= most:
			missing(o, "is order %d of user %s, who asked for %d", i+1, name, most)
		}
	}
}

// checkAcks checks I11.
func (s *sale) checkAcks(t *journalView) {
	undecided, unseen := 0, 0
	for id, a := range t.acked {
		o := s.byID[id]
		switch {
		case o != nil && o.user.id != a.user:
			s.broken(i11, lineOf(a.line), "acknowledged order %s to user %s, but it is user %s's", id, a.user,
				o.user.id)
		case o != nil:
		case s.foreign[id]:
			s.broken(i11, lineOf(a.line), "acknowledged order %s of another item", id)
		case s.queued(id):
			undecided++
		case s.mayWait(a):
			unseen++
		default:
			s.broken(i11, lineOf(a.line), "acknowledged order %s to user %s at %s, but it has no row", id, a.user,
				dated(a.at+s.moved))
		}
	}
	s.looked(i11, len(t.acked), "acknowledged orders")
	if undecided > 0 {
		s.needs(i11, "the end of %d acknowledged orders that are not yet placed", undecided)
	}
	if unseen > 0 {
		s.needs(i11,
			"an empty orders queue: it may hold the messages of %d acknowledged orders without a row", unseen)
	}
}

// queued reports whether Redis still has an order's reservation.
func (s *sale) queued(id string) bool {
	_, waits := s.stock.awaiting[id]
	_, stored := s.stock.res[id]
	return waits || stored
}

// mayWait reports whether the message of an acknowledged order may still be in a queue. Without the queue's depth it
// goes by the time within which a received message is placed or rejected.
func (s *sale) mayWait(a *acked) bool {
	q, known := s.queues["orders"]
	if known {
		return q.Visible+q.InFlight+q.Delayed+q.Parked > 0
	}
	return s.now < a.at+s.moved+unplaced+resend
}

// checkEarly checks I10 by the time of the first acknowledgement.
func (s *sale) checkEarly(t *journalView) {
	if t.first == 0 {
		return
	}
	s.looked(i10, len(t.acked), "acknowledged orders")
	if first := t.first + s.moved; first < s.item.start-skew {
		s.broken(i10, lineOf(t.firstN), "acknowledged a purchase at %s, but the sale starts at %s", dated(first),
			dated(s.item.start))
	}
}

// checkSold checks L4: units that are unsold although a shopper heard sold_out must have been returned afterwards.
func (s *sale) checkSold(t *journalView, why string) {
	if !s.use(l4, ledger.TableOrders, ledger.TableUnits) {
		return
	}
	left := s.item.stock - s.read[ledger.TableUnits]
	s.looked(l4, s.read[ledger.TableUnits], "unit rows")
	switch {
	case left == 0:
		s.note(l4, "every unit is sold or held")
		return
	case t == nil:
		s.needs(l4, "%s: %d units are unsold, and rows do not show whether there was demand", why, left)
		return
	case t.buys == 0:
		s.needs(l4, "demand: the journal has no purchase, and %d units are unsold", left)
		return
	}
	s.looked(l4, t.buys, "requests to buy")
	s.looked(l4, t.heard, "answers of sold_out")
	if t.heard == 0 {
		s.note(l4, "%d units are unsold, and no shopper heard sold_out", left)
		if t.nothing > 0 {
			s.needs(l4, "answers to %d shoppers, who gave up without a decision", t.nothing)
		}
		return
	}
	// Units that were free at the last sold_out: those left, minus those returned since, plus those reserved since.
	back, drawn, soldOut := 0, 0, t.soldOut+s.moved
	for _, o := range s.orders {
		rejected := o.state == seckill.Rejected
		if o.released != 0 && o.released >= soldOut-upkeep || rejected && o.changed >= soldOut-upkeep {
			back += int(o.count)
		}
		if o.created > soldOut+skew {
			drawn += int(o.count)
		}
	}
	switch {
	case left+drawn <= back:
		s.note(l4,
			"%d units are unsold: they were returned after or just before the last sold_out, and no shopper asked "+
				"again", left)
	case s.item.version > 1:
		s.needs(l4,
			"the time when stock was added: %d units are unsold, but only %d were returned after the last sold_out",
			left, back)
	default:
		s.broken(l4, "items "+s.id,
			"%d units are unsold, but a shopper who asked at %s heard sold_out; of %d units returned then or later, "+
				"%d were sold again. After data loss, Redis may keep units out of sale for some minutes", left,
			dated(soldOut), back, drawn)
	}
}

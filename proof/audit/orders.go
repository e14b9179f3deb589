package audit

import (
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

const historyTime = "2006-01-02T15:04:05.000Z07:00"

// given lists the attributes that go with the address when it is erased.
var given = ledger.Given()

// addOrder adds a row of the orders table and checks what the row alone shows of I4, I5, I8 and I10.
func (s *sale) addOrder(d *decoder) {
	id := d.text("id")
	s.addSpan(d, id)
	if of, _ := d.row["item"].(string); of != s.id {
		s.foreign[id] = s.byID[id] == nil
		if of == "" {
			s.broken(i3, "orders "+id, "names no item")
		}
		return
	}
	d.ours = true
	o := &order{id: id, user: s.userOf(d.text("user")), count: int32(d.number("count")), units: d.units("units"),
		state: s.state(d, "state"), cancelled: s.state(d, "close_to") == seckill.Cancelled, amount: d.number("amount"),
		created: d.number("created"), placed: d.number("placed"),
		due: d.row["due_shard"] != nil && d.row["due_at"] != nil, entry: -1}
	o.wentBack, _ = d.row["outside"].(int64)
	o.undecided = d.row["undecided"] != nil
	for _, attr := range given {
		if d.row[attr] != nil && d.row["address"] == nil {
			s.broken(i9, "orders "+o.id, "keeps its %s without an address", attr)
		}
	}
	if _, kept := d.row["address"]; !kept && d.row["state"] == string(seckill.Rejected) {
		o.erased = true
	} else if d.row["erased"] != nil && !kept {
		o.erased = d.number("erased") > 0
	} else {
		o.address = addressOf(d.text("address"))
	}
	if price := d.number("price"); o.amount != price*int64(o.count) {
		s.broken(i7, "orders "+o.id, "has %d units at %d fen but asks for %d fen", o.count, price, o.amount)
	}
	s.asSold(d, o)
	placed := o.placed
	if placed < 1 {
		d.fail("placed", "a time")
	}
	if o.count < 1 {
		d.fail("count", "1 or more")
	}
	row := "orders " + o.id
	s.history(d, o, row)
	d.done(i3, row, i1, i2, i5, i6, i8, i9, i10, i11, l1)
	if was := s.byID[o.id]; was != nil {
		s.broken(i4, row, "exists twice, for users %s and %s", was.user.id, o.user.id)
		return
	}
	if o.created < s.item.start-skew || o.created >= s.item.end+skew {
		s.broken(i10, row, "was reserved at %s, outside %s to %s", dated(o.created), dated(s.item.start),
			dated(s.item.end))
	}
	for _, stop := range s.item.stops {
		over := stop.to == 0 || placed < stop.to-skew
		if o.state != seckill.Rejected && placed > stop.from+stopHeld+skew && over {
			s.broken(i10, row, "was placed at %s, while the item was stopped (%s)", dated(placed), stop.span())
		}
	}
	s.orders = append(s.orders, o)
	s.byID[o.id] = o
	delete(s.foreign, o.id)
	if info[o.state].Holds || len(o.units) > 0 && o.state.MayHold(len(o.units), int(o.count)) {
		s.lists(o)
	}
}

// asSold checks what an order copied from its item. A rejected order has no title, and price, amount and buckets 0.
// Only the item's present version is known: an earlier version may have had other prices, title and picture.
func (s *sale) asSold(d *decoder, o *order) {
	title, ok := d.row["title"].(string)
	buckets := int(d.number("buckets"))
	if o.state == seckill.Rejected {
		if d.text("reason"); !ok {
			d.fail("title", "a text")
		}
		return
	}
	if span := d.optional("span"); span != s.item.span {
		s.broken(i2, "orders "+o.id, "counts over family %q, but the item's limit spans %q", span, s.item.span)
	}
	o.payBy = d.number("pay_by")
	if title == "" {
		d.fail("title", "a text")
	}
	if buckets != s.item.buckets {
		s.broken(i3, "orders "+o.id, "has %d buckets, but the item has %d", buckets, s.item.buckets)
	}
	if d.row["item_version"] == nil && d.row["list_price"] == nil {
		return // an order of an older release
	}
	version, price, list := d.number("item_version"), d.number("price"), d.number("list_price")
	if version != s.item.version || d.bad != "" {
		return
	}
	if price != s.item.price || list != s.item.listPrice || title != s.item.title ||
		d.optional("cover") != s.item.cover || d.optional("options") != s.item.options {
		s.broken(i9, "orders "+o.id, "keeps %d and %d fen, title %.40q, picture %.40q, options %.40q; its version %d "+
			"of the item has %d and %d fen, %.40q, %.40q, %.40q", price, list, title, d.optional("cover"),
			d.optional("options"), s.item.version, s.item.price, s.item.listPrice, s.item.title, s.item.cover,
			s.item.options)
	}
}

// state reads a known state. It returns the constant, so that the row's text is not kept.
func (s *sale) state(d *decoder, attr string) seckill.State {
	name := seckill.State(d.optional(attr))
	if i, ok := info[name]; ok {
		return i.State
	}
	if attr == "state" || name != "" {
		d.fail(attr, "a known state")
	}
	return ""
}

// lists records which order lists a unit, and checks I1 from the orders' side.
func (s *sale) lists(o *order) {
	for _, n := range o.units {
		if int(n) > s.item.stock {
			s.broken(i3, "orders "+o.id, "lists unit %d of 1..%d", n, s.item.stock)
			continue
		}
		if other := s.lister[n]; other != nil {
			s.broken(i1, "orders "+o.id, "lists unit %d, which order %s lists too", n, other.id)
			continue
		}
		s.lister[n] = o
	}
}

// history checks an order's state changes: I5, I8.
func (s *sale) history(d *decoder, o *order, row string) {
	list, ok := d.row["history"].([]string)
	if !ok || len(list) == 0 {
		s.broken(i5, row, "has no history")
		return
	}
	from, last, released := seckill.Queued, int64(0), 0
	for _, entry := range list {
		at, rest, _ := strings.Cut(entry, " ")
		name, _, _ := strings.Cut(rest, " ")
		t, err := time.Parse(historyTime, at)
		to := info[seckill.State(name)].State
		if err != nil || to == "" {
			s.broken(i5, row, "has an unreadable history entry: %.40q", entry)
			return
		}
		now := t.UnixMilli()
		if from != to && !from.CanBecome(to) { // an entry with the same state notes a refund of one of its payments
			s.broken(i5, row, "went from %s to %s, which the state table does not allow", from, to)
		}
		if now < last-skew {
			s.broken(i5, row, "became %s at %s, earlier than it became %s at %s", to, dated(now), from, dated(last))
		}
		// an operator keeps these units out of sale, or nobody was asked
		kept := (to == seckill.RefundOwed || to == seckill.Refunded) && len(o.units) > 0
		if info[from].Holds && from != seckill.Queued && !info[to].Holds && !kept {
			released++
			o.released = now
		}
		from, last = to, max(now, last)
	}
	if from != o.state {
		s.broken(i5, row, "is %s, but its history ends with %s", o.state, from)
	}
	if released > 1 {
		s.broken(i8, row, "returned its units %d times", released)
	}
	o.changed = last
}

// checkOrders checks what needs all orders: I5, I8, I10 and L1.
func (s *sale) checkOrders() {
	for _, g := range []int{i5, i10, l1} {
		if s.use(g, ledger.TableOrders) {
			s.looked(g, len(s.orders), "orders")
		}
	}
	s.checkReleases()
	s.checkStop()
	s.checkTerminal()
}

// checkReleases checks I8: an order that returned its units has no unit row, and at most one return row.
func (s *sale) checkReleases() {
	if !s.use(i8, ledger.TableOrders, ledger.TableUnits, ledger.TableReturns) {
		return
	}
	released := 0
	for _, o := range s.orders {
		if o.released == 0 {
			continue
		}
		released++
		if o.rows > 0 {
			s.broken(i8, "orders "+o.id, "is %s since %s, but %d unit rows still name it", o.state, dated(o.released),
				o.rows)
		}
	}
	s.looked(i8, released, "orders that returned units")
	s.looked(i8, len(s.returns), "return rows")
	for _, r := range s.returns {
		o := r.order
		row := "returns " + o.id
		switch {
		case o.returning:
			s.broken(i8, row, "exists twice")
		case o.released == 0:
			s.broken(i8, row, "returns units of an order that is %s and returned none", o.state)
		case len(r.units) != int(o.count):
			s.broken(i8, row, "returns %d units of an order of %d", len(r.units), o.count)
		}
		o.returning = true
	}
}

// checkStop reports which stops I10 cannot check. addOrder has checked orders against the stops that the items row
// keeps.
func (s *sale) checkStop() {
	it := &s.item
	last := len(it.stops) - 1
	switch {
	case !it.noted && it.version == 1 && !it.stopped:
		s.note(i10, "never stopped: the items row has version 1")
	case !it.noted:
		s.needs(i10,
			"the times of stops: a release that did not record them wrote the items row, version %d; orders were "+
				"checked against the window only", it.version)
	case it.stopped != (last >= 0 && it.stops[last].to == 0):
		s.needs(i10, "the times of stops: the items row has stopped=%v, which disagrees with its stops", it.stopped)
	case last+1 >= seckill.MaxStops:
		s.needs(i10, "the stops before %s: the items row keeps the last %d", dated(it.stops[0].from), seckill.MaxStops)
	case last < 0:
		s.note(i10, "never stopped")
	default:
		s.note(i10, "stopped %d times, last %s; orders placed more than %d s after a stop were checked",
			last+1, it.stops[last].span(), (stopHeld+skew)/1000)
	}
	if s.whole[ledger.TableOrders] && it.noted {
		s.looked(i10, len(it.stops), "stops")
	}
}

// checkTerminal checks L1.
func (s *sale) checkTerminal() {
	waiting, until := 0, int64(0)
	for _, o := range s.orders {
		if !open(o.state) {
			continue
		}
		over := o.payBy + grace
		if o.state == seckill.Closing {
			over = o.changed
			if !o.cancelled {
				over = max(over, o.payBy+grace)
			}
		}
		row := "orders " + o.id
		switch {
		case !o.due:
			s.broken(l1, row, "is %s but not in the index of due orders: no sweep will find it", o.state)
		case s.now > over+upkeep:
			s.broken(l1, row, "is still %s, though it was due at %s", o.state, dated(over))
		default:
			waiting++
			until = max(until, over+upkeep)
		}
	}
	if waiting > 0 {
		s.needs(l1, "the end of %d open orders: audit again after %s", waiting, dated(until))
	}
	s.note(l1, "L2 covers queued orders")
	if q, ok := s.queues["orders"]; ok && q.Visible+q.InFlight+q.Delayed > 0 {
		s.needs(l1, "an empty orders queue: it holds %d messages", q.Visible+q.InFlight+q.Delayed)
	}
	for _, name := range []string{"orders", "closings"} {
		if n := s.queues[name].Parked; n > 0 {
			s.needs(l1, "an empty dead-letter queue: %d messages of %s are parked (docs/runbooks/dead-letters.md)", n,
				name)
		}
	}
}

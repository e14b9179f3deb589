package audit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

func (s *sale) addKey(l *record.Line) {
	k := &s.stock
	switch slices.Index(k.keys[:], l.Key) {
	case keyItem:
		k.head[l.Field] = l.Value
	case keyFree:
		if n, ok := k.number(l); ok && int(n) > s.item.stock {
			k.beyond = append(k.beyond, n)
		} else if ok {
			k.free[n] = true
		}
	case keyHeld:
		if n, ok := k.number(l); ok {
			s.addHeld(n, l.Value)
		}
	case keyRes:
		if r, ok := readRecord(l.Value); ok {
			k.res[l.Field] = r
		}
	case keyAwaiting:
		at, _ := strconv.ParseFloat(l.Value, 64)
		k.awaiting[l.Field] = int64(at)
	case keyUsers:
		s.addEntries(l.Field, l.Value)
	}
}

// number reads a unit number from a member of free or a field of held.
func (s *stock) number(l *record.Line) (int32, bool) {
	n, err := strconv.ParseInt(l.Field, 10, 32)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != l.Field {
		s.odd = append(s.odd, l.Key+" "+l.Field)
		return 0, false
	}
	return int32(n), true
}

func (s *sale) addHeld(n int32, order string) {
	if int(n) > s.item.stock {
		s.stock.beyond = append(s.stock.beyond, n)
		return
	}
	s.stock.held[n] = order
}

// addEntries adds what Redis counts against a user.
func (s *sale) addEntries(user, list string) {
	for text := range strings.SplitSeq(list, ",") {
		id, count, _ := strings.Cut(text, ":")
		n, err := strconv.ParseInt(count, 10, 32)
		if o := s.byID[id]; err == nil && n >= 0 && o != nil && o.user.id == user {
			o.entry = int32(n)
			continue
		}
		s.stock.entries = append(s.stock.entries, entry{user, text, id})
	}
}

// readRecord reads state|count|numbers|none|backoff|created|user|hash|body of a queued reservation. It reports false
// for other records.
func readRecord(raw string) (reservation, bool) {
	f := strings.SplitN(raw, "|", 9)
	if len(f) < 9 || f[0] != "q" {
		return reservation{}, false
	}
	var r reservation
	r.created, _ = strconv.ParseInt(f[5], 10, 64)
	if f[2] != "" {
		r.units = strings.Count(f[2], ",") + 1
	}
	return r, true
}

// retired reports whether stage may have removed the item from Redis.
func (s *sale) retired() bool { return s.now >= s.item.end+seckill.KeepLoaded.Milliseconds() }

// checkStock checks L2 and L3.
func (s *sale) checkStock() {
	for _, o := range s.orders {
		_, o.awaited = s.stock.awaiting[o.id]
	}
	if s.use(l2, ledger.TableOrders, ledger.TableReturns) {
		s.checkReturns()
	}
	redis := s.use(l2, record.PartRedis)
	if redis {
		s.checkAwaiting()
	}
	if !s.use(l3, ledger.TableOrders, ledger.TableUnits, ledger.TableReturns, record.PartRedis) {
		return
	}
	installed := len(s.stock.head) > 0
	switch {
	case s.retired() && installed:
		s.looked(l3, 1, "removed items")
		s.broken(l3, s.stock.keys[keyItem], "still exists two days after the end of the sale")
	case s.retired():
		s.looked(l3, 1, "removed items")
		s.note(l3, "Redis has removed the item, two days after its end")
	case !installed && s.now < s.item.start:
		s.needs(l3, "the start of the sale: the item is not loaded yet")
	case !installed:
		s.looked(l3, 1, "keys")
		s.broken(l3, s.stock.keys[keyItem],
			"is missing, so no unit can be bought; if Redis has just lost its data, repair rebuilds it in two minutes")
	default:
		s.checkHead()
		s.checkNumbers()
		s.checkEntries()
	}
}

// checkReturns checks that returned units reach the stock.
func (s *sale) checkReturns() {
	waiting := 0
	for _, r := range s.returns {
		o := r.order
		if o.released != 0 && s.now > o.released+upkeep {
			s.broken(l2, "returns "+o.id, "waits since %s for the stock to confirm the returned units",
				dated(o.released))
			continue
		}
		waiting++
	}
	if waiting > 0 {
		s.needs(l2, "the end of %d returns: audit again in two minutes", waiting)
	}
	s.looked(l2, len(s.orders), "orders")
}

// checkAwaiting checks that every reservation is placed or rejected in time.
func (s *sale) checkAwaiting() {
	waiting := 0
	row := func(order string) string { return s.stock.keys[keyAwaiting] + " " + order }
	for order, next := range s.stock.awaiting {
		r, stored := s.stock.res[order]
		switch {
		case !stored:
			s.broken(l2, row(order), "awaits its message, but no reservation is stored to send")
		case s.now > next+upkeep:
			s.broken(l2, row(order), "was due to be sent again at %s", dated(next))
		case s.now > r.created+unplaced+resend:
			s.broken(l2, row(order), "is neither placed nor rejected, though reserved at %s", dated(r.created))
		default:
			waiting++
		}
	}
	for order := range s.stock.res {
		if _, ok := s.stock.awaiting[order]; !ok {
			s.broken(l2, s.stock.keys[keyRes]+" "+order, "is queued, but its message will not be sent again")
		}
	}
	if waiting > 0 {
		s.needs(l2, "the end of %d reservations that are not yet placed", waiting)
	}
	s.looked(l2, s.read[record.PartRedis], "entries in Redis")
}

// checkHead compares the hash `item` with the items row.
func (s *sale) checkHead() {
	flag := int64(0)
	if s.item.stopped {
		flag = 1
	}
	for _, f := range []struct {
		name string
		want int64
	}{{"start", s.item.start}, {"end", s.item.end}, {"limit", int64(s.item.limit)}, {"price", s.item.price},
		{"stock", int64(s.item.stock)},
		{"version", s.item.version}, {"stopped", flag}} {
		if got := s.stock.head[f.name]; got != strconv.FormatInt(f.want, 10) {
			s.broken(l3, s.stock.keys[keyItem]+" "+f.name, "is %q, but the items row has %d", got, f.want)
		}
	}
}

// underWay reports whether an order's units in Redis may still differ from the ledger.
func (s *sale) underWay(id string) bool {
	if _, ok := s.stock.awaiting[id]; ok {
		return true
	}
	o := s.byID[id]
	return o != nil && o.returning
}

// checkNumbers checks that free and held are disjoint and make up 1..high-water mark, and that held agrees with the
// unit rows.
func (s *sale) checkNumbers() {
	hw := s.stock.highWater()
	if hw < 0 || hw > s.item.stock {
		s.broken(l3, s.stock.keys[keyItem]+" hw", "is %q, but the stock is %d", s.stock.head["hw"], s.item.stock)
	}
	for _, row := range s.stock.odd {
		s.broken(l3, row, "is not a unit number")
	}
	waiting := 0
	for n := int32(1); int(n) <= s.item.stock; n++ {
		holder := s.stock.held[n]
		held := holder != ""
		free := s.stock.free[n]
		row := s.stock.keys[keyHeld] + " " + strconv.Itoa(int(n))
		owner := ""
		if o := s.owner[n]; o != nil {
			owner = o.id
		}
		switch {
		case held && free:
			s.broken(l3, row, "is held by order %s and also free", holder)
		case (held || free) && int(n) > hw:
			s.broken(l3, row, "is above %d, the high-water mark", hw)
		case !held && !free && int(n) <= hw:
			s.broken(l3, row, "was issued but is neither held nor free")
		}
		switch {
		case held && s.underWay(holder), owner != "" && holder != owner && s.underWay(owner):
			waiting++
		case holder != owner && owner == "":
			s.broken(l3, row, "is held by order %s, but has no unit row", holder)
		case holder != owner && !held:
			s.broken(l3, row, "is not held, but its unit row names order %s", owner)
		case holder != owner:
			s.broken(l3, row, "is held by order %s, but its unit row names order %s", holder, owner)
		}
	}
	for _, n := range s.stock.beyond {
		s.broken(l3, s.stock.keys[keyHeld]+" "+strconv.Itoa(int(n)), "is above the stock, %d", s.item.stock)
	}
	if waiting > 0 {
		s.needs(l3,
			"a sale at rest: %d units are reserved for orders that are not yet placed, or are being returned",
			waiting)
	}
	s.looked(l3, max(hw, 0), "issued units")
	s.looked(l3, s.read[ledger.TableUnits], "unit rows")
}

// checkEntries compares what Redis counts against users with the unit rows.
func (s *sale) checkEntries() {
	name := func(user string) string { return s.stock.keys[keyUsers] + " " + user }
	waiting := 0
	for _, o := range s.orders {
		user := o.user.id
		switch {
		case max(o.entry, 0) == o.rows && o.entry != 0: // consistent
		case o.awaited, o.returning:
			waiting++
		case o.entry < 0:
			s.broken(l3, name(user), "lacks an entry for order %s, which has %d unit rows", o.id, o.rows)
		default:
			s.broken(l3, name(user), "counts %d units for order %s, which has %d unit rows", o.entry, o.id, o.rows)
		}
	}
	for _, e := range s.stock.entries {
		if s.underWay(e.order) {
			waiting++
			continue
		}
		s.broken(l3, name(e.user), "has the entry %.60q: %s", e.text, s.nameOf(e.order))
	}
	if waiting > 0 {
		s.needs(l3, "a sale at rest: %d entries of users are for orders under way", waiting)
	}
}

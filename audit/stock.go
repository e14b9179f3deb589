package audit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/your-org/seckill/record/dump"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// stock is what Redis has of the item.
type stock struct {
	head map[string]string // the hash item
	// by number 1..stock: order, as an index of orders and 1; one that has no row, as its place in names, negative; 0:
	// none
	held     []int32
	names    []string
	free     map[int32]bool
	beyond   []int32          // numbers above the stock
	odd      []string         // members that are no numbers
	entries  []entry          // of users, that are not one of their orders'
	awaiting map[string]int64 // order: when its message is sent again
	res      map[string]record
	keys     [6]string
}

// record is a reservation that is queued; of confirmed ones nothing is kept.
type record struct {
	units   int
	created int64
}

// entry is what Redis counts against a user for an order that is none of theirs.
type entry struct{ user, text, order string }

// The item's keys.
const (
	keyItem = iota
	keyFree
	keyHeld
	keyRes
	keyAwaiting
	keyUsers
)

func newStock(id string) stock {
	return stock{head: map[string]string{}, free: map[int32]bool{}, awaiting: map[string]int64{},
		res: map[string]record{}, keys: Keys(id)}
}

// Keys names an item's keys in Redis: item, free, held, res, awaiting, users.
func Keys(id string) (keys [6]string) {
	for i, name := range []string{"item", "free", "held", "res", "awaiting", "users"} {
		keys[i] = "{" + id + "}:" + name
	}
	return keys
}

func (s *sale) addKey(l *dump.Line) {
	k := &s.stock
	switch slices.Index(k.keys[:], l.Key) {
	case keyItem:
		k.head[strings.Clone(l.Field)] = strings.Clone(l.Value)
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
			k.res[strings.Clone(l.Field)] = r
		}
	case keyAwaiting:
		at, _ := strconv.ParseFloat(l.Value, 64)
		k.awaiting[strings.Clone(l.Field)] = int64(at)
	case keyUsers:
		s.addEntries(l.Field, l.Value)
	}
}

// number reads a member of free or a field of held.
func (s *stock) number(l *dump.Line) (int32, bool) {
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
	if i, _ := s.orderOf(order); i >= 0 {
		s.stock.held[n] = i + 1
		return
	}
	s.stock.names = append(s.stock.names, strings.Clone(order))
	s.stock.held[n] = -int32(len(s.stock.names))
}

// holder names the order that Redis holds a number for, "" for none.
func (s *sale) holder(n int32) string {
	switch i := s.stock.held[n]; {
	case i > 0:
		return s.orders[i-1].id
	case i < 0:
		return s.stock.names[-i-1]
	}
	return ""
}

// addEntries takes in what Redis counts against a user.
func (s *sale) addEntries(user, list string) {
	for text := range strings.SplitSeq(list, ",") {
		id, count, _ := strings.Cut(text, ":")
		n, err := strconv.ParseInt(count, 10, 32)
		if i, _ := s.orderOf(id); err == nil && n >= 0 && i >= 0 && s.users[s.orders[i].user].id == user {
			s.orders[i].entry = int32(n)
			continue
		}
		s.stock.entries = append(s.stock.entries, entry{strings.Clone(user), strings.Clone(text), strings.Clone(id)})
	}
}

// readRecord reads state|count|numbers|none|backoff|created|user|hash|body of a queued reservation; a confirmed one is
// not kept.
func readRecord(raw string) (record, bool) {
	f := strings.SplitN(raw, "|", 9)
	if len(f) < 9 || f[0] != "q" {
		return record{}, false
	}
	var r record
	r.created, _ = strconv.ParseInt(f[5], 10, 64)
	if f[2] != "" {
		r.units = strings.Count(f[2], ",") + 1
	}
	return r, true
}

// retired says that stage has removed the item from Redis, or may.
func (s *sale) retired() bool { return s.now >= s.item.end+seckill.KeepLoaded.Milliseconds() }

// checkStock: L2 and L3.
func (s *sale) checkStock() {
	for i := range s.orders {
		_, s.orders[i].awaited = s.stock.awaiting[s.orders[i].id]
	}
	if s.use(l2, ledger.TableOrders, ledger.TableReturns) {
		s.checkReturns()
	}
	redis := s.use(l2, dump.PartRedis)
	if redis {
		s.checkAwaiting()
	}
	if !s.use(l3, ledger.TableOrders, ledger.TableUnits, ledger.TableReturns, dump.PartRedis) {
		return
	}
	installed := len(s.stock.head) > 0
	switch {
	case s.retired() && installed:
		s.looked(l3, 1, "removed items")
		s.broken(l3, s.stock.keys[keyItem], "is still there, two days after the end of the sale")
	case s.retired():
		s.looked(l3, 1, "removed items")
		s.note(l3, "Redis keeps nothing of it, two days after its end")
	case !installed && s.now < s.item.start:
		s.needs(l3, "the sale: the item is not loaded yet")
	case !installed:
		s.looked(l3, 1, "keys")
		s.broken(l3, s.stock.keys[keyItem],
			"is not there: nothing can be bought. If Redis was just lost, repair rebuilds it within two minutes")
	default:
		s.checkHead()
		s.checkNumbers()
		s.checkEntries()
	}
}

// checkReturns: what is given back reaches the stock.
func (s *sale) checkReturns() {
	waiting := 0
	for _, r := range s.returns {
		o := s.orders[r.order]
		if o.released != 0 && s.now > o.released+upkeep {
			s.broken(l2, "returns "+o.id, "gives back units since %s: the stock has not confirmed it",
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

// checkAwaiting: no reservation waits for ever.
func (s *sale) checkAwaiting() {
	waiting := 0
	row := func(order string) string { return s.stock.keys[keyAwaiting] + " " + order }
	for order, next := range s.stock.awaiting {
		r, stored := s.stock.res[order]
		switch {
		case !stored:
			s.broken(l2, row(order), "waits for its message, and no reservation is stored to send")
		case s.now > next+upkeep:
			s.broken(l2, row(order), "was to be sent again at %s", dated(next))
		case s.now > r.created+unplaced+resend:
			s.broken(l2, row(order), "is neither placed nor rejected since %s", dated(r.created))
		default:
			waiting++
		}
	}
	for order := range s.stock.res {
		if _, ok := s.stock.awaiting[order]; !ok {
			s.broken(l2, s.stock.keys[keyRes]+" "+order, "is queued, and its message will not be sent again")
		}
	}
	if waiting > 0 {
		s.needs(l2, "the end of %d reservations that are not placed yet", waiting)
	}
	s.looked(l2, s.read[dump.PartRedis], "entries in Redis")
}

// checkHead: the stock sells what the items table says.
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
			s.broken(l3, s.stock.keys[keyItem]+" "+f.name, "is %q, the items row says %d", got, f.want)
		}
	}
}

// highWater is the highest number that was issued.
func (s *stock) highWater() int {
	n, err := strconv.Atoi(s.head["hw"])
	if err != nil {
		return -1
	}
	return n
}

// underWay says whether an order's numbers may differ from the ledger for a while.
func (s *sale) underWay(id string) bool {
	if _, ok := s.stock.awaiting[id]; ok {
		return true
	}
	i, _ := s.orderOf(id)
	return i >= 0 && s.orders[i].returning
}

// checkNumbers: free and held together are 1..high-water, disjoint, and held is what the unit rows say.
func (s *sale) checkNumbers() {
	hw := s.stock.highWater()
	if hw < 0 || hw > s.item.stock {
		s.broken(l3, s.stock.keys[keyItem]+" hw", "is %q of a stock of %d", s.stock.head["hw"], s.item.stock)
	}
	for _, row := range s.stock.odd {
		s.broken(l3, row, "is no unit's number")
	}
	waiting := 0
	for n := int32(1); int(n) <= s.item.stock; n++ {
		holder := s.holder(n)
		held := holder != ""
		free := s.stock.free[n]
		row := s.stock.keys[keyHeld] + " " + strconv.Itoa(int(n))
		owner := ""
		if i := s.owner[n]; i != 0 {
			owner = s.orders[i-1].id
		}
		switch {
		case held && free:
			s.broken(l3, row, "is held by order %s, and free as well", holder)
		case (held || free) && int(n) > hw:
			s.broken(l3, row, "is beyond %d, the highest number issued", hw)
		case !held && !free && int(n) <= hw:
			s.broken(l3, row, "is issued, and neither held nor free")
		}
		switch {
		case held && s.underWay(holder), owner != "" && holder != owner && s.underWay(owner):
			waiting++
		case holder != owner && owner == "":
			s.broken(l3, row, "is held by order %s, and there is no unit row", holder)
		case holder != owner && !held:
			s.broken(l3, row, "is not held, its unit row is order %s's", owner)
		case holder != owner:
			s.broken(l3, row, "is held by order %s, its unit row is order %s's", holder, owner)
		}
	}
	for _, n := range s.stock.beyond {
		s.broken(l3, s.stock.keys[keyHeld]+" "+strconv.Itoa(int(n)), "is beyond the stock of %d", s.item.stock)
	}
	if waiting > 0 {
		s.needs(l3,
			"a sale at rest: %d numbers are reserved for requests that are not placed yet, or on their way back",
			waiting)
	}
	s.looked(l3, max(hw, 0), "issued numbers")
	s.looked(l3, s.read[ledger.TableUnits], "unit rows")
}

// checkEntries: what counts against a user in Redis is what the unit rows say.
func (s *sale) checkEntries() {
	name := func(user string) string { return s.stock.keys[keyUsers] + " " + user }
	waiting := 0
	for i := range s.orders {
		o := s.orders[i]
		user := s.users[o.user].id
		switch {
		case max(o.entry, 0) == o.rows && o.entry != 0: // as it has to be
		case o.awaited, o.returning:
			waiting++
		case o.entry < 0:
			s.broken(l3, name(user), "has no entry of order %s, which has %d unit rows", o.id, o.rows)
		default:
			s.broken(l3, name(user), "counts %d units of order %s, which has %d unit rows", o.entry, o.id, o.rows)
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
		s.needs(l3, "a sale at rest: %d entries of users are of orders under way", waiting)
	}
}

package audit

import (
	"slices"
	"strconv"
	"strings"

	"seckill/shared/adapter/ledger"
	"seckill/shared/seckill"
)

// stock is what Redis has of the item.
type stock struct {
	head     map[string]string // the hash item
	held     map[int32]string  // number: order
	free     map[int32]bool
	odd      []string          // members that are no numbers
	users    map[string]string // user: entries
	awaiting map[string]int64  // order: when its message is sent again
	res      map[string]record
	keys     [6]string
}

// record is a reservation that is queued; of settled ones only their number is kept.
type record struct {
	units   []int32
	created int64
	user    string
}

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
	s := stock{head: map[string]string{}, held: map[int32]string{}, free: map[int32]bool{}, users: map[string]string{}, awaiting: map[string]int64{}, res: map[string]record{}}
	s.keys = Keys(id)
	return s
}

// Keys names an item's keys in Redis: item, free, held, res, awaiting, users.
func Keys(id string) (keys [6]string) {
	for i, name := range []string{"item", "free", "held", "res", "awaiting", "users"} {
		keys[i] = "{" + id + "}:" + name
	}
	return keys
}

func (s *stock) add(l *Line) {
	switch slices.Index(s.keys[:], l.Key) {
	case keyItem:
		s.head[strings.Clone(l.Field)] = strings.Clone(l.Value)
	case keyFree:
		if n, ok := s.number(l); ok {
			s.free[n] = true
		}
	case keyHeld:
		if n, ok := s.number(l); ok {
			s.held[n] = strings.Clone(l.Value)
		}
	case keyRes:
		if r, ok := readRecord(l.Value); ok {
			s.res[strings.Clone(l.Field)] = r
		}
	case keyAwaiting:
		at, _ := strconv.ParseFloat(l.Value, 64)
		s.awaiting[strings.Clone(l.Field)] = int64(at)
	case keyUsers:
		s.users[strings.Clone(l.Field)] = strings.Clone(l.Value)
	}
}

// number reads a member of free or a field of held.
func (s *stock) number(l *Line) (int32, bool) {
	n, err := strconv.ParseInt(l.Field, 10, 32)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != l.Field {
		s.odd = append(s.odd, l.Key+" "+l.Field)
		return 0, false
	}
	return int32(n), true
}

// readRecord reads state|count|numbers|none|backoff|created|user|hash|body of a queued reservation; a settled one is not kept.
func readRecord(raw string) (record, bool) {
	f := strings.SplitN(raw, "|", 9)
	if len(f) < 9 || f[0] != "q" {
		return record{}, false
	}
	r := record{user: strings.Clone(f[6])}
	r.created, _ = strconv.ParseInt(f[5], 10, 64)
	for part := range strings.SplitSeq(f[2], ",") {
		if n, err := strconv.ParseInt(part, 10, 32); err == nil {
			r.units = append(r.units, int32(n))
		}
	}
	return r, true
}

// retired says that stage has removed the item from Redis, or may.
func (s *sale) retired() bool { return s.now >= s.item.end+seckill.KeepLoaded.Milliseconds() }

// judgeStock: L2 and L3.
func (s *sale) judgeStock() {
	for i := range s.orders {
		_, s.orders[i].awaited = s.stock.awaiting[s.orders[i].id]
	}
	if s.use(l2, ledger.TableOrders, ledger.TableReturns) {
		s.judgeReturns()
	}
	redis := s.use(l2, PartRedis)
	if redis {
		s.judgeAwaiting()
	}
	if !s.use(l3, ledger.TableOrders, ledger.TableUnits, ledger.TableReturns, PartRedis) {
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
		s.broken(l3, s.stock.keys[keyItem], "is not there: nothing can be bought. If Redis was just lost, repair rebuilds it within two minutes")
	default:
		s.judgeHead()
		s.judgeNumbers()
		s.judgeEntries()
	}
}

// judgeReturns: what is given back reaches the stock.
func (s *sale) judgeReturns() {
	waiting := 0
	for _, r := range s.returns {
		o := &s.orders[r.order]
		if o.released != 0 && s.now > o.released+upkeep {
			s.broken(l2, "returns "+o.id, "gives back units since %s: the stock has not confirmed it", dated(o.released))
			continue
		}
		waiting++
	}
	if waiting > 0 {
		s.needs(l2, "the end of %d returns: audit again in two minutes", waiting)
	}
	s.looked(l2, len(s.orders), "orders")
}

// judgeAwaiting: no reservation waits for ever.
func (s *sale) judgeAwaiting() {
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
	s.looked(l2, s.read[PartRedis], "entries in Redis")
}

// judgeHead: the stock sells what the items table says.
func (s *sale) judgeHead() {
	flag := int64(0)
	if s.item.stopped {
		flag = 1
	}
	for _, f := range []struct {
		name string
		want int64
	}{{"start", s.item.start}, {"end", s.item.end}, {"limit", int64(s.item.limit)}, {"price", s.item.price}, {"stock", int64(s.item.stock)},
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

// judgeNumbers: free and held together are 1..high-water, disjoint, and held is what the unit rows say.
func (s *sale) judgeNumbers() {
	hw := s.stock.highWater()
	if hw < 0 || hw > s.item.stock {
		s.broken(l3, s.stock.keys[keyItem]+" hw", "is %q of a stock of %d", s.stock.head["hw"], s.item.stock)
	}
	for _, row := range s.stock.odd {
		s.broken(l3, row, "is no unit's number")
	}
	waiting := 0
	for n := int32(1); int(n) <= s.item.stock; n++ {
		holder, held := s.stock.held[n]
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
	for _, n := range s.beyond() {
		s.broken(l3, s.stock.keys[keyHeld]+" "+strconv.Itoa(int(n)), "is beyond the stock of %d", s.item.stock)
	}
	if waiting > 0 {
		s.needs(l3, "a sale at rest: %d numbers are reserved for requests that are not placed yet, or on their way back", waiting)
	}
	s.looked(l3, max(hw, 0), "issued numbers")
	s.looked(l3, s.read[ledger.TableUnits], "unit rows")
}

// beyond lists numbers in Redis that no unit of the item has.
func (s *sale) beyond() (out []int32) {
	for n := range s.stock.held {
		if int(n) > s.item.stock {
			out = append(out, n)
		}
	}
	for n := range s.stock.free {
		if int(n) > s.item.stock {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// judgeEntries: what counts against a user in Redis is what the unit rows say.
func (s *sale) judgeEntries() {
	name := func(user string) string { return s.stock.keys[keyUsers] + " " + user }
	waiting := 0
	for user, entries := range s.stock.users {
		for entry := range strings.SplitSeq(entries, ",") {
			id, count, _ := strings.Cut(entry, ":")
			n, err := strconv.ParseInt(count, 10, 32)
			i, _ := s.orderOf(id)
			switch {
			case s.underWay(id):
				waiting++
				if i >= 0 {
					s.orders[i].entry = s.orders[i].rows
				}
			case err != nil:
				s.broken(l3, name(user), "has an entry that cannot be read: %.40q", entry)
			case i < 0:
				s.broken(l3, name(user), "has an entry of %s", s.nameOf(id))
			case s.users[s.orders[i].user].id != user:
				s.broken(l3, name(user), "has an entry of order %s, which is user %s's", id, s.users[s.orders[i].user].id)
			case int32(n) != s.orders[i].rows || n == 0:
				s.broken(l3, name(user), "counts %d units of order %s, which has %d unit rows", n, id, s.orders[i].rows)
				s.orders[i].entry = s.orders[i].rows
			default:
				s.orders[i].entry = int32(n)
			}
		}
	}
	for i := range s.orders {
		if o := &s.orders[i]; o.rows > 0 && o.entry < 0 && !o.awaited && !o.returning {
			s.broken(l3, name(s.users[o.user].id), "has no entry of order %s, which has %d unit rows", o.id, o.rows)
		}
	}
	if waiting > 0 {
		s.needs(l3, "a sale at rest: %d entries of users are of orders under way", waiting)
	}
}
